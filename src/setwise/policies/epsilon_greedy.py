"""Epsilon-greedy for sets: the best set so far, but now and then one at random.

In round t = 1, 2, ... let epsilon = min(1, c n / (k t)).

1. With probability epsilon play k of the n arms, every set equally likely; else play the k arms of largest mean reward
   so far, ties broken uniformly at random, arms never played first.
2. For each arm of the set, add its reward to its mean.

Auer, Cesa-Bianchi, Fischer 2002, "Finite-time analysis of the multiarmed bandit problem", Section 3.

Adaptation: the original plays one arm and explores with probability min(1, c n / (d^2 t)), d a lower bound on the gaps.
Here a round explores k arms, so n / k stands for n, and c for c / d^2.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setwise.declare import check_range, policy
from setwise.kernels.random_set import random_set
from setwise.kernels.ranking import new_ranking
from setwise.kernels.topk import top_k_among
from setwise.types import Floats, Generator, InputError, Ints


class EpsilonGreedyState(NamedTuple):
    """What epsilon-greedy knows.

    pulls, reward, indices: of every arm, its plays, the sum of its rewards, and their mean; infinite if never played
    ranking: of the arms by their mean
    rounds: how many were played
    arms: all of them, to draw from
    chosen, best: buffers for a set and its means
    """

    pulls: Ints
    reward: Floats
    indices: Floats
    ranking: Any
    rounds: Ints
    arms: Ints
    chosen: Ints
    best: Floats


def share_at_random(c: float, n: int, k: int, rounds: int) -> float:
    """The probability of a random set after so many rounds.

    >>> share_at_random(5.0, 20, 10, 0), share_at_random(5.0, 20, 10, 19)
    (1.0, 0.5)
    """
    return min(1.0, c * n / (k * (rounds + 1.0)))


@policy(
    title="Epsilon-greedy for sets",
    reference="Auer, Cesa-Bianchi, Fischer 2002, Section 3",
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="every arm has a mean of its own, and c is large enough for the gaps",
    regret_bound="O(n log T / d^2), d a known lower bound on the gaps, for k = 1",
    original=False,
    adaptation="The original plays one arm; here a set of k, and c stands for c / d^2.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
)
class EpsilonGreedy(NamedTuple):
    """Play a random set with probability min(1, c n / (k t)), else the k arms of largest mean.

    c: how much to explore
    """

    c: float = 5.0

    def check(self) -> None:
        check_range("EpsilonGreedy: c", self.c, 0.0, math.inf)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> EpsilonGreedyState:
        indices = np.full(n, np.inf)
        return EpsilonGreedyState(
            pulls=np.zeros(n, np.int64),
            reward=np.zeros(n),
            indices=indices,
            ranking=new_ranking(indices, k),
            rounds=np.zeros(1, np.int64),
            arms=np.arange(n),
            chosen=np.arange(k),
            best=np.zeros(k),
        )

    def select(self, state: EpsilonGreedyState, rng: Generator) -> Ints:
        k = len(state.chosen)
        if rng.random() < share_at_random(self.c, len(state.indices), k, state.rounds[0]):
            random_set(state.arms, state.chosen, rng)
            return state.chosen
        return state.ranking.top(state.indices, k, rng)  # type: ignore[no-any-return]

    def update(self, state: EpsilonGreedyState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        state.rounds[0] += 1
        for j in range(len(chosen)):
            arm = chosen[j]
            state.pulls[arm] += 1
            state.reward[arm] += rewards[j]
            state.indices[arm] = state.reward[arm] / state.pulls[arm]
        state.ranking.moved(state.indices, chosen)

    def indices(self, state: EpsilonGreedyState, out: Floats) -> None:
        for arm in range(len(out)):
            out[arm] = state.indices[arm]

    def select_from(self, state: EpsilonGreedyState, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
        index = state.indices
        if rng.random() < share_at_random(self.c, len(index), len(state.chosen), state.rounds[0]):
            index = np.zeros(len(index))
        found = top_k_among(index, available, state.chosen, state.best, rng)
        return state.chosen[:found]

    def grow(self, state: EpsilonGreedyState, n: int, rng: Generator) -> EpsilonGreedyState:
        before = len(state.pulls)
        if n < before:
            raise InputError(f"n={n} is less than the {before} arms there are; arms are added, never taken away")
        larger = self.init(n, len(state.chosen), 1, rng)
        for name in ("pulls", "reward", "indices"):
            getattr(larger, name)[:before] = getattr(state, name)
        larger.rounds[:] = state.rounds
        return larger._replace(ranking=new_ranking(larger.indices, len(larger.chosen)))
