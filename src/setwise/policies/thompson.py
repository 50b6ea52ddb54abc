"""Thompson sampling for sets: play the k arms of largest sampled mean.

Every arm's mean has a Beta posterior, Beta(1, 1) at first. In each round

1. draw theta(a) from the posterior of every arm a, and play the k arms of largest theta;
2. for each arm of the set, let Y be 1 with probability X / B, X the arm's reward and B the largest possible, else 0,
   and update Beta(p, q) to Beta(p + Y, q + 1 - Y).

A reward of 0 or B needs no draw in the second step.

Komiyama, Honda, Nakagawa 2015, "Optimal regret analysis of Thompson sampling in stochastic multi-armed bandit problem
with multiple plays"; Wang, Chen 2018, "Thompson sampling for combinatorial semi-bandits"; rewards between 0 and 1:
Agrawal, Goyal 2012, "Analysis of Thompson sampling for the multi-armed bandit problem".
"""

from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.beta_tails import draw_mean
from setwise.kernels.largest_betas import (
    LargestBetas,
    count_outcome,
    draw_largest,
    end_round,
    new_largest_betas,
    split_arms,
)
from setwise.policies._frozen import larger_state, select_available
from setwise.types import Bools, Floats, Generator, Ints
from setwise.validation import Positive


class ThompsonState(NamedTuple):
    """State of Thompson sampling.

    successes, failures: of every arm, how often Y was 1, and 0
    indices: buffer for the sampled means
    chosen, best: buffers for a set and its samples
    """

    successes: Floats
    failures: Floats
    indices: Floats
    chosen: Ints
    best: Floats
    largest: LargestBetas


@policy(
    title="Thompson sampling for sets",
    reference="Komiyama, Honda, Nakagawa 2015; Wang, Chen 2018",
    assumptions="every arm has a mean of its own, and arms are independent",
    regret_bound="O(n log T / epsilon)",
    if_assumption_fails="linear regret in general",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
    missing=True,
)
class Thompson(NamedTuple):
    """Play the k arms of largest theta, each drawn from Beta(1 + successes, 1 + failures).

    A round costs n draws. It is a heuristic if an arm's reward depends on the set.

    bound: B, the largest reward an arm can earn in one round
    """

    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> ThompsonState:
        return ThompsonState(
            successes=np.zeros(n),
            failures=np.zeros(n),
            indices=np.zeros(n),
            chosen=np.arange(k),
            best=np.zeros(k),
            largest=new_largest_betas(n, k),
        )

    def select(self, state: ThompsonState, rng: Generator) -> Ints:
        draw_largest(state.largest, state.successes, state.failures, state.chosen, rng)
        return state.chosen

    def update(self, state: ThompsonState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        for j in range(len(chosen)):
            reward = rewards[j]
            success = reward >= self.bound or (reward > 0.0 and rng.random() < reward / self.bound)
            count_outcome(state.largest, state.successes, state.failures, chosen[j], success)
        end_round(state.largest, state.successes, state.failures)

    def select_from(self, state: ThompsonState, available: Bools, rng: Generator) -> Ints:
        sample_means(state, rng)
        return select_available(state, available, rng)

    def grow(self, state: ThompsonState, n: int, rng: Generator) -> ThompsonState:
        larger = larger_state(state, n)._replace(largest=new_largest_betas(n, len(state.chosen)))
        split_arms(larger.largest, larger.successes, larger.failures)
        return larger


def sample_means(state: ThompsonState, rng: Generator) -> None:
    """Draw every arm's mean from its posterior."""
    for arm in range(len(state.indices)):
        state.indices[arm] = draw_mean(state.successes[arm], state.failures[arm], rng)
