"""MDB, multi-dueling bandit: every arm that may be best, unless one alone seems to be.

The winner of a round is recorded as beating every other arm of the set. W_ij is how often i beat j, N_ij = W_ij + W_ji.
In round t

1. the narrow bound of a pair is u_ij = W_ij / N_ij + sqrt(alpha log t / N_ij), the wide one
   v_ij = W_ij / N_ij + sqrt(beta alpha log t / N_ij); both are 1 for a pair that was never compared;
2. E are the arms i with u_ij >= 1/2 for every other j, and F those with v_ij >= 1/2 for every other j;
3. if E is one arm, it is played alone; otherwise F is, or all arms if F is empty.

Brost, Seldin, Cox, Lioma: Multi-Dueling Bandits and Their Application to Online Ranker Evaluation (2016).

Adaptation: the original sees the outcome of every pair in sets of any size; here the winner is all that is seen. A set
has at most k arms: first those of E, by their least u_ij, largest first; then those of F, by their least v_ij; then the
rest, by their least u_ij. Ties are broken uniformly at random. Smaller sets are padded in that order, unless `pad` is
off. Rounds in which no arm is rewarded teach nothing, but count.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setwise.declare import check_range, policy
from setwise.kernels.pairs import HALF, check_pairs, fill, learn_winner, new_pairs
from setwise.kernels.winners import Matrix
from setwise.types import Floats, Generator, Ints


class MultiDuelingState(NamedTuple):
    """What the multi-dueling bandit knows.

    wins: W
    share, spread: of every pair, as `kernels.pairs` keeps them
    rounds: how many were played
    narrow, wide: buffers for the least u_ij and v_ij of every arm i
    free: buffer for every arm
    chosen, best: buffers for a set and its values
    """

    wins: Matrix
    share: Matrix
    spread: Matrix
    rounds: Ints
    narrow: Floats
    wide: Floats
    free: npt.NDArray[np.bool_]
    chosen: Ints
    best: Floats


@policy(
    title="Multi-dueling bandit",
    reference="Brost, Seldin, Cox, Lioma 2016",
    feedback=("choice",),
    needs_outside_option=False,
    fixed_size=False,
    assumptions="none stated; made for an arm that beats every other (Condorcet winner)",
    regret_bound="none known",
    original=False,
    adaptation="The winner is the only feedback; sets are cut to k arms, and padded when fewer may be best.",
    set_dependent="no",
    total_order=False,
    ordered_sets=False,
)
class MultiDueling(NamedTuple):
    """Play the arms that may be best, or the only one that seems to be. A round costs O(n^2).

    alpha: how much to explore; more than 1/2 is advised
    beta: how much wider the wide bound is; 1 or more
    pad: whether every set has k arms; if not, fewer are played when fewer may be best
    """

    alpha: float = 0.51
    beta: float = 1.5
    pad: bool = True

    def check(self) -> None:
        check_range("MultiDueling: alpha", self.alpha, 0.0, math.inf, strict=True)
        check_range("MultiDueling: beta", self.beta, 1.0, math.inf)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> MultiDuelingState:
        check_pairs("MultiDueling", k)
        wins, share, spread = new_pairs(n, 1.0)
        return MultiDuelingState(
            wins=wins,
            share=share,
            spread=spread,
            rounds=np.zeros(1, np.int64),
            narrow=np.zeros(n),
            wide=np.zeros(n),
            free=np.zeros(n, np.bool_),
            chosen=np.arange(k),
            best=np.zeros(k),
        )

    def select(self, state: MultiDuelingState, rng: Generator) -> Ints:
        level = self.alpha * math.log(state.rounds[0] + 1.0)
        least_bounds(state.share, state.spread, math.sqrt(level), state.narrow)
        least_bounds(state.share, state.spread, math.sqrt(self.beta * level), state.wide)
        n = len(state.free)
        few = 0
        for arm in range(n):
            state.free[arm] = state.narrow[arm] >= HALF
            if state.free[arm]:
                few += 1
        size = fill(state.narrow, state.free, state.chosen, state.best, 0, rng)
        if few == 1 and not self.pad:
            return state.chosen[:1]
        for arm in range(n):
            state.free[arm] = state.narrow[arm] < HALF and state.wide[arm] >= HALF
        size = fill(state.wide, state.free, state.chosen, state.best, size, rng)
        if self.pad or size == 0:
            for arm in range(n):
                state.free[arm] = state.wide[arm] < HALF
            size = fill(state.narrow, state.free, state.chosen, state.best, size, rng)
        return state.chosen[:size]

    def update(self, state: MultiDuelingState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_winner(state.wins, state.share, state.spread, chosen, rewards)
        state.rounds[0] += 1


def least_bounds(share: Matrix, spread: Matrix, root: float, least: Floats) -> None:
    """Write the least upper bound of every arm against the others."""
    for i in range(len(least)):
        bound = np.inf
        for j in range(len(least)):
            bound = min(bound, share[i, j] + root * spread[i, j])
        least[i] = bound
