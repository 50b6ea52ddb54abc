"""CUCB: combinatorial upper confidence bounds, for the sum of k arms.

In round t, with N(a) the plays of arm a, C(a) the sum of its rewards and B the largest reward,

1. set for every arm

       index(a) = C(a) / N(a) + B sqrt(3 log t / (2 N(a))),

   or infinity if it was never played; with `clip`, at most B;
2. play the set that would be best if the indices were the means: for the sum of k arms, the k of largest index, ties
   broken uniformly at random.

Because of the infinite indices, every arm is played in the first ceil(n / k) rounds.

Chen, Wang, Yuan: Combinatorial Multi-Armed Bandit: General Framework, Results and Applications (2013).
"""

import math
from typing import NamedTuple

from setwise.declare import policy, shares
from setwise.policies.anytime_ucb import (
    AnytimeState,
    AnytimeUCB,
    anytime_state,
    largest_outside,
    learn,
    reward_ahead,
    rounds_ahead,
    select_top,
)
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="CUCB",
    reference="Chen, Wang, Yuan 2013",
    assumptions="each arm has a mean of its own",
    regret_bound="O(k^2 n log T / epsilon)",
    if_assumption_fails="linear regret in general",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
    missing=True,
)
@shares(AnytimeUCB, "indices", "select_from", "grow")
class CUCB(NamedTuple):
    """Play the k arms of largest C/N + B sqrt(3 log t / (2 N)).

    clip: whether to cap indices at B, as an oracle that accepts only means would need; then many indices tie
    bound: B, the largest reward an arm can earn in one round
    """

    clip: bool = False
    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> AnytimeState:
        return anytime_state(n, k)

    def select(self, state: AnytimeState, rng: Generator) -> Ints:
        return select_top(state, rng)

    def update(self, state: AnytimeState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn(state, chosen, rewards, 1, 1.5 * self.bound * self.bound, largest_index(self))

    def certain_rounds(self, state: AnytimeState, chosen: Ints) -> int:
        return rounds_ahead(state, chosen, 1.5 * self.bound * self.bound, state.rounds[0] + 1, largest_index(self))

    def update_many(self, state: AnytimeState, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn(state, chosen, totals, rounds, 1.5 * self.bound * self.bound, largest_index(self))

    def threshold(self, state: AnytimeState, chosen: Ints) -> float:
        return largest_outside(state, chosen)

    def required_reward(self, state: AnytimeState, arm: int, rounds: int, until: int, theta: float) -> float:
        scale = 1.5 * self.bound * self.bound
        return reward_ahead(state, arm, rounds, until, theta, scale, state.rounds[0] + 1, largest_index(self))


def largest_index(policy: CUCB) -> float:
    """Return the largest index that an arm which was played can have."""
    return policy.bound if policy.clip else math.inf
