"""UCB over sets: every set is an arm of its own, and the set of largest upper confidence bound is played.

Before the first round every set's index is infinite. In each round

1. play the set of largest index, ties broken uniformly at random;
2. with N(s) the plays of the set, C(s) the sum of its total rewards, M the largest total, and T the horizon, set

       index(s) = C(s)/N(s) + M sqrt(alpha log T / N(s)).

It needs no assumption on how the rewards of a set depend on its arms, and pays for that: every one of the C(n, k) sets
has to be played until its index falls below the best set's, so regret grows with the number of sets. Only totals are
learned, so it is enough to observe these. A set of fewer arms, played where fewer than k are available, is none of the
sets and teaches nothing.

Auer, Cesa-Bianchi, Fischer: Finite-time Analysis of the Multiarmed Bandit Problem (2002), for a set in place of an arm;
log T of a known horizon in place of log t, and alpha = 1/2 in place of 2. Then the index of the best set is ever below
its mean with a chance of at most e ceil(log^2 T) / T (Garivier, Cappe 2011): the second term of the bound.
"""

import math
from typing import Any, NamedTuple

from setwise.declare import policy
from setwise.kernels.ranking import new_ranking
from setwise.policies._frozen import new_state
from setwise.policies._sets import (
    SetsState,
    best_available,
    best_played,
    best_set,
    count_sets,
    is_whole,
    most_in_a_round,
    row_of_set,
    rows_after_growth,
    sets_state,
    total_of,
)
from setwise.policies.ucb import learn, rounds_of_set
from setwise.types import Bools, Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="UCB over sets",
    reference="Auer, Cesa-Bianchi, Fischer 2002",
    feedback=("choice", "independent", "total"),
    assumptions="none, except that the order of a set does not matter; at most 100,000 sets",
    regret_bound="O(M^2 C(n, k) log T / epsilon + M log^2 T)",
    if_assumption_fails="no effect: needs no assumption",
    adaptation="A set in place of an arm, log T in place of log t, and alpha = 1/2 in place of 2.",
    set_dependent="yes",
    ordered_sets=False,
    over_sets=True,
)
class SetUCB(NamedTuple):
    """Play the set of largest C/N + M sqrt(alpha log T / N).

    alpha: how much to explore
    total: M, the largest total reward of a set in one round: 1 if at most one arm is rewarded, k if each may be;
        `SetUCB.for_world(world)` takes that of the world
    """

    alpha: Positive = 0.5
    total: Positive = 1.0

    @classmethod
    def for_world(cls, environment: Any) -> "SetUCB":
        """Return the policy that knows the largest total of a world."""
        return cls(total=most_in_a_round(environment))

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> SetsState:
        scale = self.total**2 * self.alpha
        sets = new_state(count_sets("SetUCB", n, k), 1, scale * math.log(horizon), scale)
        return sets_state(sets, n, k)

    def select(self, state: SetsState, rng: Generator) -> Ints:
        return best_set(state, rng)

    def update(self, state: SetsState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        if is_whole(state, chosen):
            learn(state.sets, row_of_set(state, chosen), total_of(state, rewards), 1)

    def certain_rounds(self, state: SetsState, chosen: Ints) -> int:
        return rounds_of_set(state.sets, row_of_set(state, chosen)) if is_whole(state, chosen) else 1

    def update_many(self, state: SetsState, chosen: Ints, totals: Floats, rounds: int) -> None:
        if is_whole(state, chosen):
            learn(state.sets, row_of_set(state, chosen), total_of(state, totals), rounds)

    def select_from(self, state: SetsState, available: Bools, rng: Generator) -> Ints:
        return best_available(state, state.sets.indices, available, rng)

    def recommend(self, state: SetsState, available: Bools) -> Ints:
        return best_played(state, state.sets.pulls, state.sets.reward, available)

    def grow(self, state: SetsState, n: int, rng: Generator) -> SetsState:
        return larger_sets("SetUCB", state, n)


def larger_sets(name: str, state: SetsState, n: int) -> SetsState:
    """Return a copy with n arms; sets with a new arm were never played."""
    rows, k = rows_after_growth(name, state, n), len(state.chosen)
    fresh: Any = new_state(math.comb(n, k), 1, *state.sets.level)
    for field in ("pulls", "reward", "indices"):
        getattr(fresh, field)[rows] = getattr(state.sets, field)
    return sets_state(fresh._replace(ranking=new_ranking(fresh.indices, 1)), n, k)
