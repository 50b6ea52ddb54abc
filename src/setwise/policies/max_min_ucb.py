"""MaxMin-UCB: the potential winners, chosen so that each is hard to beat for the others.

The winner of a round is recorded as beating every other arm of the set. W_ij is how often i beat j, N_ij = W_ij + W_ji.
In round t

1. the upper bound of a pair is u_ij = W_ij / N_ij + sqrt(alpha log t / N_ij), infinite if N_ij = 0;
2. the potential winners are the arms i with u_ij > 1/2 for every other j;
3. the set starts with the potential winner whose least bound against the other potential winners is largest, or, if
   there is no potential winner, with any arm;
4. again and again it takes the arm whose least bound against the arms of the set is largest: from the potential
   winners first, then from the others, until it is full. Ties are broken uniformly at random.

A single potential winner is played alone.

Saha, Gopalan: Combinatorial Bandits with Relative Feedback (2019).

Adaptation: the original plays at most m + 1 arms, sees the m best of them ranked, and ends with sets of one arm. Here
the winner is all that is seen, a set has up to k arms, and a single potential winner is padded to k arms by step 4
unless `pad` is off. Rounds in which no arm is rewarded teach nothing, but count. How the set is filled when the
potential winners are too few is a reconstruction.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import check_range, policy
from setwise.kernels.pairs import (
    ABOVE_HALF,
    OPEN,
    TAKEN,
    WINNER,
    build,
    check_pairs,
    count_beaten,
    first_arm,
    learn_winner,
    new_pairs,
)
from setwise.kernels.winners import Matrix
from setwise.types import Floats, Generator, Ints


class MaxMinUCBState(NamedTuple):
    """What MaxMin-UCB and Rec-MaxMin-UCB know.

    wins: W
    share, spread: of every pair, as `kernels.pairs` keeps them
    rounds: how many were played
    beaten, standing, least: buffers for every arm
    chosen: buffer for a set
    """

    wins: Matrix
    share: Matrix
    spread: Matrix
    rounds: Ints
    beaten: Ints
    standing: Ints
    least: Floats
    chosen: Ints


@policy(
    title="MaxMin-UCB",
    reference="Saha, Gopalan 2019",
    feedback=("choice",),
    needs_outside_option=False,
    fixed_size=False,
    assumptions="multinomial logit without outside option",
    regret_bound="O(n log T / epsilon) to the best single arm",
    original=False,
    adaptation="Sets of up to k arms and the winner as feedback; padded to k arms when one potential winner is left.",
    set_dependent="MNL",
    total_order=True,
    ordered_sets=False,
)
class MaxMinUCB(NamedTuple):
    """Play the potential winners that are hardest to beat for each other. A round costs O(n^2).

    alpha: how much to explore; the theorem asks for more than 1/2
    pad: whether every set has k arms; if not, a single potential winner is played alone
    """

    alpha: float = 0.51
    pad: bool = True

    def check(self) -> None:
        check_alpha("MaxMinUCB", self.alpha)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> MaxMinUCBState:
        check_pairs("MaxMinUCB", k)
        return new_state(n, k)

    def select(self, state: MaxMinUCBState, rng: Generator) -> Ints:
        root = math.sqrt(self.alpha * math.log(state.rounds[0] + 1.0))
        winners = rate(state, root)
        first = first_arm(state.share, state.spread, root, state.standing, state.least, rng)
        state.chosen[0] = first
        if winners == 1 and not self.pad:
            return state.chosen[:1]
        state.standing[first] = TAKEN
        build(state.share, state.spread, root, state.standing, state.least, state.chosen, 1, rng)
        return state.chosen

    def update(self, state: MaxMinUCBState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_winner(state.wins, state.share, state.spread, chosen, rewards)
        state.rounds[0] += 1


def check_alpha(name: str, alpha: float) -> None:
    """Refuse an alpha that is not a positive finite number."""
    check_range(f"{name}: alpha", alpha, 0.0, math.inf, strict=True)


def new_state(n: int, k: int) -> MaxMinUCBState:
    """The state before the first round."""
    wins, share, spread = new_pairs(n, np.inf)
    return MaxMinUCBState(
        wins=wins,
        share=share,
        spread=spread,
        rounds=np.zeros(1, np.int64),
        beaten=np.zeros(n, np.int64),
        standing=np.zeros(n, np.int64),
        least=np.zeros(n),
        chosen=np.arange(k),
    )


def rate(state: MaxMinUCBState, root: float) -> int:
    """Write the standing of every arm; return how many potential winners there are."""
    winners = count_beaten(state.share, state.spread, root, ABOVE_HALF, state.beaten)
    for arm in range(len(state.beaten)):
        state.standing[arm] = WINNER if state.beaten[arm] == 0 else OPEN
    return winners
