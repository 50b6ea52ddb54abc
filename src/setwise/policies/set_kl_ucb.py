"""KL-UCB over sets: every set is an arm of its own, with an upper confidence bound from the Bernoulli divergence.

Before the first round every set's index is infinite. In each round

1. play the set of largest index, ties broken uniformly at random;
2. with N(s) the plays of the set, p(s) its mean total reward divided by the largest total M, and T the horizon, set

       index(s) = M max{q from p(s) to 1: N(s) kl(p(s), q) <= alpha log T},
       kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)).

It needs no assumption on how the rewards of a set depend on its arms. Where at most one arm is rewarded, totals are 0
or 1, and by Lai and Robbins no policy whose regret is o(T^a) for every a > 0 in all worlds has a regret below
(1 - o(1)) times the sum over all sets of (Q(s*) - Q(s)) / kl(Q(s), Q(s*)) log T. That sum is the first term of its
regret. The second is at most e ceil(log^2 T): the index of the best set is ever below its mean with a chance of at most
that over T. With alpha above 1 it vanishes.

Where totals are not 0 or M, they vary less than a coin of the same mean, and the index is larger than it has to be.
A set of fewer arms, played where fewer than k are available, is none of the sets and teaches nothing.

Garivier, Cappe: The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond (2011), for a set in place of an arm;
log T of a known horizon in place of log t + 3 log log t.
"""

import math
from typing import Any, NamedTuple

from setwise.declare import policy, shares
from setwise.policies._frozen import new_state
from setwise.policies._sets import (
    SetsState,
    count_sets,
    is_whole,
    most_in_a_round,
    row_of_set,
    sets_state,
    total_of,
)
from setwise.policies.kl_ucb import learn_divergence, rounds_of_divergence
from setwise.policies.set_ucb import SetUCB, larger_sets
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="KL-UCB over sets",
    reference="Garivier, Cappe 2011",
    feedback=("choice", "independent", "total"),
    assumptions="none, except that the order of a set does not matter; at most 100,000 sets",
    regret_bound="O(M^2 C(n, k) log T / epsilon + M log^2 T)",
    if_assumption_fails="no effect: needs no assumption",
    adaptation="A set in place of an arm, and log T in place of log t + 3 log log t.",
    set_dependent="yes",
    ordered_sets=False,
    over_sets=True,
)
@shares(SetUCB, "select", "select_from", "recommend")
class SetKLUCB(NamedTuple):
    """Play the set of largest q with N kl(C / (M N), q / M) <= alpha log T.

    alpha: how much to explore
    total: M, the largest total reward of a set in one round: 1 if at most one arm is rewarded, k if each may be;
        `SetKLUCB.for_world(world)` takes that of the world
    """

    alpha: Positive = 1.0
    total: Positive = 1.0

    @classmethod
    def for_world(cls, environment: Any) -> "SetKLUCB":
        """Return the policy that knows the largest total of a world."""
        return cls(total=most_in_a_round(environment))

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> SetsState:
        return sets_state(new_state(count_sets("SetKLUCB", n, k), 1, self.alpha * math.log(horizon), 0.0), n, k)

    def update(self, state: SetsState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        if is_whole(state, chosen):
            learn_divergence(state.sets, row_of_set(state, chosen), total_of(state, rewards), 1, self.total)

    def certain_rounds(self, state: SetsState, chosen: Ints) -> int:
        if not is_whole(state, chosen):
            return 1
        return rounds_of_divergence(state.sets, row_of_set(state, chosen), self.total)

    def update_many(self, state: SetsState, chosen: Ints, totals: Floats, rounds: int) -> None:
        if is_whole(state, chosen):
            learn_divergence(state.sets, row_of_set(state, chosen), total_of(state, totals), rounds, self.total)

    def grow(self, state: SetsState, n: int, rng: Generator) -> SetsState:
        return larger_sets("SetKLUCB", state, n)
