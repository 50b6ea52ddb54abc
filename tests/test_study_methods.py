"""Interpreted or compiled, a study decides and learns the same; nobody waits while something is compiled."""

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
from setwise.study import methods, snapshot
from setwise.study.fold import Fold
from skips import NOT_HERE
from studies import CAMERAS, new_policy, play
from waiting import wait_for

SLOW = pytest.mark.slow


@pytest.fixture(autouse=True)
def nothing_under_way():
    """Nothing that an earlier test had compiled is still being compiled: there is one thread for it in a process."""
    wait_for(lambda: not methods._busy.locked())


@pytest.fixture
def eager(monkeypatch):
    """Everything is worth compiling, from its first call on."""
    monkeypatch.setattr(methods, "CALL", -1.0)
    monkeypatch.setattr(methods, "PATIENCE", -1.0)


def ready(study):
    """What is compiled, once what is being compiled is."""
    return study.read(lambda fold: fold.methods.wait())


def go_through(policy, seen):
    """Rounds in which all arms are there, some, and more, if the policy can; the sets, and all that is known then."""
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
    return sets, study.read(lambda fold: [leaf for _, leaf in snapshot.leaves(fold.state)] + [fold.learning.random()])


@pytest.mark.parametrize(
    "name", ["thompson", *(pytest.param(name, marks=SLOW) for name in NAMES if name != "thompson")]
)
def test_what_is_compiled_meanwhile_decides_and_learns_the_same(name, monkeypatch):
    monkeypatch.setattr(methods, "PATIENCE", math.inf)
    interpreted, compiled = [], []
    sets, known = go_through(new_policy(name), interpreted)
    monkeypatch.setattr(methods, "CALL", -1.0)
    monkeypatch.setattr(methods, "PATIENCE", -1.0)
    found, same = go_through(new_policy(name), compiled)
    assert found == sets
    assert all(map(np.array_equal, known, same))
    assert not any(interpreted) and compiled[2] == ["select", "update"]
    assert hasattr(new_policy(name), "select_from") == (["select", "select_from", "update"] in compiled)


def test_nothing_is_compiled_that_is_quick_or_seldom(monkeypatch):
    step, readings = [methods.CALL / 2], itertools.accumulate(itertools.repeat(0), lambda now, _: now + step[0])
    monkeypatch.setattr(methods, "time", types.SimpleNamespace(thread_time=readings.__next__))
    monkeypatch.setattr(methods, "_cost", {})
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 1000, seed=0)
    play(study, 10)
    assert ready(study) == []
    step[0] = 0.6  # seconds that each call takes, and the second is one too many
    play(study, 1)
    assert ready(study) == ["update"]
    assert methods._cost.keys() == {sw.UCB}


class Counted(NamedTuple):
    counts: np.ndarray


@sw.policy
class LeastShown(NamedTuple):
    """A policy that is not the library's."""

    def init(self, n, k, horizon, rng):
        return Counted(np.zeros(n, np.int64))

    def select(self, state, rng):
        return np.argsort(state.counts, kind="stable")[:3]

    def update(self, state, chosen, rewards, rng):
        state.counts[chosen] += 1


def test_policies_of_others_are_always_interpreted(eager, monkeypatch):
    wrapped = tuple.__new__(sw.Doubling, [LeastShown(), *sw.Doubling(sw.UCB())[1:]])
    found = [methods.can_be_compiled(policy) for policy in (sw.Doubling(sw.UCB()), LeastShown(), wrapped)]
    assert found == [True, False, False]
    study = sw.Study.memory(CAMERAS, 3, LeastShown(), 1000, seed=0)
    assert play(study, 4) == 2 * [("Nikon", "Canon", "Sony"), ("Digital Camera", "Keyboard", "Shoes")]
    assert ready(study) == []
    monkeypatch.setattr(compiled, "compile_for", None)
    Fold(study.read(lambda fold: fold.definition)).apply([row for page in study.rows() for row in page], compiled=True)


def test_what_cannot_be_compiled_goes_on_as_before(eager, monkeypatch):
    def refuse(*args, **options):
        raise sw.InputError("no")

    monkeypatch.setattr(compiled, "compile_for", refuse)
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 1000, seed=0)
    play(study, 4)
    assert ready(study) == []
    assert not methods._busy.locked()


def test_states_of_other_types_are_compiled_for_again():
    one = sw.UCB().init(6, 3, 100, np.random.default_rng(0))
    found = methods.Methods(sw.UCB(), 3)
    found._ready["select"] = print
    found.grown(one, sw.UCB().init(7, 3, 100, np.random.default_rng(0)))
    assert found._ready
    for field, other in (("pulls", np.zeros(6, np.int32)), ("pulls", np.zeros(12, np.int64)[::2])):
        found._ready["select"] = print
        found.grown(one, one._replace(**{field: other}))
        assert not found._ready
    found._ready["select"] = print
    found.grown(one, sw.UCB().init(1000, 3, 100, np.random.default_rng(0)))  # these are kept in a tournament
    assert not found._ready


def test_asking_goes_on_while_something_is_compiled(eager, monkeypatch):
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
    assert methods._busy.locked()  # and no other thread was started
    assert sum(thread.name == "setwise-compiler" for thread in threading.enumerate()) == 1
    go_on.set()
    assert ready(study) == []


FORKING = """
import os, sys, threading
import setwise as sw
import logging
from setwise import compiled
from setwise.study import methods
methods.CALL = methods.PATIENCE = -1.0
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
    assert study.read(lambda fold: fold.methods._ready) == {}

def compile_more():
    study.tell(study.ask(), {})
    assert study.read(lambda fold: fold.methods.wait()) == ["select", "update"]

def refuse():
    try:
        sw.simulate(sw.UCB(), sw.paper.camera(), 10, 1)
    except sw.WorkerLost as error:
        assert "was forked while" in str(error)
    else:
        raise AssertionError

compiled.compile_for = slowly
study.ask()
begun.wait(60)
assert fork(ask_only) == 0
go_on.set()
assert study.read(lambda fold: fold.methods.wait()) == ["select"]
assert fork(compile_more) == 0

held, done = threading.Event(), threading.Event()

def hold():
    with compiled._compiling:
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
from setwise.study import methods
methods.CALL = methods.PATIENCE = -1.0
study = sw.Study.create(sys.argv[1], "s", arms=["a", "b", "c"], k=2, policy=sw.UCB(), horizon=100, seed=0)
study.ask()
thread = study.read(lambda fold: fold.methods._begun["select"])
assert not thread.daemon
"""


def test_the_end_of_a_process_waits_for_what_is_being_compiled(tmp_path):
    command = [sys.executable, "-c", ENDING, f"sqlite:///{tmp_path / 'study.db'}"]
    assert subprocess.run(command, timeout=120, check=False).returncode == 0
