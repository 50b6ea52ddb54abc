"""The k arms of largest index, ties broken uniformly: for many arms, kept in a tournament.

The arms of the set are held apart. All others compete in a tree: position p has the children WIDTH p + 1, ...,
WIDTH p + WIDTH, `largest[p]` is the largest index among the arms below it, and `ties[p]` counts those that have it. The
arms are the last positions, in the order of their numbers; a place where there is none, or whose arm is held, has minus
infinity. So the tree follows from the indices and the set alone, and arms never move in memory.

An arm of the set that is no better than the best of the others goes back, and the best of the tree comes in its place.
If the border of the set runs through a group of equal indices, the counts lead to any member of it by its number. That
costs O(log n) for every arm that leaves or enters; an arm that stays costs a comparison.
"""

import numpy as np

from setwise.types import Floats, Generator, Ints

WIDTH = 16  # children of a position: two lines of memory, and five levels for a million arms
LEAST = -1.7976931348623157e308  # the least float; an index below it counts as that, as minus infinity means nobody


def tree_size(n: int) -> tuple[int, int]:
    """How many positions have children, and how many there are in all, for n arms; every one of the first is full.

    >>> tree_size(1), tree_size(16), tree_size(17)
    ((1, 17), (1, 17), (2, 33))
    """
    inner = max(1, -(-(n - 1) // (WIDTH - 1)))
    return inner, WIDTH * inner + 1


def build_tree(index: Floats, held: Ints, largest: Floats, ties: Ints) -> None:
    """Fill the tree from the index of every arm that is not held. Not for compiled code."""
    inner = len(ties)
    largest[:] = -np.inf
    np.maximum(index, LEAST, out=largest[inner : inner + len(index)])
    largest[inner + held] = -np.inf
    last = inner
    while last > 0:  # level by level, from the deepest up: the children of first .. last - 1 are done
        first = (last - 1 + WIDTH - 1) // WIDTH
        start = WIDTH * first + 1
        values = largest[start : WIDTH * last + 1].reshape(-1, WIDTH)
        largest[first:last] = values.max(axis=1)
        tied = values == largest[first:last, np.newaxis]
        ties[first:last] = tied.sum(axis=1)
        below = ties[start : WIDTH * last + 1]  # of the children that have children; the others count once
        parents = (np.arange(start, start + len(below)) - 1) // WIDTH
        np.add.at(ties, parents, (below - 1) * tied.ravel()[: len(below)])
        last = first


def look_below(largest: Floats, ties: Ints, p: int) -> None:
    """Set a position anew from its children."""
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


def take_out(largest: Floats, ties: Ints, p: int) -> None:
    """Leave the place of an arm empty."""
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
            look_below(largest, ties, p)


def put_in(largest: Floats, ties: Ints, p: int, value: float) -> None:
    """Give the empty place of an arm its index."""
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
    """The position of the arm of that number in the group of largest index."""
    inner = len(ties)
    value = largest[0]
    p = 0
    while p < inner:
        first = WIDTH * p + 1
        for child in range(first, first + WIDTH):
            if largest[child] == value:
                count = int(ties[child]) if child < inner else 1  # Python's own numbers are faster where it interprets
                if number < count:
                    p = child
                    break
                number -= count
    return p


def change_index(largest: Floats, ties: Ints, arm: int, value: float) -> None:
    """Tell the tree the new index of an arm, unless it is held."""
    p = len(ties) + arm
    if largest[p] > -np.inf:
        take_out(largest, ties, p)
        put_in(largest, ties, p, max(value, LEAST))


def change_set(index: Floats, held: Ints, vacant: Ints, largest: Floats, ties: Ints, rng: Generator) -> None:
    """Make the held arms the best again, after any of their indices has changed; `vacant` is a buffer as long.

    Held arms that are better than all others stay. The others go back to the tree, where all that tie at the border
    then are, and which of those get in is drawn afresh.
    """
    inner = len(ties)
    border = largest[0]
    places = 0
    for j in range(len(held)):
        arm = int(held[j])
        value = max(index[arm], LEAST)
        if value <= border:
            put_in(largest, ties, inner + arm, value)
            vacant[places] = j
            places += 1
    for i in range(places):
        number = 0
        tied = int(ties[0])
        if tied > places - i:
            number = int(rng.random() * tied)
        p = find_tied(largest, ties, number)
        take_out(largest, ties, p)
        held[vacant[i]] = p - inner
