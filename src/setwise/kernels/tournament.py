"""The k arms of largest index, ties broken uniformly, from a tournament tree: for many arms.

The arms of the set are held outside the tree. All others compete in it: position p has the children WIDTH p + 1, ...,
WIDTH p + WIDTH, `largest[p]` is the largest index among the arms below p, and `ties[p]` counts the arms that have it.
The leaves are the arms, ordered by number; an unused leaf, or that of a held arm, is minus infinity. So the tree
depends only on the indices and the set, and arms never move in memory.

An arm of the set that is no better than the best of the others goes back into the tree, and the best of the tree
replaces it. If the border of the set splits a group of equal indices, the counts find any member by its rank in the
group. An arm that leaves or enters costs O(log n), one that stays a comparison.
"""

import numpy as np

from setwise.types import Floats, Generator, Ints

WIDTH = 16  # children per position: two cache lines, and five levels for a million arms
LEAST = -1.7976931348623157e308  # the least finite float replaces an index of minus infinity, which marks empty leaves


def tree_size(n: int) -> tuple[int, int]:
    """Return the number of inner positions, each with WIDTH children, and the number of all positions, for n arms.

    >>> tree_size(1), tree_size(16), tree_size(17)
    ((1, 17), (1, 17), (2, 33))
    """
    inner = max(1, -(-(n - 1) // (WIDTH - 1)))
    return inner, WIDTH * inner + 1


def build_tree(index: Floats, held: Ints, largest: Floats, ties: Ints) -> None:
    """Build the tree from the indices of the arms that are not held. Not for compiled code."""
    inner = len(ties)
    largest[:] = -np.inf
    np.maximum(index, LEAST, out=largest[inner : inner + len(index)])
    largest[inner + held] = -np.inf
    last = inner
    while last > 0:  # bottom-up by level: the children of first .. last - 1 are done
        first = (last - 1 + WIDTH - 1) // WIDTH
        start = WIDTH * first + 1
        values = largest[start : WIDTH * last + 1].reshape(-1, WIDTH)
        largest[first:last] = values.max(axis=1)
        tied = values == largest[first:last, np.newaxis]
        ties[first:last] = tied.sum(axis=1)
        below = ties[start : WIDTH * last + 1]  # inner children only; a leaf counts once
        parents = (np.arange(start, start + len(below)) - 1) // WIDTH
        np.add.at(ties, parents, (below - 1) * tied.ravel()[: len(below)])
        last = first


def recompute(largest: Floats, ties: Ints, p: int) -> None:
    """Recompute a position from its children."""
    inner = len(ties)
    value = -np.inf
    count = 0
    first = WIDTH * p + 1
    for child in range(first, first + WIDTH):
        here = largest[child]
        if here >= value:
            if here > value:
                value = here
                count = 0
            count += ties[child] if child < inner else 1
    largest[p] = value
    ties[p] = count


def empty_leaf(largest: Floats, ties: Ints, p: int) -> None:
    """Empty the leaf of an arm."""
    value = largest[p]
    largest[p] = -np.inf
    while p > 0:
        p = (p - 1) // WIDTH
        if largest[p] > value:
            break
        count = ties[p]
        if count > 1:
            ties[p] = count - 1
        else:
            recompute(largest, ties, p)


def insert_leaf(largest: Floats, ties: Ints, p: int, value: float) -> None:
    """Write an index to the empty leaf of an arm."""
    largest[p] = value
    while p > 0:
        p = (p - 1) // WIDTH
        here = largest[p]
        if here > value:
            break
        if here == value:
            ties[p] += 1
        else:
            largest[p] = value
            ties[p] = 1


def find_tied(largest: Floats, ties: Ints, number: int) -> int:
    """Return the position of the arm of rank `number` in the group of largest index."""
    inner = len(ties)
    value = largest[0]
    p = 0
    while p < inner:
        first = WIDTH * p + 1
        for child in range(first, first + WIDTH):
            if largest[child] == value:
                count = int(ties[child]) if child < inner else 1  # int() is faster when interpreted
                if number < count:
                    p = child
                    break
                number -= count
    return p


def change_index(largest: Floats, ties: Ints, arm: int, value: float) -> None:
    """Update the index of an arm in the tree, unless the arm is held."""
    p = len(ties) + arm
    if largest[p] > -np.inf:
        empty_leaf(largest, ties, p)
        insert_leaf(largest, ties, p, max(value, LEAST))


def change_set(index: Floats, held: Ints, vacant: Ints, largest: Floats, ties: Ints, rng: Generator) -> None:
    """Make the held arms the best again after any of their indices has changed; `vacant` is a buffer as long as `held`.

    Held arms that are better than all others stay. The rest go back into the tree, which then has all arms that tie at
    the border, and the vacant places are drawn from it.
    """
    inner = len(ties)
    border = largest[0]
    places = 0
    for j in range(len(held)):
        arm = int(held[j])
        value = max(index[arm], LEAST)
        if value <= border:
            insert_leaf(largest, ties, inner + arm, value)
            vacant[places] = j
            places += 1
    for i in range(places):
        number = 0
        tied = int(ties[0])
        if tied > places - i:
            number = int(rng.random() * tied)
        p = find_tied(largest, ties, number)
        empty_leaf(largest, ties, p)
        held[vacant[i]] = p - inner
