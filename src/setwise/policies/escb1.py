"""ESCB-1: the set with the largest upper confidence bound of its own, by Kullback-Leibler divergence.

First every arm is played once: for ceil(n / k) rounds, sets with as many new arms as possible. Then, in round t,

1. with mu(a) the mean reward and N(a) the plays of arm a so far, the index of a set s is

       b(s) = max { sum of q(a) over s : q(a) in [0, 1], sum of N(a) kl(mu(a), q(a)) over s <= f(t) }

   where kl is that of Bernoulli laws, and f(t) = log t, or in theory log t + 4 k log log t;
2. play the set of k arms with the largest index, ties broken at random.

All arms of a set share one budget of divergence, which is right for arms that are independent of one another. The index
is never above that of ESCB-2. Rewards in [0, B] are divided by B.

Combes, Talebi, Proutiere, Lelarge: Combinatorial Bandits Revisited (NeurIPS 2015), ESCB with the index b_M.
The best set is found exactly by the branch and bound of `kernels.kl_sets`.
"""

from typing import NamedTuple

from setwise.declare import policy
from setwise.kernels.kl_sets import kl_top, new_kl_sets
from setwise.policies.escb import ESCBState, check_bound, cover, exploration, forget, grown, learn, new_state, summarise
from setwise.types import Floats, Generator, Ints


@policy(
    title="ESCB-1",
    reference="Combes, Talebi, Proutiere, Lelarge 2015",
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="arms with fixed means, rewards independent of one another",
    regret_bound="O(sqrt(k) n log T / epsilon), with theoretical=True",
    original=False,
    adaptation="f(t) = log t, as in practice; theoretical=True has the published one.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
)
class ESCB1(NamedTuple):
    """Play the set of k arms whose means can be largest within a divergence of f(t) in all.

    The search costs some tens of passes through the arms a round where few sets are in question; at worst it is
    exponential in n.

    theoretical: f(t) = log t + 4 k log log t, as in the proof, instead of log t
    bound: B, the largest reward an arm can earn in one round
    """

    theoretical: bool = False
    bound: float = 1.0

    def check(self) -> None:
        check_bound("ESCB1", self.bound)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> ESCBState:
        return new_state(n, k, new_kl_sets(n, k))

    def select(self, state: ESCBState, rng: Generator) -> Ints:
        if len(state.chosen) == len(state.pulls) or not summarise(state, self.bound):
            return cover(state, rng)
        level = exploration(state.rounds[0] + 1, len(state.chosen), self.theoretical)
        kl_top(state.means, state.pulls, level, state.chosen, state.work, rng)
        return state.chosen

    def update(self, state: ESCBState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn(state, chosen, rewards)

    def grow(self, state: ESCBState, n: int, rng: Generator) -> ESCBState:
        return grown(state, n, new_kl_sets(n, len(state.chosen)))

    def renew(self, state: ESCBState, horizon: int, keep: bool) -> None:
        if not keep:
            forget(state)
