"""Total order of the arms, with witnesses where it fails.

a <= b if P(a|s) <= P(b|s) in every set s that contains both. The arms have a total order if any two are comparable, and
if a <= b and b <= c imply a <= c (Definition 1 of Yang, Ren, Dhillon, Sanghavi 2021).

The paper's Example 1 uses non-transitivity in a looser sense: a is ahead of b in one set, b of c in another, and c of a
in a third. That is a cycle across sets; it can exist even if <= is transitive.
"""

import dataclasses
import itertools
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from setwise.environments.ordered import means_of
from setwise.theory.survey import Survey, survey_sets
from setwise.theory.wording import arm_name, format_number, set_name, yes_no


class Lead(NamedTuple):
    """One arm is ahead of another in a set.

    arm, other: the two arms
    set: a set that contains both
    probability, other_probability: P(arm|s) and P(other|s), the larger first
    """

    arm: int
    other: int
    set: tuple[int, ...]
    probability: float
    other_probability: float


class Intransitivity(NamedTuple):
    """Three arms with first <= second and second <= third, but not first <= third, as `lead` shows."""

    first: int
    second: int
    third: int
    lead: Lead


@dataclasses.dataclass(frozen=True)
class TotalOrder:
    """Whether the arms of a world have a total order.

    holds: True, False, or None if only some sets were checked and none breaks it
    comparable, transitive: the two conditions separately
    order: if it holds, the arms from best to worst, equal ones grouped
    incomparable: two arms, each ahead of the other in some set, or None; of several pairs the clearest
    incomparable_pairs: number of such pairs
    intransitive: three arms that break transitivity, or None
    intransitive_triples: number of such triples
    cycle: leads across sets that form a cycle of three arms or more, or None
    how: how certain the answer is
    proof: why it holds in every world of this kind, or ""
    """

    environment: Any = dataclasses.field(repr=False)
    holds: bool | None
    comparable: bool | None
    transitive: bool | None
    order: tuple[tuple[int, ...], ...] | None
    incomparable: tuple[Lead, Lead] | None
    incomparable_pairs: int
    intransitive: Intransitivity | None
    intransitive_triples: int
    cycle: tuple[Lead, ...] | None
    how: str
    proof: str

    def say(self, lead: Lead) -> str:
        """Describe a lead."""
        return (
            f"{arm_name(self.environment, lead.arm)} > {arm_name(self.environment, lead.other)} in "
            f"{set_name(self.environment, lead.set)} ({format_number(lead.probability)} > "
            f"{format_number(lead.other_probability)})"
        )

    def explain_order(self) -> str:
        """Describe the order, best arm first."""
        if self.order is None:
            return ""
        words: list[str] = []
        for group in self.order:
            words += [f"{' = ' if j else ' > '}{arm_name(self.environment, arm)}" for j, arm in enumerate(group)]
        return "".join(words[:12]).removeprefix(" > ") + (" ..." if len(words) > 12 else "")

    def explain_comparability(self) -> str:
        """Describe the incomparable pair."""
        return "" if self.incomparable is None else "; ".join(map(self.say, self.incomparable))

    def explain_transitivity(self) -> str:
        """Describe the intransitive triple."""
        if self.intransitive is None:
            return ""
        first, second, third = (
            arm_name(self.environment, arm)
            for arm in (self.intransitive.first, self.intransitive.second, self.intransitive.third)
        )
        return f"{first} <= {second} <= {third}, but {self.say(self.intransitive.lead)}"

    def explain_cycle(self) -> str:
        """Describe the cycle across sets."""
        return "" if self.cycle is None else "; ".join(map(self.say, self.cycle))

    def __str__(self) -> str:
        lines = [f"total order (Definition 1): {yes_no(self.holds)} ({self.how})"]
        lines += [f"  order: {self.explain_order()}"] if self.order else []
        lines += [f"  proof: {self.proof}"] if self.proof else []
        if self.incomparable:
            lines.append(f"  incomparable pairs: {self.incomparable_pairs}; {self.explain_comparability()}")
        if self.intransitive:
            lines.append(f"  intransitive triples: {self.intransitive_triples}; {self.explain_transitivity()}")
        lines += [f"  cycle across sets: {self.explain_cycle()}"] if self.cycle else []
        return "\n".join(lines)


def total_order(environment: Any, **options: Any) -> TotalOrder:
    """Check whether the arms have a total order (Definition 1).

    The options budget, method, tolerance, seed, threads and progress are those of `survey_sets`.

    >>> import setwise as sw
    >>> answer = total_order(sw.paper.camera())
    >>> answer.holds, answer.comparable, answer.transitive, answer.incomparable_pairs
    (False, False, True, 2)
    """
    return order_in(survey_sets(environment, **options))


def order_in(survey: Survey) -> TotalOrder:
    """Derive the answer from a survey."""
    if survey.relations is None:
        return _order_by_merit(survey)
    lead = survey.relations.lead
    ahead = np.array(lead > survey.tolerance, dtype=bool)  # a is ahead of b in some set, so not a <= b
    pairs = np.argwhere(np.triu(ahead & ahead.T, 1))
    triples = _intransitive(~ahead)
    cycle = _cycle(survey, ahead)
    sure = survey.complete
    comparable = False if len(pairs) else (True if sure else None)
    # Unchecked sets may make two arms incomparable: then <= is unknown, and so is its transitivity.
    transitive = (not len(triples)) if sure else None
    holds = False if comparable is False or transitive is False else (True if sure else None)
    return TotalOrder(
        environment=survey.environment,
        holds=holds,
        comparable=comparable,
        transitive=transitive,
        order=_groups(~ahead) if holds else None,
        incomparable=_clearest(survey, pairs) if len(pairs) else None,
        incomparable_pairs=len(pairs),
        intransitive=_first_triple(survey, triples) if sure and len(triples) else None,
        intransitive_triples=len(triples) if sure else 0,
        cycle=cycle,
        how=survey.how,
        proof=survey.proof,
    )


def _order_by_merit(survey: Survey) -> TotalOrder:
    merits = np.asarray(survey.environment.merits)
    if survey.environment.k == 1:
        merits = np.zeros(len(merits))  # no set has two arms, so any two are equal
    levels: dict[float, list[int]] = {}
    for arm in np.argsort(-merits, kind="stable").tolist():
        levels.setdefault(float(merits[arm]), []).append(arm)
    return TotalOrder(
        environment=survey.environment,
        holds=True,
        comparable=True,
        transitive=True,
        order=tuple(map(tuple, levels.values())),
        incomparable=None,
        incomparable_pairs=0,
        intransitive=None,
        intransitive_triples=0,
        cycle=None,
        how=survey.how,
        proof=survey.proof,
    )


def _lead(survey: Survey, arm: int, other: int) -> Lead:
    """Return the clearest lead of an arm over another."""
    return _lead_in(survey, arm, other, survey.set_of(int(survey.relations.lead_row[arm, other])))


def _lead_in(survey: Survey, arm: int, other: int, chosen: tuple[int, ...]) -> Lead:
    values = dict(zip(chosen, means_of(survey.environment, chosen).tolist(), strict=True))
    return Lead(arm, other, chosen, values[arm], values[other])


def _clearest(survey: Survey, pairs: Any) -> tuple[Lead, Lead]:
    lead = survey.relations.lead
    a, b = max(pairs.tolist(), key=lambda pair: min(lead[pair[0], pair[1]], lead[pair[1], pair[0]]))
    return _lead(survey, a, b), _lead(survey, b, a)


def _paths_of_two(edges: Any) -> Any:
    """Return which pairs of arms a path of two edges connects; in floats, for a fast matrix product."""
    steps = edges.astype(np.float32)
    return steps @ steps > 0.5


def _intransitive(below: Any) -> Any:
    """Return the triples of distinct arms with a <= b and b <= c but not a <= c, one per row."""
    distinct = ~np.eye(len(below), dtype=bool)
    below = below & distinct
    # Find violating pairs (a, c) by matrix product; loop over b only for those.
    suspects = np.argwhere(_paths_of_two(below) & ~below & distinct)
    found = [(a, b, c) for a, c in suspects.tolist() for b in np.flatnonzero(below[a] & below[:, c]).tolist()]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def _first_triple(survey: Survey, triples: Any) -> Intransitivity:
    lead = survey.relations.lead
    first, second, third = max(triples.tolist(), key=lambda triple: lead[triple[0], triple[2]])
    return Intransitivity(first, second, third, _lead(survey, first, third))


def _groups(below: Any) -> tuple[tuple[int, ...], ...]:
    """Group the arms from best to worst, by the number of arms that are no better; equal arms share a group."""
    levels: dict[int, list[int]] = {}
    for arm, count in enumerate(below.sum(axis=0).tolist()):
        levels.setdefault(count, []).append(arm)
    return tuple(tuple(levels[count]) for count in sorted(levels, reverse=True))


def _cycle(survey: Survey, ahead: Any) -> tuple[Lead, ...] | None:
    """Find a cycle of leads across sets, preferably as in Example 1: two arms of s* and one outside."""
    lead = np.asarray(survey.relations.lead, dtype=float)
    best = np.array(survey.best)
    outside = np.setdiff1d(np.arange(len(ahead)), best)
    clearest, found = 0.0, None
    for i, j in itertools.permutations(range(len(best)), 2):
        first = float(survey.means[i] - survey.means[j])
        if survey.means[i] - survey.means[j] > survey.tolerance and len(outside):
            through = ahead[best[j], outside] & ahead[outside, best[i]]
            least = np.minimum(np.minimum(lead[best[j], outside], lead[outside, best[i]]), first)
            arm = int(np.argmax(np.where(through, least, -np.inf)))
            if through[arm] and least[arm] > clearest:
                clearest, found = float(least[arm]), (int(best[i]), int(best[j]), int(outside[arm]))
    if found is not None:
        a, b, c = found
        return _lead_in(survey, a, b, survey.best), _lead(survey, b, c), _lead(survey, c, a)
    arms = _short_cycle(ahead)
    if arms is None:
        return None
    return tuple(_lead(survey, a, b) for a, b in zip(arms, [*arms[1:], arms[0]], strict=True))


def _short_cycle(ahead: Any) -> list[int] | None:
    """Find a cycle of three arms, each ahead of the next in some set; else a longer one, or None."""
    closing = np.argwhere(ahead & _paths_of_two(ahead).T)
    if len(closing):
        a, b = closing[0].tolist()
        return [a, b, int(np.flatnonzero(ahead[b] & ahead[:, a])[0])]
    reach = ahead
    while True:
        further = reach | _paths_of_two(reach)
        if (further == reach).all():
            break
        reach = further
    # An edge is on a cycle only if a path leads back.
    for a, b in np.argwhere(ahead & reach.T).tolist():
        path = _way_back(ahead, a, b)
        if path is not None:
            return path
    return None


def _way_back(ahead: Any, a: int, b: int) -> list[int] | None:
    """Find a path from a to b and back to a that avoids the edge (b, a), by breadth-first search."""
    came_from = {b: -1}
    waiting = deque([b])
    while waiting and a not in came_from:
        arm = waiting.popleft()
        for other in np.flatnonzero(ahead[arm]).tolist():
            if other not in came_from and (arm, other) != (b, a):
                came_from[other] = arm
                waiting.append(other)
    if a not in came_from:
        return None
    path = [a]
    while came_from[path[-1]] >= 0:
        path.append(came_from[path[-1]])
    return [a, *path[1:][::-1]]
