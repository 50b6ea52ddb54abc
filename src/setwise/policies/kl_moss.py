"""KL-MOSS for sets: KL-UCB with a level that falls with the plays of an arm.

Before the first round every arm's index is infinite. In each round

1. play the k arms of largest index, ties broken uniformly at random;
2. for each arm a of the set, with N(a) its plays, p(a) the average of its rewards, in shares of the largest reward B,
   and T the horizon, set

       index(a) = B max{q from p(a) to 1: N(a) kl(p(a), q) <= log+(T k / (n N(a)))},

   where log+ is the logarithm, or 0 where that is negative, and leave every other arm's index exactly as it was.

T k / n is how often each arm would be played if all were played alike. An arm that was played as often as that is no
longer explored: its index is its average. If T k / n is at most 1, no arm ever is.

The index of an arm that is not chosen stays, and it never rises without reward, so the upper half of the paper's
Lemma 1 holds. The lower half fails: N times the index falls while the level does.

Audibert, Bubeck: Minimax Policies for Adversarial and Stochastic Bandits (2009), for the level; Garivier, Hadiji,
Menard, Stoltz: KL-UCB-switch (2022), for this level with the divergence.

Adaptation: the k best arms in place of one, and so T k / n in place of T / n; KL-UCB-switch goes over to another index
for arms that were played often, and this does not.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setwise.declare import check_range, policy
from setwise.policies.frozen import FrozenState, larger_state, new_state, select_available, write_indices
from setwise.policies.kl_ucb import (
    demand_divergence,
    hold_divergence,
    learn_divergence,
    renew_divergence,
    rival_divergence,
)
from setwise.types import Floats, Generator, Ints


@policy(
    title="KL-MOSS for sets",
    reference="Audibert, Bubeck 2009; Garivier, Hadiji, Menard, Stoltz 2022",
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="each arm has a mean of its own",
    regret_bound="none known for sets",
    original=False,
    adaptation="The k best arms in place of one, and a level of log+(T k / (n N)) in place of log+(T / (n N)).",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
)
class KLMOSS(NamedTuple):
    """Play the k arms of largest q with N kl(C/N, q) <= log+(T k / (n N)).

    The level is that of the arms there were at the start, also when more are added, until the horizon is renewed. The
    lower half of the paper's Lemma 1 fails for it.

    bound: B, the largest reward an arm can earn in one round
    """

    bound: float = 1.0

    def check(self) -> None:
        check_range("KLMOSS: bound", self.bound, 0.0, math.inf, strict=True)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> FrozenState:
        return new_state(n, k, math.log(horizon * k / n), 1.0)

    def select(self, state: FrozenState, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, len(state.chosen), rng)  # type: ignore[no-any-return]

    def update(self, state: FrozenState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_divergence(state, chosen, rewards, 1, self.bound)

    def hold(self, state: FrozenState, chosen: Ints) -> int:
        return hold_divergence(state, chosen, self.bound)

    def absorb(self, state: FrozenState, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn_divergence(state, chosen, totals, rounds, self.bound)

    def rival(self, state: FrozenState, chosen: Ints) -> float:
        return rival_divergence(state, chosen, self.bound)

    def demand(self, state: FrozenState, arm: int, rounds: int, until: int, theta: float) -> float:
        return demand_divergence(state, arm, rounds, until, theta, self.bound)

    def indices(self, state: FrozenState, out: Floats) -> None:
        write_indices(state, out)

    def select_from(self, state: FrozenState, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
        return select_available(state, available, rng)

    def grow(self, state: FrozenState, n: int, rng: Generator) -> FrozenState:
        return larger_state(state, n)

    def renew(self, state: FrozenState, horizon: int, keep: bool) -> None:
        state.level[0] = math.log(horizon * len(state.chosen) / len(state.pulls))
        renew_divergence(state, keep, self.bound)
