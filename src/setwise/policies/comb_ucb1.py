"""CombUCB1: upper confidence bounds for combinatorial semi-bandits with a sum of rewards.

While there is an arm that was never played, play a set with as many such arms as fit; any others will do to fill it up,
and they are drawn at random. That takes n/k rounds, rounded up. Then, in round t, with N(a) the plays of arm a, C(a)
the sum of its rewards and B the largest reward,

1. set for every arm

       index(a) = C(a) / N(a) + B sqrt(3 log(t - 1) / (2 N(a)));

2. play the set whose indices have the largest sum: the k arms of largest index, ties broken uniformly at random.

From CUCB it differs by t - 1 and by how the first rounds are filled up.

Kveton, Wen, Ashkan, Szepesvari: Tight Regret Bounds for Stochastic Combinatorial Semi-Bandits (2015).
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
    title="CombUCB1",
    reference="Kveton, Wen, Ashkan, Szepesvari 2015",
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="each arm has a mean of its own",
    regret_bound="O(k n log T / epsilon)",
    original=True,
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
)
class CombUCB1(NamedTuple):
    """Play every arm once, then the k arms of largest C/N + B sqrt(3 log(t - 1) / (2 N)).

    While an arm was never played, its index is infinite, and that of the others is 0.

    bound: B, the largest reward an arm can earn in one round
    """

    bound: float = 1.0

    def check(self) -> None:
        check_range("CombUCB1: bound", self.bound, 0.0, math.inf, strict=True)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> AnytimeState:
        return anytime_state(n, k)

    def select(self, state: AnytimeState, rng: Generator) -> Ints:
        top_k(state.indices, state.chosen, state.best, rng)
        return state.chosen

    def update(self, state: AnytimeState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        count_round(state, chosen, rewards)
        cover_or_set(state, self.bound)

    def indices(self, state: AnytimeState, out: Floats) -> None:
        write_indices(state, out)

    def select_from(self, state: AnytimeState, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
        return select_available(state, available, rng)

    def grow(self, state: AnytimeState, n: int, rng: Generator) -> AnytimeState:
        larger = larger_state(state, n)
        if state.rounds[0] > 0:
            cover_or_set(larger, self.bound)
        return larger


def cover_or_set(state: AnytimeState, bound: float) -> None:
    """Set the index of every arm that was played: to 0 while there are others, by the formula from then on."""
    least = state.pulls[0]
    for arm in range(len(state.pulls)):
        least = min(least, state.pulls[arm])
    if least > 0:
        set_indices(state, bound * bound * 1.5 * math.log(state.rounds[0]), math.inf)
    else:
        set_indices(state, 0.0, 0.0)
