"""Battling by duels: a set stands for a duel that a dueling bandit, here RUCB, asks for.

1. RUCB names two arms, c and d.
2. Play a set that stands for their duel, and tell RUCB which of the two won.

The original plays c and d in k/2 places each, for odd k one of them at random once more. Where the winner of a set is
the winner of a random pair of its places, c then wins with probability 1/2 + k D / (2 (k - 1)) for even k, if it wins
a single duel with probability 1/2 + D: the better arm is still the better one.

Saha, Gopalan: Battle of Bandits (2018), Battling-Duel; for RUCB see `setwise.policies.rucb`.

Adaptation: arms are distinct. In the set, c is in the first place, d in the second, and the arms j of next largest
u_jc, RUCB's bound on how often j beats c, in the others. RUCB is told about c and d alone; when another arm wins, or
none, it is told nothing, but the round counts. For k = 2 this is RUCB with distinct arms.
"""

import math
from typing import NamedTuple

from setwise.declare import check_range, policy
from setwise.kernels.pairs import check_pairs, fill, learn_winner
from setwise.policies.rucb import RUCB, RUCBState, draw_first, look_again
from setwise.types import Floats, Generator, Ints


@policy(
    title="Battling by duels",
    reference="Saha, Gopalan 2018, Battling-Duel",
    feedback=("choice",),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="pairwise-subset choice with an arm that beats every other (Condorcet winner)",
    regret_bound="O(n log T) to the best single arm, with copies of two arms",
    original=False,
    adaptation="Arms are distinct: other arms stand in for the copies of two, and rounds that these win teach nothing. "
    "The guarantee is lost.",
    set_dependent="no",
    total_order=False,
    ordered_sets=True,
)
class BattlingDuel(NamedTuple):
    """Play the two arms that RUCB asks for, with the arms of next largest bound; only their duel counts.

    The set that `select` gives has the two arms in the first two places, and `update` expects it in that order. A round
    costs O(n^2).

    alpha: how much RUCB explores; its theorem asks for more than 1/2
    """

    alpha: float = 0.51

    def check(self) -> None:
        check_range("BattlingDuel: alpha", self.alpha, 0.0, math.inf, strict=True)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> RUCBState:
        check_pairs("BattlingDuel", k)
        return RUCB(self.alpha).init(n, k, horizon, rng)

    def select(self, state: RUCBState, rng: Generator) -> Ints:
        root = math.sqrt(self.alpha * math.log(state.rounds[0] + 1.0))
        first = draw_first(state.beaten, state.hypothesis[0], rng)
        state.chosen[0] = first
        for arm in range(len(state.values)):
            state.values[arm] = state.share[arm, first] + root * state.spread[arm, first]
            state.free[arm] = arm != first
        fill(state.values, state.free, state.chosen[:2], state.best[:2], 1, rng)
        state.free[state.chosen[1]] = False
        fill(state.values, state.free, state.chosen, state.best, 2, rng)
        return state.chosen

    def update(self, state: RUCBState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_winner(state.wins, state.share, state.spread, chosen[:2], rewards[:2])
        look_again(state, self.alpha)
