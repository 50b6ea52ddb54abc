"""Rec-MaxMin-UCB: the best arm, then the best of the rest, and so on, as far as each is certain.

Wins and upper bounds u_ij are those of MaxMin-UCB: W_ij / N_ij + sqrt(alpha log t / N_ij), infinite for a pair that was
never compared. In a round, with all arms left at first,

1. the potential winners are the arms i left with u_ij > 1/2 for every other arm j left;
2. while there is exactly one, it is put in the set and is no longer left, and step 1 is repeated;
3. if the set is still empty, it takes the potential winner whose least bound against the other potential winners is
   largest, or, if there is no potential winner, any arm;
4. again and again it takes the arm whose least bound against the arms of the set is largest: from the potential
   winners first, then from the other arms left, until it is full. Ties are broken uniformly at random.

Saha, Gopalan: Combinatorial Bandits with Relative Feedback (2019).

Adaptation: the original sees the ranking of the whole set. Here the winner is all that is seen, and is recorded as
beating every other arm of the set. Rounds in which no arm is rewarded teach nothing, but count. Steps 3 and 4 are a
reconstruction: arms that compete for the last place never meet, so they are judged by the arms in the set, not by each
other.
"""

import math
from typing import NamedTuple

from setwise.declare import policy
from setwise.kernels.pairs import ABOVE_HALF, OPEN, TAKEN, WINNER, build, check_pairs, first_arm, learn_winner
from setwise.policies.max_min_ucb import MaxMinUCBState, check_alpha, new_state, rate
from setwise.types import Floats, Generator, Ints


@policy(
    title="Rec-MaxMin-UCB",
    reference="Saha, Gopalan 2019",
    feedback=("choice",),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="multinomial logit without outside option",
    regret_bound="O(n log T / (k epsilon)) with rankings of the whole set",
    original=False,
    adaptation="Sees the winner, not a ranking; the last places are judged against the arms that are in the set.",
    set_dependent="MNL",
    total_order=True,
    ordered_sets=False,
)
class RecMaxMinUCB(NamedTuple):
    """Play the arms that are certain to be best, one after the other, and explore the rest. A round costs O(n^2).

    alpha: how much to explore; the theorem asks for more than 1/2
    """

    alpha: float = 0.51

    def check(self) -> None:
        check_alpha("RecMaxMinUCB", self.alpha)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> MaxMinUCBState:
        check_pairs("RecMaxMinUCB", k)
        return new_state(n, k)

    def select(self, state: MaxMinUCBState, rng: Generator) -> Ints:
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

    def update(self, state: MaxMinUCBState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_winner(state.wins, state.share, state.spread, chosen, rewards)
        state.rounds[0] += 1


def take_winner(state: MaxMinUCBState, root: float, size: int) -> int:
    """Move the only potential winner to that place of the set; return how many there are among the arms left."""
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
