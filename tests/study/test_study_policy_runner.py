"""Interpreted or compiled, a study decides and learns the same, and compiling does not block."""

import itertools
import math
import os
import subprocess
import sys
import threading
import types
from typing import NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise import compiled
from setwise.policies import NAMES
from setwise.study import policy_runner, snapshot
from setwise.study.replica import Replica
from skips import NOT_HERE
from studies import CAMERAS, new_policy, play
from waiting import wait_for

SLOW = pytest.mark.slow


@pytest.fixture(autouse=True)
def nothing_under_way():
    """Wait for the compiler thread of an earlier test, since there is only one per process."""
    wait_for(lambda: not policy_runner._compile_lock.locked())


@pytest.fixture
def eager(monkeypatch):
    """Compile every method at its first call."""
    monkeypatch.setattr(policy_runner, "MIN_CALL_SECONDS", -1.0)
    monkeypatch.setattr(policy_runner, "COMPILE_AFTER_SECONDS", -1.0)


def ready(study):
    """Wait for the compiler and return the names of the compiled methods."""
    return study._read(lambda replica: replica.runner.wait())


def go_through(policy, seen):
    """Play with all arms, with some, and with a new one, as far as the policy can; return the sets and the state."""
    study = sw.Study.memory(CAMERAS, 2, policy, 1000, seed=0)
    sets = []

    def some(rounds, **options):
        for _ in range(rounds):
            decision = study.ask(**options)
            sets.append(decision.arms)
            study.tell(decision, winner=decision.arms[decision.round % 3 % 2])
            seen.append(ready(study))

    some(30)
    if hasattr(policy, "select_from"):
        some(15, available=CAMERAS[1:])
    if hasattr(policy, "grow"):
        study.add_arm("Leica")
        some(30)
    assert study.verify().ok
    return sets, study._read(
        lambda replica: [leaf for _, leaf in snapshot.leaves(replica.state)] + [replica.learning.random()]
    )


@pytest.mark.parametrize(
    "name", ["thompson", *(pytest.param(name, marks=SLOW) for name in NAMES if name != "thompson")]
)
def test_compiled_methods_decide_and_learn_the_same(name, monkeypatch):
    monkeypatch.setattr(policy_runner, "COMPILE_AFTER_SECONDS", math.inf)
    interpreted, compiled = [], []
    sets, known = go_through(new_policy(name), interpreted)
    monkeypatch.setattr(policy_runner, "MIN_CALL_SECONDS", -1.0)
    monkeypatch.setattr(policy_runner, "COMPILE_AFTER_SECONDS", -1.0)
    found, same = go_through(new_policy(name), compiled)
    assert found == sets
    assert all(map(np.array_equal, known, same))
    assert not any(interpreted) and compiled[2] == ["select", "update"]
    assert hasattr(new_policy(name), "select_from") == (["select", "select_from", "update"] in compiled)


def test_fast_or_rare_calls_are_not_compiled(monkeypatch):
    step, readings = (
        [policy_runner.MIN_CALL_SECONDS / 2],
        itertools.accumulate(itertools.repeat(0), lambda now, _: now + step[0]),
    )
    monkeypatch.setattr(policy_runner, "time", types.SimpleNamespace(thread_time=readings.__next__))
    monkeypatch.setattr(policy_runner, "_cost", {})
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 1000, seed=0)
    play(study, 10)
    assert ready(study) == []
    step[0] = 0.6  # seconds per call; the second call passes the limit
    play(study, 1)
    assert ready(study) == ["update"]
    assert policy_runner._cost.keys() == {sw.UCB}


class Counted(NamedTuple):
    counts: np.ndarray


@sw.policy
class LeastShown(NamedTuple):
    """A policy outside the library."""

    def init(self, n, k, horizon, rng):
        return Counted(np.zeros(n, np.int64))

    def select(self, state, rng):
        return np.argsort(state.counts, kind="stable")[:3]

    def update(self, state, chosen, rewards, rng):
        state.counts[chosen] += 1


def test_user_policies_are_always_interpreted(eager, monkeypatch):
    wrapped = tuple.__new__(sw.Doubling, [LeastShown(), *sw.Doubling(sw.UCB())[1:]])
    found = [policy_runner.can_be_compiled(policy) for policy in (sw.Doubling(sw.UCB()), LeastShown(), wrapped)]
    assert found == [True, False, False]
    study = sw.Study.memory(CAMERAS, 3, LeastShown(), 1000, seed=0)
    assert play(study, 4) == 2 * [("Nikon", "Canon", "Sony"), ("Digital Camera", "Keyboard", "Shoes")]
    assert ready(study) == []
    monkeypatch.setattr(compiled, "compile_for", None)
    Replica.of(study._read(lambda replica: replica.definition)).apply(
        [row for page in study._rows() for row in page], compiled=True
    )


def test_a_policy_that_cannot_be_compiled_stays_interpreted(eager, monkeypatch):
    def refuse(*args, **options):
        raise sw.InputError("no")

    monkeypatch.setattr(compiled, "compile_for", refuse)
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 1000, seed=0)
    play(study, 4)
    assert ready(study) == []
    assert not policy_runner._compile_lock.locked()


def test_a_state_of_other_types_drops_compiled_methods():
    one = sw.UCB().init(6, 3, 100, np.random.default_rng(0))
    found = policy_runner.PolicyRunner(sw.UCB(), 3)
    found._compiled["select"] = print
    found.state_changed(one, sw.UCB().init(7, 3, 100, np.random.default_rng(0)))
    assert found._compiled
    for field, other in (("pulls", np.zeros(6, np.int32)), ("pulls", np.zeros(12, np.int64)[::2])):
        found._compiled["select"] = print
        found.state_changed(one, one._replace(**{field: other}))
        assert not found._compiled
    found._compiled["select"] = print
    found.state_changed(
        one, sw.UCB().init(1000, 3, 100, np.random.default_rng(0))
    )  # many arms are kept in a tournament
    assert not found._compiled


def test_asks_do_not_wait_for_the_compiler(eager, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def slowly(*args, **options):
        begun.set()
        assert go_on.wait(60)
        raise sw.InputError("no")

    monkeypatch.setattr(compiled, "compile_for", slowly)
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 1000, seed=0)
    study.ask()
    assert begun.wait(60)
    play(study, 20)
    assert policy_runner._compile_lock.locked()  # and no other thread was started
    assert sum(thread.name == "setwise-compiler" for thread in threading.enumerate()) == 1
    go_on.set()
    assert ready(study) == []


FORKING = """
import os, sys, threading
import setwise as sw
import logging
from setwise import compiled
from setwise.compiler import compile
from setwise.study import policy_runner
policy_runner.MIN_CALL_SECONDS = policy_runner.COMPILE_AFTER_SECONDS = -1.0
begun, go_on, compile_for = threading.Event(), threading.Event(), compiled.compile_for

def slowly(*args, **options):
    begun.set()
    go_on.wait(60)
    return compile_for(*args, **options)

def fork(work):
    child = os.fork()
    if child == 0:
        work()
        sys.exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

study = sw.Study.memory(["a", "b", "c"], 2, sw.UCB(), 100, seed=0)

def ask_only():
    study.ask()
    assert study._read(lambda replica: replica.runner._compiled) == {}

def compile_more():
    study.tell(study.ask(), {})
    assert study._read(lambda replica: replica.runner.wait()) == ["select", "update"]

def refuse():
    try:
        sw.simulate(sw.UCB(), sw.paper.camera(), 10, 1, compiled=True)
    except sw.WorkerLost as error:
        assert "was forked while" in str(error)
    else:
        raise AssertionError

compiled.compile_for = slowly
study.ask()
begun.wait(60)
assert fork(ask_only) == 0
go_on.set()
assert study._read(lambda replica: replica.runner.wait()) == ["select"]
assert fork(compile_more) == 0

held, done = threading.Event(), threading.Event()

def hold():
    with compile._compiling:
        held.set()
        done.wait(60)

threading.Thread(target=hold).start()
held.wait(60)
assert fork(refuse) == 0
done.set()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason=f"{NOT_HERE}there is no fork")
def test_a_process_may_be_forked_at_any_time():
    assert subprocess.run([sys.executable, "-c", FORKING], timeout=120, check=False).returncode == 0


ENDING = """
import sys, setwise as sw
from setwise.study import policy_runner
policy_runner.MIN_CALL_SECONDS = policy_runner.COMPILE_AFTER_SECONDS = -1.0
study = sw.Study.create(sys.argv[1], "s", arms=["a", "b", "c"], k=2, policy=sw.UCB(), horizon=100, seed=0)
study.ask()
thread = study._read(lambda replica: replica.runner._threads["select"])
assert not thread.daemon
"""


def test_a_process_waits_for_the_compiler_before_it_ends(tmp_path):
    command = [sys.executable, "-c", ENDING, f"sqlite:///{tmp_path / 'study.db'}"]
    assert subprocess.run(command, timeout=120, check=False).returncode == 0
