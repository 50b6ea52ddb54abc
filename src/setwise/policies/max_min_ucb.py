"""MaxMin-UCB: the potential winners, chosen so that each is hard to beat for the others.

The winner of a round counts as beating every other arm of the set. W_ij is how often i beat j, N_ij = W_ij + W_ji.
In round t

1. the upper bound of a pair is u_ij = W_ij / N_ij + sqrt(alpha log t / N_ij), infinite if N_ij = 0;
2. the potential winners are the arms i with u_ij > 1/2 for every other j;
3. start the set with the potential winner whose least bound against the other potential winners is largest, or, if
   there is no potential winner, with any arm;
4. until the set is full, add the arm whose least bound against the arms of the set is largest: first from the potential
   winners, then from the others. Ties are broken uniformly at random.

A single potential winner is played alone.

Saha, Gopalan: Combinatorial Bandits with Relative Feedback (2019).

Adaptation: the original plays at most m + 1 arms, observes a ranking of the m best, and ends with sets of one arm. Here
only the winner is observed, a set has up to k arms, and step 4 pads a single potential winner to k arms unless `pad` is
off. Rounds without a reward teach nothing, but count. How the set is filled if there are too few potential winners is a
reconstruction.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.pairs import ABOVE_HALF, OPEN, TAKEN, WINNER, build, count_beaten, first_arm
from setwise.policies._pairs import PairState, learn_round, new_state
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="MaxMin-UCB",
    reference="Saha, Gopalan 2019",
    feedback=("choice",),
    fixed_size=False,
    assumptions="multinomial logit without outside option",
    regret_bound="O(n log T / epsilon) to the best single arm",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="Sets of up to k arms and the winner as feedback; padded to k arms when one potential winner is left.",
    set_dependent="MNL",
    total_order=True,
    ordered_sets=False,
)
class MaxMinUCB(NamedTuple):
    """Play the potential winners that are hardest to beat for each other. A round costs O(n^2).

    alpha: how much to explore; the theorem requires more than 1/2
    pad: whether every set has k arms; if not, a single potential winner is played alone
    """

    alpha: Positive = 0.51
    pad: bool = True

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> PairState:
        return new_state("MaxMinUCB", n, k, np.inf)

    def select(self, state: PairState, rng: Generator) -> Ints:
        root = math.sqrt(self.alpha * math.log(state.rounds[0] + 1.0))
        winners = rate(state, root)
        first = first_arm(state.share, state.spread, root, state.standing, state.least, rng)
        state.chosen[0] = first
        if winners == 1 and not self.pad:
            return state.chosen[:1]
        state.standing[first] = TAKEN
        build(state.share, state.spread, root, state.standing, state.least, state.chosen, 1, rng)
        return state.chosen

    def update(self, state: PairState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_round(state, chosen, rewards)


def rate(state: PairState, root: float) -> int:
    """Write the standing of every arm; return the number of potential winners."""
    winners = count_beaten(state.share, state.spread, root, ABOVE_HALF, state.beaten)
    for arm in range(len(state.beaten)):
        state.standing[arm] = WINNER if state.beaten[arm] == 0 else OPEN
    return winners
