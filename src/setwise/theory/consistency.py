"""Weak optimal set consistency: the assumption under which Algorithm 1 is proved to work.

For any other set s and any arm a common to s and the optimal set s*

    P(a|s) >= P(a|s*)

(Assumption 1 of Yang, Ren, Dhillon, Sanghavi 2021; with expected rewards in [0, B] its Assumption 2.) The paper states
it for sub-optimal sets and assumes a single optimal set. With several, it must hold for the other optimal sets too: the
proof uses the inequality in every round, whichever set is played, and without it Algorithm 1 can have linear regret.
"""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from setwise.environments.ordered import means_of
from setwise.theory.survey import Survey, survey_sets
from setwise.theory.wording import arm_name, format_number, set_name, yes_no


class Comparison(NamedTuple):
    """The mean of an arm in some set and in the best set.

    arm, set: the arm, and another set that contains it
    probability, best_probability: P(a|s) and P(a|s*)
    """

    arm: int
    set: tuple[int, ...]
    probability: float
    best_probability: float

    @property
    def margin(self) -> float:
        """P(a|s) - P(a|s*), up to rounding."""
        return self.probability - self.best_probability


@dataclasses.dataclass(frozen=True)
class WeakConsistency:
    """Whether a world satisfies weak optimal set consistency.

    holds: True, False, or None if only some sets were checked and none violates it
    margin: the smallest P(a|s) - P(a|s*) found, or None if no other set shares an arm with the best
    witness: the worst violation, or None
    tightest: where the margin is attained, or None
    violations: number of (arm, set) pairs that violate it, among the sets checked
    best: s*; if there are several, the one with the largest margin
    optimal_sets: number of optimal sets
    sets: number of sets checked
    how: how certain the answer is
    proof: why it holds in every world of this kind, or ""
    doubt: why s* may be the wrong set to compare with, or ""
    """

    environment: Any = dataclasses.field(repr=False)
    holds: bool | None
    margin: float | None
    witness: Comparison | None
    tightest: Comparison | None
    violations: int
    best: tuple[int, ...]
    optimal_sets: int
    sets: int
    how: str
    proof: str
    doubt: str = ""

    @property
    def assumption(self) -> str:
        """The name of the paper's assumption that applies."""
        return "Assumption 2" if getattr(self.environment, "rewards", "binary") == "bounded" else "Assumption 1"

    def explain(self) -> str:
        """Explain the answer in one sentence."""
        where = self.witness or self.tightest
        if where is None:
            return "no other set shares an arm with the best" if self.holds else ""
        return (
            f"{arm_name(self.environment, where.arm)} gets {format_number(where.probability)} in "
            f"{set_name(self.environment, where.set)} and {format_number(where.best_probability)} in the best set "
            f"{set_name(self.environment, self.best)}"
        )

    def __str__(self) -> str:
        answer = f"weak optimal set consistency ({self.assumption}): {yes_no(self.holds)} ({self.how})"
        if self.holds is None:
            answer += f"; {self.doubt}" if self.doubt else f"; no violation in {self.sets:,} sets"
        margin = "" if self.margin is None else f"; least margin {self.margin:.3g}"
        reason = self.explain()
        proof = f"; proof: {self.proof}" if self.proof else ""
        return answer + margin + (f": {reason}" if reason else "") + proof


def weak_consistency(environment: Any, **options: Any) -> WeakConsistency:
    """Check that P(a|s) >= P(a|s*) for every other set s and every arm a in both.

    The options budget, method, tolerance, seed, threads and progress are those of `survey_sets`.

    >>> import setwise as sw
    >>> world = sw.environments.Table({(0, 1): (0.3, 0.3), (0, 2): (0.6, 0.4), (1, 2): (0.3, 0.4)})
    >>> answer = weak_consistency(world)
    >>> answer.holds, answer.best, answer.witness.arm, answer.witness.set
    (False, (0, 2), 0, (0, 1))
    """
    return consistency_in(survey_sets(environment, **options))


def consistency_in(survey: Survey) -> WeakConsistency:
    """Derive the answer from a survey."""
    tightest, margin, violations = _tightest(survey)
    broken = tightest is not None and violations > 0
    holds = False if broken else (True if survey.complete else None)
    if broken and survey.doubt:
        holds = None  # it may hold for another s*
    return WeakConsistency(
        environment=survey.environment,
        holds=holds,
        margin=margin,
        witness=tightest if broken else None,
        tightest=tightest,
        violations=violations,
        best=survey.best,
        optimal_sets=survey.ties,
        sets=survey.looked_at,
        how=survey.how,
        proof=survey.proof,
        doubt=survey.doubt,
    )


def _tightest(survey: Survey) -> tuple[Comparison | None, float | None, int]:
    """Return the comparison of smallest margin, that margin, and the number of negative margins."""
    if survey.against is None:
        return *_tightest_by_merit(survey), 0
    found = survey.against
    margins = found.margin.tolist()
    j = min(range(len(margins)), key=margins.__getitem__)
    row = int(found.margin_row[j])
    if row < 0:
        return None, None, 0
    arm, chosen, best = int(found.best[j]), survey.set_of(row), found.reference[j]
    value = best + margins[j] if survey.exact else probability(survey.environment, arm, chosen)
    return Comparison(arm, chosen, float(value), float(best)), float(margins[j]), int(found.violations[0])


def probability(environment: Any, arm: int, chosen: tuple[int, ...]) -> float:
    """Return P(a|s)."""
    return float(means_of(environment, chosen)[chosen.index(arm)])


def _tightest_by_merit(survey: Survey) -> tuple[Comparison | None, float | None]:
    """Find the smallest margin if the arms have an order: swap the arm's worst rival in s* for the best arm outside.

    No other set has better rivals: sorted, each is at most its counterpart here.
    """
    environment = survey.environment
    merits = np.asarray(environment.merits)
    best = np.array(survey.best)
    outside = np.setdiff1d(np.arange(int(environment.n)), best)
    if not len(outside) or len(best) == 1:
        return None, None
    into = outside[np.argmax(merits[outside])]
    found: list[Comparison] = []
    worst, next_to_worst = best[np.argsort(merits[best], kind="stable")[:2]].tolist()
    for out, arms in ((worst, best[best != worst].tolist()), (next_to_worst, [worst])):
        chosen = tuple(np.sort(np.append(best[best != out], into)).tolist())
        means = dict(zip(chosen, means_of(environment, chosen).tolist(), strict=True))
        found += [Comparison(arm, chosen, means[arm], float(survey.means[survey.best.index(arm)])) for arm in arms]
    margins = [where.probability - where.best_probability for where in found]
    least = int(np.argmin(margins))
    return found[least], margins[least]
