"""CUCB: combinatorial upper confidence bounds, for the sum of k arms.

In round t, with N(a) the plays of arm a, C(a) the sum of its rewards and B the largest reward,

1. set for every arm

       index(a) = C(a) / N(a) + B sqrt(3 log t / (2 N(a))),

   and infinity if it was never played; with `clip`, B at the most;
2. play the best set if the indices were the means: for the sum of k arms these are the k of largest index, ties broken
   uniformly at random.

The infinite indices see to it that each arm is played once in the first n/k rounds, rounded up.

Chen, Wang, Yuan: Combinatorial Multi-Armed Bandit: General Framework, Results and Applications (2013).
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setwise.declare import check_range, policy
from setwise.kernels.topk import top_k
from setwise.policies.anytime_ucb import AnytimeState, anytime_state, count_round, set_indices
from setwise.policies.frozen import larger_state, select_available, write_indices
from setwise.types import Floats, Generator, Ints


@policy(
    title="CUCB",
    reference="Chen, Wang, Yuan 2013",
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="each arm has a mean of its own",
    regret_bound="O(k^2 n log T / epsilon)",
    original=True,
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
)
class CUCB(NamedTuple):
    """Play the k arms of largest C/N + B sqrt(3 log t / (2 N)).

    clip: whether an index is B at the most, as an oracle would need that takes only means; then many indices tie
    bound: B, the largest reward an arm can earn in one round
    """

    clip: bool = False
    bound: float = 1.0

    def check(self) -> None:
        check_range("CUCB: bound", self.bound, 0.0, math.inf, strict=True)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> AnytimeState:
        return anytime_state(n, k)

    def select(self, state: AnytimeState, rng: Generator) -> Ints:
        top_k(state.indices, state.chosen, state.best, rng)
        return state.chosen

    def update(self, state: AnytimeState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        count_round(state, chosen, rewards)
        level = self.bound * self.bound * 1.5 * math.log(state.rounds[0] + 1)
        set_indices(state, level, self.bound if self.clip else math.inf)

    def indices(self, state: AnytimeState, out: Floats) -> None:
        write_indices(state, out)

    def select_from(self, state: AnytimeState, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
        return select_available(state, available, rng)

    def grow(self, state: AnytimeState, n: int, rng: Generator) -> AnytimeState:
        return larger_state(state, n)
