"""Duels: pairs of arms, of which one wins; regret counts how far both are from the arm that beats every other.

    P(i|{i, j}) = P_ij,    P_ij + P_ji = 1

where P_ij is the probability that arm i beats arm j. The Condorcet winner c beats every other arm, P_ci > 1/2. With the
gap g(i) = P_ci - 1/2 of an arm, a duel of i and j costs

    strong regret (g(i) + g(j)) / 2,    weak regret min(g(i), g(j)).

An arm may meet itself: that is the set of this arm alone, P(i|{i}) = 1, and it costs g(i). Only c against itself has no
strong regret.

Yue, Broder, Kleinberg, Joachims 2012, "The K-armed dueling bandits problem"; Chen, Frazier 2017, "Dueling bandits with
weak regret".
"""

import itertools
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.kernels.draws import draw_binary, draw_binary_many
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import check_names, check_range, check_sizes


@environment(
    title="Duels",
    derived=("winner",),
    feedback="choice",
    rewards="binary",
    outside_option=False,
    smaller_sets=True,
)
class Duels(NamedTuple):
    """Duels with a Condorcet winner, in which an arm may meet itself.

    preferences: P, a row for every arm with the probabilities that it beats each of the arms; 1/2 on the diagonal
    names: of the arms, optional
    winner: the Condorcet winner

    `Result.regret` is the strong regret, `Result.surrogate_regret` the weak one. A policy plays an arm against itself
    by a set of one arm, for which it has `pad=False`. Without that, two distinct arms always cost strong regret.

    >>> world = Duels([[0.5, 0.7, 0.9], [0.3, 0.5, 0.6], [0.1, 0.4, 0.5]])
    >>> world.best().tolist(), [round(gap, 9) for gap in world.gaps()]
    ([0], [0.1, 0.4])
    """

    preferences: Floats
    names: tuple[str, ...] | None = None
    winner: int = 0

    def check(self) -> dict[str, Any]:
        given = self.preferences
        if given.ndim != 2 or given.shape[0] != given.shape[1]:
            raise InputError(f"Duels: preferences has the shape {given.shape}; it has to be square, a row for each arm")
        n, _ = check_sizes(len(given), 2)
        check_range("Duels: preferences", given, 0.0, 1.0)
        for i, j in itertools.combinations_with_replacement(range(n), 2):
            if abs(given[i, j] + given[j, i] - 1.0) > 1e-9:
                raise InputError(
                    f"Duels: preferences is {given[i, j]:g} at ({i}, {j})"
                    + (
                        "; an arm beats itself with probability 1/2"
                        if i == j
                        else f" and {given[j, i]:g} at ({j}, {i}); one of two arms wins, so the two have to add up to 1"
                    )
                )
        beaten = (given > 0.5).sum(axis=1)
        if beaten.max() < n - 1:
            raise InputError(
                f"Duels: no arm beats all of the {n - 1} others with more than 1/2, arm {beaten.argmax()} only "
                f"{beaten.max()} of them; regret is counted from an arm that does"
            )
        return {"names": check_names(self.names, n), "winner": int(beaten.argmax())}

    @property
    def n(self) -> int:
        return len(self.preferences)

    @property
    def k(self) -> int:
        return 2

    def means(self, chosen: Ints, out: Floats) -> None:
        if len(chosen) == 1:
            out[0] = 1.0
        else:
            out[0] = self.preferences[chosen[0], chosen[1]]
            out[1] = self.preferences[chosen[1], chosen[0]]

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)
        draw_binary(Feedback.choice, rewards, rng, rewards)

    def draw_many(self, chosen: Ints, rounds: int, rng: Generator, totals: Floats) -> None:
        self.means(chosen, totals)
        draw_binary_many(Feedback.choice, totals, rounds, rng, totals)

    def value(self, chosen: Ints) -> float:
        """Return the mean probability of the two arms to beat c: 1/2 minus it is the strong regret."""
        total = 0.0
        for j in range(len(chosen)):
            total += self.preferences[chosen[j], self.winner]
        return total / len(chosen)

    def surrogate(self, chosen: Ints) -> float:
        """Return the larger probability of the two arms to beat c: 1/2 minus it is the weak regret."""
        most = 0.0
        for j in range(len(chosen)):
            most = max(most, self.preferences[chosen[j], self.winner])
        return most

    def best(self) -> Ints:
        return np.array([self.winner])

    def gaps(self) -> tuple[float, float]:
        """Return the least positive and the largest strong regret of a round."""
        gaps = np.delete(0.5 - self.preferences[:, self.winner], self.winner)
        return float(gaps.min()) / 2.0, float(gaps.max())
