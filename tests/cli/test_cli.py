"""The command line, from the user's side."""

import csv
import subprocess
import sys
from pathlib import Path

import click
import pytest

import setwise as sw
from setwise.cli.group import COUNT
from shell import call


def test_simulate_prints_a_table_and_writes_results_table_and_figure(tmp_path):
    words = ["simulate", "-e", "camera", "-p", "ucb", "-p", "ucb:alpha=0.5", "-t", "1e3", "--runs", "5"]
    answer = call(*words, "--out", str(tmp_path / "out"))
    assert answer.exit_code == 0, answer.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "camera.png",
        "camera.csv",
        "camera-ucb.npz",
        "camera-ucb-alpha=0.5.npz",
    }
    stored = sw.Result.load(tmp_path / "out" / "camera-ucb.npz")
    direct = sw.simulate(sw.UCB(), sw.paper.camera(), 1000, 5)
    assert (stored.regret == direct.regret).all()
    assert f"{direct.mean_regret()[-1]:,.2f}" in answer.output
    with open(tmp_path / "out" / "camera.csv") as file:
        last = [row for row in csv.DictReader(file) if row["policy"] == "ucb"][-1]
    assert float(last["mean_regret"]) == direct.mean_regret()[-1]


def test_simulate_with_common_random_numbers(tmp_path):
    words = ["simulate", "-e", "camera", "-p", "ucb", "-t", "300", "--runs", "2", "--no-figure", "--common"]
    answer = call(*words, "--out", str(tmp_path))
    assert answer.exit_code == 0, answer.output
    stored = sw.Result.load(tmp_path / "camera-ucb.npz")
    direct = sw.simulate(sw.UCB(), sw.paper.camera(), 300, 2, common=True)
    assert stored.common and (stored.regret == direct.regret).all()
    refused = call(*words, "--fast-forward", "--out", str(tmp_path))
    assert refused.exit_code == 2 and "fast_forward has to be off" in refused.output


def test_simulate_tells_how_many_runs_refuted_the_assumption(tmp_path):
    words = ["simulate", "-e", "rankings", "-p", "ucb", "-p", "set-thompson", "-t", "3000", "--runs", "3"]
    words += ["--no-figure", "--out", str(tmp_path)]
    answer = call(*words, "--certificate", "0.9")
    assert answer.exit_code == 0, answer.output
    world = sw.environments.PRESETS["rankings"]()
    direct = sw.simulate(sw.UCB(), world, 3000, 3, certificate=0.9)
    stored = sw.Result.load(tmp_path / "rankings-ucb.npz")
    assert (stored.refuted == direct.refuted).all() and (direct.refuted > 0).all()
    lines = answer.output.splitlines()
    middle = sorted(direct.refuted.tolist())[1]
    assert any(line.split()[0] == "ucb" and f"3 of 3, median round {middle:,}" in line for line in lines)
    assert any(line.split() == ["set-thompson", "0", "of", "3"] for line in lines)
    assert f"ucb, run 0: {direct.certificate_of(0)}\n" in answer.output
    silent = sw.simulate(sw.SetThompson(), world, 3000, 3, certificate=0.9)
    assert f"set-thompson, run 0: {silent.certificate_of(0)}\n" in answer.output
    assert "Assumption 1" not in call(*words).output
    assert "--certificate" in call("simulate", "--help").output


@pytest.mark.parametrize(
    ("world", "given", "sentence"),
    [
        ("camera", "95", "certificate is 95; it is the confidence of the test, above 0 and below 1, such as 0.95"),
        ("camera", "x", "'x' is not a valid float"),
        ("coverage", "0.95", "in Coverage that depends on the order of the set; leave certificate out"),
    ],
)
def test_what_cannot_be_tested_is_told_with_exit_code_2(tmp_path, world, given, sentence):
    words = ["simulate", "-e", world, "-p", "ucb", "-t", "100", "--no-figure", "--out", str(tmp_path)]
    answer = call(*words, "--certificate", given)
    assert answer.exit_code == 2 and sentence in answer.output and "Traceback" not in answer.output


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Saved results of three policies, and one of another world."""
    folder = tmp_path_factory.mktemp("saved")
    policies = {"ucb": sw.UCB(), "brave": sw.UCB(alpha=1.5), "kl": sw.KLUCB()}
    results = {name: sw.simulate(own, sw.paper.camera(), 1000, 8, common=True) for name, own in policies.items()}
    results["again"] = sw.simulate(sw.UCB(), sw.paper.camera(), 1000, 8)
    results["other"] = sw.simulate(sw.UCB(), sw.paper.camera(), 1000, 9, seed=1)
    results["mnl"] = sw.simulate(sw.UCB(), sw.paper.mnl(), 1000, 8, common=True)
    paths = {name: str(folder / f"{name}.npz") for name in results}
    for name, result in results.items():
        result.save(paths[name])
    (folder / "text.npz").write_text("no result")
    return {**paths, "text": str(folder / "text.npz"), "none": str(folder / "none.npz")}


def test_compare_prints_the_comparison_of_saved_results(saved):
    names = ("ucb", "brave", "kl")
    answer = call("compare", *(saved[name] for name in names))
    assert answer.exit_code == 0, answer.output
    assert answer.output == f"{sw.compare([sw.Result.load(saved[name]) for name in names])}\n"
    against = call("compare", saved["brave"], saved["kl"], "--baseline", saved["ucb"], "--confidence", "0.9")
    results = [sw.Result.load(saved[name]) for name in ("brave", "kl", "ucb")]
    assert against.output == f"{sw.compare(results, 'UCB()', confidence=0.9)}\n"
    two = call("compare", saved["again"], saved["other"], "--at", "1e3")  # one policy, labelled by files
    assert two.exit_code == 0 and saved["other"] in two.output and "Welch" in two.output


def test_compare_takes_a_folder_of_results(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    empty = call("compare", str(tmp_path))
    assert empty.exit_code == 2 and "is a folder without saved results; `setwise simulate --out " in empty.output
    for name in ("ucb", "kl"):
        (tmp_path / f"{name}.npz").write_bytes(Path(saved[name]).read_bytes())
    wanted = call("compare", saved["kl"], saved["ucb"]).output
    assert call("compare", str(tmp_path)).output == call("compare", ".").output == wanted
    against = call("compare", ".", "--baseline", "./ucb.npz")
    assert against.exit_code == 0 and against.output == call("compare", "kl.npz", "--baseline", "ucb.npz").output
    assert "more than once" in call("compare", ".", "ucb.npz").output


def test_simulate_prints_the_weak_regret_of_duels(tmp_path):
    words = ("-t", "200", "--runs", "2", "--no-figure", "--out", str(tmp_path))
    answer = call("simulate", "-e", "duels", "-p", "rucb:pad=no", *words)
    weak = sw.Result.load(tmp_path / "duels-rucb-pad=no.npz").surrogate_regret[:, -1].mean()
    assert "surrogate regret" in answer.output and f" {weak:,.2f}\n" in answer.output
    assert "surrogate" not in call("simulate", "-e", "camera", "-p", "ucb", *words).output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["ucb"], "there is 1 result; a comparison needs two or more"),
        (["ucb", "ucb"], "is there more than once; name every file once"),
        (["ucb", "mnl"], "compare results of the same environment"),
        (["kl", "again"], "compare results of the same common"),
        (["ucb", "text"], "text.npz is not a result that Setwise saved"),
        (["ucb", "none"], "No such file"),
        (["ucb", "kl", "--at", "77777"], "at is 77777, where no regret was recorded; the nearest checkpoint is 1000"),
        (["ucb", "kl", "--confidence", "95"], "confidence is 95.0; it lies between 0 and 1"),
        (["ucb", "kl", "--surrogate"], "UCB() has no surrogate regret"),
    ],
)
def test_what_cannot_be_compared_is_told_with_exit_code_2(saved, words, sentence):
    answer = call("compare", *(saved.get(word, word) for word in words))
    assert answer.exit_code == 2 and sentence in answer.output and "Traceback" not in answer.output


def test_lists_name_everything_there_is():
    assert "ucb" in call("list", "policies").output
    worlds = call("list", "environments").output
    assert all(name in worlds for name in sw.paper.INSTANCES)
    assert all(model.__name__ in worlds for model in sw.environments.MODELS)


def test_the_package_is_a_command_too():
    command = [sys.executable, "-m", "setwise", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"setwise, version {sw.__version__}\n"


@pytest.mark.parametrize(
    ("text", "number"),
    [("9007199254740993", 2**53 + 1), ("1e6", 10**6), ("1e23", 10**23), ("2.5e1", 25), ("-3", -3), (7, 7)],
)
def test_numbers_are_taken_exactly(text, number):
    assert COUNT.convert(text, None, None) == number


@pytest.mark.parametrize("text", ["1.5", "few", "nan", "inf", "1e-3", "1e999999999", "9" * 5000, ""])
def test_what_is_no_whole_number_is_refused(text):
    with pytest.raises(click.BadParameter, match="is not a whole number"):
        COUNT.convert(text, None, None)


def test_version_is_the_packages():
    assert call("--version").output.strip() == f"setwise, version {sw.__version__}"


@pytest.mark.parametrize(("words", "sentence"), [
    ("simulate -e camara -p ucb", "there is no environment 'camara'; did you mean 'camera'?"),
    ("simulate -e zzz -p ucb", "there is no environment 'zzz'; there are mnl, random-utility"),
    ("simulate -e camera -p ucbb", "there is no policy 'ucbb'; did you mean 'ucb'?"),
    ("simulate -e camera -p ucb:alfa=1", "ucb has no parameter 'alfa'; did you mean 'alpha'?"),
    ("simulate -e camera -p ucb:alpha=0", "alpha is 0; it has to be more than 0"),
    ("simulate -e camera -p ucb:alpha=nan", "'nan' in 'ucb:alpha=nan' is not a number"),
    ("simulate -e camera -p ucb:alpha=much", "'much' in 'ucb:alpha=much' is not a number"),
    ("simulate -e camera -p doubling:base=kl-ucbb", "is not a number, yes or no, or a policy; did you mean 'kl-ucb'?"),
    ("simulate -e camera -p doubling:base=thompson", "Doubling: base is Thompson, which has no method set_horizon"),
    ("simulate -e camera -p doubling:restart=3", "Doubling: restart is 3.0; it can be True or False"),
    ("simulate -e camera -p lsb-greedy", "LSBGreedy needs a world whose arms cover topics"),
    ("simulate -e camera -p max-min-ucb:pad=no", "MaxMinUCB with pad=False plays sets of fewer than k arms"),
    ("simulate -e lower-bound-independent -p rucb", "RUCB learns from choice feedback; "),
    ("simulate -e lower-bound-choice:k=1 -p rucb", "RUCB"),
    ("simulate -e camera -p ucb:alpha", "'alpha' in 'ucb:alpha' is not of the form parameter=value"),
    ("simulate -e camera -p ucb -t 0", "horizon is 0"),
    ("simulate -e camera -p ucb -t few", "'few' is not a whole number"),
    ("simulate -e camera -p ucb -t 1.5", "'1.5' is not a whole number"),
    ("simulate -e camera -p ucb -r 0", "runs is 0"),
    ("simulate -e random-weak:seed=0.5 -p ucb", "seed is 0.5, which is not a whole number"),
    ("simulate -e camera -p nowhere.Policy", "'nowhere.Policy' cannot be imported"),
    ("simulate -e camera -p ucb -t 10 -o /dev/null/x", "/dev/null"),
])  # fmt: skip
def test_a_mistake_is_answered_with_one_sentence_and_exit_code_2(words, sentence):
    answer = call(*words.split())
    assert answer.exit_code == 2
    assert sentence in answer.output
    assert "Traceback" not in answer.output


def test_a_policy_of_ones_own_is_named_by_its_module(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from setwise import UCB\n\ndef eager(scale: int = 1):\n    return UCB(alpha=0.1 * scale)\n"
    )
    command = [sys.executable, "-m", "setwise.cli", "simulate", "-e", "camera", "-t", "100", "-r", "2"]
    done = subprocess.run(
        [*command, "-p", "mine.eager:scale=2"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "mine.eager:scale=2" in done.stdout
    assert done.stderr == "", "quiet in a pipe"


STOPPED = """
import os, signal
import setwise as sw
from setwise.cli import main
space = sw.simulate.__globals__
run_all = space["run_all"]

def stopped(one_run, runs, threads, stop, report):
    done = []

    def run(number):
        one_run(number)
        done.append(number)

    def interrupt():
        if 0 in done:
            os.kill(os.getpid(), signal.SIGINT)

    return run_all(run, runs, threads, stop, interrupt)

space["run_all"] = stopped
main()
"""


def test_interruption_says_what_was_kept(tmp_path):
    command = [sys.executable, "-c", STOPPED, "simulate", "-e", "camera", "-p", "ucb", "--no-fast-forward"]
    command += ["-t", "1e4", "-r", "1e6", "--threads", "6", "-o", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    kept = sw.Result.load(tmp_path / "camera-ucb.npz")
    assert f"stopped; kept {kept.runs} runs of ucb" in done.stderr
