"""Survey a table of fractions without rounding.

In floats 0.85 - (0.30 + 0.25) is not 0.30, so a tie looks like an order. Fractions over one common denominator are
integers, which Python adds and compares exactly.
"""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from setwise.theory.findings import MOST_TIES, AgainstBest, Relations
from setwise.theory.survey import Survey


def exact_survey(environment: Any, exact: tuple[tuple[Fraction, ...], ...]) -> Survey:
    """Survey all sets of a table of fractions; the numbers in the survey are fractions too."""
    n, k = int(environment.n), int(environment.k)
    whole = math.lcm(*(value.denominator for row in exact for value in row))
    rows = [tuple(value.numerator * (whole // value.denominator) for value in row) for row in exact]
    sets = list(itertools.combinations(range(n), k))
    totals = [sum(row) for row in rows]
    top = max(totals)
    optimal = [row for row, total in enumerate(totals) if total == top]
    untried = max(0, len(optimal) - MOST_TIES)
    against = max((_against(n, sets, rows, totals, best, whole) for best in optimal[:MOST_TIES]), key=_least_margin)
    return Survey(
        environment=environment,
        looked_at=len(sets),
        enumerated=True,
        exact=True,
        proof="",
        tolerance=0.0,
        relations=_relations(n, sets, rows, totals, whole),
        best=tuple(against.best.tolist()),
        value=Fraction(top, whole),
        means=tuple(against.reference),
        against=against,
        optimal_sets=tuple(sets[row] for row in optimal[:MOST_TIES]),
        ties=len(optimal),
        set_of=lambda row: sets[row],
        doubt=f"{untried:,} other optimal sets were not tried as s*" if untried else "",
    )


def _least_margin(against: AgainstBest) -> Any:
    return min(against.margin.tolist(), default=math.inf)


def _objects(*shape: int, value: Any) -> Any:
    return np.full(shape, value, dtype=object)


def _relations(n: int, sets: Any, rows: Any, totals: Any, whole: int) -> Relations:
    top, bottom = totals.index(max(totals)), totals.index(min(totals))
    leads: list[list[Any]] = [[-math.inf] * n for _ in range(n)]
    lead_row = np.full((n, n), -1, dtype=np.int64)
    ahead = np.zeros(n, np.int64)
    ranges = {name: _objects(n, value=sign * math.inf) for name, sign in RANGES.items()}
    range_rows: dict[str, Any] = {name: np.full(n, -1, dtype=np.int64) for name in RANGES}
    for row, (arms, values, total) in enumerate(zip(sets, rows, totals, strict=True)):
        if sum(value == max(values) for value in values) == 1:
            ahead[arms[values.index(max(values))]] += 1
        for (a, p), (b, q) in itertools.permutations(zip(arms, values, strict=True), 2):
            if p - q > leads[a][b]:
                leads[a][b], lead_row[a, b] = p - q, row
        for a, p in zip(arms, values, strict=True):
            found = {"low": Fraction(p, whole), "high": Fraction(p, whole)}
            if whole > total:
                found |= {"odds_low": Fraction(p, whole - total), "odds_high": Fraction(p, whole - total)}
            for name, value in found.items():
                better = value < ranges[name][a] if RANGES[name] > 0 else value > ranges[name][a]
                if better:
                    ranges[name][a], range_rows[name][a] = value, row
    lead = _objects(n, n, value=-math.inf)
    for a, b in itertools.product(range(n), repeat=2):
        if lead_row[a, b] >= 0:
            lead[a, b] = Fraction(leads[a][b], whole)
    return Relations(
        tolerance=np.zeros(1),
        bound=np.ones(1),
        wrong_row=np.array([-1]),
        top=_objects(1, value=Fraction(totals[top], whole)),
        top_row=np.array([top]),
        bottom=_objects(1, value=Fraction(totals[bottom], whole)),
        bottom_row=np.array([bottom]),
        lead=lead,
        lead_row=lead_row,
        ahead=ahead,
        means=np.zeros(len(sets[0])),
        **ranges,
        **{f"{name}_row": rows_of for name, rows_of in range_rows.items()},
    )


RANGES = {"low": 1, "high": -1, "odds_low": 1, "odds_high": -1}


def _against(n: int, sets: Any, rows: Any, totals: Any, best: int, whole: int) -> AgainstBest:
    arms, reference = sets[best], rows[best]
    place = {arm: j for j, arm in enumerate(arms)}
    margin, margin_row = _objects(len(arms), value=math.inf), np.full(len(arms), -1, dtype=np.int64)
    violations = 0
    for row, (others, values) in enumerate(zip(sets, rows, strict=True)):
        if row == best:
            continue
        for arm, value in zip(others, values, strict=True):
            if arm in place:
                j = place[arm]
                found = Fraction(value - reference[j], whole)
                violations += found < 0
                if found < margin[j]:
                    margin[j], margin_row[j] = found, row
    worse = [total for total in totals if total < totals[best]]
    ties = [row for row, total in enumerate(totals) if total == totals[best]]
    tie_rows = np.full(MOST_TIES, -1, dtype=np.int64)
    tie_rows[: len(ties)] = ties[:MOST_TIES]
    return AgainstBest(
        tolerance=np.zeros(1),
        best=np.array(arms),
        place=np.array([place.get(arm, -1) for arm in range(n)]),
        reference=np.array([Fraction(value, whole) for value in reference], dtype=object),
        top=_objects(1, value=Fraction(totals[best], whole)),
        second=_objects(1, value=Fraction(max(worse), whole) if worse else -math.inf),
        margin=margin,
        margin_row=margin_row,
        violations=np.array([violations]),
        ties=np.array([len(ties)]),
        tie_rows=tie_rows,
        means=np.zeros(len(arms)),
    )
