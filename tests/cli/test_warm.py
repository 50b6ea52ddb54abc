"""`setwise warm` compiles ahead: afterwards nothing is compiled any more."""

import os
import subprocess
import sys

import pytest

from shell import SETWISE

SIMULATE = """
import sys, setwise as sw
from setwise.compiler import machine
machine.machine_code = None  # must not be called
sw.simulate(sw.UCB(), sw.paper.camera(), 50, compiled=True)
sw.simulate(sw.UCB(), sw.environments.Table(sw.paper.camera().probabilities, 6), 50, compiled=True)
print("numba" in sys.modules)
"""


@pytest.fixture
def environment(tmp_path):
    return os.environ | {"SETWISE_CACHE_DIR": str(tmp_path / "cache")}


def warm(environment, *words):
    return subprocess.run([*SETWISE, "warm", *words], capture_output=True, text=True, env=environment)


def test_what_was_warmed_is_not_compiled_again(environment, tmp_path):
    done = warm(environment, "ucb", "uniform", "-e", "camera")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 pairs of a policy and a world compiled in")
    assert done.stdout.rstrip().endswith(str(tmp_path / "cache"))
    stored = sorted(os.listdir(tmp_path / "cache"))
    played = subprocess.run([sys.executable, "-c", SIMULATE], capture_output=True, text=True, env=environment)
    assert played.returncode == 0, played.stderr
    assert played.stdout.strip() == "False"
    assert warm(environment, "ucb", "uniform", "-e", "camera").returncode == 0
    assert sorted(os.listdir(tmp_path / "cache")) == stored


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["ubc"], "there is no policy 'ubc'; did you mean 'ucb'?"),
        (["ucb", "-e", "mlm"], "there is no environment 'mlm'; did you mean 'mnl'?"),
        (["ucb", "-j", "0"], "jobs"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(environment, words, sentence):
    done = warm(environment, *words)
    assert done.returncode == 2
    assert sentence in done.stderr and done.stderr.count("\n") == 1


def test_a_policy_that_fits_no_world_is_named(environment):
    done = warm(environment, "lsb-greedy", "-e", "camera")
    assert done.returncode == 0
    assert "lsb-greedy was compiled for no world: LSBGreedy needs a world whose arms cover topics" in done.stderr


def test_where_nothing_is_compiled_that_is_told(environment):
    done = warm(environment | {"NUMBA_DISABLE_JIT": "1"}, "ucb")
    assert done.returncode == 2 and "NUMBA_DISABLE_JIT" in done.stderr
