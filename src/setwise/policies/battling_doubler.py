"""Battling doubler: a bandit learns against its own choices of the time before.

The rounds are cut into epochs of length 1, 2, 4, 8 and so on. A UCB, which starts anew in each epoch, chooses one arm
a round; L holds its choices of the epoch before, each as often as it was made, and in the first epoch one random arm.

1. Let y be the arm of largest C / N + sqrt(alpha log s / N) in step s of the epoch, infinite for an arm not yet
   played in the epoch, ties broken at random. Play y with arms drawn from L.
2. The bandit is rewarded with 1 if y won, and with 0 if not.
3. At the end of the epoch L becomes the choices of this epoch, and the bandit forgets everything.

Saha, Gopalan: Battle of Bandits (2018), Battling-Doubler; for duels in Ailon, Karnin, Joachims (2014).

Adaptation: the original plays y with k - 1 arms drawn from L with replacement, so that arms may be there several
times. Here arms are distinct: y is in the first place, an arm x drawn from L in the second, further ones drawn from L
in the others, and where L has no more, the arms of next largest index. Only the duel of y and x is learned from; when
another arm wins, or none, the step is played again.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import check_range, policy
from setwise.kernels.duels import bandit_index, duel_winner, open_all, take_best, take_drawn
from setwise.kernels.pairs import check_pairs
from setwise.types import Floats, Generator, Ints


class BattlingDoublerState(NamedTuple):
    """What the doubler knows.

    pulls, reward: N and C of every arm in this epoch; the choices of the bandit are the pulls
    before: L, as the number of times each arm is in it
    steps, length: how many steps of this epoch are done, and how many it has
    values, standing, chosen: buffers for the indices, the arms not in the set yet, and the set
    """

    pulls: Ints
    reward: Floats
    before: Ints
    steps: Ints
    length: Ints
    values: Floats
    standing: Ints
    chosen: Ints


@policy(
    title="Battling doubler",
    reference="Saha, Gopalan 2018, Battling-Doubler",
    feedback=("choice",),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="pairwise-subset choice with utilities and a linear link",
    regret_bound="none known for distinct arms",
    original=False,
    adaptation="Arms are distinct, and only the duel of the bandit's arm with one arm of the epoch before teaches. "
    "The guarantee is lost.",
    set_dependent="no",
    total_order=True,
    ordered_sets=True,
)
class BattlingDoubler(NamedTuple):
    """Play the choice of a UCB, which starts anew in epochs of doubling length, with its choices of the epoch before.

    The set that `select` gives has the choice in the first place and its opponent in the second, and `update` expects
    it in that order. A round costs O(k n).

    alpha: how much the bandit explores
    """

    alpha: float = 0.51

    def check(self) -> None:
        check_range("BattlingDoubler: alpha", self.alpha, 0.0, math.inf, strict=True)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> BattlingDoublerState:
        check_pairs("BattlingDoubler", k)
        before = np.zeros(n, np.int64)
        before[int(rng.random() * n)] = 1
        return BattlingDoublerState(
            pulls=np.zeros(n, np.int64),
            reward=np.zeros(n),
            before=before,
            steps=np.zeros(1, np.int64),
            length=np.ones(1, np.int64),
            values=np.zeros(n),
            standing=np.zeros(n, np.int64),
            chosen=np.arange(k),
        )

    def select(self, state: BattlingDoublerState, rng: Generator) -> Ints:
        chosen = state.chosen
        level = self.alpha * math.log(state.steps[0] + 1.0)
        open_all(state.standing)
        for arm in range(len(state.values)):
            state.values[arm] = bandit_index(state.reward[arm], state.pulls[arm], level)
        take_best(state.values, state.standing, chosen[:1], 0, rng)
        filled = take_drawn(state.before, state.standing, chosen, 1, rng)
        take_best(state.values, state.standing, chosen, filled, rng)
        return chosen

    def update(self, state: BattlingDoublerState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        winner = duel_winner(rewards)
        if winner < 0:
            return
        state.pulls[chosen[0]] += 1
        if winner == 0:
            state.reward[chosen[0]] += 1.0
        state.steps[0] += 1
        if state.steps[0] == state.length[0]:
            state.steps[0] = 0
            state.length[0] *= 2
            for arm in range(len(state.pulls)):
                state.before[arm] = state.pulls[arm]
                state.pulls[arm] = 0
                state.reward[arm] = 0.0
