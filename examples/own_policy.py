"""A policy and an environment of your own, for examples/own_policy.toml: `setwise run examples/own_policy.toml`.

The file names the classes by their module, "own_policy.ExploreFirst" and "own_policy.Attention"; their fields are the
parameters.
"""

from typing import NamedTuple

import numpy as np

import setwise as sw
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, InputError, Ints


class Explored(NamedTuple):
    """Plays and rewards of every arm, and the number of rounds still to explore."""

    pulls: Floats
    reward: Floats
    left: Ints
    chosen: Ints


@sw.policy(reference="Lattimore and Szepesvari, Bandit Algorithms (2020), Chapter 6: explore, then commit")
class ExploreFirst(NamedTuple):
    """Play random sets for a share of the horizon, then the k arms of largest mean.

    share: share of the horizon to explore
    """

    share: float = 0.01

    def check(self) -> None:
        if not 0.0 < self.share < 1.0:
            raise InputError(f"ExploreFirst: share is {self.share:g}; it has to be between 0 and 1")

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> Explored:
        rounds = np.array([int(self.share * horizon)])
        return Explored(pulls=np.zeros(n), reward=np.zeros(n), left=rounds, chosen=np.zeros(k, np.int64))

    def select(self, state: Explored, rng: Generator) -> Ints:
        scores = rng.random(len(state.pulls))
        if state.left[0] == 0:
            scores = 1e-9 * scores + state.reward / np.maximum(state.pulls, 1.0)
        return np.argsort(-scores)[: len(state.chosen)]

    def update(self, state: Explored, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        if state.left[0] > 0:
            state.left[0] -= 1
            for j in range(len(chosen)):
                state.pulls[chosen[j]] += 1.0
                state.reward[chosen[j]] += rewards[j]


@sw.environment(feedback="independent", rewards="binary")
class Attention(NamedTuple):
    """An arm gets less attention beside stronger ones: P(a|s) = v_a (1 - c * the sum of the other v in s).

    values: v, from 0 to 1
    k: arms in a set
    distraction: c, at most 1 / (2 (k - 1)), so that the k largest values are still the best set
    """

    values: Floats
    k: int
    distraction: float = 0.1

    def check(self) -> None:
        if self.values.ndim != 1 or not 1 <= self.k <= len(self.values):
            raise InputError(f"Attention: values is {self.values.tolist()}; give at least k={self.k} numbers in a list")
        if min(self.values) < 0.0 or max(self.values) > 1.0:
            raise InputError(f"Attention: values has a number outside of 0 to 1, {self.values.tolist()}")
        if self.distraction < 0.0 or 2.0 * self.distraction * (self.k - 1) > 1.0:
            raise InputError(
                f"Attention: distraction is {self.distraction:g}; it can be from 0 to 1 / (2 (k - 1)) with k={self.k}"
            )

    @property
    def n(self) -> int:
        return len(self.values)

    def means(self, chosen: Ints, out: Floats) -> None:
        total = 0.0
        for arm in chosen:
            total += self.values[arm]
        for j in range(len(chosen)):
            own = self.values[chosen[j]]
            out[j] = own * (1.0 - self.distraction * (total - own))

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)
        draw_binary(Feedback.independent, rewards, rng, rewards)

    def best(self) -> Ints:
        return np.argsort(-self.values)[: self.k]
