"""Experiments: plays, stored results that are extended, and results that do not depend on the way of computing."""

import filecmp
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import setwise as sw
from setwise.cli import main
from setwise.experiments.experiment_report import TAKEN, _row, _styles, distinct_names
from setwise.experiments.outcome import Order, merged
from setwise.experiments.plays import Play
from setwise.experiments.run_plays import chunks_of, missing, play_all
from setwise.experiments.store import Store
from setwise.report.parts import parts_of
from setwise.types import InputError


@pytest.fixture
def interpreted(monkeypatch):
    """Plays are interpreted: the same bits, and nothing to compile for a few rounds."""
    run = Play.run
    monkeypatch.setattr(Play, "run", lambda self, *args, **options: run(self, *args, compiled=False, **options))


def camera(**options):
    return sw.Experiment(["camera"], ["ucb", "ucb:alpha=0.5"], **{"horizon": 150, "runs": 3, **options})


def test_an_experiment_is_what_simulate_plays(interpreted):
    finished = camera(seed=7).run()
    expected = sw.simulate(sw.UCB(alpha=0.5), sw.paper.camera(), 150, 3, 7, compiled=False)
    assert np.array_equal(finished["camera", "ucb:alpha=0.5"].regret, expected.regret)
    with pytest.raises(KeyError):
        finished["camera", "oracle"]


def test_things_are_labelled_by_name_by_mapping_or_by_their_words():
    worlds = {"mine": sw.environments.MNL([0.5, 0.4, 0.3], k=2)}
    experiment = sw.Experiment(worlds, [sw.UCB(), sw.UCB(alpha=0.5), sw.Oracle], horizon=10)
    assert [entry[:3] for entry in experiment.entries] == [
        ("mine", "UCB", 10), ("mine", "UCB(alpha=0.5)", 10), ("mine", "Oracle", 10),
    ]  # fmt: skip
    assert isinstance(experiment.entries[-1].play.policy, sw.Oracle)


def test_several_horizons_are_several_plays():
    experiment = camera(horizon=[1000, 100])
    assert [entry.horizon for entry in experiment.entries] == [100, 1000, 100, 1000]
    assert len({entry.play.digest for entry in experiment.entries}) == 4


def test_what_cannot_be_played_is_left_out_with_the_reason():
    worlds = {"choice": sw.paper.camera(), "each": sw.environments.Independent([0.5, 0.4, 0.3], 2, "independent")}
    experiment = sw.Experiment(worlds, ["ucb", "mnl-ucb"], horizon=10)
    assert [(left.environment, left.policy) for left in experiment.left_out] == [("each", "mnl-ucb")]
    assert "independent feedback" in experiment.left_out[0].reason
    with pytest.raises(InputError, match="mnl-ucb can play in none of the environments: MNLUCB learns from choice"):
        sw.Experiment({"each": worlds["each"]}, ["ucb", "mnl-ucb"], horizon=10)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"environments": []}, "environments is empty"),
        ({"environments": "camera"}, "environments is 'camera'; give a list"),
        ({"environments": ["camra"]}, "did you mean 'camera'"),
        ({"policies": ["ucv"]}, "there is no policy 'ucv'"),
        ({"policies": [sw.UCB]}, "UCB is a class; give an object of it"),
        ({"policies": [sw.UCB(), sw.UCB()]}, "policies has UCB more than once"),
        ({"policies": sw.UCB()}, "give a list of them"),
        ({"horizon": []}, "horizon is an empty list"),
        ({"horizon": [100, 100]}, "each is to be there once"),
        ({"horizon": 0}, "horizon is 0"),
        ({"horizon": None}, "horizon is None"),
        ({"horizon": "long"}, "horizon is 'long'"),
        ({"horizon": 10**13}, "at most 10^12"),
        ({"policies": {"best": sw.Oracle([3, 2])}}, "best can play in none of the environments"),
        ({"runs": 0}, "runs is 0"),
        ({"runs": 10**18}, "runs is 1000000000000000000; it can be at most 10^6"),
        ({"checkpoints": 10**18}, "checkpoints is 1000000000000000000; it can be at most 10^6"),
        ({"checkpoints": range(1, 10**18)}, "rounds; it can have at most 10^6"),
        ({"seed": -1}, "seed is -1"),
        ({"checkpoints": [5, 3]}, "rising order"),
        ({"spacing": "square"}, "spacing is 'square'"),
    ],
)
def test_a_wrong_experiment_is_refused_in_a_sentence(given, words):
    with pytest.raises(InputError) as refused:
        sw.Experiment(**{"environments": ["camera"], "policies": ["ucb"], "horizon": 100, **given})
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_orders_for_the_same_play_are_merged():
    play, same, other = (Play.of(sw.UCB(), sw.paper.camera(), 100, seed) for seed in (0, 0, 1))
    assert [(order.play.seed, order.runs) for order in merged([Order(play, 2), Order(other, 1), Order(same, 5)])] == [
        (0, 5), (1, 1),
    ]  # fmt: skip


def test_missing_runs_come_in_pieces_without_gaps(interpreted, tmp_path):
    play = Play.of(sw.UCB(), sw.paper.camera(), 100)
    for wanted in (1, 7, 1000):
        assert missing(Order(play, wanted), None) == [(0, wanted)]
    store = Store(tmp_path)
    store.keep(play, play.run(3, 2))
    gaps = missing(Order(play, 10), store)
    assert gaps == [(0, 2), (5, 5)]
    slow = Play.of(sw.UCB(), sw.paper.camera(), 10**9, fast_forward=False)
    assert chunks_of([(slow, 0, 2), (slow, 5, 1)], 2) == [(slow, 0, 1), (slow, 1, 1), (slow, 5, 1)]


def test_kept_results_are_not_played_again_and_more_runs_are_added(interpreted, tmp_path):
    store = Store(tmp_path / "results")
    few = play_all(camera(runs=2).orders, store, 1)[0]
    assert (few.played, few.kept) == (4, 0)
    more = play_all(camera(runs=5).orders, store, 1)[0]
    assert (more.played, more.kept) == (6, 4)
    again = play_all(camera(runs=5).orders, store, 1)[0]
    assert (again.played, again.kept) == (0, 10)
    fresh = play_all(camera(runs=5).orders, None, 1)[0]
    for order in camera(runs=5).orders:
        assert np.array_equal(fresh[order.play].regret, again[order.play].regret)
    fewer = play_all(camera(runs=1).orders, store, 1)[0]
    play = camera().entries[0].play
    assert np.array_equal(fewer.take(play, 1).regret, fresh[play].regret[:1])


def test_a_damaged_result_is_played_again_and_said(interpreted, tmp_path):
    folder = tmp_path / "results"
    first = camera().run(str(folder))
    assert first.notes == ()
    victim = sorted(folder.glob("*.npz"))[0]
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 0xFF
    victim.write_bytes(bytes(content))
    again = camera().run(str(folder))
    assert len(again.notes) == 1 and victim.name in again.notes[0]
    assert (again.outcome.played, again.outcome.kept) == (3, 3)
    for name in ("ucb", "ucb:alpha=0.5"):
        assert np.array_equal(first["camera", name].regret, again["camera", name].regret)
    assert camera().run(str(folder)).outcome.played == 0


def data_of(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder, "data").iterdir())}


def test_the_report_has_page_figures_and_data_and_a_rerun_is_the_same_bytes(interpreted, tmp_path):
    experiment = camera(horizon=[100, 300], title="Two <alphas>")
    path = experiment.report(str(tmp_path / "one"), results=str(tmp_path / "results"))
    page = Path(path).read_text(encoding="utf-8")
    assert "Two &lt;alphas&gt;" in page
    data = data_of(tmp_path / "one")
    assert {
        "regret-panels.csv",
        "regret-camera.csv",
        "horizon-panels.csv",
        "horizon-camera.csv",
        "final-regret.csv",
    } <= set(data)
    figures = {file.name: file.read_bytes() for file in (tmp_path / "one" / "figures").iterdir()}
    assert {f"regret-panels-2col.{kind}" for kind in ("svg", "pdf", "png")} <= set(figures)
    rows = data["final-regret.csv"].decode().splitlines()
    result = experiment.run(str(tmp_path / "results"))["camera", "ucb", 300]
    assert f"{result.mean_regret()[-1]:,.1f}" in rows[2]
    times = {file: os.stat(tmp_path / "one" / "figures" / file).st_mtime_ns for file in figures}
    experiment.report(str(tmp_path / "one"), results=str(tmp_path / "results"))
    assert times == {file: os.stat(tmp_path / "one" / "figures" / file).st_mtime_ns for file in figures}
    experiment.report(str(tmp_path / "two"))
    assert data_of(tmp_path / "two") == data
    assert {file.name: file.read_bytes() for file in (tmp_path / "two" / "figures").iterdir()} == figures


BROKEN = {"broken": sw.environments.PRESETS["rankings"]()}


def test_an_experiment_tests_the_assumption_and_keeps_the_answer(tmp_path):
    experiment = sw.Experiment(BROKEN, ["ucb", "set-thompson"], horizon=3000, runs=4, certificate=0.95)
    finished = experiment.run(str(tmp_path / "results"))
    expected = sw.simulate(sw.UCB(), BROKEN["broken"], 3000, 4, certificate=0.95)
    assert (expected.refuted > 0).all()
    again = experiment.run(str(tmp_path / "results"))
    assert again.outcome.played == 0
    for found in (finished["broken", "ucb"], again["broken", "ucb"]):
        assert [found.certificate_of(run) for run in range(4)] == [expected.certificate_of(run) for run in range(4)]
    page = Path(experiment.report(str(tmp_path / "out"), results=str(tmp_path / "results"))).read_text("utf-8")
    assert "tested at confidence 0.95" in page and "at most 0.05" in page
    head, ucb, over_sets = data_of(tmp_path / "out")["final-regret.csv"].decode().splitlines()
    assert head.endswith("assumption refuted") and "4 of 4, median round " in ucb and "0 of 4" in over_sets


def test_a_test_at_another_confidence_is_another_play():
    plays = [sw.Experiment(BROKEN, ["ucb"], certificate=level).entries[0].play for level in (None, 0.9, 0.95)]
    assert len({play.digest for play in plays}) == 3
    assert [play.request.certificate for play in plays] == [None, 0.9, 0.95]


def test_worlds_that_cannot_be_tested_are_left_out_with_the_reason():
    experiment = sw.Experiment(["coverage", "camera"], ["ucb"], horizon=10, certificate=0.95)
    assert [entry.environment for entry in experiment.entries] == ["camera"]
    assert "in Coverage that depends on the order of the set" in experiment.left_out[0].reason
    with pytest.raises(InputError, match="ucb can play in none of the environments: certificate needs the reward"):
        sw.Experiment(["cascade"], ["ucb"], horizon=10, certificate=0.95)
    with pytest.raises(InputError, match="certificate is 2; it is the confidence of the test"):
        sw.Experiment(["camera"], ["ucb"], horizon=10, certificate=2)


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_played(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "e.toml").write_text('environments = ["camera"]\npolicies = ["ucb"]\nhorizon = 1e12\n')
    for options in (["--out", str(tmp_path / "file" / "x")], ["--results", str(tmp_path / "file" / "x")]):
        if "--out" not in options:
            options += ["--out", str(tmp_path / "out")]
        done = CliRunner().invoke(main, ["run", str(tmp_path / "e.toml"), *options])
        assert done.exit_code == 2
        assert str(tmp_path / "file" / "x") in done.output
        assert done.output.count("\n") == 1


MANY = """
environments = ["camera"]
policies = ["ucb", "ucb:alpha=1", "ucb:alpha=0.5"]
horizon = 1e5
runs = 300
"""


def killed_and_resumed(folder, times, chance):
    """Run an experiment, killing it that often at a random moment; return how many result files each kill left."""
    (folder / "e.toml").write_text(MANY)
    command = [sys.executable, "-m", "setwise.cli", "run", "e.toml", "--results", "results", "--out", "out", "-j", "2"]
    left = []
    for _ in range(times):
        before = len(list(folder.glob("results/*.npz")))
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while len(list(folder.glob("results/*.npz"))) == before and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(chance.random() * 0.5)
        process.send_signal(signal.SIGKILL)
        process.wait()
        left.append(len(list(folder.glob("results/*.npz"))))
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return left


@pytest.mark.parametrize("times", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_a_killed_experiment_goes_on_and_ends_with_the_same_bytes(times, tmp_path):
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    killed_and_resumed(tmp_path / "whole", 0, random.Random(0))
    left = killed_and_resumed(tmp_path / "killed", times, random.Random(times))
    assert left[0] > 0
    assert data_of(tmp_path / "whole" / "out") == data_of(tmp_path / "killed" / "out")
    same = filecmp.dircmp(tmp_path / "whole" / "out" / "figures", tmp_path / "killed" / "out" / "figures")
    assert not same.diff_files and not same.left_only and not same.right_only


def test_a_policy_has_the_colour_of_its_name_whatever_its_label(interpreted):
    policies = {"first": sw.UCB(), "brave": sw.UCB(alpha=0.5), "again": sw.UCB(), "best": sw.Oracle}
    finished = sw.Experiment(["camera", "random-weak"], policies, horizon=[20, 50], runs=2).run()
    assert _styles(finished) == {"first": "ucb", "brave": "ucb:alpha=0.5", "again": "again", "best": "oracle"}


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "a-2", "a!"],
        ["a!", "a?", "a-2", "a"],
        ["Camera", "camera", "CAMERA"],
        ["x" * 300, "x" * 301, "\U00020000" * 300],
        ["panels", "Panels-2", "", "-"],
    ],
)
def test_every_environment_has_short_file_names_of_its_own(labels):
    names = distinct_names(labels)
    assert list(names) == labels
    files = [f"{what}-{name}" for name in names.values() for what in ("regret", "horizon")]
    assert len({file.casefold() for file in [*files, *TAKEN]}) == len(files) + len(TAKEN)
    assert all(len(file) <= 80 and len(f"{file}-1col.svg".encode()) <= 255 for file in files)


@pytest.fixture
def drawn_nothing(monkeypatch):
    """The parts of reports that are not written."""
    pages = []
    monkeypatch.setattr(
        "setwise.experiments.experiment_report.write_report", lambda page, *_: pages.append(page) or "index.html"
    )
    return pages


def test_no_two_parts_of_a_report_share_a_name(interpreted, drawn_nothing, tmp_path):
    worlds = {label: sw.paper.camera() for label in ("panels", "a", "a-2", "a!", "x" * 300)}
    worlds["each"] = sw.environments.Independent([0.5, 0.4, 0.3], 2, "independent")
    sw.Experiment(worlds, ["ucb", "mnl-ucb"], horizon=[10, 20], runs=2).report(str(tmp_path))
    (page,) = drawn_nothing
    names = [section.name for section in page.sections] + [part.name for part in parts_of(page.sections)]
    assert {"regret", "horizons", "table", "left-out", "regret-a-2"} <= set(names)
    assert len({name.casefold() for name in names}) == len(names)
    assert {name for name in names if not name.startswith(("regret-", "horizon-"))} <= set(TAKEN)


@pytest.mark.parametrize(("runs", "band"), [(1, ""), (2, "95 % confidence interval of the mean")])
def test_whiskers_are_explained_if_there_are_any(interpreted, drawn_nothing, tmp_path, runs, band):
    camera(horizon=[10, 20], runs=runs).report(str(tmp_path))
    charts = {part.name: part for part in parts_of(drawn_nothing[0].sections)}
    for name in ("regret-camera", "horizon-camera"):
        assert charts[name].band == band
        assert (charts[name].series[0].low is None) == (runs == 1)


def test_flat_regret_grows_by_nothing_without_a_sign(interpreted):
    finished = camera(horizon=100, runs=2).run()
    entry = finished.experiment.entries[0]
    finished.outcome[entry.play].regret[:] = 5.0 - 1e-9 * np.arange(len(entry.play.checkpoints))
    row = _row(entry, finished)
    assert row[4:7] == ["5.0", "5.0 to 5.0", "0.00 (0.00 to 0.00)"]


def test_a_file_that_asks_for_too_much_is_refused_at_once(tmp_path):
    for line, words in (("runs = 1e18", "runs is 1"), ("checkpoints = 1e18", "checkpoints is 1")):
        (tmp_path / "e.toml").write_text(f'environments = ["camera"]\npolicies = ["ucb"]\n{line}\n')
        with pytest.raises(InputError) as refused:
            sw.Experiment.read(str(tmp_path / "e.toml"))
        assert words in str(refused.value) and "at most 10" in str(refused.value)


ARRAYS = """
from __future__ import annotations
from typing import NamedTuple
import numpy as np
import numpy.typing as npt
import setwise as sw

class State(NamedTuple):
    chosen: npt.NDArray[np.int64]

@sw.policy
class Weighted(NamedTuple):
    \"\"\"Draws arms by their weights; those that are favourites are always in.\"\"\"

    weights: np.ndarray
    favourites: npt.NDArray[np.int64] | None = None
    allowed: npt.NDArray[np.bool_] | None = None

    def init(self, n, k, horizon, rng):
        assert self.weights.size == n and self.favourites.max() < n and self.allowed.all()
        return State(np.zeros(k, np.int64))

    def select(self, state, rng):
        order = np.argsort(self.weights * rng.random(self.weights.size))
        for j in range(len(state.chosen)):
            state.chosen[j] = order[len(order) - 1 - j]
        if self.allowed[state.chosen[0]] and self.favourites[0] not in state.chosen:
            state.chosen[0] = self.favourites[0]
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        pass

@sw.environment(rewards="binary", feedback="independent")
class Rows(NamedTuple):
    table: np.ndarray
    k: int

    @property
    def n(self):
        return self.table.shape[1]

    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = self.table[:, chosen[j]].sum() / 10

    def draw(self, chosen, rng, rewards):
        self.means(chosen, rewards)
        for j in range(len(rewards)):
            rewards[j] = 1.0 if rng.random() < rewards[j] else 0.0

    def best(self):
        return np.argsort(-self.table.sum(axis=0))[: self.k].copy()

def by_halves(values: np.ndarray, k: int):
    return Rows(values[None, :] / 2, k)
"""

OF_ARRAYS = """
horizon = 50
runs = 2

[environments.rows]
name = "of_arrays.Rows"
table = [[1, 2, 3, 4], [0, 1, 0, 1.5]]
k = 2

[environments.halves]
name = "of_arrays.by_halves"
values = [1, 2, 3, 4]
k = 2

[policies.weighted]
name = "of_arrays.Weighted"
weights = [1, 2, 3, 4]
favourites = [2]
allowed = [true, true, true, true]
"""


@pytest.fixture
def of_arrays(tmp_path):
    (tmp_path / "of_arrays.py").write_text(ARRAYS)

    def run(text):
        (tmp_path / "e.toml").write_text(text)
        command = [sys.executable, "-m", "setwise", "run", str(tmp_path / "e.toml"), "--out", str(tmp_path / "out")]
        command += ["--results", str(tmp_path / "kept")]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    return run


def test_lists_of_a_file_become_the_arrays_of_classes_of_ones_own(of_arrays):
    done = of_arrays(OF_ARRAYS)
    assert done.returncode == 0, done.stderr  # which may tell of progress on a slow machine
    assert "rows" in done.stdout and "halves" in done.stdout and done.stdout.count("weighted") == 2


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("weights = [1, 2, 3, 4]", 'weights = ["a"]', "policies.weighted.weights is ['a'], which is not a list of num"),
        (
            "favourites = [2]",
            "favourites = [2.5]",
            "policies.weighted.favourites is [2.5], which is not a list of whol",
        ),
        ("allowed = [true, true, true, true]", "allowed = [2]", "policies.weighted.allowed is [2], which is not a lis"),
        ("[[1, 2, 3, 4], [0, 1, 0, 1.5]]", "[[1, 2], [3]]", "environments.rows.table is [[1, 2], [3]], which is not a"),
    ],
)
def test_lists_of_a_file_that_make_no_array_are_told_in_a_sentence_with_their_key(before, after, sentence, of_arrays):
    assert before in OF_ARRAYS
    done = of_arrays(OF_ARRAYS.replace(before, after))
    assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1
