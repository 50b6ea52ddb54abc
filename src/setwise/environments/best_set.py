"""What worlds whose arms have no order share: a best set that is given, and a draw by weights."""

from typing import Any

import numpy as np

from setwise.declare import array, shown
from setwise.types import Floats, InputError, Ints


def check_best_set(what: str, best_set: Any, n: int, k: int) -> Ints | None:
    """The set as a read-only array, if it is k distinct ones of the n arms; None if there is none.

    >>> check_best_set("Table: best_set", (4, 0), n=5, k=2)
    array([4, 0])
    """
    if best_set is None:
        return None
    chosen: Ints = array(what, best_set, np.int64)
    if chosen.shape != (k,) or len(set(chosen.tolist()) & set(range(n))) < k:
        raise InputError(f"{what} is {shown(best_set)}; it has to be {k} distinct arms from 0 to {n - 1}")
    return chosen


def pick(weights: Floats, level: float) -> int:
    """In which of the weights, laid end to end from 0 on, the level falls; beyond the last, how many there are.

    >>> [pick([0.5, 0.0, 0.25], level) for level in (0.0, 0.5, 0.75)]
    [0, 2, 3]
    """
    for i in range(len(weights)):
        level -= weights[i]
        if level < 0.0:
            return i
    return len(weights)
