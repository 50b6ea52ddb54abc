"""All sets of k of n arms in the order of `itertools.combinations`: set to row, row to set, next set.

The row of a set c_0 < ... < c_(k-1) is

    C(n, k) - 1 - sum over i of C(n - 1 - c_i, k - i).
"""

import math

import numpy as np

from setwise.types import Ints

TOO_MANY = 1 << 61  # in place of larger numbers of sets, which no row needs


def binomial_table(n: int, k: int) -> Ints:
    """Return C(m, j) for m < n and j <= k, or `TOO_MANY` if that is larger."""
    table = np.zeros((n, k + 1), np.int64)
    table[:, 0] = 1
    for m in range(1, n):
        table[m, 1:] = np.minimum(table[m - 1, 1:] + table[m - 1, :-1], TOO_MANY)
    table.setflags(write=False)
    return table


def row_of(choose: Ints, sets: int, chosen: Ints) -> int:
    """Return the row of a set; its arms may be in any order."""
    n = len(choose)
    k = len(chosen)
    row = sets - 1
    for j in range(k):
        row -= choose[n - 1 - chosen[j], k - rank_in_set(chosen, j)]
    return row


def rank_in_set(chosen: Ints, j: int) -> int:
    """Return how many arms of the set have a smaller number than the j-th."""
    rank = 0
    for i in range(len(chosen)):
        if chosen[i] < chosen[j]:
            rank += 1
    return rank


def set_of_row(n: int, k: int, row: int) -> Ints:
    """Return the arms of a row, in increasing order.

    >>> set_of_row(4, 2, 0).tolist(), set_of_row(4, 2, 5).tolist()
    ([0, 1], [2, 3])
    """
    chosen: list[int] = []
    arm = 0
    while len(chosen) < k:
        here = math.comb(n - 1 - arm, k - len(chosen) - 1)
        if row < here:
            chosen.append(arm)
        else:
            row -= here
        arm += 1
    return np.array(chosen, dtype=np.int64)


def write_set(choose: Ints, row: int, chosen: Ints) -> None:
    """Write the arms of a row to `chosen`, in increasing order: `set_of_row` in compiled code.

    >>> chosen = np.zeros(2, np.int64)
    >>> write_set(binomial_table(4, 2), 4, chosen)
    >>> chosen.tolist()
    [1, 3]
    """
    k = len(chosen)
    arm = 0
    j = 0
    while j < k:
        here = choose[len(choose) - 1 - arm, k - j - 1]
        if row < here:
            chosen[j] = arm
            j += 1
        else:
            row -= here
        arm += 1


def next_set(n: int, chosen: Ints) -> None:
    """Replace a set, its arms in increasing order, by the next one; the last set stays as it is."""
    k = len(chosen)
    j = k - 1
    while j >= 0 and chosen[j] == n - k + j:
        j -= 1
    if j >= 0:
        chosen[j] += 1
        for i in range(j + 1, k):
            chosen[i] = chosen[i - 1] + 1
