"""Rec-MaxMin-UCB: the best arm, then the best of the rest, and so on, as long as each is certain.

Wins and upper bounds u_ij are those of MaxMin-UCB: W_ij / N_ij + sqrt(alpha log t / N_ij), infinite for a pair never
compared. In each round, with all arms remaining at first,

1. the potential winners are the remaining arms i with u_ij > 1/2 for every other remaining arm j;
2. while there is exactly one, move it to the set and repeat step 1;
3. if the set is still empty, add the potential winner whose least bound against the other potential winners is
   largest, or, if there is no potential winner, any arm;
4. until the set is full, add the arm whose least bound against the arms of the set is largest: first from the potential
   winners, then from the other remaining arms. Ties are broken uniformly at random.

Saha, Gopalan: Combinatorial Bandits with Relative Feedback (2019).

Adaptation: the original observes a ranking of the whole set. Here only the winner is observed, and counts as beating
every other arm of the set. Rounds without a reward teach nothing, but count. Steps 3 and 4 are a reconstruction: arms
that compete for the last place never meet, so they are compared with the arms in the set, not with each other.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.pairs import ABOVE_HALF, OPEN, TAKEN, WINNER, build, first_arm
from setwise.policies._pairs import PairState, learn_round, new_state
from setwise.policies.max_min_ucb import rate
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="Rec-MaxMin-UCB",
    reference="Saha, Gopalan 2019",
    feedback=("choice",),
    assumptions="multinomial logit without outside option",
    regret_bound="O(n log T / (k epsilon)) with rankings of the whole set",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="Sees the winner, not a ranking; the last places are judged against the arms that are in the set.",
    set_dependent="MNL",
    total_order=True,
    ordered_sets=False,
)
class RecMaxMinUCB(NamedTuple):
    """Play the arms that are certain to be best, one after the other, and explore the rest. A round costs O(n^2).

    alpha: how much to explore; the theorem requires more than 1/2
    """

    alpha: Positive = 0.51

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> PairState:
        return new_state("RecMaxMinUCB", n, k, np.inf)

    def select(self, state: PairState, rng: Generator) -> Ints:
        chosen, standing = state.chosen, state.standing
        root = math.sqrt(self.alpha * math.log(state.rounds[0] + 1.0))
        winners = rate(state, root)
        size = 0
        while winners == 1 and size < len(chosen):
            winners = take_winner(state, root, size)
            size += 1
        if size == 0:
            chosen[0] = first_arm(state.share, state.spread, root, standing, state.least, rng)
            standing[chosen[0]] = TAKEN
            size = 1
        build(state.share, state.spread, root, standing, state.least, chosen, size, rng)
        return chosen

    def update(self, state: PairState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_round(state, chosen, rewards)


def take_winner(state: PairState, root: float, size: int) -> int:
    """Move the only potential winner to place `size` of the set; return the potential winners among the rest."""
    best = 0
    while state.standing[best] != WINNER:
        best += 1
    state.chosen[size] = best
    state.standing[best] = TAKEN
    winners = 0
    for arm in range(len(state.standing)):
        if state.standing[arm] == OPEN:
            if state.share[arm, best] + root * state.spread[arm, best] < ABOVE_HALF:
                state.beaten[arm] -= 1
            if state.beaten[arm] == 0:
                state.standing[arm] = WINNER
                winners += 1
    return winners
