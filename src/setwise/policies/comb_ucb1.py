"""CombUCB1: upper confidence bounds for combinatorial semi-bandits with a sum of rewards.

While some arms were never played, play as many of them as fit, and fill up the set at random. That takes ceil(n / k)
rounds. Then, in round t, with N(a) the plays of arm a, C(a) the sum of its rewards and B the largest reward,

1. set for every arm

       index(a) = C(a) / N(a) + B sqrt(3 log(t - 1) / (2 N(a)));

2. play the set whose indices have the largest sum: the k arms of largest index, ties broken uniformly at random.

It differs from CUCB by t - 1 and by how the first sets are filled up.

Kveton, Wen, Ashkan, Szepesvari: Tight Regret Bounds for Stochastic Combinatorial Semi-Bandits (2015).
"""

import math
from typing import NamedTuple

from setwise.declare import policy, shares
from setwise.policies._frozen import count_rounds, larger_state
from setwise.policies.anytime_ucb import (
    AnytimeState,
    AnytimeUCB,
    anytime_state,
    few_sorted,
    largest_outside,
    reward_ahead,
    rounds_ahead,
    select_top,
    set_indices,
)
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="CombUCB1",
    reference="Kveton, Wen, Ashkan, Szepesvari 2015",
    assumptions="each arm has a mean of its own",
    regret_bound="O(k n log T / epsilon)",
    if_assumption_fails="linear regret in general",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
    missing=True,
)
@shares(AnytimeUCB, "indices", "select_from")
class CombUCB1(NamedTuple):
    """Play every arm once, then the k arms of largest C/N + B sqrt(3 log(t - 1) / (2 N)).

    As long as an arm was never played, its index is infinite, and that of the played arms is 0.

    bound: B, the largest reward an arm can earn in one round
    """

    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> AnytimeState:
        return anytime_state(n, k)

    def select(self, state: AnytimeState, rng: Generator) -> Ints:
        return select_top(state, rng)

    def update(self, state: AnytimeState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        count_rounds(state, chosen, rewards, 1)
        cover_or_set(state, self.bound)

    def certain_rounds(self, state: AnytimeState, chosen: Ints) -> int:
        return rounds_ahead(state, chosen, 1.5 * self.bound * self.bound, state.rounds[0], math.inf)

    def update_many(self, state: AnytimeState, chosen: Ints, totals: Floats, rounds: int) -> None:
        count_rounds(state, chosen, totals, rounds)
        cover_or_set(state, self.bound)

    def threshold(self, state: AnytimeState, chosen: Ints) -> float:
        return largest_outside(state, chosen)

    def required_reward(self, state: AnytimeState, arm: int, rounds: int, until: int, theta: float) -> float:
        return reward_ahead(state, arm, rounds, until, theta, 1.5 * self.bound * self.bound, state.rounds[0], math.inf)

    def grow(self, state: AnytimeState, n: int, rng: Generator) -> AnytimeState:
        larger = larger_state(state, n)._replace(ranking=few_sorted(n))
        if state.rounds[0] > 0:
            cover_or_set(larger, self.bound)
        return larger


def cover_or_set(state: AnytimeState, bound: float) -> None:
    """Set the indices of all played arms: to 0 until every arm was played, then by the formula."""
    least = state.pulls[0]
    for arm in range(len(state.pulls)):
        least = min(least, state.pulls[arm])
    if least > 0:
        set_indices(state, bound * bound * 1.5 * math.log(state.rounds[0]), math.inf)
    else:
        set_indices(state, 0.0, 0.0)
