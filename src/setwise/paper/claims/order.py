"""Claims about order: the camera example, Example 1, and the preference matrix."""

import itertools
import math
from typing import Any

import numpy as np

from setwise.environments.ordered import means_of
from setwise.paper.claim import Answer, Claim
from setwise.paper.claims import matches
from setwise.paper.claims.surveys import GROUP, SEEDS, random_survey
from setwise.paper.exhibits.regret_panels import world_of
from setwise.paper.instances import camera, preference_matrix
from setwise.theory import total_order
from setwise.theory.consistency import consistency_in
from setwise.theory.order import Lead, order_in
from setwise.theory.survey import Survey
from setwise.theory.wording import set_name

DIGITAL_CAMERA, BEST = 3, {0, 1, 2}


def probabilities(world: Any, chosen: Any) -> dict[int, float]:
    """Return P(a|s) of each arm of a set."""
    return dict(zip(chosen, means_of(world, chosen).tolist(), strict=True))


def camera_comparability(seed: int) -> Answer:
    answer = total_order(camera())
    return Answer(
        answer.comparable is False,
        "both directions of every pair over all 20 sets, in fractions",
        f"{answer.incomparable_pairs} incomparable pairs; {answer.explain_comparability()}",
    )


def camera_transitivity(seed: int) -> Answer:
    answer = total_order(camera())
    return Answer(
        answer.transitive is False,
        "every triple a <= b <= c of Definition 1 over all 20 sets, in fractions",
        f"{answer.intransitive_triples} triples with a <= b, b <= c and not a <= c: <= is transitive here",
    )


def camera_cycle(seed: int) -> Answer:
    answer = total_order(camera())
    return Answer(
        answer.cycle is not None,
        "a cycle of leads across sets, two of the arms in s* and one not, in fractions",
        answer.explain_cycle() or "none",
    )


def camera_without_order(seed: int) -> Answer:
    answer = total_order(camera())
    return Answer(
        answer.holds is False,
        "Definition 1 over all 20 sets, in fractions",
        f"comparable: {answer.comparable}, transitive: {answer.transitive}; one of the two is enough",
    )


def _digital_camera_first() -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the sets with Digital Camera, and those in which it is strictly first, computed in fractions."""
    world = camera()
    having, first = [], []
    for chosen, row in zip(itertools.combinations(range(world.n), world.k), world.exact, strict=True):
        if DIGITAL_CAMERA in chosen:
            having.append(chosen)
            own = row[chosen.index(DIGITAL_CAMERA)]
            if sum(value >= own for value in row) == 1:
                first.append(chosen)
    return having, first


def most_sets(seed: int) -> Answer:
    having, found = _digital_camera_first()
    sets, with_it, first = math.comb(6, 3), len(having), len(found)
    return Answer(
        2 * first > sets,
        "in how many sets Digital Camera has strictly the largest probability, in fractions",
        f"{first} of {sets} sets, {first} of the {with_it} that have it",
        2 * first > with_it,
        "in most of the sets that have it",
    )


def many_sets(seed: int) -> Answer:
    _, found = _digital_camera_first()
    first, paired = len(found), sum(not BEST.isdisjoint(chosen) for chosen in found)
    return Answer(
        first >= 2 and paired >= 1,
        "the sub-optimal sets in which Digital Camera is strictly first, and those of them with an arm of s*",
        f"{first} sets, {paired} of them with an arm of s*",
    )


def _random_surveys(seed: int) -> list[Survey]:
    return [random_survey(seed + number) for number in range(SEEDS)]


def reversal(seed: int) -> Answer:
    """Example 1, part 1: two arms of s*, and two others, each pair in opposite orders in different sets."""
    inside = outside = consistent = 0
    shown = ""
    found = _random_surveys(seed)
    for survey in found:
        world = survey.environment
        consistent += bool(consistency_in(survey).holds)
        ahead = survey.relations.lead > survey.tolerance
        values = dict(zip(survey.best, survey.means, strict=True))
        pairs = [(a, b) for a, b in itertools.permutations(survey.best, 2) if values[a] >= values[b] and ahead[b, a]]
        others = [arm for arm in range(world.n) if arm not in values]
        inside += bool(pairs)
        outside += any(ahead[a, b] and ahead[b, a] for a, b in itertools.combinations(others, 2))
        if pairs and not shown:
            a, b = pairs[0]
            where = survey.set_of(int(survey.relations.lead_row[b, a]))
            there = probabilities(world, where)
            shown = (
                f"for example P({a}|s*) = {values[a]:.4f} >= P({b}|s*) = {values[b]:.4f}, but in "
                f"{set_name(world, where)} {there[a]:.4f} < {there[b]:.4f}"
            )
    return Answer(
        consistent == len(found) and inside > 0 and outside > 0,
        f"both reversals in {len(found)} random worlds that satisfy Assumption 1",
        f"inside s* in {inside} worlds, outside of it in {outside}; {shown}",
    )


def non_transitivity(seed: int) -> Answer:
    """Example 1, part 2: a cycle across sets, of two arms of s* and one outside."""
    count = 0
    shown = ""
    found = _random_surveys(seed)
    for survey in found:
        answer = order_in(survey)
        form = answer.cycle is not None and _of_example_1(answer.cycle, survey.best)
        count += form and bool(consistency_in(survey).holds)
        shown = shown or (answer.explain_cycle() if form else "")
    return Answer(
        count > 0,
        f"cycles of the form of Example 1 in {len(found)} random worlds that satisfy Assumption 1",
        f"in {count} of {len(found)}; for example {shown}",
    )


def _of_example_1(cycle: tuple[Lead, ...], best: tuple[int, ...]) -> bool:
    return len(cycle) == 3 and cycle[0].set == best and cycle[1].other not in best


def loop_of_three(seed: int) -> Answer:
    world = preference_matrix()
    wins = []
    for winner, loser in ((4, 3), (5, 4), (3, 5)):
        there = probabilities(world, (winner, loser))
        wins.append((winner, loser, there[winner], there[loser]))
    return Answer(
        all(p > q for _, _, p, q in wins),
        "P(a|s) of the three pairs of a_4, a_5 and a_6",
        "; ".join(f"a_{a + 1} over a_{b + 1}: {p:.2f} against {q:.2f}" for a, b, p, q in wins),
    )


def seemingly_best(seed: int) -> Answer:
    world = preference_matrix()
    rows = []
    for partner in range(3, 10):
        values = [probabilities(world, (arm, partner))[arm] for arm in range(3)]
        rows.append(values[2] > max(values[:2]))
    marginal = [
        np.mean([probabilities(world, (arm, other))[arm] for other in range(10) if other != arm]) for arm in range(3)
    ]
    return Answer(
        all(rows),
        "P(a_3|{a_3, a_j}) against P(a_1|{a_1, a_j}) and P(a_2|{a_2, a_j}) for j >= 4",
        f"a_3 is ahead for {sum(rows)} of {len(rows)} partners; mean over all pairs: a_3 {marginal[2]:.4f}, a_1 "
        f"{marginal[0]:.4f}, a_2 {marginal[1]:.4f}",
    )


def hardest(seed: int) -> Answer:
    """Measure the regret of Algorithm 1 in the four worlds of Figure 3, total and as a share of the worst possible."""
    regret, share = {}, {}
    for name in matches.WORLDS:
        regret[name] = float(matches.match("ucb", name, matches.SHORT, seed).regret[:, -1].mean())
        share[name] = regret[name] / (matches.SHORT * world_of(name).gaps()[1])
    return Answer(
        max(regret, key=regret.__getitem__) == "preference-matrix",
        f"mean regret of Algorithm 1, {matches.RUNS} runs of {matches.SHORT:,} rounds, in all and over T x largest gap",
        "; ".join(f"{name} {regret[name]:,.0f}, {100 * share[name]:.1f} %" for name in regret),
        max(share, key=share.__getitem__) == "preference-matrix",
        "measured by the share of the largest possible regret that is paid",
    )


CLAIMS = (
    Claim(
        "example-1-reversal",
        "Section 3.2, Example 1",
        "Assumption 1 allows two arms to change their order from set to set, inside s* and outside of it.",
        reversal,
        group=GROUP,
    ),
    Claim(
        "example-1-non-transitivity",
        "Section 3.2, Example 1",
        "Assumption 1 allows a_1 > a_2 in s*, a_2 > a_3 in another set and a_3 > a_1 in a third.",
        non_transitivity,
        group=GROUP,
    ),
    Claim(
        "camera-comparability",
        "Section 3.4",
        "The camera example violates comparability.",
        camera_comparability,
        shown="figure-2-all-sets",
    ),
    Claim(
        "camera-transitivity",
        "Section 3.4",
        "The camera example violates transitivity.",
        camera_transitivity,
        shown="figure-2-all-sets",
    ),
    Claim(
        "camera-cycle",
        "Sections 3.2, 3.4",
        "The camera example is not transitive in the sense of Example 1.",
        camera_cycle,
        shown="figure-2-all-sets",
    ),
    Claim(
        "camera-order",
        "Section 3.4",
        "The camera example cannot be covered by a model that assumes a total order.",
        camera_without_order,
        shown="figure-2-all-sets",
    ),
    Claim(
        "camera-most-sets",
        "Figure 1",
        "Digital Camera has the highest reward expectation in most sets.",
        most_sets,
        shown="figure-2-all-sets",
    ),
    Claim(
        "camera-many-sets",
        "Figure 2",
        "Digital Camera is first in many sub-optimal sets, also beside arms of the optimal set.",
        many_sets,
        shown="figure-2-sets",
    ),
    Claim(
        "preference-loop",
        "Appendix D.3",
        "The preferences form a loop: a_5 over a_4, a_6 over a_5, a_4 over a_6.",
        loop_of_three,
    ),
    Claim(
        "preference-seemingly-best",
        "Appendix D.3",
        "Paired with any sub-optimal arm, a_3 does better than a_1 and a_2: it seems to be the best arm.",
        seemingly_best,
    ),
    Claim(
        "preference-hardest",
        "Appendix D.3",
        "With its loop the preference matrix turns out to be the hardest environment.",
        hardest,
        shown="figure-3",
        group=matches.GROUP,
        slow=True,
    ),
)
