"""RUCB, relative upper confidence bound: an arm that may beat all, against those that may beat it.

The winner of a round is recorded as beating every other arm of the set. W_ij is how often i beat j, N_ij = W_ij + W_ji.
In round t

1. the upper bound of a pair is u_ij = W_ij / N_ij + sqrt(alpha log t / N_ij), where x / 0 is 1, so that it is 2 for a
   pair that was never compared;
2. the potential winners are the arms i with u_ij >= 1/2 for every other j;
3. an arm that is the only potential winner is from then on the hypothesised best, until it is no potential winner;
4. the first arm c of the set is the hypothesised best with probability 1/2 and each other potential winner with equal
   shares of the rest; any potential winner if there is no hypothesised best; any arm if there is no potential winner;
5. the others are the k - 1 arms j of largest u_jc, ties broken uniformly at random.

Zoghi, Whiteson, Munos, de Rijke: Relative Upper Confidence Bound for the K-Armed Dueling Bandit Problem (2014).

Adaptation: the original plays duels and may let an arm meet itself. Here arms are distinct, and for k > 2 the first arm
meets k - 1 others at once. Rounds in which no arm is rewarded teach nothing, but count.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setwise.declare import check_range, policy
from setwise.kernels.pairs import HALF, check_pairs, count_beaten, fill, learn_winner, new_pairs
from setwise.kernels.winners import Matrix
from setwise.types import Floats, Generator, Ints

NOBODY = -1


class RUCBState(NamedTuple):
    """What RUCB knows.

    wins: W
    share, spread: of every pair, as `kernels.pairs` keeps them
    rounds: how many were played
    beaten: of every arm, by how many it is clearly beaten in the coming round; potential winners by none
    hypothesis: the hypothesised best arm of the coming round, or NOBODY
    values, free: buffers for every arm
    chosen, best: buffers for a set and its values
    """

    wins: Matrix
    share: Matrix
    spread: Matrix
    rounds: Ints
    beaten: Ints
    hypothesis: Ints
    values: Floats
    free: npt.NDArray[np.bool_]
    chosen: Ints
    best: Floats


@policy(
    title="RUCB",
    reference="Zoghi, Whiteson, Munos, de Rijke 2014",
    feedback=("choice",),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="duels with an arm that beats every other (Condorcet winner)",
    regret_bound="O(n^2 + n log T) to the best single arm, for duels",
    original=False,
    adaptation="An arm never meets itself; for k > 2 it meets k - 1 others at once, and the winner beats them all.",
    set_dependent="no",
    total_order=False,
    ordered_sets=False,
)
class RUCB(NamedTuple):
    """Play a potential winner with the arms that may beat it. A round costs O(n^2).

    alpha: how much to explore; the theorem asks for more than 1/2
    """

    alpha: float = 0.51

    def check(self) -> None:
        check_range("RUCB: alpha", self.alpha, 0.0, math.inf, strict=True)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> RUCBState:
        check_pairs("RUCB", k)
        wins, share, spread = new_pairs(n, 2.0)
        return RUCBState(
            wins=wins,
            share=share,
            spread=spread,
            rounds=np.zeros(1, np.int64),
            beaten=np.zeros(n, np.int64),
            hypothesis=np.full(1, NOBODY),
            values=np.zeros(n),
            free=np.zeros(n, np.bool_),
            chosen=np.arange(k),
            best=np.zeros(k),
        )

    def select(self, state: RUCBState, rng: Generator) -> Ints:
        root = math.sqrt(self.alpha * math.log(state.rounds[0] + 1.0))
        first = draw_first(state.beaten, state.hypothesis[0], rng)
        state.chosen[0] = first
        for arm in range(len(state.values)):
            state.values[arm] = state.share[arm, first] + root * state.spread[arm, first]
            state.free[arm] = arm != first
        fill(state.values, state.free, state.chosen, state.best, 1, rng)
        return state.chosen

    def update(self, state: RUCBState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_winner(state.wins, state.share, state.spread, chosen, rewards)
        look_again(state, self.alpha)


def look_again(state: RUCBState, alpha: float) -> None:
    """Count a round, and find the potential winners and the hypothesised best arm of the next."""
    state.rounds[0] += 1
    root = math.sqrt(alpha * math.log(state.rounds[0] + 1.0))
    winners = count_beaten(state.share, state.spread, root, HALF, state.beaten)
    if state.hypothesis[0] != NOBODY and state.beaten[state.hypothesis[0]] > 0:
        state.hypothesis[0] = NOBODY
    if winners == 1:
        for arm in range(len(state.beaten)):
            if state.beaten[arm] == 0:
                state.hypothesis[0] = arm


def draw_first(beaten: Ints, hypothesis: int, rng: Generator) -> int:
    """Draw the first arm of the set from the potential winners, or from all arms if there are none."""
    rivals = 0
    for arm in range(len(beaten)):
        if beaten[arm] == 0 and arm != hypothesis:
            rivals += 1
    if hypothesis != NOBODY and (rivals == 0 or rng.random() < 0.5):
        return hypothesis
    if rivals == 0:
        return int(rng.random() * len(beaten))
    place = int(rng.random() * rivals)
    for arm in range(len(beaten)):
        if beaten[arm] == 0 and arm != hypothesis:
            if place == 0:
                return arm
            place -= 1
    return hypothesis
