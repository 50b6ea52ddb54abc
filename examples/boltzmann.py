"""A policy and an environment of your own, compared with Algorithm 1 at compiled speed.

Run it with `python examples/boltzmann.py`. It compiles for some seconds. Classes in a module other than the main script
are cached on disk.
"""

from typing import Any, NamedTuple

import numpy as np

import setwise as sw
from setwise.kernels.draws import draw_binary
from setwise.testing import check_environment, check_policy
from setwise.types import Feedback, Floats, Generator, Ints


class Counts(NamedTuple):
    """Plays and rewards of every arm."""

    pulls: Floats
    reward: Floats
    chosen: Ints


@sw.policy(reference="Sutton and Barto, Reinforcement Learning (2018), Section 2.8: softmax action selection")
class Boltzmann(NamedTuple):
    """Play the k arms of largest mean plus Gumbel noise.

    temperature: scale of the noise
    """

    temperature: float = 0.02

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> Counts:
        return Counts(np.zeros(n), np.zeros(n), np.zeros(k, np.int64))

    def select(self, state: Counts, rng: Generator) -> Ints:
        noise = -np.log(-np.log(rng.random(len(state.pulls))))
        scores = (state.reward + 1.0) / (state.pulls + 1.0) + self.temperature * noise
        return np.argsort(-scores)[: len(state.chosen)]

    def update(self, state: Counts, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        for j in range(len(chosen)):
            state.pulls[chosen[j]] += 1.0
            state.reward[chosen[j]] += rewards[j]


@sw.environment(feedback="independent", rewards="binary")
class Crowded(NamedTuple):
    """Neighbours in the set share their reward: P(a|s) = v_a / (1 + number of a - 1 and a + 1 in s)."""

    values: Floats
    k: int

    @property
    def n(self) -> int:
        return len(self.values)

    def means(self, chosen: Ints, out: Floats) -> None:
        for j in range(len(chosen)):
            neighbours = 0
            for i in range(len(chosen)):
                if abs(chosen[i] - chosen[j]) == 1:
                    neighbours += 1
            out[j] = self.values[chosen[j]] / (1 + neighbours)

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)
        draw_binary(Feedback.independent, rewards, rng, rewards)

    def best(self) -> Ints:
        return np.array([0, 2, 4], dtype=np.int64)


def main() -> Any:
    world = Crowded([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], k=3)
    check_environment(world)
    check_policy(Boltzmann(), world)
    for policy in (Boltzmann(), sw.UCB()):
        print(sw.simulate(policy, world, horizon=100_000, runs=20))


if __name__ == "__main__":
    main()
