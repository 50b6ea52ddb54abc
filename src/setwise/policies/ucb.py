"""Algorithm 1 of the paper: the k arms of largest upper confidence bound.

Before the first round every arm's index is infinite. In each round

1. play the k arms of largest index, ties broken uniformly at random;
2. for each arm a of the set, with N(a) its plays, C(a) the sum of its rewards and T the horizon, set

       index(a) = C(a) / N(a) + B sqrt(alpha log T / N(a))

   and leave every other arm's index exactly as it was.

Yang, Ren, Dhillon, Sanghavi: Combinatorial Bandits without Total Order for Arms (2021), Algorithm 1; rewards in
[0, B] in Section 6.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.policies._frozen import (
    ABOVE,
    FOREVER,
    FrozenState,
    falls_at_once,
    larger_state,
    new_state,
    rerank_all,
    reset,
    safe_rounds,
    select_available,
    write_indices,
)
from setwise.types import Bools, Floats, Generator, Ints
from setwise.validation import Positive

UCBState = FrozenState  # its level: B^2 alpha log T, and B^2 alpha


def confidence_index(reward: float, pulls: int, level: float) -> float:
    """Return C / N + sqrt(level / N), with level = B^2 alpha log T.

    >>> confidence_index(30.0, 100, 2 * math.log(10**4))
    0.7291932052578695
    """
    return (reward + math.sqrt(level * pulls)) / pulls


def rounds_above(reward: float, pulls: int, level: float, theta: float) -> float:
    """Return for how many unrewarded rounds an arm's index stays above theta, up to rounding.

    With x = 1 / sqrt(N + m) the index is C x^2 + sqrt(level) x, which equals theta for
    N + m = ((sqrt(level) + sqrt(level + 4 C theta)) / (2 theta))^2.
    """
    root = (math.sqrt(level) + math.sqrt(level + 4.0 * reward * theta)) / (2.0 * theta)
    return root * root - pulls


@policy(
    title="UCB for sets",
    reference="Yang, Ren, Dhillon, Sanghavi 2021, Algorithm 1",
    assumptions="weak optimal set consistency",
    regret_bound="O(min(alpha k^2 n B^2 log T / epsilon, k^2 B sqrt(alpha n T log T)))",
    if_assumption_fails="linear regret in general",
    set_dependent="yes",
    ordered_sets=False,
    missing=True,
)
class UCB(NamedTuple):
    """Play the k arms of largest C/N + B sqrt(alpha log T / N).

    alpha: how much to explore; the theorems require 2 or more
    bound: B, the largest reward an arm can earn in one round
    """

    alpha: Positive = 2.0
    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> UCBState:
        scale = self.bound**2 * self.alpha
        return new_state(n, k, scale * math.log(horizon), scale)

    def select(self, state: UCBState, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, len(state.chosen), rng)

    def update(self, state: UCBState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn(state, chosen, rewards, 1)

    def certain_rounds(self, state: UCBState, chosen: Ints) -> int:
        return rounds_of_set(state, chosen)

    def update_many(self, state: UCBState, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn(state, chosen, totals, rounds)

    def threshold(self, state: UCBState, chosen: Ints) -> float:
        return state.ranking.border(state.indices, chosen)

    def required_reward(self, state: UCBState, arm: int, rounds: int, until: int, theta: float) -> float:
        # C / N + sqrt(level / N) is above theta for C > theta N - sqrt(level N), which is convex in N.
        pulls = float(state.pulls[arm] + rounds)
        reward: float = state.reward[arm]
        return theta * ABOVE * pulls - math.sqrt(state.level[0] * pulls) - reward

    def indices(self, state: UCBState, out: Floats) -> None:
        write_indices(state, out)

    def select_from(self, state: UCBState, available: Bools, rng: Generator) -> Ints:
        return select_available(state, available, rng)

    def grow(self, state: UCBState, n: int, rng: Generator) -> UCBState:
        return larger_state(state, n)

    def set_horizon(self, state: UCBState, horizon: int, keep: bool) -> None:
        state.level[0] = state.level[1] * math.log(horizon)
        if keep:
            for arm in range(len(state.pulls)):
                if state.pulls[arm] > 0:
                    state.indices[arm] = confidence_index(state.reward[arm], state.pulls[arm], state.level[0])
        else:
            reset(state)
        rerank_all(state)


def rounds_of_set(state: UCBState, chosen: Ints) -> int:
    """Return for how many rounds, this one included, all indices of the set are certain to stay above the others."""
    k = len(chosen)
    if k == len(state.indices):
        return FOREVER
    theta = state.ranking.border(state.indices, chosen)
    if theta == np.inf or theta <= 0.0:
        return 1
    last = chosen[k - 1]  # of few arms, the one next to theta
    if falls_at_once(state.pulls[last], state.indices[last], theta):
        return 1
    level = state.level[0]
    inverse = 1.0 / theta
    least = 1e18
    for j in range(k - 1, -1, -1):
        arm = chosen[j]
        # N U never decreases, so N (U / theta - 1) rounds are certain whatever C is: a cheap bound, often enough.
        if state.pulls[arm] == 0 or state.pulls[arm] * (state.indices[arm] * inverse - 1.0) < least:
            rounds = rounds_above(state.reward[arm], state.pulls[arm], level, theta)
            if rounds < least:
                least = rounds
                if rounds < 1.0:
                    return 1
    # The closed form has rounding errors, which matter at exact ties: the index itself decides.
    certain = int(least) + 1
    for j in range(k):
        arm = chosen[j]
        if state.pulls[arm] > 0 and safe_rounds(state.pulls[arm], state.indices[arm], theta) > certain:
            continue
        while certain > 0 and confidence_index(state.reward[arm], state.pulls[arm] + certain, level) <= theta:
            certain -= 1
    return certain + 1


def learn(state: UCBState, chosen: Ints, totals: Floats, rounds: int) -> None:
    """Add rounds of one set to its arms and update their indices."""
    level = state.level[0]
    for j in range(len(chosen)):
        arm = chosen[j]
        state.pulls[arm] += rounds
        state.reward[arm] += totals[j]
        state.indices[arm] = confidence_index(state.reward[arm], state.pulls[arm], level)
    state.ranking.moved(state.indices, chosen)
