"""The command line, from the user's side."""

import csv
import subprocess
import sys

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
