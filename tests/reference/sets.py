"""The sets of a world and their values, in plain Python."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def means_of(world: Any, chosen: Sequence[int]) -> Any:
    """P(a|s) of every arm of the set."""
    out = np.full(len(chosen), np.nan)
    world.means(np.array(chosen), out)
    return out


def value_of(world: Any, chosen: Sequence[int]) -> float:
    """Q(s)."""
    return math.fsum(means_of(world, chosen))


def sets_of(world: Any) -> list[tuple[int, ...]]:
    """All sets of k arms."""
    return list(itertools.combinations(range(world.n), world.k))


def gaps_by_brute_force(world: Any) -> tuple[float, float]:
    """The least positive and the largest gap."""
    values = [value_of(world, chosen) for chosen in sets_of(world)]
    gaps = [max(values) - value for value in values]
    return min((gap for gap in gaps if gap > 1e-12), default=0.0), max(gaps)
