"""Shared by worlds without an order of the arms: validation of a given best set, and a weighted draw."""

from typing import Any

import numpy as np

from setwise.types import Floats, InputError, Ints
from setwise.validation import array, shown


def check_best_set(what: str, best_set: Any, n: int, k: int) -> Ints | None:
    """Return the set as a read-only array, or None if none is given; raise an error unless it is k distinct arms.

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
    """Return the first i where the cumulative weight exceeds the level; the number of weights if there is none.

    >>> [pick([0.5, 0.0, 0.25], level) for level in (0.0, 0.5, 0.75)]
    [0, 2, 3]
    """
    for i in range(len(weights)):
        level -= weights[i]
        if level < 0.0:
            return i
    return len(weights)
