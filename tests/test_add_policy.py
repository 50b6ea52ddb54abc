"""Adding a policy takes its module and one line in one list; everything else follows from the class."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import setwise

PACKAGE = Path(setwise.__file__).parent
ROOT = PACKAGE.parents[1]

MODULE = '''"""Follow the leader: the k arms of largest mean reward so far."""

from typing import NamedTuple

import numpy as np

from setwise.declare import policy, shares
from setwise.policies._frozen import count_rounds
from setwise.policies.anytime_ucb import AnytimeState, AnytimeUCB, anytime_state
from setwise.kernels.topk import top_k
from setwise.types import Floats, Generator, Ints
from setwise.validation import NonNegative


@policy(title="Follow the leader", reference="folklore", regret_bound="O(T)", set_dependent="no")
@shares(AnytimeUCB, "indices", "grow")
class FollowTheLeader(NamedTuple):
    """Play the k arms of largest (C + prior) / N.

    prior: reward added to every arm
    """

    prior: NonNegative = 0.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> AnytimeState:
        return anytime_state(n, k)

    def select(self, state: AnytimeState, rng: Generator) -> Ints:
        top_k(state.indices, state.chosen, state.best, rng)
        return state.chosen

    def update(self, state: AnytimeState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        count_rounds(state, chosen, rewards, 1)
        for j in range(len(chosen)):
            arm = chosen[j]
            state.indices[arm] = (state.reward[arm] + self.prior) / state.pulls[arm]
'''

LINE = "from setwise.policies.follow_the_leader import FollowTheLeader as FollowTheLeader\n"
USE = """
import setwise as sw
from setwise.report.styles import style_of
from setwise.testing import check_policy
assert "FollowTheLeader" in sw.__all__ and "FollowTheLeader" in dir(sw)
assert sw.FollowTheLeader.__module__ == "setwise.policies.follow_the_leader"
assert list(sw.policies.POLICIES)[-1] == "follow-the-leader"
check_policy(sw.FollowTheLeader(prior=1), compiled=False)
assert len(style_of("follow-the-leader").colour) == 7
"""
TYPED = """
from typing import assert_type
import setwise as sw
from setwise.policies.follow_the_leader import FollowTheLeader
from setwise.types import Policy
assert_type(sw.FollowTheLeader(prior=1.0), FollowTheLeader)
assert_type(sw.FollowTheLeader().prior, float)
policy: Policy = sw.FollowTheLeader()
"""


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """A copy of the package with one more policy: its module, and one line in the list."""
    folder = tmp_path_factory.mktemp("larger")
    shutil.copytree(PACKAGE, folder / "setwise", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "setwise" / "policies" / "follow_the_leader.py").write_text(MODULE)
    listed = folder / "setwise" / "policies" / "__init__.pyi"
    text = listed.read_text()
    last = "from setwise.policies.oracle import Oracle as Oracle\n"
    assert last in text
    listed.write_text(text.replace(last, last + LINE))
    return folder


def run(folder, *words, code=0):
    env = {**os.environ, "PYTHONPATH": str(folder), "MYPYPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=folder, env=env)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_it_is_public_it_keeps_the_contract_and_it_has_a_style(larger):
    run(larger, "-c", USE)


def test_the_command_line_lists_and_plays_it(larger):
    listed = run(larger, "-m", "setwise", "list", "policies")
    assert "follow-the-leader" in listed and "O(T)" in listed
    assert "folklore" in run(larger, "-m", "setwise", "list", "policies", "follow-the-leader")
    game = ["-m", "setwise", "simulate", "-e", "camera", "-t", "50", "--runs", "1", "-p"]
    assert "follow-the-leader:prior=1" in run(larger, *game, "follow-the-leader:prior=1")
    assert "prior is -1; it has to be at least 0" in run(larger, *game, "follow-the-leader:prior=-1", code=2)


def test_the_table_in_the_docs_has_a_row_for_it(larger):
    code = f"import runpy; print(runpy.run_path({str(ROOT / 'docs' / 'make_tables.py')!r})['listed']('policies'))"
    assert "| `FollowTheLeader(prior)` | Play the k arms of largest (C + prior) / N. | not stated | folklore |" in run(
        larger, "-c", code
    )


def test_type_checkers_see_it(larger):
    (larger / "use.py").write_text(TYPED)
    options = ["--follow-imports=silent", "--cache-dir", str(larger / "types")]
    assert "Success" in run(larger, "-m", "mypy", *options, "use.py")
    (larger / "misuse.py").write_text(TYPED.replace("prior=1.0", "prior='much'"))
    assert "arg-type" in run(larger, "-m", "mypy", *options, "misuse.py", code=1)
