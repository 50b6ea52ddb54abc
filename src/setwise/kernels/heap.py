"""The k arms of largest index, ties broken uniformly: for many arms, kept in a heap.

A binary max-heap of arms: position p has the children 2p + 1 and 2p + 2, `arms[p]` is the arm there, `values[p]` its
index, `places[arm]` its position. `equals[p]` counts the positions of the subtree of p whose value is that of p. In a
max-heap these hang together, so a group of equal values is a few such subtrees, and any member of it is found by its
number in O(log n). Selecting changes nothing; a changed index costs O(log n).
"""

from setwise.types import Floats, Generator, Ints


def build_heap(index: Floats, arms: Ints, places: Ints, values: Floats, equals: Ints) -> None:
    """Fill the heap from the index of every arm."""
    n = len(arms)
    order = (-index).argsort()
    for p in range(n):
        arms[p] = order[p]
        values[p] = index[order[p]]
        places[order[p]] = p
    for p in range(n - 1, -1, -1):
        count_equals(values, equals, p)


def count_equals(values: Floats, equals: Ints, p: int) -> None:
    """Recount `equals[p]` from the children of p."""
    n = len(values)
    count = 1
    child = 2 * p + 1
    if child < n and values[child] == values[p]:
        count += equals[child]
    child += 1
    if child < n and values[child] == values[p]:
        count += equals[child]
    equals[p] = count


def change_value(arms: Ints, places: Ints, values: Floats, equals: Ints, arm: int, value: float) -> None:
    """Give one arm a new index and restore the heap."""
    n = len(arms)
    p = places[arm]
    top = p
    if value > values[p]:
        low = p
        while p > 0 and values[(p - 1) // 2] < value:
            parent = (p - 1) // 2
            arms[p] = arms[parent]
            values[p] = values[parent]
            places[arms[p]] = p
            p = parent
        top = p
    else:
        while 2 * p + 1 < n:
            child = 2 * p + 1
            if child + 1 < n and values[child + 1] > values[child]:
                child += 1
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
        p = (p - 1) // 2


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

    `frontier` has room for 3 k + 3 positions.
    """
    n = len(arms)
    k = len(chosen)
    size = 1
    frontier[0] = 0
    for j in range(k):
        p = frontier_pop(values, frontier, size)
        size -= 1
        chosen[j] = p
        for child in range(2 * p + 1, min(2 * p + 3, n)):
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
        child = 2 * p + 1
        if child < n and values[child] == value:
            if number < equals[child]:
                p = child
                continue
            number -= equals[child]
        p = child + 1
    return p
