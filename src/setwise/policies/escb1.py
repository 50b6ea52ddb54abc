"""ESCB-1: the set with the largest upper confidence bound on its reward, by Kullback-Leibler divergence.

First play every arm: for ceil(n / k) rounds, sets with as many new arms as possible. Then, in round t,

1. with mu(a) the mean reward and N(a) the plays of arm a so far, the index of a set s is

       b(s) = max { sum of q(a) over s : q(a) in [0, 1], sum of N(a) kl(mu(a), q(a)) over s <= f(t) }

   where kl is the Bernoulli divergence, and f(t) = log t, or in theory log t + 4 k log log t;
2. play the set of k arms with the largest index, ties broken at random.

All arms of a set share one budget of divergence, which is right for independent arms. The index is never above that of
ESCB-2. Rewards in [0, B] are divided by B.

Combes, Talebi, Proutiere, Lelarge: Combinatorial Bandits Revisited (NeurIPS 2015), ESCB with the index b_M.
The best set is found exactly by the branch and bound of `kernels.kl_sets`.
"""

from typing import NamedTuple

from setwise.declare import policy
from setwise.kernels.kl_sets import kl_top, new_kl_sets
from setwise.policies._escb import ESCBState, cover, exploration, new_state, reset, summarise
from setwise.policies._frozen import count_rounds, larger_state
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="ESCB-1",
    reference="Combes, Talebi, Proutiere, Lelarge 2015",
    assumptions="arms with fixed means, rewards independent of one another",
    regret_bound="O(sqrt(k) n log T / epsilon), with theoretical=True",
    if_assumption_fails="linear regret in general",
    adaptation="f(t) = log t, as in practice; theoretical=True has the published one.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
    missing=True,
)
class ESCB1(NamedTuple):
    """Play the set of k arms whose means can be largest within a total divergence of f(t).

    If few sets compete, the search takes some tens of passes through the arms per round; at worst it is exponential
    in n.

    theoretical: f(t) = log t + 4 k log log t, as in the proof, instead of log t
    bound: B, the largest reward an arm can earn in one round
    """

    theoretical: bool = False
    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> ESCBState:
        return new_state(n, k, new_kl_sets(n, k))

    def select(self, state: ESCBState, rng: Generator) -> Ints:
        if len(state.chosen) == len(state.pulls) or not summarise(state, self.bound):
            return cover(state, rng)
        level = exploration(state.rounds[0] + 1, len(state.chosen), self.theoretical)
        kl_top(state.means, state.pulls, level, state.chosen, state.work, rng)
        return state.chosen

    def update(self, state: ESCBState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        count_rounds(state, chosen, rewards, 1)

    def grow(self, state: ESCBState, n: int, rng: Generator) -> ESCBState:
        return larger_state(state, n)._replace(work=new_kl_sets(n, len(state.chosen)))

    def set_horizon(self, state: ESCBState, horizon: int, keep: bool) -> None:
        if not keep:
            reset(state)
