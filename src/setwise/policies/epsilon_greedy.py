"""Epsilon-greedy for sets: the best set so far, with probability epsilon a random one.

In round t = 1, 2, ... let epsilon = min(1, c n / (k t)).

1. With probability epsilon play k of the n arms, every set equally likely; else play the k arms of largest mean reward
   so far, ties broken uniformly at random, arms never played first.
2. For each arm of the set, update its mean reward.

Auer, Cesa-Bianchi, Fischer 2002, "Finite-time analysis of the multiarmed bandit problem", Section 3.

Adaptation: the original plays one arm and explores with probability min(1, c n / (d^2 t)), d a lower bound on the gaps.
Here a round explores k arms, so n / k stands for n, and c for c / d^2.
"""

from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.random_set import random_set
from setwise.kernels.ranking import Ranking, new_ranking
from setwise.kernels.topk import top_k_among
from setwise.policies._frozen import count_rounds, larger_state, write_indices
from setwise.types import Bools, Floats, Generator, Ints
from setwise.validation import NonNegative


class EpsilonGreedyState(NamedTuple):
    """State of epsilon-greedy.

    pulls, reward, indices: of every arm, its plays, the sum of its rewards, and their mean; infinite if never played
    ranking: of the arms by mean
    rounds: rounds played
    arms: all arms, to draw from
    chosen, best: buffers for a set and its means
    """

    pulls: Ints
    reward: Floats
    indices: Floats
    ranking: Ranking
    rounds: Ints
    arms: Ints
    chosen: Ints
    best: Floats


def share_at_random(c: float, n: int, k: int, rounds: int) -> float:
    """Return the probability of a random set after `rounds` rounds.

    >>> share_at_random(5.0, 20, 10, 0), share_at_random(5.0, 20, 10, 19)
    (1.0, 0.5)
    """
    return min(1.0, c * n / (k * (rounds + 1.0)))


@policy(
    title="Epsilon-greedy for sets",
    reference="Auer, Cesa-Bianchi, Fischer 2002, Section 3",
    assumptions="every arm has a mean of its own, and c is large enough for the gaps",
    regret_bound="O(n log T / d^2), d a known lower bound on the gaps, for k = 1",
    if_assumption_fails="linear regret in general",
    adaptation="The original plays one arm; here a set of k, and c stands for c / d^2.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
    missing=True,
)
class EpsilonGreedy(NamedTuple):
    """Play a random set with probability min(1, c n / (k t)), else the k arms of largest mean.

    c: how much to explore
    """

    c: NonNegative = 5.0

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
        return state.ranking.top(state.indices, k, rng)

    def update(self, state: EpsilonGreedyState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        count_rounds(state, chosen, rewards, 1)
        for j in range(len(chosen)):
            state.indices[chosen[j]] = state.reward[chosen[j]] / state.pulls[chosen[j]]
        state.ranking.moved(state.indices, chosen)

    def indices(self, state: EpsilonGreedyState, out: Floats) -> None:
        write_indices(state, out)

    def select_from(self, state: EpsilonGreedyState, available: Bools, rng: Generator) -> Ints:
        index = state.indices
        if rng.random() < share_at_random(self.c, len(index), len(state.chosen), state.rounds[0]):
            index = np.zeros(len(index))
        found = top_k_among(index, available, state.chosen, state.best, rng)
        return state.chosen[:found]

    def grow(self, state: EpsilonGreedyState, n: int, rng: Generator) -> EpsilonGreedyState:
        return larger_state(state, n)._replace(arms=np.arange(n))
