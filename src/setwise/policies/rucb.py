"""RUCB, relative upper confidence bound: an arm that may beat all others, against those that may beat it.

The winner of a round counts as beating every other arm of the set. W_ij is how often i beat j, N_ij = W_ij + W_ji.
In round t

1. the upper bound of a pair is u_ij = W_ij / N_ij + sqrt(alpha log t / N_ij), where x / 0 is 1, so that it is 2 for a
   pair never compared;
2. the potential winners are the arms i with u_ij >= 1/2 for every other j;
3. an arm that is the only potential winner becomes the hypothesised best, until it is no longer a potential winner;
4. the first arm c of the set is the hypothesised best with probability 1/2, else another potential winner, drawn
   uniformly; any potential winner if there is no hypothesised best; any arm if there is no potential winner;
5. the others are the k - 1 arms j of largest u_jc, ties broken uniformly at random.

Zoghi, Whiteson, Munos, de Rijke: Relative Upper Confidence Bound for the K-Armed Dueling Bandit Problem (2014).

Adaptation: the original plays duels, and lets c meet itself if no other arm has u_jc >= 1/2. Here arms are distinct,
and for k > 2 the first arm meets k - 1 others at once. With `pad` off, only arms with u_jc >= 1/2 are put beside c, and
c is played alone if there is none: for k = 2 this is the original. Rounds without a reward teach nothing, but count.
"""

import math
from typing import NamedTuple

from setwise.declare import policy
from setwise.kernels.pairs import HALF, count_beaten, fill
from setwise.policies._pairs import NOBODY, PairState, learn_round, new_state
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="RUCB",
    reference="Zoghi, Whiteson, Munos, de Rijke 2014",
    feedback=("choice",),
    assumptions="duels with an arm that beats every other (Condorcet winner)",
    regret_bound="O(n^2 + n log T) to the best single arm, for duels",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="An arm meets itself only if pad is off; for k > 2 it meets k - 1 others at once, and the winner beats "
    "them all.",
    set_dependent="no",
    ordered_sets=False,
)
class RUCB(NamedTuple):
    """Play a potential winner with the arms that may beat it. A round costs O(n^2).

    alpha: how much to explore; the theorem requires more than 1/2
    pad: whether every set has k arms; if not, an arm that no other may beat is played alone, against itself
    """

    alpha: Positive = 0.51
    pad: bool = True

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> PairState:
        return new_state("RUCB", n, k, 2.0)

    def select(self, state: PairState, rng: Generator) -> Ints:
        begin_set(state, self.alpha, self.pad, rng)
        size = fill(state.values, state.free, state.chosen, state.best, 1, rng)
        return state.chosen[:size]

    def update(self, state: PairState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_round(state, chosen, rewards)
        find_winners(state, self.alpha)


def begin_set(state: PairState, alpha: float, pad: bool, rng: Generator) -> None:
    """Put the first arm c into the set, and write the bound u_jc of every other arm j, and whether it may meet c."""
    root = math.sqrt(alpha * math.log(state.rounds[0] + 1.0))
    first = draw_first(state.beaten, state.hypothesis[0], rng)
    state.chosen[0] = first
    for arm in range(len(state.values)):
        state.values[arm] = state.share[arm, first] + root * state.spread[arm, first]
        state.free[arm] = arm != first and (pad or state.values[arm] >= HALF)


def find_winners(state: PairState, alpha: float) -> None:
    """Update the potential winners and the hypothesised best arm for the next round."""
    root = math.sqrt(alpha * math.log(state.rounds[0] + 1.0))
    winners = count_beaten(state.share, state.spread, root, HALF, state.beaten)
    if state.hypothesis[0] != NOBODY and state.beaten[state.hypothesis[0]] > 0:
        state.hypothesis[0] = NOBODY
    if winners == 1:
        for arm in range(len(state.beaten)):
            if state.beaten[arm] == 0:
                state.hypothesis[0] = arm


def draw_first(beaten: Ints, hypothesis: int, rng: Generator) -> int:
    """Draw the first arm of the set from the potential winners, or from all arms if there is none."""
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
