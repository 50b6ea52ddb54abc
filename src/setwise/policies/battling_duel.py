"""Battling by duels: each set simulates a duel that a dueling bandit, here RUCB, asks for.

1. RUCB chooses two arms, c and d.
2. Play a set that represents their duel, and report the winner to RUCB.

The original plays c and d in k/2 places each, for odd k one of them, at random, once more. If the winner of a set is
the winner of a random pair of its places, and c wins a single duel with probability 1/2 + D, it wins the set with
probability 1/2 + k D / (2 (k - 1)) for even k: the better arm is still the better one.

Saha, Gopalan: Battle of Bandits (2018), Battling-Duel; for RUCB see `setwise.policies.rucb`.

Adaptation: arms are distinct. The set is c, d, then the arms j of next largest u_jc, RUCB's bound on how often j beats
c. RUCB learns only from wins of c and d; if another arm wins, or none, it learns nothing, but the round counts. For
k = 2 this is RUCB with distinct arms. With `pad` off, the set is c and d alone, or only c if RUCB lets c meet itself.
"""

from typing import NamedTuple

from setwise.declare import policy
from setwise.kernels.pairs import fill
from setwise.policies._pairs import PairState, learn_round, new_state
from setwise.policies.rucb import begin_set, find_winners
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="Battling by duels",
    reference="Saha, Gopalan 2018, Battling-Duel",
    feedback=("choice",),
    assumptions="pairwise-subset choice with an arm that beats every other (Condorcet winner)",
    regret_bound="O(n log T) to the best single arm, with copies of two arms",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="Arms are distinct: other arms stand in for the copies of two, and rounds that these win teach nothing. "
    "The guarantee is lost.",
    set_dependent="no",
)
class BattlingDuel(NamedTuple):
    """Play the two arms that RUCB asks for, with the arms of next largest bound; only their duel counts.

    `select` returns the two arms first, and `update` expects that order. A round costs O(n^2).

    alpha: how much RUCB explores; its theorem requires more than 1/2
    pad: whether every set has k arms; if not, the two arms are played without others, and an arm against itself alone
    """

    alpha: Positive = 0.51
    pad: bool = True

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> PairState:
        return new_state("BattlingDuel", n, k, 2.0)

    def select(self, state: PairState, rng: Generator) -> Ints:
        begin_set(state, self.alpha, self.pad, rng)
        size = fill(state.values, state.free, state.chosen[:2], state.best[:2], 1, rng)
        if not self.pad:
            return state.chosen[:size]
        state.free[state.chosen[1]] = False
        fill(state.values, state.free, state.chosen, state.best, 2, rng)
        return state.chosen

    def update(self, state: PairState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_round(state, chosen[:2], rewards[:2])
        find_winners(state, self.alpha)
