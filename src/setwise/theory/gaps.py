"""Gaps between the optimal set and the others, the quantities in the paper's bounds.

epsilon   = min over strictly worse sets s of Q(s*) - Q(s)
delta_ij  = P(a_i|s*) - P(a_j|s*)                     arms of s* in descending order of P(a|s*)
Delta_l   = sum over i >= l of delta_li
"""

import dataclasses
from typing import Any

import numpy as np

from setwise.environments.enumeration import has_few_orders, has_order, scan_orders
from setwise.theory.survey import ALL_ORDERS, Survey, survey_sets
from setwise.theory.wording import format_number, set_name
from setwise.types import Floats, InputError


@dataclasses.dataclass(frozen=True, eq=False)
class Gaps:
    """The gaps of a world.

    best: the optimal set s*; of several the one with the largest margin in weak optimal set consistency
    optimal_sets: the optimal sets, at most 64 of them
    ties: number of optimal sets
    value: Q(s*)
    epsilon: the least gap to a strictly worse set, or 0 if all sets are optimal
    largest: the largest gap
    arms, probabilities: the arms of s* in descending order of P(a|s*), and P(a|s*)
    delta, Delta: delta_ij and Delta_l in that order
    complete: whether all sets were evaluated, or a proof covers them
    how: how certain the answer is
    doubt: why `best` may be the wrong set to compare with, or ""
    """

    environment: Any = dataclasses.field(repr=False)
    best: tuple[int, ...]
    optimal_sets: tuple[tuple[int, ...], ...]
    ties: int
    value: float
    epsilon: float
    largest: float
    arms: tuple[int, ...]
    probabilities: Floats
    delta: Floats
    Delta: Floats
    complete: bool
    how: str
    doubt: str = ""

    @property
    def note(self) -> str:
        """Caveats: ties, a gap below the accuracy, or sets that were not evaluated."""
        notes = []
        if int(self.environment.k) == int(self.environment.n) and not has_order(self.environment):
            notes.append("there is only one set")
        elif self.largest == 0.0 and self.complete:
            notes.append("all sets are optimal: there is nothing to learn")
        elif self.epsilon == 0.0 and self.complete:
            notes.append("the least gap is less than the accuracy of the means")
        elif self.ties > 1:
            notes.append(f"{self.ties:,} sets are optimal: epsilon is the least gap to a strictly worse set")
        if not self.complete:
            notes.append("not all sets were seen: epsilon may be less and the largest gap more")
        if has_order(self.environment):
            notes.append("other orders that are as good as the best are not counted")
        notes += [self.doubt] if self.doubt else []
        return "; ".join(notes)

    def __str__(self) -> str:
        lines = [
            f"best set      {set_name(self.environment, self.best)}, Q = {format_number(self.value)} ({self.how})",
            f"epsilon       {format_number(self.epsilon)}",
            f"largest gap   {format_number(self.largest)}",
            f"P(a|s*)       {_list(self.probabilities)}",
            f"Delta_l       {_list(self.Delta)}",
        ]
        return "\n".join(lines + ([f"note          {self.note}"] if self.note else []))


def _list(values: Floats) -> str:
    shown = [format_number(value) for value in values[:12]]
    return ", ".join(shown + ["..."] * (len(values) > 12))


def gaps(environment: Any, **options: Any) -> Gaps:
    """Compute the optimal set, the least and the largest gap, delta_ij and Delta_l.

    The options budget, method, tolerance, seed, threads and progress are those of `survey_sets`.

    >>> import setwise as sw
    >>> found = gaps(sw.paper.camera())
    >>> found.best, found.value, found.epsilon, found.largest
    ((0, 1, 2), 0.9, 0.05, 0.63)
    """
    return gaps_in(survey_sets(environment, **options))


def gaps_of_orders(environment: Any) -> tuple[float, float] | None:
    """Return the gaps of a world in which the order matters, its own or among all orders; None if those are many."""
    if hasattr(environment, "gaps"):
        try:
            least, largest = environment.gaps()
        except InputError:
            return None
        return float(least), float(largest)
    return scan_orders(environment)[1] if has_few_orders(environment) else None


def gaps_in(survey: Survey) -> Gaps:
    """Derive the gaps from a survey."""
    known, how = survey.all_sets, survey.how
    if has_order(survey.environment):
        stated = gaps_of_orders(survey.environment)
        known = stated is not None
        how = ALL_ORDERS if known else how
    else:
        stated = survey.environment.gaps() if survey.against is None else None
    if stated is not None:
        epsilon, largest = stated
    else:
        second, bottom = survey.against.second[0], survey.relations.bottom[0]
        worse = second > -np.inf
        epsilon = survey.value - second if worse else 0
        largest = survey.value - bottom if worse else 0
    order = sorted(range(len(survey.best)), key=lambda j: (-survey.means[j], survey.best[j]))
    means = [survey.means[j] for j in order]
    delta = np.array([[float(p - q) for q in means] for p in means])
    return Gaps(
        environment=survey.environment,
        best=survey.best,
        optimal_sets=survey.optimal_sets,
        ties=survey.ties,
        value=float(survey.value),
        epsilon=float(epsilon),
        largest=float(largest),
        arms=tuple(survey.best[j] for j in order),
        probabilities=np.array([float(p) for p in means]),
        delta=delta,
        Delta=np.array([float(delta[j, j:].sum()) for j in range(len(means))]),
        complete=known,
        how=how,
        doubt=survey.doubt,
    )
