"""Rounds in which some rewards are not observed: a policy learns from the others only."""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.types import Floats, Generator, Ints


class Observed(NamedTuple):
    """Buffers for the arms whose rewards were observed, and these rewards."""

    arms: Ints
    rewards: Floats


def new_observed(k: int) -> Observed:
    """Create empty buffers."""
    return Observed(np.zeros(k, np.int64), np.zeros(k))


def learn_round(
    policy: Any, state: Any, chosen: Ints, rewards: Floats, observed: Observed | None, rng: Generator
) -> None:
    """Learn from one round; with buffers, from the rewards that are not NaN, in their order, if there is any."""
    if observed is None:  # known at compile time: then nothing below is compiled
        policy.update(state, chosen, rewards, rng)
        return
    count = 0
    for j in range(len(chosen)):
        if not math.isnan(rewards[j]):
            observed.arms[count] = chosen[j]
            observed.rewards[count] = rewards[j]
            count += 1
    if count > 0:
        policy.update(state, observed.arms[:count], observed.rewards[:count], rng)
