"""Evaluate the paper's bounds, as printed and with the constants that the proofs give.

L = log T (natural), and alpha is the parameter of Algorithm 1. R(T) is an expectation, but the proofs bound it only
where all confidence bounds are valid; the corrected values add 2 n k T^(2 - 2 alpha) for the rest, which is negligible
for alpha = 2. The upper bounds hold under weak optimal set consistency for alpha >= 2. A step of the proof requires
log T >= 5, which the statements do not mention: 5 / alpha is enough, and for alpha >= 2 the bounds exceed the largest
possible regret at shorter horizons.
"""

import dataclasses
import math
from typing import Any

from setwise.theory.consistency import WeakConsistency, consistency_in
from setwise.theory.gaps import Gaps, gaps_in
from setwise.theory.lower_bound import information
from setwise.theory.survey import survey_sets
from setwise.theory.validity import azuma_failure
from setwise.theory.wording import amount
from setwise.types import InputError
from setwise.validation import number, whole_number

ENOUGH_LOG = 5.0  # the proof of the lemma on sub-optimal plays requires log T >= 5


@dataclasses.dataclass(frozen=True)
class Bound:
    """One bound of the paper.

    name, place: its name, and its place in the paper
    formula: as printed
    printed, corrected: its value as printed and as the proof gives it, or None where it says nothing
    correction: the difference, and the step that forces it; "" if none
    limit: T times the largest gap, which no regret exceeds; None if it is not an upper bound on regret
    """

    name: str
    place: str
    formula: str
    printed: float | None
    corrected: float | None
    correction: str = ""
    limit: float | None = None

    @property
    def useful(self) -> float | None:
        """The smaller of the corrected bound and the limit."""
        return None if self.limit is None or self.corrected is None else min(self.corrected, self.limit)

    @property
    def vacuous(self) -> bool:
        """Whether it is no better than the trivial bound, the largest gap in every round."""
        return self.limit is not None and self.corrected is not None and self.corrected >= self.limit


@dataclasses.dataclass(frozen=True, eq=False)
class Bounds:
    """All bounds for one world, horizon and alpha.

    theorem_1, theorem_2: on the regret of Algorithm 1
    bounded_gap, bounded_free: their corollary for rewards in [0, B]
    lower_choice, lower_independent: Theorem 3
    suboptimal_plays: for l = 1, ..., k, on t_l - t'_l, the plays of other sets before rho(t) falls below P(a_l|s*)
    delta_times_t: for l = 2, ..., k, on the sum over i < l of delta_il (t_i - t'_i)
    validity: the probability that some confidence bound fails
    notes: conditions of the theorems that are not met
    """

    gaps: Gaps = dataclasses.field(repr=False)
    horizon: int
    alpha: float
    theorem_1: Bound
    theorem_2: Bound
    bounded_gap: Bound
    bounded_free: Bound
    lower_choice: Bound
    lower_independent: Bound
    suboptimal_plays: tuple[Bound, ...]
    delta_times_t: tuple[Bound, ...]
    validity: Bound
    notes: tuple[str, ...]

    @property
    def rows(self) -> tuple[Bound, ...]:
        """All bounds."""
        return (
            self.theorem_1, self.theorem_2, self.bounded_gap, self.bounded_free, self.lower_choice,
            self.lower_independent, *self.suboptimal_plays, *self.delta_times_t, self.validity,
        )  # fmt: skip

    def __str__(self) -> str:
        limit = self.horizon * self.gaps.largest
        lines = [f"horizon {self.horizon:,}, alpha {self.alpha:g}; T x largest gap = {limit:,.6g}"]
        for bound in self.rows:
            values = f"printed {amount(bound.printed)}, corrected {amount(bound.corrected)}"
            lines.append(f"{bound.name}: {values}" + (" (vacuous)" if bound.vacuous else ""))
        return "\n".join([*lines, *self.notes])


def bounds(environment: Any, horizon: int, alpha: float = 2.0, **options: Any) -> Bounds:
    """Compute every bound of the paper for this world.

    The options budget, method, tolerance, seed, threads and progress are those of `survey_sets`, for the gaps.

    >>> import setwise as sw
    >>> found = bounds(sw.paper.camera(), 100_000)
    >>> round(found.theorem_1.printed), round(found.theorem_2.printed), found.theorem_1.vacuous
    (860904, 514660, True)
    """
    horizon = whole_number("horizon", horizon)
    if horizon < 2:
        raise InputError(f"horizon is {horizon}; the bounds have log T in them, so it has to be at least 2")
    alpha = number("alpha", alpha)
    if alpha <= 0.0:
        raise InputError(f"alpha is {alpha:g}; it has to be more than 0")
    survey = survey_sets(environment, **options)
    return bounds_of(gaps_in(survey), horizon, alpha, consistency_in(survey))


def bounds_of(found: Gaps, horizon: int, alpha: float = 2.0, consistency: WeakConsistency | None = None) -> Bounds:
    """Compute every bound from the gaps of a world; `consistency` only adds notes."""
    environment = found.environment
    n, k, log = int(environment.n), int(environment.k), math.log(horizon)
    top = _largest_reward(found)
    failure = azuma_failure(alpha, horizon, n, k)
    first, second = _theorems(found, n, k, horizon, alpha, failure.regret)
    with_gap, without_gap = _corollaries(found, n, k, horizon, alpha, failure.regret)
    return Bounds(
        gaps=found,
        horizon=horizon,
        alpha=alpha,
        theorem_1=first,
        theorem_2=second,
        bounded_gap=with_gap,
        bounded_free=without_gap,
        lower_choice=_lower(n, k, found.epsilon, top, log, choice=True),
        lower_independent=_lower(n, k, found.epsilon, top, log, choice=False),
        suboptimal_plays=tuple(_plays(found, n, k, j, log, alpha) for j in range(k)),
        delta_times_t=tuple(_delta_times_t(found, n, k, j, log, alpha) for j in range(1, k)),
        validity=Bound(
            "Lemma, validity of the confidence bounds",
            "Appendix A",
            "2 / T^(2 alpha) for one arm and one round",
            failure.printed,
            min(1.0, failure.corrected),
            "2 n T^(1 - 2 alpha) for all arms and rounds together: Azuma's inequality is used with the random N_i(t), "
            "so it takes a union over the T values of N_i as well",
        ),
        notes=_notes(found, alpha, log, consistency),
    )


def _theorems(found: Gaps, n: int, k: int, horizon: int, alpha: float, invalid: float) -> tuple[Bound, Bound]:
    """Return Theorems 1 and 2, for rewards of at most 1; `invalid` is the cost of invalid confidence bounds."""
    top = _largest_reward(found)
    limit = horizon * found.largest
    first_printed, first = theorem_1(n, k, found.epsilon, math.log(horizon), alpha)
    second_printed, second = theorem_2(n, k, horizon, alpha, float(found.probabilities[-1]))
    beyond = "" if top <= 1.0 else f"rewards are up to {top:g} here: see the corollary; "
    return Bound(
        "Theorem 1, gap-dependent regret",
        "Section 4.2",
        "8 alpha k^1.5 n L / eps + 30 alpha k^2 n L / eps + n",
        first_printed,
        None if beyond or first is None else first + invalid,
        beyond + "2 sqrt(40) = 12.65 for 8: the regret decomposition has 2 sqrt(alpha k n (t_k - t'_k) L), and "
        "t_k - t'_k <= 40 alpha k^2 n L / eps^2 (the sum as printed is not exceeded all the same, as the repaired "
        "lemma on delta times t gives 24.2 k (k - 1) for 30 k^2)",
        limit,
    ), Bound(
        "Theorem 2, gap-independent regret",
        "Section 4.2",
        "2 sqrt(alpha k n T L) + 15 k^2 sqrt(alpha n T L)",
        second_printed,
        None if beyond else second + invalid,
        beyond + "+ n P(a_k|s*), which the regret decomposition has and the theorem drops (for T >= n / k the other "
        "terms leave room for it, so that the bound holds as printed)",
        limit,
    )


def _corollaries(found: Gaps, n: int, k: int, horizon: int, alpha: float, invalid: float) -> tuple[Bound, Bound]:
    """Return the corollary for rewards in [0, B], with and without the gap: both theorems for rewards divided by B."""
    top, log = _largest_reward(found), math.log(horizon)
    limit = horizon * found.largest
    first = theorem_1(n, k, found.epsilon / top, log, alpha)[1]
    second = theorem_2(n, k, horizon, alpha, float(found.probabilities[-1]) / top)[1]
    return Bound(
        "Corollary, rewards in [0, B], gap-dependent",
        "Section 6.2",
        "O(alpha k^2 B^2 n L / eps)",
        _over(alpha * k**2 * top**2 * n * log, found.epsilon),
        None if first is None else top * (first + invalid),
        "the constants of Theorem 1 for rewards divided by B",
        limit,
    ), Bound(
        "Corollary, rewards in [0, B], gap-independent",
        "Section 6.2",
        "O(k^2 B sqrt(alpha n T L))",
        k**2 * top * math.sqrt(alpha * n * horizon * log),
        top * (second + invalid),
        "the constants of Theorem 2 for rewards divided by B",
        limit,
    )


def theorem_1(n: int, k: int, epsilon: float, log: float, alpha: float) -> tuple[float | None, float | None]:
    """Return Theorem 1 as printed and corrected; None if all sets are optimal."""
    if epsilon <= 0.0:
        return None, None
    shape = alpha * n * log / epsilon
    printed = 8.0 * k**1.5 * shape + 30.0 * k**2 * shape + n
    return printed, 2.0 * math.sqrt(40.0) * k**1.5 * shape + 30.0 * k**2 * shape + n


def theorem_2(n: int, k: int, horizon: int, alpha: float, last: float) -> tuple[float, float]:
    """Return Theorem 2 as printed and corrected."""
    root = math.sqrt(alpha * n * horizon * math.log(horizon))
    printed = 2.0 * math.sqrt(k) * root + 15.0 * k**2 * root
    return printed, printed + n * last


def plays_bound(delta: float, epsilon: float, n: int, k: int, rank: int, log: float, alpha: float) -> float:
    """Return the lemma's bound on t_l - t'_l for the arm of rank l, from 1."""
    gap = delta + epsilon if delta >= epsilon / 10.0 else epsilon
    return 40.0 * alpha * rank * k * n * log / gap**2


def _largest_reward(found: Gaps) -> float:
    return float(getattr(found.environment, "bound", 1.0))


def _over(value: float, epsilon: float) -> float | None:
    return value / epsilon if epsilon > 0.0 else None


def _plays(found: Gaps, n: int, k: int, j: int, log: float, alpha: float) -> Bound:
    value, top = None, _largest_reward(found)
    if found.epsilon > 0.0:
        # The bound counts rounds, which do not depend on the scale of rewards: divide them by B.
        value = plays_bound(float(found.Delta[j]) / top, found.epsilon / top, n, k, j + 1, log, alpha)
    wide = found.Delta[j] >= found.epsilon / 10.0
    return Bound(
        f"Lemma, sub-optimal plays, l = {j + 1}",
        "Section 4.3",
        f"40 alpha l k n L / {'(Delta_l + eps)^2' if wide else 'eps^2'}",
        value,
        value,
        "the constant stands; the proof asks for log T >= 5, of which 5 / alpha is needed, and for alpha >= 2 the "
        "bound exceeds T below that",
    )


def _delta_times_t(found: Gaps, n: int, k: int, j: int, log: float, alpha: float) -> Bound:
    shape = 30.0 * alpha * (j + 1) * k * n * log * _largest_reward(found) ** 2
    return Bound(
        f"Lemma, delta times t, l = {j + 1}",
        "Appendix A",
        "30 alpha l k n L / (Delta_(l-1) + eps)",
        _over(shape, float(found.Delta[j - 1]) + found.epsilon),
        _over(shape, float(found.Delta[j]) + found.epsilon),
        "Delta_l for Delta_(l-1), as in its proof; the sum of sigma_il over i that the proof takes to be at most 2 can "
        "be k - 1, but the lemma on f repairs it within the constant 30",
    )


def lower_plays(k: int, epsilon: float, choice: bool) -> float | None:
    """Return the asymptotic plays of a sub-optimal arm over log T in the lower-bound family, or None outside it.

    In the world E_1 all arms of the optimal set have mean q, the others q - epsilon. Raising one of the others to
    q + epsilon changes only the sets that contain it, and the gap is epsilon again. A policy that is good in both
    worlds plays the arm at least log T / KL times, with KL the largest divergence of such a set: the one in which no
    other arm is sub-optimal.
    """
    q = 1.0 / (k + 1.0) if choice else 0.5
    return 1.0 / information(k, epsilon, choice) if 0.0 < epsilon < q else None


def _lower(n: int, k: int, epsilon: float, top: float, log: float, choice: bool) -> Bound:
    shape = _over(n * log, epsilon * (k if choice else 1.0))
    plays = lower_plays(k, epsilon / top, choice)
    corrected = None if plays is None else (n - k) * epsilon * plays * log
    return Bound(
        f"Theorem 3, lower bound, {'choice' if choice else 'independent'} feedback",
        "Section 5",
        f"Omega(n L / {'(k eps)' if choice else 'eps'})",
        shape,
        corrected,
        "the constant for the paper's family with n arms in all, as T grows: (n - k) eps L / KL, with KL that of "
        "raising one arm from q - eps to q + eps; the paper's pair of worlds also changes a_1, which is played in most "
        "rounds; with rewards in [0, B] the family's are multiplied by B",
    )


def _notes(found: Gaps, alpha: float, log: float, consistency: WeakConsistency | None) -> tuple[str, ...]:
    notes = []
    if consistency is not None and not consistency.holds:
        answer = "does not hold" if consistency.holds is False else "is not known to hold"
        reason = f": {consistency.explain()}" if consistency.holds is False else ""
        notes.append(f"{consistency.assumption} {answer} here, so the upper bounds are not proved{reason}")
    notes += [found.note] if found.note else []
    if found.ties > 1 and found.epsilon > 0.0:
        notes.append("the proofs take the optimal set to be the only one")
    if alpha < 2.0:
        notes.append(f"the theorems ask for alpha >= 2, and alpha is {alpha:g}")
    if log < ENOUGH_LOG:
        notes.append(f"the proofs ask for log T >= 5, that is T >= 149, and log T is {log:.3g}")
    return tuple(notes)
