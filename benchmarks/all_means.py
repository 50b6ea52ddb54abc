"""Thompson sampling as it is written: draw the mean of every arm, then play the k largest."""

from typing import NamedTuple

import setwise as sw
from setwise.declare import shares
from setwise.kernels.topk import top_k
from setwise.policies.thompson import Thompson, ThompsonState, sample_means
from setwise.types import Floats, Generator, Ints


@sw.policy
@shares(Thompson, "init")
class AllMeans(NamedTuple):
    """Thompson sampling with n draws in every round, for comparison."""

    bound: float = 1.0

    def select(self, state: ThompsonState, rng: Generator) -> Ints:
        sample_means(state, rng)
        top_k(state.indices, state.chosen, state.best, rng)
        return state.chosen

    def update(self, state: ThompsonState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        for j in range(len(chosen)):
            if rewards[j] > 0.0:
                state.successes[chosen[j]] += 1.0
            else:
                state.failures[chosen[j]] += 1.0
