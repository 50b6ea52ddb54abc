"""A world with few sets as a lookup table of its means, so that the simulation loop does not recompute them.

All such worlds have one class, so a policy is compiled once for all of them, and a world whose means are integrals is
as fast as any other. The table holds the world's own means, so runs are the same: bitwise if the means do not depend on
the order of the arms in a set, else up to rounding.
"""

from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.enumeration import has_value, number_of_sets, scan_sets
from setwise.environments.table import table_means
from setwise.identity import identity
from setwise.kernels.sets import binomial_table, next_set, row_of
from setwise.types import Feedback, Floats, Generator, Ints

MOST_SETS = 200_000


@environment(title="Tabulated", rewards="binary", bound=1.0)
class Tabulated(NamedTuple):
    """A world as tables with a row for every set.

    probabilities: P(a|s), with columns in the order of the arms
    surrogates: the surrogate value of every set, or 0
    n, k: the number of arms, and the size of a set
    choose: binomial coefficients, for the row of a set
    feedback: of the world
    optimal: the optimal set
    """

    probabilities: Floats
    surrogates: Floats
    n: int
    k: int
    choose: Ints
    feedback: Feedback
    optimal: Ints

    def means(self, chosen: Ints, out: Floats) -> None:
        table_means(self.choose, self.probabilities, chosen, out)

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        raise NotImplementedError("rewards of 0 and 1 are drawn from the means")

    def surrogate(self, chosen: Ints) -> float:
        value: float = self.surrogates[row_of(self.choose, len(self.surrogates), chosen)]
        return value

    def best(self) -> Ints:
        return self.optimal


class AllMeans(NamedTuple):
    """The means of every set by row, and a buffer."""

    rows: Floats
    means: Floats


def scan_all_means(environment: Any, chosen: Ints, n: int, row: int, rows: int, findings: AllMeans) -> None:
    """Record the means of every set."""
    for r in range(row, row + rows):
        environment.means(chosen, findings.means)
        for j in range(len(chosen)):
            findings.rows[r, j] = findings.means[j]
        next_set(n, chosen)


_known: dict[str, Tabulated] = {}


def can_tabulate(environment: Any) -> bool:
    """Return whether means and feedback determine what a policy sees, whatever the order of a set, and sets are few."""
    return (
        getattr(environment, "rewards", None) == "binary"
        and getattr(environment, "feedback", None) is not None
        and not getattr(environment, "ordered_sets", False)
        and not getattr(environment, "missing", False)
        and not has_value(environment)
        and number_of_sets(environment) <= MOST_SETS
    )


def tabulated(environment: Any) -> Tabulated:
    """Return the table of a world; cached."""
    name = identity(environment)
    if name not in _known:
        if len(_known) >= 64:
            _known.pop(next(iter(_known)))
        _known[name] = _tabulate(environment)
    return _known[name]


def _tabulate(environment: Any) -> Tabulated:
    n, k, sets = int(environment.n), int(environment.k), number_of_sets(environment)
    rows = np.zeros((sets, k))
    scan_sets(scan_all_means, environment, lambda: AllMeans(rows, np.zeros(k)), threads=1)
    surrogates = np.zeros(sets)
    if hasattr(environment, "surrogate"):
        chosen = np.arange(k)
        for row in range(sets):
            surrogates[row] = environment.surrogate(chosen)
            next_set(n, chosen)
    best = np.array(environment.best(), dtype=np.int64)
    return Tabulated(rows, surrogates, n, k, binomial_table(n, k), Feedback(environment.feedback), best)
