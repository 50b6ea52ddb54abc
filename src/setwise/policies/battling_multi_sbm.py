"""Battling with many single bandits: every arm has a bandit that searches for an arm that beats it.

The bandit of arm x is a UCB with its own N and C for every other arm. One arm x is current, at first a random one.

1. In its s-th step, let y be the arm of largest C_x / N_x + sqrt(alpha log s / N_x), infinite for an arm that the
   bandit of x never chose, ties broken at random. Play x and y.
2. Reward the bandit of x with 1 if y won, and with 0 if x won.
3. Make y the current arm.

Saha, Gopalan: Battle of Bandits (2018), Battling-MultiSBM; for duels in Ailon, Karnin, Joachims (2014).

Reconstruction, in the style of the original: it is not certain whether the original fills the set with k - 1 copies of
x or with the arms chosen last.

Adaptation: arms are distinct, so the bandit of x never chooses x. The set is x, y, then the arms of next largest index
of the same bandit. Only the duel of x and y counts; if another arm wins, or none, the step is repeated. With `pad` off,
the bandit of x may choose x, and the set is x and y alone; if they are the same arm, a fair coin says whether y won.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.duels import bandit_index, duel_winner, open_all, take_best
from setwise.kernels.pairs import TAKEN, check_pairs
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


class BattlingMultiSBMState(NamedTuple):
    """State of all bandits.

    pulls, reward: N and C of every bandit (rows) and arm (columns)
    steps: number of steps of every bandit
    current: the arm x
    values, standing, chosen: buffers for the indices, the arms not yet in the set, and the set
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
    assumptions="pairwise-subset choice with utilities and a linear link",
    regret_bound="none known for distinct arms",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="A reconstruction. Arms are distinct; only the duel of the current arm and its bandit's choice teaches. "
    "The guarantee is lost.",
    set_dependent="no",
    total_order=True,
)
class BattlingMultiSBM(NamedTuple):
    """Play the current arm with the choice of its own UCB, which then becomes the current arm.

    `select` returns the current arm first and the choice second, and `update` expects that order. A round costs
    O(k n); memory is two n x n tables.

    alpha: how much the bandits explore
    pad: whether every set has k arms; if not, x and y are played without others, and an arm against itself alone
    """

    alpha: Positive = 0.51
    pad: bool = True

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
        state.chosen[0] = current
        if not self.pad:
            take_best(state.values, state.standing, state.chosen[:2], 1, rng)
            return state.chosen[:1] if state.chosen[1] == current else state.chosen[:2]
        state.standing[current] = TAKEN
        take_best(state.values, state.standing, state.chosen, 1, rng)
        return state.chosen

    def update(self, state: BattlingMultiSBMState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        winner = duel_winner(rewards)
        if winner < 0:
            return
        choice = chosen[min(1, len(chosen) - 1)]
        if len(chosen) == 1:
            winner = int(2.0 * rng.random())
        state.pulls[chosen[0], choice] += 1
        if winner == 1:
            state.reward[chosen[0], choice] += 1.0
        state.steps[chosen[0]] += 1
        state.current[0] = choice
