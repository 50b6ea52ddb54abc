"""Battling with many single bandits: every arm has a bandit that looks for an arm that beats it.

The bandit of arm x is a UCB with its own N and C for every other arm. One arm x is current, at first a random one.

1. In its s-th step, let y be the arm of largest C_x / N_x + sqrt(alpha log s / N_x), infinite for an arm that the
   bandit of x never chose, ties broken at random. Play x and y.
2. The bandit of x is rewarded with 1 if y won, and with 0 if x did.
3. Then y is the current arm.

Saha, Gopalan: Battle of Bandits (2018), Battling-MultiSBM; for duels in Ailon, Karnin, Joachims (2014).

Reconstruction, in the style of the original: whether that fills the set with k - 1 copies of x or with the arms
chosen last is not certain.

Adaptation: arms are distinct, so the bandit of x never chooses x. In the set, x is in the first place, y in the
second, and the arms of next largest index of the same bandit in the others. Only the duel of x and y is learned from;
when another arm wins, or none, the step is played again.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import check_range, policy
from setwise.kernels.duels import bandit_index, duel_winner, open_all, take_best
from setwise.kernels.pairs import TAKEN, check_pairs
from setwise.types import Floats, Generator, Ints


class BattlingMultiSBMState(NamedTuple):
    """What the bandits know.

    pulls, reward: N and C of every bandit (rows) and arm (columns)
    steps: of every bandit, how many it has taken
    current: the arm x
    values, standing, chosen: buffers for the indices, the arms not in the set yet, and the set
    """

    pulls: Ints
    reward: Floats
    steps: Ints
    current: Ints
    values: Floats
    standing: Ints
    chosen: Ints


@policy(
    title="Battling with many bandits",
    reference="Saha, Gopalan 2018, Battling-MultiSBM",
    feedback=("choice",),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="pairwise-subset choice with utilities and a linear link",
    regret_bound="none known for distinct arms",
    original=False,
    adaptation="A reconstruction. Arms are distinct; only the duel of the current arm and its bandit's choice teaches. "
    "The guarantee is lost.",
    set_dependent="no",
    total_order=True,
    ordered_sets=True,
)
class BattlingMultiSBM(NamedTuple):
    """Play the current arm with the choice of its own UCB, which is then the current arm.

    The set that `select` gives has the current arm in the first place and the choice in the second, and `update`
    expects it in that order. A round costs O(k n); there are two tables of n x n numbers.

    alpha: how much the bandits explore
    """

    alpha: float = 0.51

    def check(self) -> None:
        check_range("BattlingMultiSBM: alpha", self.alpha, 0.0, math.inf, strict=True)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> BattlingMultiSBMState:
        check_pairs("BattlingMultiSBM", k)
        return BattlingMultiSBMState(
            pulls=np.zeros((n, n), np.int64),
            reward=np.zeros((n, n)),
            steps=np.zeros(n, np.int64),
            current=np.full(1, int(rng.random() * n)),
            values=np.zeros(n),
            standing=np.zeros(n, np.int64),
            chosen=np.arange(k),
        )

    def select(self, state: BattlingMultiSBMState, rng: Generator) -> Ints:
        current = state.current[0]
        level = self.alpha * math.log(state.steps[current] + 1.0)
        for arm in range(len(state.values)):
            state.values[arm] = bandit_index(state.reward[current, arm], state.pulls[current, arm], level)
        open_all(state.standing)
        state.standing[current] = TAKEN
        state.chosen[0] = current
        take_best(state.values, state.standing, state.chosen, 1, rng)
        return state.chosen

    def update(self, state: BattlingMultiSBMState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        winner = duel_winner(rewards)
        if winner < 0:
            return
        state.pulls[chosen[0], chosen[1]] += 1
        if winner == 1:
            state.reward[chosen[0], chosen[1]] += 1.0
        state.steps[chosen[0]] += 1
        state.current[0] = chosen[1]
