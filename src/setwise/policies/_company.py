"""The index of an arm: the lower of its bounds in all company and in the set kept for it. See `robust_ucb`."""

from typing import Any

import numpy as np

from setwise.kernels.divergence import bernoulli_divergence
from setwise.kernels.set_table import NO_SET, place_in_slot
from setwise.policies.kl_ucb import divergence_index, level_of


def index_of(state: Any, reward: float, plays: float, bound: float) -> float:
    """Return U of the mean of these plays."""
    return divergence_index(reward, plays, state.level[0], state.level[1], bound)


def is_below(state: Any, reward: float, plays: float, q: float) -> bool:
    """Whether the upper bound of a mean is below q, N kl(p, q) > f; kl <= (p - q)^2 / (q (1 - q)) decides mostly."""
    p = reward / plays
    if p >= q:
        return False
    if q >= 1.0:
        return True
    level = level_of(plays, state.level[0], state.level[1])
    if plays * (q - p) * (q - p) <= level * q * (1.0 - q):
        return False
    return plays * bernoulli_divergence(p, q) > level


def forget(state: Any, slot: int, bound: float) -> None:
    """Drop what follows from the set of a slot, if there is one."""
    if state.table.taken[slot] == 0:
        return
    for j in range(len(state.chosen)):
        arm = state.table.arms[slot, j]
        if state.company[arm] == slot:
            release(state, arm, bound)


def release(state: Any, arm: int, bound: float) -> None:
    """Keep no set for an arm."""
    state.company[arm] = NO_SET
    state.company_bound[arm] = np.inf
    state.indices[arm] = index_of(state, state.reward[arm], state.pulls[arm], bound)
    state.other[0] = arm  # not `chosen`, which the game may still read
    state.ranking.moved(state.indices, state.other[:1])


def recompute(state: Any, bound: float) -> None:
    """Recompute all indices after the level has changed."""
    table = state.table
    for arm in range(len(state.pulls)):
        if state.pulls[arm] > 0.0:
            slot = state.company[arm]
            if slot != NO_SET:
                earned = table.rewards[slot, place_in_slot(table, slot, arm, 0)]
                state.company_bound[arm] = index_of(state, earned, table.plays[slot], bound)
            index = index_of(state, state.reward[arm], state.pulls[arm], bound)
            state.indices[arm] = min(index, state.company_bound[arm])
        state.other[0] = arm  # not `chosen`, which the game may still read
        state.ranking.moved(state.indices, state.other[:1])
