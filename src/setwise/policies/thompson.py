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
from setwise.kernels.topk import top_k
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


@policy(
    title="Thompson sampling for sets",
    reference="Komiyama, Honda, Nakagawa 2015; Wang, Chen 2018",
    assumptions="every arm has a mean of its own, and arms are independent",
    regret_bound="O(n log T / epsilon)",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
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
        )

    def select(self, state: ThompsonState, rng: Generator) -> Ints:
        sample_means(state, rng)
        top_k(state.indices, state.chosen, state.best, rng)
        return state.chosen

    def update(self, state: ThompsonState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        for j in range(len(chosen)):
            reward = rewards[j]
            if reward >= self.bound or (reward > 0.0 and rng.random() < reward / self.bound):
                state.successes[chosen[j]] += 1.0
            else:
                state.failures[chosen[j]] += 1.0

    def select_from(self, state: ThompsonState, available: Bools, rng: Generator) -> Ints:
        sample_means(state, rng)
        return select_available(state, available, rng)

    def grow(self, state: ThompsonState, n: int, rng: Generator) -> ThompsonState:
        return larger_state(state, n)


def sample_means(state: ThompsonState, rng: Generator) -> None:
    """Draw every arm's mean from its posterior; Beta(1, 1) is uniform, which is much faster to draw."""
    for arm in range(len(state.indices)):
        successes = state.successes[arm]
        failures = state.failures[arm]
        if successes + failures == 0.0:
            state.indices[arm] = rng.random()
        else:
            state.indices[arm] = rng.beta(1.0 + successes, 1.0 + failures)
