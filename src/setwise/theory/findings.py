"""Two passes over the sets of a world, one set at a time, in compiled code.

The first pass records, over all sets s, the range of the values Q(s), the range of P(a|s) and of the odds
P(a|s) / P(nothing|s) for every arm, and the largest lead P(a|s) - P(b|s) of every arm over every other, each with the
set that attains it. The second compares P(a|s) with P(a|s*) for the arms of the best set.
"""

from typing import Any, NamedTuple

import numpy as np

from setwise.kernels.sets import next_set
from setwise.types import Floats, Generator, Ints

MOST_TIES = 64  # optimal sets stored at most


class Relations(NamedTuple):
    """Findings of the first pass, updated in place; a row is the number of a set.

    tolerance, bound: differences up to the tolerance are ties; the bound is the largest reward
    wrong_row: the first set with a mean that is not a number from 0 to the bound, or -1
    top, top_row, bottom, bottom_row: the largest and the smallest value Q(s)
    lead, lead_row: the largest P(a|s) - P(b|s) for every pair of arms (a, b)
    ahead: for every arm, the number of sets in which it is ahead of all others by more than the tolerance
    low, low_row, high, high_row: the range of P(a|s) for every arm
    odds_low, odds_low_row, odds_high, odds_high_row: the range of P(a|s) / P(nothing|s)
    means: a buffer
    """

    tolerance: Floats
    bound: Floats
    wrong_row: Ints
    top: Floats
    top_row: Ints
    bottom: Floats
    bottom_row: Ints
    lead: Floats
    lead_row: Ints
    ahead: Ints
    low: Floats
    low_row: Ints
    high: Floats
    high_row: Ints
    odds_low: Floats
    odds_low_row: Ints
    odds_high: Floats
    odds_high_row: Ints
    means: Floats


def new_relations(n: int, k: int, tolerance: float, bound: float) -> Relations:
    """Return empty findings."""

    def least(*shape: int) -> tuple[Floats, Ints]:
        return np.full(shape, -np.inf), np.full(shape, -1, dtype=np.int64)

    def most(*shape: int) -> tuple[Floats, Ints]:
        return np.full(shape, np.inf), np.full(shape, -1, dtype=np.int64)

    return Relations(
        np.array([tolerance]), np.array([bound]), np.array([-1]), *least(1), *most(1), *least(n, n),
        np.zeros(n, np.int64), *most(n), *least(n), *most(n), *least(n), np.zeros(k),
    )  # fmt: skip


def record_relations(environment: Any, chosen: Ints, row: int, findings: Relations) -> None:
    """Update the findings with one set."""
    k = len(chosen)
    means = findings.means
    environment.means(chosen, means)
    value = 0.0
    for j in range(k):
        value += means[j]
    if value > findings.top[0]:
        findings.top[0] = value
        findings.top_row[0] = row
    if value < findings.bottom[0]:
        findings.bottom[0] = value
        findings.bottom_row[0] = row
    nothing = 1.0 - value
    first = 0
    for i in range(k):
        a = chosen[i]
        if not (means[i] >= -1e-9 and means[i] <= findings.bound[0] + 1e-9) and findings.wrong_row[0] < 0:
            findings.wrong_row[0] = row
        if means[i] > means[first]:
            first = i
        if means[i] < findings.low[a]:
            findings.low[a] = means[i]
            findings.low_row[a] = row
        if means[i] > findings.high[a]:
            findings.high[a] = means[i]
            findings.high_row[a] = row
        if nothing > findings.tolerance[0]:
            odds = means[i] / nothing
            if odds < findings.odds_low[a]:
                findings.odds_low[a] = odds
                findings.odds_low_row[a] = row
            if odds > findings.odds_high[a]:
                findings.odds_high[a] = odds
                findings.odds_high_row[a] = row
        for j in range(i + 1, k):
            b = chosen[j]
            difference = means[i] - means[j]
            if difference > findings.lead[a, b]:
                findings.lead[a, b] = difference
                findings.lead_row[a, b] = row
            if -difference > findings.lead[b, a]:
                findings.lead[b, a] = -difference
                findings.lead_row[b, a] = row
    near = 0
    for j in range(k):
        if means[j] >= means[first] - findings.tolerance[0]:
            near += 1
    if near == 1:
        findings.ahead[chosen[first]] += 1


def scan_relations(environment: Any, chosen: Ints, n: int, row: int, rows: int, findings: Relations) -> None:
    """Run the first pass over `rows` consecutive sets, starting at `chosen`."""
    for r in range(row, row + rows):
        record_relations(environment, chosen, r, findings)
        next_set(n, chosen)


class AgainstBest(NamedTuple):
    """Findings of the second pass, updated in place.

    tolerance: differences up to it are ties
    best, place, reference: the best set, the position of every arm in it or -1, and P(a|s*) in that order
    top: its value
    second: the largest value of a strictly worse set
    margin, margin_row: the smallest P(a|s) - P(a|s*) over all other sets s, for every arm of the best set
    violations: number of (arm, set) pairs with a negative margin
    ties, tie_rows: number of sets as good as the best, itself included, and the first of them
    means: a buffer
    """

    tolerance: Floats
    best: Ints
    place: Ints
    reference: Floats
    top: Floats
    second: Floats
    margin: Floats
    margin_row: Ints
    violations: Ints
    ties: Ints
    tie_rows: Ints
    means: Floats


def new_against_best(n: int, best: Ints, reference: Floats, top: float, tolerance: float) -> AgainstBest:
    """Return empty findings."""
    k = len(best)
    place = np.full(n, -1, dtype=np.int64)
    place[best] = np.arange(k)
    return AgainstBest(
        np.array([tolerance]), best, place, reference, np.array([top]), np.array([-np.inf]), np.full(k, np.inf),
        np.full(k, -1, dtype=np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64),
        np.full(MOST_TIES, -1, dtype=np.int64), np.zeros(k),
    )  # fmt: skip


def record_against_best(environment: Any, chosen: Ints, row: int, findings: AgainstBest) -> None:
    """Compare one set with the best."""
    k = len(chosen)
    environment.means(chosen, findings.means)
    value = 0.0
    for j in range(k):
        value += findings.means[j]
    common = 0
    for j in range(k):
        if findings.place[chosen[j]] >= 0:
            common += 1
    if value >= findings.top[0] - findings.tolerance[0]:
        if findings.ties[0] < len(findings.tie_rows):
            findings.tie_rows[findings.ties[0]] = row
        findings.ties[0] += 1
    else:
        findings.second[0] = max(findings.second[0], value)
    for j in range(k):
        place = findings.place[chosen[j]]
        if place >= 0 and common < k:
            margin = findings.means[j] - findings.reference[place]
            if margin < -findings.tolerance[0]:
                findings.violations[0] += 1
            if margin < findings.margin[place]:
                findings.margin[place] = margin
                findings.margin_row[place] = row


def scan_against_best(environment: Any, chosen: Ints, n: int, row: int, rows: int, findings: AgainstBest) -> None:
    """Run the second pass over `rows` consecutive sets, starting at `chosen`."""
    for r in range(row, row + rows):
        record_against_best(environment, chosen, r, findings)
        next_set(n, chosen)


class Sample(NamedTuple):
    """A sampler of sets near the best one and far from it; the same generator gives the same sets again.

    best, others: the arms in the best set and the others, in the order of the last draw
    near: number of sets with one arm exchanged, which come first
    chosen: the set drawn last, in ascending order
    keys: hashes of all sets drawn, to find duplicates
    """

    best: Ints
    others: Ints
    near: Ints
    chosen: Ints
    keys: Ints


def new_sample(n: int, best: Ints, rows: int) -> Sample:
    """Return a sampler of `rows` sets; up to half of them, or all there are, have one arm exchanged."""
    others = np.setdiff1d(np.arange(n), best)
    near = min(len(best) * len(others), (rows + 1) // 2)
    return Sample(np.sort(best), others, np.array([near]), np.zeros(len(best), np.int64), np.zeros(rows, np.int64))


def draw_set(sample: Sample, row: int, rng: Generator) -> None:
    """Draw the next set: first those with one arm exchanged, then others, with a uniform number of arms of the best."""
    k = len(sample.chosen)
    others = len(sample.others)
    if row < sample.near[0]:
        swap = row * (k * others) // sample.near[0]
        for j in range(k):
            insert(sample.chosen, j, sample.others[swap % others] if j == swap // others else sample.best[j])
    else:
        fewest = max(0, k - others)
        most = max(fewest, k - 2)
        kept = fewest + int(rng.random() * (most + 1 - fewest))
        for j in range(k):
            pool = sample.best if j < kept else sample.others
            at = j if j < kept else j - kept
            other = at + int(rng.random() * (len(pool) - at))
            arm = pool[other]
            pool[other] = pool[at]
            pool[at] = arm
            insert(sample.chosen, j, arm)
    sample.keys[row] = key_of(sample.chosen)


def insert(chosen: Ints, count: int, arm: int) -> None:
    """Insert an arm among the first `count` arms, which are in ascending order."""
    position = count
    while position > 0 and chosen[position - 1] > arm:
        chosen[position] = chosen[position - 1]
        position -= 1
    chosen[position] = arm


def key_of(chosen: Ints) -> int:
    """Hash a set to a number below 2^62: two polynomials modulo a prime, so collisions are very rare."""
    first = 1
    second = 1
    for j in range(len(chosen)):
        first = (first * 48_271 + chosen[j] + 1) % 2_147_483_647
        second = (second * 69_621 + chosen[j] + 1) % 2_147_483_647
    return first * 2_147_483_648 + second


def search_relations(
    environment: Any, sample: Sample, rng: Generator, row: int, rows: int, findings: Relations
) -> None:
    """Run the first pass over the random sets number `row` to `row + rows - 1`."""
    for r in range(row, row + rows):
        draw_set(sample, r, rng)
        record_relations(environment, sample.chosen, r, findings)


def search_against_best(
    environment: Any, sample: Sample, rng: Generator, row: int, rows: int, findings: AgainstBest
) -> None:
    """Run the second pass over the random sets number `row` to `row + rows - 1`."""
    for r in range(row, row + rows):
        draw_set(sample, r, rng)
        record_against_best(environment, sample.chosen, r, findings)


def draw_until(sample: Sample, rng: Generator, row: int) -> None:
    """Draw all sets up to number `row` again, which leaves that set in `sample.chosen`."""
    for r in range(row + 1):
        draw_set(sample, r, rng)


def merged(findings: list[Any], larger: dict[str, str], smaller: dict[str, str], added: tuple[str, ...]) -> Any:
    """Merge the findings of all threads; ties go to the first row, so the result does not depend on the threads."""
    one = findings[0]
    for other in findings[1:]:
        for names, sign in ((larger, 1.0), (smaller, -1.0)):
            for name, row in names.items():
                mine, theirs = sign * getattr(one, name), sign * getattr(other, name)
                better = theirs > mine
                if row:
                    my_row, their_row = getattr(one, row), getattr(other, row)
                    better |= (theirs == mine) & (their_row >= 0) & (their_row < my_row)
                    my_row[better] = their_row[better]
                getattr(one, name)[better] = getattr(other, name)[better]
        for name in added:
            getattr(one, name)[...] += getattr(other, name)
        if hasattr(one, "wrong_row") and other.wrong_row[0] >= 0:
            rows = [int(own.wrong_row[0]) for own in (one, other) if own.wrong_row[0] >= 0]
            one.wrong_row[0] = min(rows)
    return one


def merge_relations(found: list[Relations]) -> Relations:
    """Merge the first pass of all threads."""
    merge: Relations = merged(
        found,
        {"top": "top_row", "lead": "lead_row", "high": "high_row", "odds_high": "odds_high_row"},
        {"bottom": "bottom_row", "low": "low_row", "odds_low": "odds_low_row"},
        ("ahead",),
    )
    return merge


def merge_against(found: list[AgainstBest]) -> AgainstBest:
    """Merge the second pass of all threads."""
    rows = np.sort(np.concatenate([own.tie_rows[own.tie_rows >= 0] for own in found]))[:MOST_TIES]
    one: AgainstBest = merged(found, {"second": ""}, {"margin": "margin_row"}, ("violations", "ties"))
    one.tie_rows[: len(rows)] = rows
    return one
