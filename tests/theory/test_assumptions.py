"""Assumptions, gaps and bounds against brute force in fractions; closed forms against all sets; values by hand."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setwise as sw
from reference import theory as brute
from reference import worlds
from reference.sets import means_of
from setwise import InputError
from setwise.environments import (
    MNL,
    Independent,
    MarkovChain,
    MixedLogit,
    NestedLogit,
    RandomUtility,
    Rankings,
    Table,
    UnequalNoise,
    enumeration,
)
from setwise.paper.instances import INSTANCES
from setwise.theory import bounds, check, gaps, total_order, weak_consistency
from setwise.theory import survey as survey_module
from setwise.theory.survey import survey_sets

NIKON, CANON, SONY, DIGITAL, KEYBOARD, SHOES = range(6)
LOG = math.log(100_000)
F = Fraction
SIZES = [(1, 1), (2, 2), (3, 1), (3, 2), (4, 2), (6, 2), (4, 3), (5, 3), (5, 3), (6, 3), (6, 3)]


def made_table(pick: Callable[[int, int], int]) -> dict[tuple[int, ...], tuple[Fraction, ...]]:
    """A small table full of ties: any numbers at all, or a world with a total order that was spoilt in a few places."""
    n, k = SIZES[pick(0, len(SIZES) - 1)]
    most = pick(1, 12 // k)
    sets = list(itertools.combinations(range(n), k))
    kind = pick(0, 3)
    if kind < 2:
        return {s: tuple(F(pick(0, most), 12) for _ in s) for s in sets}
    base = [pick(0, most) for _ in range(n)]
    rows = {s: [F(base[arm], 12 if kind == 2 else 1 + sum(base[other] for other in s)) for arm in s] for s in sets}
    for _ in range(pick(0, 3)):
        rows[sets[pick(0, len(sets) - 1)]][pick(0, k - 1)] *= F(pick(0, 4), 4)
    return {s: tuple(row) for s, row in rows.items()}


@st.composite
def tables(draw: Any) -> dict[tuple[int, ...], tuple[Fraction, ...]]:
    return made_table(lambda low, high: draw(st.integers(low, high)))


def in_floats(table: brute.Table) -> Any:
    return Table({s: tuple(map(float, row)) for s, row in table.items()})


def table_of(world: Any) -> dict[tuple[int, ...], tuple[float, ...]]:
    return {s: tuple(means_of(world, s).tolist()) for s in itertools.combinations(range(world.n), world.k)}


def near(value: Any) -> Any:
    return None if value is None else pytest.approx(float(value), rel=0, abs=1e-12)


def assert_right_consistency(answer: Any, table: brute.Table) -> None:
    best = brute.best_sets(table)
    assert answer.best in best
    assert answer.optimal_sets == len(best)
    assert answer.holds is brute.is_consistent(table)
    assert answer.margin == near(brute.largest_least_margin(table))
    found = brute.margins(table, answer.best)
    assert answer.violations == len(brute.violations(table, answer.best))
    assert (answer.witness is None) is answer.holds
    assert (answer.tightest is None) is (answer.margin is None)
    for where in filter(None, (answer.witness, answer.tightest)):
        assert found[where.arm, where.set] == min(found.values())
        assert where.margin == near(min(found.values()))
        assert where.probability == near(brute.probability(table, where.arm, where.set))
        assert where.best_probability == near(brute.probability(table, where.arm, answer.best))


def assert_right_lead(lead: Any, table: brute.Table) -> None:
    assert lead.set in brute.leads(table, lead.arm, lead.other)
    assert lead.probability == near(brute.probability(table, lead.arm, lead.set))
    assert lead.other_probability == near(brute.probability(table, lead.other, lead.set))


def assert_right_order(answer: Any, table: brute.Table) -> None:
    pairs, triples = brute.incomparable_pairs(table), brute.intransitive_triples(table)
    assert (answer.comparable, answer.transitive) == (not pairs, not triples)
    assert answer.holds is brute.has_total_order(table)
    assert (answer.incomparable_pairs, answer.intransitive_triples) == (len(pairs), len(triples))
    assert (answer.incomparable is None, answer.intransitive is None) == (not pairs, not triples)
    assert (answer.order is None) is not answer.holds
    if answer.holds:
        assert list(map(set, answer.order)) == brute.order(table)
    if pairs:
        one, other = answer.incomparable
        assert (one.arm, one.other) == (other.other, other.arm)
        assert tuple(sorted((one.arm, one.other))) in pairs
        assert_right_lead(one, table)
        assert_right_lead(other, table)
    if triples:
        found = answer.intransitive
        assert (found.first, found.second, found.third) in triples
        assert (found.lead.arm, found.lead.other) == (found.first, found.third)
        assert_right_lead(found.lead, table)
    assert_right_cycle(answer.cycle, table)


def assert_right_cycle(cycle: Any, table: brute.Table) -> None:
    assert (cycle is not None) is brute.has_cycle(table)
    if cycle is None:
        return
    assert len(cycle) >= 3
    assert len({lead.arm for lead in cycle}) == len(cycle)
    for lead, following in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        assert lead.other == following.arm
        assert_right_lead(lead, table)


def assert_right_gaps(answer: Any, table: brute.Table) -> None:
    best = brute.best_sets(table)
    assert answer.best in best
    assert brute.least_margin(table, answer.best) == brute.largest_least_margin(table)
    assert (answer.ties, list(answer.optimal_sets)) == (len(best), best[:64])
    assert answer.value == near(brute.value(table, answer.best))
    assert answer.epsilon == near(brute.epsilon(table))
    assert answer.largest == near(brute.largest_gap(table))
    assert sorted(answer.arms) == sorted(answer.best)
    own = [brute.probability(table, arm, answer.best) for arm in answer.arms]
    assert own == sorted(own, reverse=True)
    assert answer.probabilities == pytest.approx(list(map(float, own)), rel=0, abs=1e-12)
    assert answer.delta == pytest.approx(np.array(brute.delta(table, answer.best), float), rel=0, abs=1e-12)
    assert answer.Delta == pytest.approx(np.array(brute.big_delta(table, answer.best), float), rel=0, abs=1e-12)
    assert answer.complete
    assert ("all sets are optimal" in answer.note) is (len(best) == len(table) > 1)
    assert ("only one set" in answer.note) is (len(table) == 1)
    assert ("strictly worse" in answer.note) is (1 < len(best) < len(table))


def assert_right(world: Any, table: brute.Table, **options: Any) -> None:
    """Every answer that the package gives on a world is that of brute force on its table."""
    found = check(world, **options)
    assert_right_consistency(found.consistency, table)
    assert_right_order(found.order, table)
    assert_right_gaps(found.gaps, table)
    of_the_paper = brute.example_1_cycles(table, found.gaps.best)
    if of_the_paper:
        assert tuple(lead.arm for lead in found.order.cycle) in of_the_paper
        assert found.order.cycle[0].set == found.gaps.best


@settings(max_examples=150, deadline=None)
@given(tables())
def test_answers_on_fractions_are_those_of_brute_force(table: brute.Table) -> None:
    world = Table(table)
    assert world.exact is not None
    assert_right(world, table)
    assert_right_consistency(weak_consistency(world), table)
    assert_right_order(total_order(world), table)
    assert_right_gaps(gaps(world), table)
    assert weak_consistency(world).how == f"all {len(table)} sets, exactly"


@settings(max_examples=150, deadline=None)
@given(tables())
def test_answers_on_floats_are_those_of_brute_force(table: brute.Table) -> None:
    world = in_floats(table)
    assert world.exact is None
    assert_right(world, table)
    assert weak_consistency(world).how == f"all {len(table)} sets, to 1e-12"


@settings(max_examples=150, deadline=None)
@given(tables())
def test_the_table_of_assumptions_is_that_of_brute_force(table: brute.Table) -> None:
    for world in (Table(table), in_floats(table)):
        found = check(world)
        assert found["best() is optimal"].holds is True
        assert found["a single optimal set"].holds is (len(brute.best_sets(table)) == 1)
        assert found["weak optimal set consistency (Assumption 1)"].holds is brute.is_consistent(table)
        assert found["total order"].holds is brute.has_total_order(table)
        assert found["comparability"].holds is (not brute.incomparable_pairs(table))
        assert found["transitivity"].holds is (not brute.intransitive_triples(table))
        assert found["no cycle across sets"].holds is (not brute.has_cycle(table))
        assert found["rewards do not depend on the set"].holds is brute.is_set_independent(table)
        assert found["multinomial logit"].holds is brute.is_multinomial_logit(table)
        assert found["an arm that no other is ahead of"].holds is bool(brute.never_behind(table))
        assert all(finding.how in str(found) for finding in found.findings)


def test_two_arms_that_lead_in_turn_are_no_cycle_of_three() -> None:
    table = {s: (F(3, 12), F(2, 12), F(1, 12)) for s in itertools.combinations(range(4), 3)}
    table[0, 1, 3] = (F(2, 12), F(3, 12), F(1, 12))
    for world in (Table(table), in_floats(table)):
        order = total_order(world)
        assert (order.incomparable_pairs, order.transitive, order.cycle) == (1, True, None)


def test_a_cycle_of_four_arms_is_found_where_there_is_none_of_three() -> None:
    tie, first, second = (F(3, 12), F(3, 12)), (F(4, 12), F(2, 12)), (F(2, 12), F(4, 12))
    table = {(0, 1): first, (1, 2): first, (2, 3): first, (0, 3): second, (0, 2): tie, (1, 3): tie}
    for world in (Table(table), in_floats(table)):
        cycle = total_order(world).cycle
        assert {(lead.arm, lead.other) for lead in cycle} == {(0, 1), (1, 2), (2, 3), (3, 0)}
        assert_right_order(total_order(world), table)


def test_compiled_answers_on_several_threads_are_those_of_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "INTERPRETED_SETS", 0)
    monkeypatch.setattr(enumeration, "CHUNK", 3)
    pick = random.Random(1).randint
    seen: Counter[str] = Counter()
    for _ in range(150):
        table = made_table(pick)
        assert_right(in_floats(table), table, threads=3)
        own = {brute.least_margin(table, best) for best in brute.best_sets(table)}
        seen["optimal sets that differ"] += len(own) > 1
        seen["consistent"] += brute.is_consistent(table) and len(table) > 3
        seen["inconsistent"] += not brute.is_consistent(table)
        seen["total order"] += brute.has_total_order(table) and len(table) > 3
        seen["incomparable"] += bool(brute.incomparable_pairs(table))
        seen["intransitive"] += bool(brute.intransitive_triples(table))
        seen["comparable but intransitive"] += not brute.incomparable_pairs(table) and not brute.has_total_order(table)
        seen["cycle"] += brute.has_cycle(table)
        seen["no cycle, no order"] += not brute.has_cycle(table) and not brute.has_total_order(table)
    assert min(seen.values()) >= 5, seen


def test_neither_threads_nor_compiling_change_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    world = Table(rng.integers(0, 12, (2002, 5)) / 60, n=14)  # so many ties that the first row decides often
    found = []
    for sets, chunk, threads in [(10**6, 1, 1), (0, 64, 1), (0, 64, 2), (0, 5, 7)]:
        monkeypatch.setattr(enumeration, "INTERPRETED_SETS", sets)
        monkeypatch.setattr(enumeration, "CHUNK", chunk)
        found.append(survey_sets(world, threads=threads))
    first = found[0]
    for other in found[1:]:
        for one, same in [(first.relations, other.relations), (first.against, other.against)]:
            for name in one._fields:
                if name != "means":
                    assert np.array_equal(getattr(one, name), getattr(same, name)), name
        assert (first.best, first.optimal_sets, first.ties) == (other.best, other.optimal_sets, other.ties)


@pytest.mark.parametrize("make", [Table, in_floats], ids=["fractions", "floats"])
@pytest.mark.parametrize(
    ("beside_each_other", "first", "second", "taken"),
    [((1, 3), -1, 0, (0, 2)), ((0, 1), -2, -1, (0, 2)), ((2, 3), 0, 0, (0, 1))],
    ids=["it holds for the second", "it holds for none", "it holds for both"],
)
def test_of_several_optimal_sets_the_one_of_largest_margin_is_taken(
    beside_each_other: tuple[int, int], first: int, second: int, taken: tuple[int, int], make: Any
) -> None:
    twelfths = {
        (0, 1): (4, 2),
        (0, 2): (4, 2),
        (0, 3): (5, 0),
        (1, 2): beside_each_other,
        (1, 3): (3, 0),
        (2, 3): (3, 0),
    }
    table = {s: (F(p, 12), F(q, 12)) for s, (p, q) in twelfths.items()}
    assert brute.best_sets(table) == [(0, 1), (0, 2)]
    assert [brute.least_margin(table, best) for best in brute.best_sets(table)] == [F(first, 12), F(second, 12)]
    answer = weak_consistency(make(table))
    assert (answer.best, answer.margin) == (taken, near(F(second, 12)))
    assert answer.holds is (second >= 0)
    assert gaps(make(table)).best == taken


@pytest.mark.parametrize("make", [Table, in_floats], ids=["fractions", "floats"])
def test_other_optimal_sets_count_too_as_algorithm_1_fails_where_they_violate_it(make: Any) -> None:
    twentieths = {(0, 1): (9, 1), (0, 2): (1, 9), (1, 2): (2, 4)}
    world = make({s: (F(p, 20), F(q, 20)) for s, (p, q) in twentieths.items()})
    assert weak_consistency(world).holds is False
    result = sw.simulate(sw.UCB(), world, 1_000_000, runs=4, checkpoints=[100_000, 1_000_000])
    early, late = result.regret.mean(axis=0)
    assert late > 8 * early  # linear, not logarithmic
    assert any("not proved" in note for note in bounds(world, 1000).notes)


@pytest.mark.parametrize("make", [Table, in_floats], ids=["fractions", "floats"])
def test_optimal_sets_are_counted_though_only_64_are_listed(make: Any) -> None:
    table = {s: (F(1, 12), F(2, 12)) for s in itertools.combinations(range(13), 2)}
    table[0, 1] = (F(1, 12), F(0))
    answer = gaps(make(table))
    assert (answer.ties, len(answer.optimal_sets)) == (77, 64)
    assert (answer.epsilon, answer.largest) == pytest.approx((2 / 12, 2 / 12))


def floats_of_the_camera(tolerance: float | None = None) -> Any:
    fixed = dict(zip(worlds.CAMERA_NAMES, (0.35, 0.30, 0.25, None, 0.01, 0.01), strict=True))
    table = {}
    for names in itertools.combinations(worlds.CAMERA_NAMES, 3):
        others = 0.0
        for name in names:
            others += fixed[name] or 0.0
        table[names] = tuple(0.85 - others if fixed[name] is None else fixed[name] for name in names)
    return survey_sets(Table(table, names=worlds.CAMERA_NAMES), tolerance=tolerance)


def test_a_tie_that_floats_without_a_tolerance_take_for_an_order_is_a_tie_in_fractions() -> None:
    table = {s: worlds.camera().exact(s) for s in worlds.camera().sets()}
    exact, rounded = survey_sets(sw.paper.camera()), floats_of_the_camera(tolerance=0.0)
    chosen = (CANON, SONY, DIGITAL)
    assert 0.85 - (0.30 + 0.25) < 0.30
    assert means_of(rounded.environment, chosen)[2] < means_of(rounded.environment, chosen)[0]
    assert exact.relations.ahead.tolist() == [brute.times_first(table, arm) for arm in range(6)]
    assert exact.relations.ahead[DIGITAL] == 7
    assert sum(DIGITAL in s for s in table) == 10
    assert rounded.relations.ahead[CANON] == exact.relations.ahead[CANON] + 1
    assert floats_of_the_camera().relations.ahead.tolist() == exact.relations.ahead.tolist()


def test_equality_that_floats_without_a_tolerance_take_for_a_violation_is_none() -> None:
    table = {(0, 1): (F(3, 10), F(4, 10)), (0, 2): (F(85, 100) - F(55, 100), F(1, 10)), (1, 2): (F(4, 10), F(2, 10))}
    rounded = Table({**table, (0, 2): (0.85 - (0.30 + 0.25), 0.1)})
    assert weak_consistency(rounded, tolerance=0.0).holds is False
    for answer in (weak_consistency(Table(table)), weak_consistency(rounded)):
        assert answer.holds is True
        assert answer.margin == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "best", "value", "epsilon", "largest", "margin", "incomparable", "intransitive"),
    [
        ("camera", 3, 0.90, 0.05, 0.63, 0.0, 2, 0),
        ("mnl", 10, 0.886364, 1 / 8.76 - 1 / 8.80, 0.094697, 0.64 * (1 / 8.76 - 1 / 8.80), 0, 0),
        ("random-utility", 5, 0.511595, 2.308e-3, 0.191903, 6.8e-4, 0, 0),
        ("preference-matrix", 2, 0.92, 0.02, 0.02, 0.005, 0, 15),
    ],
)
def test_the_papers_worlds_have_the_answers_worked_out_by_hand(
    name: str, best: int, value: float, epsilon: float, largest: float, margin: float, incomparable: int,
    intransitive: int,
) -> None:  # fmt: skip
    found = check(INSTANCES[name]())
    assert (found.gaps.best, found.gaps.ties) == (tuple(range(best)), 1)
    assert (found.gaps.value, found.gaps.largest) == pytest.approx((value, largest), abs=5e-7)
    assert found.gaps.epsilon == pytest.approx(epsilon, abs=5e-7)
    assert found.consistency.holds is True
    assert found.consistency.violations == 0
    assert found.consistency.margin == pytest.approx(margin, abs=5e-6)
    assert found.order.incomparable_pairs == incomparable
    assert found.order.intransitive_triples == intransitive
    assert found.order.comparable is (incomparable == 0)
    assert found.order.transitive is (intransitive == 0)
    assert found.order.holds is (incomparable == intransitive == 0)
    if found.order.holds:
        assert found.order.order == tuple((arm,) for arm in range(20))
    assert (found.order.cycle is None) is found.order.holds


@pytest.mark.parametrize("name", ["camera", "preference_matrix"])
def test_the_papers_tables_have_the_answers_of_brute_force(name: str) -> None:
    reference = getattr(worlds, name)()
    table = {s: tuple(reference.exact(s)) for s in reference.sets()}
    consistency, order = weak_consistency(getattr(sw.paper, name)()), total_order(getattr(sw.paper, name)())
    if name == "camera":
        assert_right(sw.paper.camera(), table)
    assert consistency.holds is brute.is_consistent(table)
    assert order.incomparable_pairs == len(brute.incomparable_pairs(table))
    assert order.intransitive_triples == len(brute.intransitive_triples(table))


def test_the_optimal_sets_of_the_paper_have_the_probabilities_and_gaps_worked_out_by_hand() -> None:
    utility = gaps(sw.paper.random_utility(), method="prove")
    assert utility.probabilities == pytest.approx([0.116170, 0.108874, 0.101956, 0.095400, 0.089194], abs=5e-7)
    logit = gaps(sw.paper.mnl(), method="prove")
    assert logit.probabilities[[0, -1]] == pytest.approx([0.10909, 0.06818], abs=5e-6)
    assert gaps(sw.paper.preference_matrix()).probabilities == pytest.approx([0.47, 0.45])
    camera = gaps(sw.paper.camera())
    assert camera.arms == (NIKON, CANON, SONY)
    assert camera.delta == pytest.approx(np.array([[0, 0.05, 0.1], [-0.05, 0, 0.05], [-0.1, -0.05, 0]]))
    assert camera.Delta == pytest.approx([0.15, 0.05, 0.0])


def test_the_camera_is_incomparable_but_transitive_and_has_the_papers_cycle() -> None:
    order = total_order(sw.paper.camera())
    assert (order.holds, order.comparable, order.transitive) == (False, False, True)
    one, _ = order.incomparable or pytest.fail("two pairs are incomparable")
    assert {one.arm, one.other} == {NIKON, DIGITAL}
    assert order.cycle is not None
    first, second, third = order.cycle
    assert (first.arm, first.other, first.set) == (NIKON, CANON, (NIKON, CANON, SONY))
    assert (second.arm, second.other, second.set) == (CANON, DIGITAL, (NIKON, CANON, DIGITAL))
    assert (third.arm, third.other, third.set) == (DIGITAL, NIKON, (NIKON, DIGITAL, KEYBOARD))
    found = [(lead.probability, lead.other_probability) for lead in order.cycle]
    assert found == [(0.35, 0.30), (0.30, 0.20), (0.49, 0.35)]


def test_the_preference_matrix_breaks_transitivity_by_its_loop() -> None:
    order = total_order(sw.paper.preference_matrix())
    assert (order.comparable, order.transitive, order.intransitive_triples) == (True, False, 15)
    assert order.cycle is not None
    assert {(lead.arm, lead.other) for lead in order.cycle} == {(4, 3), (5, 4), (3, 5)}


# In all of them {0, 2} is best, and arm 0 has less beside arm 1.
COUNTER_EXAMPLES = [
    (
        NestedLogit([1.0, 0.99, 0.5], nests=[0, 0, 1], dissimilarities=[0.05, 1.0], k=2),
        {(0, 1): (0.2792, 0.2283), (0, 2): (0.4000, 0.2000), (1, 2): (0.3976, 0.2008)},
    ),
    (
        MixedLogit([0.5, 0.5], [[20, 19, 0.01], [0.01, 0.01, 1]], k=2),
        {(0, 1): (0.2549, 0.2424), (0, 2): (0.4785, 0.2490)},
    ),
    (
        MarkovChain([0.1, 0.45, 0.45], [[0, 0, 0], [1, 0, 0], [0, 0, 0]], k=2),
        {(0, 1): (0.10, 0.45), (0, 2): (0.55, 0.45), (1, 2): (0.45, 0.45)},
    ),
    (
        Rankings([[0], [1, 0], [2]], [0.3, 0.3, 0.4], k=2),
        {(0, 1): (0.3, 0.3), (0, 2): (0.6, 0.4), (1, 2): (0.3, 0.4)},
    ),
]


@pytest.mark.parametrize(("world", "table"), COUNTER_EXAMPLES, ids=lambda case: type(case).__name__)
def test_counter_examples_are_found_out(world: Any, table: dict[tuple[int, ...], Any]) -> None:
    for chosen, values in table.items():
        assert means_of(world, chosen) == pytest.approx(values, abs=5e-5)
    for case in (world, Table(table_of(world))):
        answer = weak_consistency(case)
        assert (answer.holds, answer.best, answer.witness.arm, answer.witness.set) == (False, (0, 2), 0, (0, 1))
        assert answer.margin == pytest.approx(table[0, 1][0] - table[0, 2][0], abs=1e-4)
        assert answer.explain() in str(answer)


def test_noises_that_are_not_equal_break_weak_consistency() -> None:
    answer = weak_consistency(UnequalNoise([1.0, 0.5, 0.0], [1.0, 0.2, 10.0], k=2, outside_scale=0.5))
    assert (answer.holds, answer.best, answer.witness.arm, answer.witness.set) == (False, (0, 1), 0, (0, 2))
    assert answer.margin == pytest.approx(-0.2206, abs=5.1e-5)


def test_models_that_are_a_multinomial_logit_have_its_probabilities_and_its_answers() -> None:
    rng = np.random.default_rng(3)
    for _ in range(4):
        n, k = int(rng.integers(4, 7)), int(rng.integers(2, 4))
        values = rng.exponential(size=n)
        logit = MNL(values, k)
        expected = table_of(logit)
        for world in (
            RandomUtility(np.log(values), k, noise="gumbel"),
            MarkovChain.from_weights(values, k),
            NestedLogit(values, rng.integers(0, 2, n), [1.0, 1.0], k),
            MixedLogit([1.0], [values], k),
        ):
            found = table_of(world)
            assert all(found[s] == pytest.approx(expected[s], rel=0, abs=1e-10) for s in expected)
            answer, own = check(world), check(logit)
            assert answer["multinomial logit"].holds is True
            assert answer.order.order == own.order.order
            assert answer.consistency.margin == pytest.approx(own.consistency.margin, abs=1e-10)
            assert answer.gaps.epsilon == pytest.approx(own.gaps.epsilon, abs=1e-10)


PROVED: dict[str, Callable[[Any, int], Any]] = {
    "mnl": lambda values, k: MNL(values, k, outside=0.7),
    "independent": Independent,
    "gumbel": lambda values, k: RandomUtility(2 * values, k, noise="gumbel", outside=0.5),
    "gaussian": lambda values, k: RandomUtility(2 * values, k, outside=0.5),
}


# With ties at the border, either the least arm of the best set gives way to the next worse, or the next better to it.
LEVELS: dict[str, list[float]] = {"no ties": [], "two": [0.1, 0.5], "two near": [0.1, 0.5, 0.6], "far": [0.1, 0.2, 0.6]}


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", PROVED)
def test_closed_forms_are_what_all_sets_say(name: str, levels: str) -> None:
    rng = np.random.default_rng(4)
    several = 0
    for n, k in [(3, 2), (5, 2), (5, 3), (6, 3), (6, 3)]:
        values = rng.choice(LEVELS[levels], n) if LEVELS[levels] else rng.random(n)
        world = PROVED[name](values, k)
        proved, seen = check(world, method="prove"), check(world, method="enumerate")
        several += seen.gaps.ties > 1
        assert proved.consistency.holds is seen.consistency.holds is True
        assert (proved.consistency.margin is None) is (seen.consistency.margin is None)
        if seen.consistency.margin is not None:
            assert proved.consistency.margin == pytest.approx(seen.consistency.margin, abs=1e-9)
            where = proved.consistency.tightest
            assert where.probability == pytest.approx(table_of(world)[where.set][where.set.index(where.arm)])
            assert where.probability - where.best_probability == pytest.approx(proved.consistency.margin, abs=1e-12)
        assert proved.order.order == seen.order.order
        assert (proved.order.holds, proved.order.comparable, proved.order.transitive) == (True, True, True)
        for field in ("value", "epsilon", "largest", "probabilities", "delta", "Delta"):
            assert getattr(proved.gaps, field) == pytest.approx(getattr(seen.gaps, field), rel=0, abs=1e-9), field
        assert proved.gaps.ties == seen.gaps.ties
        assert proved.gaps.best in seen.gaps.optimal_sets
    assert (several >= 2) is (levels != "no ties")


def test_ties_at_the_border_leave_two_ways_to_the_next_worse_set() -> None:
    for values in ([1.1, 1.0, 1.0, 1.0, 0.01], [2.0, 1.0, 1.0, 1.0, 0.99], [1.0, 1.0, 1.0, 1.0, 0.5]):
        for make in PROVED.values():
            world = make(np.array(values) / 3, 3)
            proved, seen = check(world, method="prove"), check(world, method="enumerate")
            assert proved.consistency.margin == pytest.approx(seen.consistency.margin, abs=1e-9)
            assert proved.gaps.epsilon == pytest.approx(seen.gaps.epsilon, abs=1e-9)


@pytest.mark.parametrize("method", ["prove", "enumerate"])
@pytest.mark.parametrize("name", PROVED)
def test_arms_that_share_no_set_are_equal_by_definition_1_however_it_is_decided(name: str, method: str) -> None:
    world = PROVED[name](np.array([0.3, 0.1, 0.2]), 1)
    table = {(0,): (F(3, 10),), (1,): (F(1, 10),), (2,): (F(2, 10),)}
    assert list(map(set, total_order(world, method=method).order)) == brute.order(table)
    assert weak_consistency(world, method=method).margin is None
    assert weak_consistency(world, method=method).holds is True


def test_an_answer_says_how_sure_it_is() -> None:
    logit, utility = MNL([0.3, 0.1, 0.2, 0.5], k=2), RandomUtility([0.3, 0.1, 0.2, 0.5], k=2)
    assert weak_consistency(logit).how == "all 6 sets, to 1e-12 and by proof"
    assert weak_consistency(utility).how == "all 6 sets, to 1e-09 and by proof"
    assert weak_consistency(logit, method="prove").how == "by proof"
    assert weak_consistency(sw.paper.camera()).how == "all 20 sets, exactly"
    assert weak_consistency(sw.paper.preference_matrix()).how == "all 45 sets, to 1e-12"
    assert total_order(sw.paper.camera(), method="search", budget=7).how == "7 sets of 20, to 1e-12"
    large = MNL(np.linspace(0.1, 1.0, 60), k=30)
    assert weak_consistency(large).how == "by proof"
    assert weak_consistency(large, method="search", budget=10).how == "10 sets of 1.2e+17, to 1e-12"
    for world, options in [(logit, {}), (large, {})]:
        assert world.proof in str(weak_consistency(world, **options))


def test_a_proof_answers_for_more_sets_than_can_be_seen() -> None:
    values = np.linspace(0.1, 1.0, 60)
    found = check(MNL(values, k=30))
    top, swapped = values[30:].sum(), values[29] + values[31:].sum()
    assert found.consistency.holds is found.order.holds is True
    assert found.gaps.epsilon == pytest.approx(1 / (1 + swapped) - 1 / (1 + top))
    assert found.consistency.margin == pytest.approx(values[31] * (1 / (1 + swapped) - 1 / (1 + top)))
    assert found["multinomial logit"].holds is True
    assert found["rewards do not depend on the set"].holds is False


def spoilt(n: int = 16, k: int = 4) -> Any:
    """A world with 1,820 sets in which arm 0, which is in the best set, has less beside the last arm."""
    values = np.linspace(0.2, 0.05, n)
    rows = np.array([values[list(s)] for s in itertools.combinations(range(n), k)])
    for row, s in zip(rows, itertools.combinations(range(n), k)):
        if s[0] == 0 and s[-1] == n - 1:
            row[0] = 0.03
    return Table(rows, n=n)


def test_a_search_finds_a_violation_and_shows_it() -> None:
    world = spoilt()
    full, answer = weak_consistency(world), weak_consistency(world, budget=300)
    assert (full.holds, full.how) == (False, "all 1,820 sets, to 1e-12")
    assert (answer.holds, answer.sets <= 300) == (False, True)
    assert answer.how == f"{answer.sets} sets of 1,820, to 1e-12"  # draws that repeat a set are not counted
    assert (answer.witness.arm, answer.best) == (0, (0, 1, 2, 3))
    assert {0, 15} <= set(answer.witness.set)
    assert answer.witness.probability == means_of(world, answer.witness.set)[0] == 0.03
    assert answer.margin == pytest.approx(-0.17)
    assert 0 < answer.violations < 300
    order = total_order(world, budget=300)
    assert (order.holds, order.comparable, order.transitive, order.order) == (False, False, None, None)
    table = table_of(world)
    for lead in (*order.incomparable, *order.cycle):
        assert lead.set in table
        own = dict(zip(lead.set, table[lead.set]))
        assert own[lead.arm] == lead.probability > lead.other_probability == own[lead.other]


def test_a_search_follows_from_its_seed() -> None:
    answers = [weak_consistency(spoilt(), budget=100, seed=seed) for seed in (0, 0, 1, 2)]
    assert answers[0].witness == answers[1].witness
    assert answers[0].violations == answers[1].violations
    assert len({(answer.witness.set, answer.violations) for answer in answers}) > 1


@pytest.mark.parametrize("budget", [None, 1, 19, 20, 21, 1000])
def test_a_search_that_finds_nothing_does_not_answer_yes(budget: int | None) -> None:
    world = sw.paper.camera()
    options = {"method": "search"} | ({} if budget is None else {"budget": budget})
    consistency, order, found = (
        weak_consistency(world, **options),
        total_order(world, **options),
        gaps(world, **options),
    )
    assert consistency.holds is None
    assert (consistency.violations, consistency.witness) == (0, None)
    assert "not decided" in str(consistency)
    assert order.transitive is None
    assert order.comparable is not True
    assert not found.complete
    assert "not all sets were seen" in found.note


@pytest.mark.parametrize("method", ["search", "auto"])
def test_a_search_does_not_prove_a_total_order(method: str) -> None:
    world = MNL([0.4, 0.3, 0.2, 0.1], k=2) if method == "search" else Table(table_of(MNL([0.4, 0.3, 0.2, 0.1], k=2)))
    order = total_order(world, method=method, budget=5)
    assert (order.holds, order.comparable, order.transitive, order.order) == (None, None, None, None)


def test_a_search_with_as_many_draws_as_sets_has_not_seen_all_sets() -> None:
    table = {s: tuple(0.2 if arm < 3 else 0.1 for arm in s) for s in itertools.combinations(range(6), 3)}
    table[0, 4, 5] = (0.15, 0.1, 0.1)  # arm 0 has less than in the best set here, and nowhere else
    world = Table(table)
    assert (weak_consistency(world).holds, weak_consistency(world).violations) == (False, 1)
    answers = [weak_consistency(world, method="search", seed=seed) for seed in range(30)]
    missed = [answer for answer in answers if answer.violations == 0]
    assert 0 < len(missed) < len(answers)
    assert [answer.how for answer in missed if answer.holds is not None] == []


def test_compiled_and_interpreted_searches_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Table(np.random.default_rng(6).random((1820, 4)) / 4, n=16)
    options: dict[str, Any] = {"method": "search", "budget": 3000, "seed": 5}
    compiled = survey_sets(world, **options)
    rows = np.unique(compiled.relations.lead_row[compiled.relations.lead_row >= 0]).tolist()[-20:]
    sets = [compiled.set_of(row) for row in rows]
    monkeypatch.setattr(survey_module, "run_compiled", lambda function, *args, interpreted=False: function(*args))
    interpreted = survey_sets(world, **options)
    assert rows[0] > 2000  # so many are interpreted anyway
    assert sets == [interpreted.set_of(row) for row in rows]
    for one, same in [(compiled.relations, interpreted.relations), (compiled.against, interpreted.against)]:
        for name in one._fields:
            if name != "means":
                assert np.array_equal(getattr(one, name), getattr(same, name)), name


def test_a_world_in_which_some_set_always_earns_is_no_multinomial_logit() -> None:
    quarter, half = (F(1, 4), F(1, 4)), (F(1, 2), F(1, 2))
    for make in (Table, in_floats):
        assert check(make({(0, 1): quarter, (0, 2): quarter, (1, 2): quarter}))["multinomial logit"].holds is True
        assert check(make({(0, 1): quarter, (0, 2): half, (1, 2): quarter}))["multinomial logit"].holds is False


def test_what_an_environment_wrongly_calls_its_best_set_is_found_out() -> None:
    right = NestedLogit([1.0, 0.99, 0.5], nests=[0, 0, 1], dissimilarities=[0.05, 1.0], k=2)
    wrong = right._replace(best_set=[0, 1])
    assert check(right)["best() is optimal"].holds is True
    found = check(wrong)
    assert found["best() is optimal"].holds is False
    assert "{0, 2} has 0.6" in found["best() is optimal"].witness
    assert found.consistency.best == (0, 2)


WORLD = MNL([0.3, 0.2, 0.1], k=2)
MANY = Table(np.full((45, 2), 0.1))
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: weak_consistency(MarkovChain.from_weights(np.ones(60), k=30)),
        r"30 of 60 arms make 1\.2e\+17 sets, more than the 20,000,000 .* give a budget",
    ),
    (lambda: total_order(MarkovChain.from_weights(np.ones(40), k=9), method="enumerate"), "273,438,880 sets, .*budget"),
    (lambda: bounds(WORLD, 1), "horizon is 1; the bounds have log T in them, so it has to be at least 2"),
    (lambda: bounds(WORLD, 2.5), "horizon is 2.5, which is not a whole number"),
    (lambda: bounds(WORLD, 100, alpha=0), "alpha is 0; it has to be more than 0"),
    (lambda: bounds(WORLD, 100, alpha="two"), "alpha is 'two', which is not a number"),
    (lambda: weak_consistency(MNL), "is not an environment; give an object"),
    (lambda: gaps(5), "5 is not an environment; give an object"),
    (lambda: check(sw.UCB()), r"UCB\(\) is not an environment"),
    (
        lambda: total_order(WORLD, method="guess"),
        "method is 'guess'; it can be 'auto', 'enumerate', 'search' or 'prove'",
    ),
    (lambda: weak_consistency(WORLD, budget=0), "budget is 0, which is less than 1"),
    (lambda: weak_consistency(WORLD, budget=1.5), "budget is 1.5, which is not a whole number"),
    (lambda: weak_consistency(MANY, method="prove"), "Table has no closed form"),
    (lambda: weak_consistency(Independent(np.full(3001, 0.1), k=1)), "there are 3001 arms"),
    (lambda: weak_consistency(MANY, method="search", seed=-1), "seed is -1, which is less than 0"),
    (lambda: weak_consistency(MANY, tolerance="small"), "tolerance is 'small', which is not a number"),
    (lambda: weak_consistency(MANY, tolerance=-1.0), "tolerance is -1"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_wrong_input_is_refused_in_one_sentence(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_a_tolerance_that_is_given_counts_for_fractions_too() -> None:
    tenths = {(0, 1): (F(3, 10), F(4, 10)), (0, 2): (F(2, 10), F(1, 10)), (1, 2): (F(4, 10), F(2, 10))}
    assert weak_consistency(Table(tenths)).holds is False
    assert weak_consistency(Table(tenths), tolerance=0.2).holds is True
