"""Battling doubler: a bandit learns by playing against its own choices of the previous epoch.

Epochs have lengths 1, 2, 4, 8, ... A UCB, restarted in each epoch, chooses one arm per round. The multiset L holds its
choices of the previous epoch, with repetitions; in the first epoch, one random arm.

1. Let y be the arm of largest C / N + sqrt(alpha log s / N) in step s of the epoch, infinite for an arm not yet
   played in the epoch, ties broken at random. Play y with arms drawn from L.
2. Reward the bandit with 1 if y won, else with 0.
3. At the end of the epoch, L becomes the choices of this epoch, and the bandit restarts.

Saha, Gopalan: Battle of Bandits (2018), Battling-Doubler; for duels in Ailon, Karnin, Joachims (2014).

Adaptation: the original plays y with k - 1 arms drawn from L with replacement, so that arms may repeat. Here arms are
distinct: y comes first, an arm x drawn from L second, then further arms drawn from L, and once L is exhausted, the arms
of next largest index. Only the duel of y and x counts; if another arm wins, or none, the step is repeated. With `pad`
off, x may be y, and the set is y and x alone; if they are the same arm, a fair coin says whether y won.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.duels import bandit_index, duel_winner, open_all, take_best, take_drawn
from setwise.kernels.pairs import check_pairs
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


class BattlingDoublerState(NamedTuple):
    """State of the battling doubler.

    pulls, reward: N and C of every arm in this epoch; the pulls are the bandit's choices
    before: L, as the multiplicity of each arm
    steps, length: steps done in this epoch, and its length
    values, standing, chosen: buffers for the indices, the arms not yet in the set, and the set
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
    assumptions="pairwise-subset choice with utilities and a linear link",
    regret_bound="none known for distinct arms",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="Arms are distinct, and only the duel of the bandit's arm with one arm of the epoch before teaches. "
    "The guarantee is lost.",
    set_dependent="no",
    total_order=True,
)
class BattlingDoubler(NamedTuple):
    """Play the choice of a UCB, restarted in epochs of doubling length, with its choices of the previous epoch.

    `select` returns the choice first and its opponent second, and `update` expects that order. A round costs O(k n).

    alpha: how much the bandit explores
    pad: whether every set has k arms; if not, y and x are played without others, and an arm against itself alone
    """

    alpha: Positive = 0.51
    pad: bool = True

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
        if not self.pad:
            open_all(state.standing)
            take_drawn(state.before, state.standing, chosen[:2], 1, rng)
            return chosen[:1] if chosen[1] == chosen[0] else chosen[:2]
        filled = take_drawn(state.before, state.standing, chosen, 1, rng)
        take_best(state.values, state.standing, chosen, filled, rng)
        return chosen

    def update(self, state: BattlingDoublerState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        winner = duel_winner(rewards)
        if winner < 0:
            return
        if len(chosen) == 1:
            winner = int(2.0 * rng.random())
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
