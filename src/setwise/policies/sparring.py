"""Sparring: one bandit for every place of the set, each with its own statistics.

There are k copies of an anytime UCB. Copy j keeps for every arm the number N_j of rounds in which it played the arm,
and the sum C_j of the arm's rewards in these. In round t

1. the copies choose in a random order: each takes the arm of largest index

       C_j(a) / N_j(a) + B sqrt(alpha log t / N_j(a)),

   infinite if it never played the arm, among the arms not taken by an earlier copy, ties broken at random;
2. each copy learns the reward of its own arm, and of no other.

With shared statistics this would be a top-k UCB.

Ailon, Karnin, Joachims: Reducing Dueling Bandits to Cardinal Bandits (2014).

Adaptation: the original has two copies, which may choose the same arm. Here there are k copies, and arms are distinct.
With `pad` off there are two copies that choose independently; an arm that meets itself is played alone, and one of the
copies, drawn at random, gets its reward.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.duels import bandit_index, open_all
from setwise.kernels.pairs import OPEN, TAKEN, largest
from setwise.types import Floats, Generator, InputError, Ints
from setwise.validation import Positive


class SparringState(NamedTuple):
    """State of all copies.

    pulls, reward: N and C of every copy (rows) and arm (columns)
    rounds: rounds played
    order, standing, values: buffers for the order of the copies, the arms not taken, and the indices of one copy
    chosen: buffer for the set; copy j chose the arm in place j
    """

    pulls: Ints
    reward: Floats
    rounds: Ints
    order: Ints
    standing: Ints
    values: Floats
    chosen: Ints


@policy(
    title="Sparring",
    reference="Ailon, Karnin, Joachims 2014",
    assumptions="utilities that decide duels by a linear link",
    regret_bound="none known",
    if_assumption_fails="linear regret in general",
    adaptation="There are k copies instead of two, and no two of them choose the same arm unless pad is off.",
    set_dependent="no",
    total_order=True,
)
class Sparring(NamedTuple):
    """Run one UCB per place of the set; in random order, each takes its best remaining arm.

    `select` returns the arm of copy j in place j, and `update` expects that order. A round costs O(k n).

    alpha: how much the copies explore
    bound: B, the largest reward an arm can earn in one round
    pad: whether every set has k arms; if not, k is 2, and an arm that both copies choose is played alone
    """

    alpha: Positive = 0.51
    bound: Positive = 1.0
    pad: bool = True

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> SparringState:
        if not self.pad and k != 2:
            raise InputError(f"Sparring with pad=False plays duels, so a set has 2 arms; k is {k}")
        return SparringState(
            pulls=np.zeros((k, n), np.int64),
            reward=np.zeros((k, n)),
            rounds=np.zeros(1, np.int64),
            order=np.arange(k),
            standing=np.zeros(n, np.int64),
            values=np.zeros(n),
            chosen=np.arange(k),
        )

    def select(self, state: SparringState, rng: Generator) -> Ints:
        level = self.bound**2 * self.alpha * math.log(state.rounds[0] + 1.0)
        open_all(state.standing)
        order = state.order
        for turn in range(len(order)):
            order[turn] = turn
        for turn in range(len(order)):
            other = turn + int(rng.random() * (len(order) - turn))
            copy = order[other]
            order[other] = order[turn]
            for arm in range(len(state.values)):
                state.values[arm] = bandit_index(state.reward[copy, arm], state.pulls[copy, arm], level)
            arm = largest(state.values, state.standing, OPEN, rng)
            if self.pad:
                state.standing[arm] = TAKEN
            state.chosen[copy] = arm
        if not self.pad and state.chosen[0] == state.chosen[1]:
            return state.chosen[:1]
        return state.chosen

    def update(self, state: SparringState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        state.rounds[0] += 1
        if len(chosen) < len(state.chosen):
            for copy in range(2):
                state.pulls[copy, chosen[0]] += 1
            state.reward[int(2.0 * rng.random()), chosen[0]] += rewards[0]
            return
        for copy in range(len(chosen)):
            state.pulls[copy, chosen[copy]] += 1
            state.reward[copy, chosen[copy]] += rewards[copy]
