"""The benchmarks play as documented, and the pages show the stored tables."""

import csv
import importlib.util
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import setwise as sw
from setwise.types import InputError
from skips import NOT_HERE

ROOT = Path(__file__).parents[2]


def load(path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def benchmark_of(monkeypatch):
    return lambda name: load(ROOT / "benchmarks" / f"{name}.py", monkeypatch)


@pytest.fixture
def make_tables(monkeypatch):
    return load(ROOT / "docs" / "make_tables.py", monkeypatch)


@pytest.fixture
def make_figures(monkeypatch):
    return load(ROOT / "docs" / "make_figures.py", monkeypatch)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


class TestBatchedNumPy:
    def test_it_plays_the_law_of_algorithm_1(self, benchmark_of):
        """The mean regret, and the pulls of every arm, within 4 joint standard errors; seeds are fixed.

        8 comparisons of means of 400 runs raise a false alarm for about one choice of seeds in 2,000. A small alpha
        makes the game one of learning: 0.36 instead is noticed. What is earned is what the means say, but for chance.
        """
        world, horizon, runs, alpha = sw.environments.MNL([0.6, 1.5, 0.2, 0.9, 0.4, 0.1], k=2), 2000, 400, 0.3
        theirs = benchmark_of("numpy_batched").run(world.values, 2, horizon, horizon, runs, seed=3, alpha=alpha)
        ours = sw.simulate(sw.UCB(alpha=alpha), world, horizon, runs, seed=3, threads=1)
        assert_same_means(ours.regret[:, -1], theirs.regret)
        for arm in range(world.n):
            assert_same_means(ours.pulls[:, arm], theirs.pulls[arm])
        expected = horizon * (1 - 1 / (1 + 1.5 + 0.9)) - theirs.regret
        assert_same_means(theirs.reward.sum(axis=0) - expected, np.zeros(runs))

    def test_every_set_has_k_arms(self, benchmark_of):
        """Fewer rounds than it takes to play every arm, and many ties; no column takes an arm too many."""
        batch = benchmark_of("numpy_batched").run(np.ones(30), 4, 1000, 100, 50, seed=1)
        assert np.array_equal(batch.pulls.sum(axis=0), np.full(50, 400.0))
        first = benchmark_of("numpy_batched").run(np.ones(30), 4, 1000, 7, 50, seed=1).pulls
        assert (np.rint(first) <= 1).all() and first.sum() == 7 * 4 * 50
        assert len({tuple(np.flatnonzero(run > 0.5)) for run in first.T}) > 40, "ties are broken at random"


class TestLoopsOverSets:
    def test_their_means_are_those_of_the_world(self, benchmark_of):
        world = sw.environments.MNL([0.6, 1.5, 0.2, 0.9], k=2)
        sets, out = list(itertools.combinations(range(4), 2)), np.zeros(2)
        found = benchmark_of("numpy_sets").means_of_sets(world.values, 2)
        assert len(found) == len(sets)
        for arms, mean in zip(sets, found):
            world.means(np.array(arms), out)
            assert mean == pytest.approx(out.sum())


def assert_same_means(ours, theirs):
    errors = [sample.std(ddof=1) / np.sqrt(len(sample)) for sample in (ours, theirs)]
    assert abs(ours.mean() - theirs.mean()) < 4 * np.hypot(*errors)


class TestKeeping:
    def test_a_table_is_kept_with_its_machine(self, benchmark_of, tmp_path):
        measuring = benchmark_of("measuring")
        path = measuring.keep("games", ("what", "ours"), [("a, b", 1), ("c", "2.5")], tmp_path)
        measuring.keep("arms", ("what",), [], tmp_path)
        measuring.keep("games", ("what", "ours"), [("a, b", 1), ("c", "2.5")], tmp_path)
        assert rows_of(path) == [["what", "ours"], ["a, b", "1"], ["c", "2.5"]]
        head, *machines = rows_of(tmp_path / "machine.csv")
        assert [machine[0] for machine in machines] == ["arms", "games"]
        assert dict(zip(head, machines[0]))["NumPy"] == np.__version__
        assert all(all(machine) for machine in machines)
        assert {path.name for path in tmp_path.iterdir()} == {"games.csv", "arms.csv", "machine.csv"}

    def test_a_table_that_cannot_be_made_leaves_the_old_one(self, benchmark_of, tmp_path):
        measuring = benchmark_of("measuring")
        path = measuring.keep("games", ("what",), [("old",)], tmp_path)

        def broken():
            yield ("new",)
            raise RuntimeError

        with pytest.raises(RuntimeError):
            measuring.keep("games", ("what",), broken(), tmp_path)
        assert rows_of(path) == [["what"], ["old"]]

    def test_a_missed_target_is_said(self, benchmark_of, capsys):
        table = benchmark_of("ratios").Ratios()
        table.compare_rounds("fast", 1e-8, 2e-6, 100)
        table.compare_rounds("slow", 1e-8, 5e-7, 100)
        table.add("long", "5 s", "1 s", 5.0, 4, at_most=True)
        table.add("fact", "3 MB", "", 3.0)
        assert [row[3:] for row in table.rows] == [
            ("200.00", "at least 100"),
            ("50.00", "at least 100  MISSED"),
            ("5.00", "at most 4  MISSED"),
            ("3.00", ""),
        ]
        assert table.rows[0][:3] == ("fast", "10.0 ns", "2,000.0 ns")
        assert len(table.text().splitlines()) == 5 and "MISSED" in capsys.readouterr().out


class TestHorizons:
    def test_what_takes_too_long_is_extrapolated_and_says_so(self, benchmark_of):
        horizons = benchmark_of("horizons")
        asked = []

        def play(horizon):
            asked.append(horizon)
            return 3e-9 * horizon + 1e-6

        line = horizons.Line("loop", play, linear=True)
        rows = list(horizons.along(line, [10**3, 10**6, 10**9], patience=0.0))
        assert [row[3] for row in rows] == ["measured", "extrapolated", "extrapolated"]
        assert rows[2][2] == pytest.approx(1e9 * (3e-9 + 1e-9))
        assert set(asked) == {10**3}
        rows = list(horizons.along(line._replace(linear=False), [10**3, 10**6], patience=0.0))
        assert [row[3] for row in rows] == ["measured", "measured"]


class TestMemory:
    @pytest.mark.skipif(not Path("/proc/self/status").exists(), reason=f"{NOT_HERE}the system counts otherwise")
    def test_the_peak_is_that_of_the_process_itself(self, benchmark_of):
        """Not that of the larger one that started it, and what was let go of counts."""
        code = "import memory; small = memory.peak(); len(b'x' * 50_000_000); print(small, memory.peak())"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT / "benchmarks", check=True, capture_output=True, text=True
        )
        small, large = map(float, done.stdout.split())
        assert 4e6 < small < 40e6 < benchmark_of("memory").peak()
        assert 48e6 < large - small < 54e6

    def test_games_have_titles(self, benchmark_of):
        memory = benchmark_of("memory")
        assert memory.Game(20, 20, 10**9).title() == "runs x rounds = 20 x 1e9, 20 arms"
        assert memory.Game(1, 10**6, 10**5).title() == "runs x rounds = 1 x 1e5, 1e6 arms"


LONG = """what,k,n,microseconds a round,how
ours,10,1000000,4.321,measured
ours,10,20,0.5,measured
ours,100,20,0.7,measured
NumPy,10,1000000,8765.4,extrapolated
"""


class TestTables:
    def test_a_table_or_some_rows_of_it(self, make_tables, tmp_path):
        (tmp_path / "games.csv").write_text("what,ours\none game,1\ntwo games,2\n")
        assert make_tables.benched("games", [], tmp_path).splitlines() == [
            "| what | ours |",
            "| --- | --- |",
            "| one game | 1 |",
            "| two games | 2 |",
        ]
        assert make_tables.benched("games", ["two games"], tmp_path).splitlines()[2:] == ["| two games | 2 |"]

    def test_one_column_against_another(self, make_tables, tmp_path):
        (tmp_path / "arms.csv").write_text(LONG)
        words = ["by=what", "of=microseconds a round", "k=10"]
        assert make_tables.benched("arms", words, tmp_path).splitlines() == [
            "| n | ours | NumPy |",
            "| --- | --- | --- |",
            "| 20 | 0.5 |  |",
            "| 10^6 | 4.32 | *8,765* |",
        ]
        assert make_tables.benched("arms", ["by=n", "of=microseconds a round"], tmp_path).splitlines() == [
            "| what | k | 20 | 10^6 |",
            "| --- | --- | --- | --- |",
            "| ours | 10 | 0.5 | 4.32 |",
            "| NumPy | 10 |  | *8,765* |",
            "| ours | 100 | 0.7 |  |",
        ]

    def test_a_page_is_filled(self, make_tables, monkeypatch, tmp_path):
        (tmp_path / "games.csv").write_text("what,seconds\none game,1\ntwo games,2\n")
        monkeypatch.setattr(make_tables, "benched", lambda name, words: f"{name} {words}\n")
        page = 'Text.\n\n<!-- bench games "two games" by=what -->\nold\n<!-- end -->\n'
        assert make_tables.filled(page) == page.replace("old", "games ['two games', 'by=what']")

    def test_what_is_not_there_is_said_in_one_sentence(self, make_tables, tmp_path):
        (tmp_path / "games.csv").write_text("what,ours\none game,1\n")
        with pytest.raises(InputError, match=r"there is no docs/.*/none\.csv; `make .*` makes it"):
            make_tables.benched("none", [], tmp_path)
        with pytest.raises(InputError, match=r"games\.csv has no row 'two games'; it has one game"):
            make_tables.benched("games", ["two games"], tmp_path)
        with pytest.raises(InputError, match=r"games\.csv has no column 'horizon'; it has what, ours"):
            make_tables.benched("games", ["by=horizon", "of=ours"], tmp_path)

    def test_numbers_as_one_would_say_them(self, make_tables):
        said = [make_tables.duration(seconds) for seconds in (2e-4, 0.0312, 2.5, 4000, 1e5, 2e7, 3.2e9)]
        assert said == ["200 us", "31.2 ms", "2.5 s", "66.7 min", "27.8 h", "231 days", "101 years"]
        assert [make_tables.digits(value) for value in (0.012345, 12.345, 12345.6)] == ["0.0123", "12.3", "12,346"]


class TestFigures:
    def test_names_are_moved_apart_and_keep_their_order(self, make_figures):
        assert make_figures.spread([30.0, 10.0], 5.0) == [30.0, 10.0]
        assert make_figures.spread([10.0, 12.0, 40.0], 6.0) == [8.0, 14.0, 40.0]
        assert make_figures.spread([12.0, 10.0, 14.0, 13.0], 4.0) == pytest.approx([10.25, 6.25, 18.25, 14.25])
        rng = np.random.default_rng(1)
        places = list(rng.random(30) * 100)
        moved = make_figures.spread(places, 5.0)
        assert np.argsort(moved).tolist() == np.argsort(places).tolist()
        assert np.diff(np.sort(moved)).min() >= 5.0 - 1e-9
        assert np.mean(moved) == pytest.approx(np.mean(places))

    def test_a_line_knows_what_of_it_was_measured(self, make_figures, tmp_path):
        (tmp_path / "arms.csv").write_text(LONG)
        rows = make_figures.rows_of("arms", "make bench-scale", tmp_path)
        ours, other = make_figures.lines_of(rows[:2] + rows[3:], "n", "microseconds a round", make_figures.ARMS, 1e-6)
        assert ours.name == "ours" and ours.x == [20.0, 1e6] and ours.solid == 2
        assert ours.y == pytest.approx([5e-7, 4.321e-6])
        assert other.style == make_figures.ARMS["NumPy"] and other.solid == 0
        make_figures.draw([ours, other], tmp_path / "arms.png", "n", "time", make_figures.TIMES, 4.0, "a note")
        assert (tmp_path / "arms.png").read_bytes().startswith(b"\x89PNG")

    def test_a_table_that_is_not_there_is_said_in_one_sentence(self, make_figures, tmp_path):
        with pytest.raises(InputError, match=r"there is no docs/.*/arms\.csv to draw; `make bench-scale` makes it"):
            make_figures.rows_of("arms", "make bench-scale", tmp_path)


class TestManyMachines:
    def test_the_client_and_the_start_cost_what_they_cost(self, benchmark_of):
        engines = benchmark_of("engines")

        def minutes(start, service):
            row = dict(zip(engines.MACHINES, engines.predicted(1000, start, service, 0.0, lambda play: 1e-3)))
            return float(row["time, min"]), int(row["tasks"].replace(",", ""))

        alone, tasks = minutes(0.0, 0.0)
        assert minutes(60.0, 0.0)[0] == pytest.approx(alone + 1.0, abs=0.11)
        assert minutes(0.0, 0.6)[0] == pytest.approx(tasks * 0.6 / 60.0, abs=alone + 0.11)
