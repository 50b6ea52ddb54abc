"""ESCB-2: the set with the largest upper confidence bound on its reward.

First play every arm: for ceil(n / k) rounds, sets with as many new arms as possible. Then, in round t,

1. with mu(a) the mean reward and N(a) the plays of arm a so far, the index of a set s is

       c(s) = sum of mu(a) over s + B sqrt(f(t) / 2 * sum of 1 / N(a) over s)

   where f(t) = log t, or in theory log t + 4 k log log t;
2. play the set of k arms with the largest index, ties broken uniformly at random.

The squared confidence widths of the arms add up, which is right for independent arms.

Combes, Talebi, Proutiere, Lelarge: Combinatorial Bandits Revisited (NeurIPS 2015), ESCB with the index c_M.
The best set is found exactly by the Pareto method of `kernels.pareto`.
"""

from typing import NamedTuple

from setwise.declare import policy
from setwise.kernels.pareto import new_pareto, pareto_top
from setwise.policies._escb import ESCBState, cover, exploration, new_state, reset, summarise
from setwise.policies._frozen import count_rounds, larger_state
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="ESCB-2",
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
class ESCB2(NamedTuple):
    """Play the set of k arms with the largest sum of means + B sqrt(f(t) / 2 * sum of 1 / N).

    If few arms compete, the search costs about O(n k) per round; at worst it is exponential in n.

    theoretical: f(t) = log t + 4 k log log t, as in the proof, instead of log t
    bound: B, the largest reward an arm can earn in one round
    """

    theoretical: bool = False
    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> ESCBState:
        return new_state(n, k, new_pareto(n, k))

    def select(self, state: ESCBState, rng: Generator) -> Ints:
        if not summarise(state, self.bound):
            return cover(state, rng)
        level = 0.5 * exploration(state.rounds[0] + 1, len(state.chosen), self.theoretical)
        pareto_top(state.means, state.widths, level, state.chosen, state.work, rng)
        return state.chosen

    def update(self, state: ESCBState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        count_rounds(state, chosen, rewards, 1)

    def grow(self, state: ESCBState, n: int, rng: Generator) -> ESCBState:
        return larger_state(state, n)._replace(work=new_pareto(n, len(state.chosen)))

    def set_horizon(self, state: ESCBState, horizon: int, keep: bool) -> None:
        if not keep:
            reset(state)
