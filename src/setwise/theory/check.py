"""Check all assumptions of a world at once, with a set that breaks each that fails, and recommend policies."""

import dataclasses
from typing import Any

import numpy as np

from setwise.environments import MNL, Independent
from setwise.environments.enumeration import has_few_orders, has_order, scan_orders, stated_best
from setwise.environments.ordered import means_of
from setwise.theory.consistency import WeakConsistency, consistency_in, probability
from setwise.theory.gaps import Gaps, gaps_in
from setwise.theory.order import TotalOrder, order_in
from setwise.theory.recommendations import Recommendation, advice, recommend
from setwise.theory.survey import ALL_ORDERS, MOST_ARMS, Survey, survey_sets
from setwise.theory.wording import arm_name, format_number, set_name, yes_no
from setwise.types import InputError
from setwise.validation import suggestion


@dataclasses.dataclass(frozen=True)
class Finding:
    """The answer for one assumption.

    assumption: its name
    needed_by: the algorithms that rely on it
    holds: True, False, or None if undecided
    witness: the arms and sets that show the answer, as text
    how: how certain the answer is
    """

    assumption: str
    needed_by: str
    holds: bool | None
    witness: str
    how: str


@dataclasses.dataclass(frozen=True, eq=False)
class Check:
    """The assumptions of a world, checked.

    findings: one row per assumption
    consistency, order, gaps: the results they are based on
    recommendations: the standing of every policy in this world, the recommended one first
    """

    findings: tuple[Finding, ...]
    consistency: WeakConsistency
    order: TotalOrder
    gaps: Gaps
    recommendations: tuple[Recommendation, ...]

    def __getitem__(self, assumption: str) -> Finding:
        """Return the first finding whose assumption starts with this text."""
        for finding in self.findings:
            if finding.assumption.startswith(assumption):
                return finding
        known = [finding.assumption for finding in self.findings]
        raise InputError(f"there is no assumption {assumption!r}; {suggestion(assumption, known)}")

    @property
    def rows(self) -> list[list[str]]:
        """The table as text."""
        return [[f.assumption, yes_no(f.holds), f.witness, f.needed_by, f.how] for f in self.findings]

    @property
    def advice(self) -> list[str]:
        """What to use and why, and the policies by standing, as lines of text."""
        return advice(self.recommendations)

    def __str__(self) -> str:
        width = max(len(finding.assumption) for finding in self.findings)
        return "\n".join(
            [f"{f.assumption:<{width}}  {yes_no(f.holds):<11}  {f.witness or '-'}  ({f.how})" for f in self.findings]
            + self.advice
        )


def check(environment: Any, **options: Any) -> Check:
    """Check which assumptions a world satisfies; every answer has a witness and says how certain it is.

    The options budget, method, tolerance, seed, threads and progress are those of `survey_sets`.

    >>> import setwise as sw
    >>> found = sw.check(sw.paper.camera())
    >>> found["weak optimal set consistency"].holds, found["total order"].holds, found["an arm that"].holds
    (True, False, False)
    >>> next(row.name for row in found.recommendations if row.standing == "guarantee")
    'ucb'
    """
    return check_in(survey_sets(environment, **options))


def check_in(survey: Survey) -> Check:
    """Check the assumptions from a survey."""
    consistency, order, gaps = consistency_in(survey), order_in(survey), gaps_in(survey)
    how = survey.how
    # A proof of the order does not cover set independence or the logit: a small sample of sets can refute both.
    seen = survey
    if survey.relations is None and int(survey.environment.n) <= MOST_ARMS:
        seen = survey_sets(survey.environment, budget=200, method="search")
    independent, logit = _set_independent(seen, consistency), _multinomial_logit(seen)
    findings = [
        _best_is_right(survey),
        Finding("a single optimal set", "", (survey.ties == 1) if survey.complete else None, gaps.note, gaps.how),
        Finding(
            f"weak optimal set consistency ({consistency.assumption})",
            "Algorithm 1",
            consistency.holds,
            _with_margin(consistency),
            how,
        ),
        Finding(
            "total order (Definition 1)",
            "Stagewise Elimination",
            order.holds,
            order.explain_order() or order.explain_comparability() or order.explain_transitivity(),
            how,
        ),
        Finding("comparability (Definition 1)", "", order.comparable, order.explain_comparability(), how),
        Finding("transitivity (Definition 1)", "", order.transitive, order.explain_transitivity(), how),
        Finding(
            "no cycle across sets (Example 1)",
            "",
            False if order.cycle else (True if survey.complete else None),
            order.explain_cycle(),
            how,
        ),
        independent,
        logit,
        _one_arm_ahead(survey, order),
    ]
    recommended = recommend(survey, seen, gaps, consistency.holds, independent.holds, logit.holds)
    return Check(tuple(findings), consistency, order, gaps, recommended)


def _with_margin(consistency: WeakConsistency) -> str:
    margin = "" if consistency.margin is None else f"least margin {consistency.margin:.3g}: "
    if consistency.holds is None:
        margin = f"{consistency.doubt or f'no violation in {consistency.sets:,} sets'}; " + margin
    return (margin + consistency.explain()).removesuffix("; ")


def _best_is_right(survey: Survey) -> Finding:
    """Check that the environment's own `best()` is optimal: regret is measured against it."""
    environment = survey.environment
    best, known, how = stated_best(environment), survey.all_sets, survey.how
    if not has_order(environment):
        best = np.sort(best)
    top = survey.value if survey.relations is None else survey.relations.top[0]
    better = None if survey.relations is None else survey.set_of(int(survey.relations.top_row[0]))
    if has_order(environment):
        known = has_few_orders(environment)
        if known:
            better = tuple(scan_orders(environment)[0].tolist())
            top, how = sum(means_of(environment, better).tolist()), ALL_ORDERS
    value = sum(means_of(environment, best).tolist())
    right = value >= float(top) - max(survey.tolerance, 1e-12)
    witness = f"{set_name(environment, best.tolist())}, Q = {format_number(value)}"
    if not right and better is not None:
        witness += f", but {set_name(environment, better)} has {format_number(top)}"
    holds = False if not right else (True if known else None)
    return Finding("best() is optimal", "the regret that simulate counts", holds, witness, how)


def _range_finding(
    survey: Survey, name: str, needed_by: str, values: tuple[Any, Any, Any, Any], what: str, proved: bool
) -> Finding:
    """Check that a quantity of every arm is constant over all sets; else name the arm and two sets that differ most."""
    if proved and not (survey.relations is not None and survey.complete):
        return Finding(name, needed_by, True, "", "by proof")
    if survey.relations is None:
        return Finding(name, needed_by, None, "", "not looked at")
    low, low_row, high, high_row = values
    spread = [float(h - v) if row >= 0 else 0.0 for v, h, row in zip(low, high, low_row, strict=True)]
    arm = int(np.argmax(spread))
    scale = max(1.0, abs(float(high[arm])) if high_row[arm] >= 0 else 1.0)
    if spread[arm] <= 10 * survey.tolerance * scale:
        return Finding(name, needed_by, True if survey.complete else None, "", survey.how)
    few, many = survey.set_of(int(low_row[arm])), survey.set_of(int(high_row[arm]))
    return Finding(
        name,
        needed_by,
        False,
        f"{what} of {arm_name(survey.environment, arm)} is {format_number(low[arm])} in "
        f"{set_name(survey.environment, few)} and {format_number(high[arm])} in {set_name(survey.environment, many)}",
        survey.how,
    )


def _set_independent(survey: Survey, consistency: WeakConsistency) -> Finding:
    found = survey.relations
    if found is None and consistency.margin is not None and consistency.margin > survey.tolerance:
        name, needed_by = "rewards do not depend on the set", "CUCB, CombUCB1, ESCB, Thompson"
        return Finding(name, needed_by, False, consistency.explain(), "two sets")
    values = (None,) * 4 if found is None else (found.low, found.low_row, found.high, found.high_row)
    return _range_finding(
        survey,
        "rewards do not depend on the set",
        "CUCB, CombUCB1, ESCB, Thompson",
        values,
        "the mean",
        isinstance(survey.environment, Independent),
    )


def _multinomial_logit(survey: Survey) -> Finding:
    """Check that the odds P(a|s) / P(nothing|s) = v_a / v_0 are constant over all sets: only a logit has that."""
    name, needed_by = "multinomial logit", "E-E MNL, MNL-TS"
    environment = survey.environment
    if getattr(environment, "feedback", None) != "choice" or float(getattr(environment, "bound", 1.0)) != 1.0:
        return Finding(
            name, needed_by, False, "at most one arm is rewarded, with 1, in a multinomial logit", survey.how
        )
    found = survey.relations
    if found is not None and found.top[0] >= 1 - survey.tolerance:
        where = set_name(environment, survey.set_of(int(found.top_row[0])))
        return Finding(name, needed_by, False, f"some arm of {where} is rewarded in every round", survey.how)
    values = (None,) * 4
    if found is not None:
        values = (found.odds_low, found.odds_low_row, found.odds_high, found.odds_high_row)
    return _range_finding(survey, name, needed_by, values, "P(a|s) over P(nothing|s)", isinstance(environment, MNL))


def _one_arm_ahead(survey: Survey, order: TotalOrder) -> Finding:
    """Look for an arm that no other is ahead of in any set: the single best arm of the choice bandits."""
    name, needed_by = "an arm that no other is ahead of", "Choice Bandits, MaxMin-UCB"
    if survey.relations is None:
        best = order.order[0][0] if order.order else 0
        return Finding(name, needed_by, True, arm_name(survey.environment, best), survey.how)
    behind = np.array(survey.relations.lead > survey.tolerance, dtype=bool).any(axis=0)
    ahead = np.flatnonzero(~behind).tolist()
    if not ahead:
        return Finding(name, needed_by, False, _nearest_to_ahead(survey), survey.how)
    names = ", ".join(arm_name(survey.environment, arm) for arm in ahead[:5])
    return Finding(name, needed_by, True if survey.complete else None, names, survey.how)


def _nearest_to_ahead(survey: Survey) -> str:
    """Name the arm that is ahead in most sets, and an arm that is ahead of it in some set."""
    arm = int(np.argmax(survey.relations.ahead))
    lead = survey.relations.lead[:, arm]
    other = max(range(len(lead)), key=lead.tolist().__getitem__)
    chosen = survey.set_of(int(survey.relations.lead_row[other, arm]))
    environment = survey.environment
    return (
        f"{arm_name(environment, arm)} is ahead in {int(survey.relations.ahead[arm]):,} sets, but "
        f"{arm_name(environment, other)} has {format_number(probability(environment, other, chosen))} and it has "
        f"{format_number(probability(environment, arm, chosen))} in {set_name(environment, chosen)}"
    )
