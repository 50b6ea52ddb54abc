"""The search for worlds that break a policy: the worlds are lawful, the objectives right, and the verdict depends on
the world.

The one statistical test plays fixed seeds: in its world a policy that never learns fails in every run, so there are no
false alarms to speak of.
"""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.environments import PRESETS, Table
from setwise.evidence import adversary
from setwise.evidence.consistent_tables import LEAST_GAP, PARTS, crafted, cut, mutate, random_world, repaired, sets_of
from setwise.theory import weak_consistency
from setwise.types import InputError

SIZES = [(4, 2), (5, 2), (6, 3), (4, 1)]


def is_lawful(rows, n, k, least_gap=LEAST_GAP):
    """In whole numbers, straight from the definition."""
    parts = np.rint(np.asarray(rows) * PARTS).astype(int)
    assert np.array_equal(parts / PARTS, rows), "not whole parts"
    assert parts.min() >= 0
    best = parts[0]
    for members, row in list(zip(sets_of(n, k).tolist(), parts.tolist(), strict=True))[1:]:
        assert sum(row) <= best.sum() - round(least_gap * PARTS)
        for arm, value in zip(members, row, strict=True):
            assert arm >= k or value >= best[arm]
    assert best.sum() <= PARTS
    return True


def agrees_with_theory(rows, n, k):
    answer = weak_consistency(Table(rows, n=n))
    return answer.holds is True and answer.best == tuple(range(k)) and answer.optimal_sets == 1


@settings(max_examples=40, deadline=None)
@given(size=st.sampled_from(SIZES), seed=st.integers(0, 2**32), gap=st.sampled_from([0.01, 0.05, 0.2]))
def test_every_world_drawn_or_changed_satisfies_the_assumption(size, seed, gap):
    n, k = size
    rng = np.random.default_rng(seed)
    rows = random_world(n, k, rng, gap)
    assert is_lawful(rows, n, k, gap)
    assert agrees_with_theory(rows, n, k)
    for _ in range(4):
        rows = mutate(rows, n, k, rng, gap)
    assert is_lawful(rows, n, k, gap)
    assert agrees_with_theory(rows, n, k)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_any_table_at_all_is_repaired(seed):
    rng = np.random.default_rng(seed)
    rows = rng.random((10, 2)) * rng.choice([0.01, 1.0, 3.0], (10, 2))
    assert is_lawful(repaired(rows, 5, 2), 5, 2)


def test_a_lawful_table_is_left_alone():
    for rows in crafted(6, 3).values():
        assert np.array_equal(repaired(rows, 6, 3), rows)


def test_a_gap_that_no_world_has_is_refused():
    with pytest.raises(InputError, match=r"least_gap is 0\.6"):
        repaired(np.zeros((6, 2)), 4, 2, 0.6)


@pytest.mark.parametrize("size", [(4, 2), (5, 2), (6, 3)])
@pytest.mark.parametrize("name", list(crafted(4, 2)))
def test_worlds_made_by_hand_satisfy_the_assumption(name, size):
    n, k = size
    rows = crafted(n, k)[name]
    assert is_lawful(rows, n, k)
    assert agrees_with_theory(rows, n, k)
    exact = [[Fraction(round(value * PARTS), PARTS) for value in row] for row in rows]
    assert weak_consistency(Table(exact, n=n)).holds is True


def test_the_worlds_made_by_hand_do_what_they_say():
    n, k = 6, 3
    sets = sets_of(n, k).tolist()
    worlds = crafted(n, k)
    assert worlds["rare"][0].min() == LEAST_GAP
    fallen = {tuple(members): row for members, row in zip(sets, worlds["fallen"].tolist(), strict=True)}
    assert fallen[0, 1, 3][2] == 0.0
    assert fallen[3, 4, 5][0] > 0.9
    idol = {tuple(members): row for members, row in zip(sets, worlds["idol"].tolist(), strict=True)}
    assert idol[0, 3, 4][1] > 0.6
    assert idol[0, 3, 4][2] == 0.0


def test_worlds_at_random_reach_arms_that_shine_in_bad_sets_only():
    """A bad arm above every P(a|s*) beside the other bad one, and below 0.05 beside the optimal ones: 1 draw in 20."""
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(200):
        rows = random_world(4, 2, rng)
        shines = int(rows[5].argmax())
        beside = max(rows[1 + shines][1], rows[3 + shines][1])
        found += bool(rows[5].max() > rows[0].max() and beside < 0.05)
    assert found >= 10


def test_amounts_are_cut_in_proportion_and_never_above_the_most():
    assert cut(np.array([3, 3, 4]), 5).tolist() == [1, 1, 2]
    assert cut(np.array([3, 3, 4]), 10).tolist() == [3, 3, 4]
    assert cut(np.array([3, 0]), 0).tolist() == [0, 0]


def test_the_objectives_by_hand():
    found = {"short": 50.0, "long": 500.0, "worst": 1500.0}
    yardstick = {"short": 1.0, "long": 250.0, "worst": 1.0}
    assert adversary.value_of(found, yardstick, "growth") == pytest.approx(1.0)
    assert adversary.value_of(found, yardstick, "tail") == 3.0
    assert adversary.value_of(found, yardstick, "loss") == 2.0


def test_growth_is_the_exponent_with_its_error():
    before = {"horizon": 10**4, "mean": 100.0, "error": 0.0}
    after = {"horizon": 10**6, "mean": 1000.0, "error": 100.0}
    exponent, error = adversary.growth(before, after)
    assert exponent == pytest.approx(0.5)
    assert error == pytest.approx(0.1 / math.log(10) / 2)


def test_stuck_runs_are_seen_where_there_are_some_and_only_there():
    """KL-MOSS is stuck at a horizon too short to learn; UCB in a world of gap 0.5 is not, at a long one."""
    easy = {"world": "easy", "n": 4, "k": 2, "table": crafted(4, 2, 0.4)["rare"].tolist()}
    learned = adversary.measured("verified", easy, "ucb", 20_000, 5, 1)
    assert learned["stuck"] == 0.0
    assert learned["without_stuck"] == pytest.approx(learned["mean"])
    even = {"world": "even", "n": 4, "k": 2, "table": crafted(4, 2)["even"].tolist()}
    assert adversary.measured("verified", even, "ucb", 20, 5, 1)["stuck"] == 1.0


def test_a_quick_search_tells_what_it_did_in_rows_that_can_be_written():
    told = []
    rows = adversary.compute(progress=lambda what, share: told.append((what, share)), quick=True)
    assert json.loads(json.dumps(rows)) == rows
    kinds = [row["kind"] for row in rows]
    assert set(kinds) == {"search", "verified", "stuck"}
    assert {what for what, _ in told} == {"playing all worlds", "climbing", "verifying"}
    for step in {what for what, _ in told}:
        shares = [share for what, share in told if what == step]
        assert shares == sorted(shares) and shares[0] >= 0.0 and shares[-1] == 1.0
    searches = [row for row in rows if row["kind"] == "search"]
    assert {(row["policy"], row["objective"]) for row in searches} == {
        ("ucb", "growth"),
        ("ucb", "tail"),
        ("kl-moss", "growth"),
        ("kl-moss", "tail"),
        ("kl-moss", "loss"),
    }
    for row in searches:
        assert is_lawful(row["table"], row["n"], row["k"])
    worlds = {row["world"] for row in rows if row["kind"] == "verified"}
    assert {"trap", "crafted: even", "searched: loss of kl-moss"} <= worlds
    trap = next(row for row in rows if row["kind"] == "verified" and row["world"] == "trap")
    assert np.array_equal(trap["table"], PRESETS["trap"]().probabilities)
    assert trap["least_gap"] == pytest.approx(0.04)
    grown = [row for row in rows if row["kind"] == "verified" and "growth" in row]
    assert {row["horizon"] for row in grown} == {3000}
    again = adversary.compute(quick=True)
    assert again == rows


def test_climbing_never_ends_with_a_value_below_the_start():
    rows = adversary.compute(quick=True, seed=5)
    for row in rows:
        if row["kind"] == "search":
            assert row["found"] >= row["start_again"]
            assert (row["steps_taken"] == 0) == (row["found"] == row["start_again"])


@pytest.mark.slow
def test_what_is_found_does_not_depend_on_the_number_of_processes():
    plan = adversary.QUICK
    assert adversary.run(plan, seed=3, processes=1) == adversary.run(plan, seed=3, processes=2)
