"""The k arms of largest index, ties broken uniformly, from a nearly sorted order: for few arms.

`order` holds all arms: first the k chosen ones in any order, then the others by decreasing index. A round changes only
the indices of chosen arms, so the order is cheap to repair.
"""

import numpy as np

from setwise.types import Floats, Generator, Ints


def sort_order(index: Floats, order: Ints) -> None:
    """Sort all arms by decreasing index, by insertion sort: fast on a nearly sorted order."""
    for i in range(1, len(order)):
        arm = order[i]
        value = index[arm]
        j = i
        while j > 0 and index[order[j - 1]] < value:
            order[j] = order[j - 1]
            j -= 1
        order[j] = arm


def repair_order(index: Floats, order: Ints, k: int, scratch: Ints, rng: Generator) -> None:
    """Make the first k arms of `order` the k best again after any of their indices has changed.

    A chosen arm that is no longer above the best of the others is swapped with it. If the border then splits a group
    of equal indices, redraw which of its arms are in.
    """
    n = len(order)
    if k == n:
        return
    border = index[order[k]]
    last_in = np.inf
    moved = False
    for j in range(k):
        arm = order[j]
        value = index[arm]
        if value <= border:
            last_in = border
            moved = True
            order[j] = order[k]
            i = k
            while i + 1 < n and index[order[i + 1]] > value:
                order[i] = order[i + 1]
                i += 1
            order[i] = arm
            border = index[order[k]]
    if moved and last_in == border:
        share_border(index, order, k, scratch, rng)


def share_border(index: Floats, order: Ints, k: int, scratch: Ints, rng: Generator) -> None:
    """Redraw which arms of the group that ties at the border are among the first k, each subset equally likely.

    Goes through the group by arm number, so that the result depends only on the indices and the generator. `scratch`
    is twice as long as `order`.
    """
    n = len(order)
    value = index[order[k]]
    size = 0
    for j in range(k):
        if index[order[j]] == value:
            scratch[size] = order[j]
            scratch[n + size] = j
            size += 1
    places = size
    for j in range(k, n):
        if index[order[j]] != value:
            break
        scratch[size] = order[j]
        scratch[n + size] = j
        size += 1
    for i in range(1, size):
        arm = scratch[i]
        j = i
        while j > 0 and scratch[j - 1] > arm:
            scratch[j] = scratch[j - 1]
            j -= 1
        scratch[j] = arm
    inside = 0
    outside = places
    for i in range(size):
        if rng.random() * (size - i) < places - inside:
            order[scratch[n + inside]] = scratch[i]
            inside += 1
        else:
            order[scratch[n + outside]] = scratch[i]
            outside += 1


def top_k(index: Floats, chosen: Ints, best: Floats, rng: Generator) -> None:
    """Write the k = len(chosen) arms of largest index to `chosen`, ties uniform; `best` is a buffer of that length.

    For use when any index may have changed. One pass keeps the k best values in decreasing order; if arms that tie with
    the last of them do not all fit, draw which get in, by arm number.
    """
    k = len(chosen)
    found = 0
    outside = -np.inf  # the largest value not among the k best
    for arm in range(len(index)):
        value = index[arm]
        if found < k:
            j = found
            found += 1
        elif value > best[k - 1]:
            outside = max(outside, best[k - 1])
            j = k - 1
        else:
            outside = max(outside, value)
            continue
        while j > 0 and best[j - 1] < value:
            best[j] = best[j - 1]
            chosen[j] = chosen[j - 1]
            j -= 1
        best[j] = value
        chosen[j] = arm
    border = best[k - 1]
    if k < len(index) and outside == border:
        above = k
        while above > 0 and best[above - 1] == border:
            above -= 1
        ties = 0
        for arm in range(len(index)):
            if index[arm] == border:
                ties += 1
        for arm in range(len(index)):
            if index[arm] == border:
                if rng.random() * ties < k - above:
                    chosen[above] = arm
                    above += 1
                ties -= 1


def top_k_among(index: Floats, available: "np.ndarray[tuple[int], np.dtype[np.bool_]]", chosen: Ints, best: Floats,
                rng: Generator) -> int:  # fmt: skip
    """Write the best available arms to `chosen`, ties uniform; return how many were written, at most len(chosen).

    `best` is a buffer as long as `chosen`.
    """
    k = len(chosen)
    found = 0
    for arm in range(len(index)):
        if available[arm] and (found < k or index[arm] > best[found - 1]):
            if found < k:
                found += 1
            j = found - 1
            while j > 0 and best[j - 1] < index[arm]:
                best[j] = best[j - 1]
                j -= 1
            best[j] = index[arm]
    border = best[found - 1] if found == k else -np.inf
    ties = 0
    above = 0
    for arm in range(len(index)):
        if available[arm]:
            if index[arm] > border:
                chosen[above] = arm
                above += 1
            elif index[arm] == border:
                ties += 1
    for arm in range(len(index)):
        if available[arm] and index[arm] == border:
            if rng.random() * ties < found - above:
                chosen[above] = arm
                above += 1
            ties -= 1
    return found
