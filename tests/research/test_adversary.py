"""The search for worlds that break a policy: valid worlds, right objectives, and verdicts that depend on the world.

The one statistical test has fixed seeds: in its world a policy that never learns fails in every run, so false alarms
are negligible.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research import adversary
from research.adversary import QUICK, Look
from research.hard_worlds import LEAST_GAP, PARTS, chosen_worlds, crafted, cut, mutate, random_world, repaired, sets_of
from research.hard_worlds import stuck as stuck_of
from research.summary import STORED, growth, read, regrets
from setwise import Experiment, simulate
from setwise.environments import PRESETS, Table
from setwise.policies import POLICIES
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
    found = Look(short=50.0, long=500.0, worst=1500.0)
    ucb = Look(short=1.0, long=250.0, worst=1.0)
    assert found.value("growth", ucb) == pytest.approx(1.0)
    assert found.value("tail", ucb) == 3.0
    assert found.value("loss", ucb) == 2.0


def test_a_look_plays_both_horizons():
    world = Table(crafted(4, 2)["even"])
    seen = adversary.look("kl-moss", QUICK["ucb"], 7, world)
    short = simulate(POLICIES["kl-moss"](), world, 300, 3, 7, checkpoints=[150]).regret[:, -1]
    long = simulate(POLICIES["kl-moss"](), world, 3000, 3, 7, checkpoints=[1500]).regret[:, -1]
    assert seen == (short.mean(), long.mean(), long.max())


def test_stuck_runs_are_seen_where_there_are_some_and_only_there():
    """UCB is stuck at a horizon too short to learn; in a world of gap 0.4 it is not, at a long one."""
    easy, even = Table(crafted(4, 2, 0.4)["rare"]), Table(crafted(4, 2)["even"])
    learned = simulate(POLICIES["ucb"](), easy, 20_000, 5, 1, checkpoints=[10_000])
    assert stuck_of(learned, easy)[:2] == [0.0, 0.0]
    lost = simulate(POLICIES["ucb"](), even, 20, 5, 1, checkpoints=[10])
    assert stuck_of(lost, even)[0] == stuck_of(lost, even)[2] == 100.0


@pytest.fixture(scope="module")
def searched():
    return adversary.search(QUICK, adversary.SIZES[:1], 1, 2)


def test_a_quick_search_ends_in_lawful_worlds_that_are_no_better_than_the_start(searched):
    assert [(own.policy, own.objective) for own in searched] == [
        ("ucb", "growth"),
        ("ucb", "tail"),
        ("kl-moss", "growth"),
        ("kl-moss", "tail"),
        ("kl-moss", "loss"),
    ]
    for own in searched:
        assert is_lawful(own.world.probabilities, own.world.n, own.world.k)
        assert len(own.values) == len(crafted(4, 2)) + 1
        assert own.value >= own.start
    assert any(own.value > own.start for own in searched)


def test_the_worlds_found_are_verified_from_other_seeds(searched, monkeypatch):
    monkeypatch.setattr(adversary, "search", lambda *_: searched)
    played = []

    def run(experiment):
        played.append(experiment)
        return experiment.run()

    found, verified, stuck, worlds = adversary.compute(run, quick=True)
    assert {experiment.seed for experiment in played} == {adversary.SEED, adversary.SEED + 1}
    rows = {tuple(row[:2]): row[2:] for row in verified.rows}
    assert {policy for label, policy in rows if label.startswith("trap")} == {"ucb", "kl-moss"}
    assert {policy for label, policy in rows if label.startswith("searched: tail of ucb")} == {"ucb"}
    trap = Table(PRESETS["trap"]().probabilities)
    again = {T: simulate(POLICIES["ucb"](), trap, T, 3, adversary.SEED, checkpoints=[T // 2]) for T in (300, 3000)}
    short, long = (result.regret[:, -1] for result in again.values())
    tail = long.max() / long.mean()
    assert rows["trap, n = 10", "ucb"] == [short.mean(), long.mean(), growth(short, long, 1.0), pytest.approx(tail)]
    assert [row[:4] for row in stuck.rows] == [["crafted: even, n = 4", name, "3e2", 10] for name in QUICK]
    assert len(worlds.rows) == len(found.rows) == 5


def test_the_stored_worlds_are_lawful_and_play_as_stored():
    """The worlds that the full search found, written as whole parts, give the stored regret at 10^4 rounds."""
    _, verified, _, worlds = read("adversary")
    rows = {tuple(row[:2]): row for row in verified.rows}
    tables = {}
    for label, k, text in worlds.rows:
        tables[label] = np.array([[int(value) for value in row.split()] for row in text.split(", ")]) / PARTS
        assert is_lawful(tables[label], Table(tables[label]).n, int(k))
    label, table = tables.popitem()
    experiment = Experiment({label: Table(table)}, ["ucb"], 10_000, 100, adversary.SEED, checkpoints=[5000])
    final = regrets(experiment.run(), label, "ucb")
    assert rows[label, "ucb"][verified.columns.index("1e4")] == pytest.approx(final.mean(), rel=1e-4)
    assert STORED.stat().st_size < 60_000


def test_the_worlds_to_verify_have_the_gap_they_claim():
    worlds = chosen_worlds()
    assert worlds["trap, n = 10"].gaps()[0] == pytest.approx(0.04)
    assert [world.gaps()[0] for label, world in worlds.items() if "crafted" in label] == pytest.approx([0.05] * 3)
