"""The k arms of largest index, ties broken uniformly: for many arms, kept in a heap.

A max-heap of arms: position p has the children WIDTH p + 1, ..., WIDTH p + WIDTH, `arms[p]` is the arm there,
`values[p]` its index, `places[arm]` its position. `equals[p]` counts the positions of the subtree of p whose value is
that of p. In a max-heap these hang together, so a group of equal values is a few such subtrees, and any member of it is
found by its number in O(log n). Selecting changes nothing; a changed index costs O(log n).
"""

import numpy as np

from setwise.types import Floats, Generator, Ints

WIDTH = 4  # children of a position: fewer levels than with two, so fewer places in memory to go to


def build_heap(index: Floats, arms: Ints, places: Ints, values: Floats, equals: Ints) -> None:
    """Fill the heap from the index of every arm: sorted arms are a heap. Not for compiled code."""
    n = len(arms)
    arms[:] = np.argsort(-index, kind="stable")
    values[:] = index[arms]
    places[arms] = np.arange(n)
    equals[:] = 1
    last = n
    while last > 1:  # level by level, from the deepest up: positions first .. last - 1 have their parents on the next
        first = (last - 2) // WIDTH + 1 if last > 2 else 1
        children = np.arange(first, last)
        parents = (children - 1) // WIDTH
        np.add.at(equals, parents, np.where(values[children] == values[parents], equals[children], 0))
        last = first


def count_equals(values: Floats, equals: Ints, p: int) -> None:
    """Recount `equals[p]` from the children of p."""
    count = 1
    for child in range(WIDTH * p + 1, min(WIDTH * p + WIDTH + 1, len(values))):
        if values[child] == values[p]:
            count += equals[child]
    equals[p] = count


def change_value(arms: Ints, places: Ints, values: Floats, equals: Ints, arm: int, value: float) -> None:
    """Give one arm a new index and restore the heap."""
    n = len(arms)
    p = places[arm]
    top = p
    if value > values[p]:
        low = p
        while p > 0 and values[(p - 1) // WIDTH] < value:
            parent = (p - 1) // WIDTH
            arms[p] = arms[parent]
            values[p] = values[parent]
            places[arms[p]] = p
            p = parent
        top = p
    else:
        while WIDTH * p + 1 < n:
            child = WIDTH * p + 1
            for other in range(child + 1, min(child + WIDTH, n)):
                if values[other] > values[child]:
                    child = other
            if values[child] <= value:
                break
            arms[p] = arms[child]
            values[p] = values[child]
            places[arms[p]] = p
            p = child
        low = p
    arms[p] = arm
    values[p] = value
    places[arm] = p
    p = low
    while True:
        before = equals[p]
        count_equals(values, equals, p)
        # Above the topmost change only the counts can differ; the parent of that position always needs a look.
        if p == 0 or (p < top and equals[p] == before):
            break
        p = (p - 1) // WIDTH


def frontier_push(values: Floats, frontier: Ints, size: int, p: int) -> None:
    """Add position p to the `size` candidates, themselves a small heap."""
    i = size
    while i > 0 and values[frontier[(i - 1) // 2]] < values[p]:
        frontier[i] = frontier[(i - 1) // 2]
        i = (i - 1) // 2
    frontier[i] = p


def frontier_pop(values: Floats, frontier: Ints, size: int) -> int:
    """Take the best of the `size` candidates."""
    result = frontier[0]
    p = frontier[size - 1]
    i = 0
    while 2 * i + 1 < size - 1:
        child = 2 * i + 1
        if child + 1 < size - 1 and values[frontier[child + 1]] > values[frontier[child]]:
            child += 1
        if values[frontier[child]] <= values[p]:
            break
        frontier[i] = frontier[child]
        i = child
    frontier[i] = p
    return int(result)


def heap_top(arms: Ints, values: Floats, equals: Ints, chosen: Ints, frontier: Ints, rng: Generator) -> float:
    """Write the k best arms to `chosen`; return the best index among the others (the border's, if it ties there).

    `frontier` has room for (WIDTH + 1) k + 1 positions: the candidates, and the numbers drawn for ties.
    """
    n = len(arms)
    k = len(chosen)
    size = 1
    frontier[0] = 0
    for j in range(k):
        p = frontier_pop(values, frontier, size)
        size -= 1
        chosen[j] = p
        for child in range(WIDTH * p + 1, min(WIDTH * p + WIDTH + 1, n)):
            frontier_push(values, frontier, size, child)
            size += 1
    theta = -1.0
    if size > 0:
        theta = values[frontier[0]]
        if theta == values[chosen[k - 1]]:
            share_top(values, equals, chosen, frontier, size, rng)
    for j in range(k):
        chosen[j] = arms[chosen[j]]
    return theta


def share_top(values: Floats, equals: Ints, chosen: Ints, frontier: Ints, size: int, rng: Generator) -> None:
    """Draw anew which positions of the group that ties at the border are chosen, each subset equally likely.

    The group has the chosen positions of that value, numbered first, and those below the candidates of that value.
    """
    k = len(chosen)
    value = values[chosen[k - 1]]
    first = k
    while first > 0 and values[chosen[first - 1]] == value:
        first -= 1
    inside = k - first
    group = inside
    for i in range(size):
        if values[frontier[i]] == value:
            group += equals[frontier[i]]
    # Numbers without replacement: the i-th is drawn among group - i and moved past the smaller ones already drawn,
    # which stand sorted behind the candidates.
    drawn = len(frontier) - inside
    for i in range(inside):
        number = int(rng.random() * (group - i))
        j = 0
        while j < i and frontier[drawn + j] <= number:
            number += 1
            j += 1
        for m in range(i, j, -1):
            frontier[drawn + m] = frontier[drawn + m - 1]
        frontier[drawn + j] = number
    # The numbers are sorted, so the places in `chosen` that stay are met before they are overwritten.
    for i in range(inside):
        number = frontier[drawn + i]
        if number < inside:
            chosen[first + i] = chosen[first + number]
        else:
            chosen[first + i] = find_equal(values, equals, frontier, size, value, number - inside)


def find_equal(values: Floats, equals: Ints, frontier: Ints, size: int, value: float, number: int) -> int:
    """The position of the member of that number in the group of that value below the candidates."""
    n = len(values)
    p = -1
    for i in range(size):
        if values[frontier[i]] == value:
            if number < equals[frontier[i]]:
                p = frontier[i]
                break
            number -= equals[frontier[i]]
    while number > 0:
        number -= 1
        for child in range(WIDTH * p + 1, min(WIDTH * p + WIDTH + 1, n)):
            if values[child] == value:
                if number < equals[child]:
                    p = child
                    break
                number -= equals[child]
    return p
