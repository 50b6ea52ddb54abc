"""MDB, multi-dueling bandit: play every arm that may be best, or one arm alone if only it seems to be.

The winner of a round counts as beating every other arm of the set. W_ij is how often i beat j, N_ij = W_ij + W_ji.
In round t

1. the narrow bound of a pair is u_ij = W_ij / N_ij + sqrt(alpha log t / N_ij), the wide one
   v_ij = W_ij / N_ij + sqrt(beta alpha log t / N_ij); both are 1 for a pair that was never compared;
2. let E be the arms i with u_ij >= 1/2 for every other j, and F those with v_ij >= 1/2 for every other j;
3. if E is one arm, play it alone; otherwise play F, or all arms if F is empty.

Brost, Seldin, Cox, Lioma: Multi-Dueling Bandits and Their Application to Online Ranker Evaluation (2016).

Adaptation: the original observes the outcome of every pair, in sets of any size; here only the winner is observed. A
set has at most k arms: first those of E, by their least u_ij, largest first; then those of F, by their least v_ij; then
the rest, by their least u_ij. Ties are broken uniformly at random. Smaller sets are padded in that order, unless `pad`
is off. Rounds without a reward teach nothing, but count.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.pairs import HALF, fill
from setwise.kernels.winners import Matrix
from setwise.policies._pairs import PairState, learn_round, new_state
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive, Range


@policy(
    title="Multi-dueling bandit",
    reference="Brost, Seldin, Cox, Lioma 2016",
    feedback=("choice",),
    fixed_size=False,
    assumptions="none stated; made for an arm that beats every other (Condorcet winner)",
    regret_bound="none known",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="The winner is the only feedback; sets are cut to k arms, and padded when fewer may be best.",
    set_dependent="no",
    ordered_sets=False,
)
class MultiDueling(NamedTuple):
    """Play the arms that may be best, or the only one that seems to be. A round costs O(n^2).

    alpha: how much to explore; more than 1/2 is recommended
    beta: how much wider the wide bound is; 1 or more
    pad: whether every set has k arms; if not, sets are smaller when fewer arms may be best
    """

    alpha: Positive = 0.51
    beta: Annotated[float, Range(1.0)] = 1.5
    pad: bool = True

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> PairState:
        return new_state("MultiDueling", n, k, 1.0)

    def select(self, state: PairState, rng: Generator) -> Ints:
        level = self.alpha * math.log(state.rounds[0] + 1.0)
        narrow, wide = state.least, state.values
        least_bounds(state.share, state.spread, math.sqrt(level), narrow)
        least_bounds(state.share, state.spread, math.sqrt(self.beta * level), wide)
        n = len(state.free)
        few = 0
        for arm in range(n):
            state.free[arm] = narrow[arm] >= HALF
            if state.free[arm]:
                few += 1
        size = fill(narrow, state.free, state.chosen, state.best, 0, rng)
        if few == 1 and not self.pad:
            return state.chosen[:1]
        for arm in range(n):
            state.free[arm] = narrow[arm] < HALF and wide[arm] >= HALF
        size = fill(wide, state.free, state.chosen, state.best, size, rng)
        if self.pad or size == 0:
            for arm in range(n):
                state.free[arm] = wide[arm] < HALF
            size = fill(narrow, state.free, state.chosen, state.best, size, rng)
        return state.chosen[:size]

    def update(self, state: PairState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_round(state, chosen, rewards)


def least_bounds(share: Matrix, spread: Matrix, root: float, least: Floats) -> None:
    """Write the least upper bound of every arm against the others."""
    for i in range(len(least)):
        bound = np.inf
        for j in range(len(least)):
            bound = min(bound, share[i, j] + root * spread[i, j])
        least[i] = bound
