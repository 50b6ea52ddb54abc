"""If Numba's internals fail in any way, the public interface compiles the code, with the same bits."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple
from unittest.mock import ANY

import numpy as np
import pytest

import setwise as sw
from setwise import compile_errors, doctor, numba_self_test
from setwise import numba_compiler as compiled
from setwise.numba_internals import PIECES, build_toolkit

# Classes of the user's own: without fields, with a helper that uses another class without fields, printing, raising.
CLASSES = '''
from typing import NamedTuple
import numpy as np
import setwise as sw

class State(NamedTuple):
    sums: np.ndarray
    chosen: np.ndarray
    rounds: np.ndarray

class Nothing(NamedTuple):
    """A policy without fields, and a constant."""
    def init(self, n, k, horizon, rng):
        return State(np.zeros(n), np.arange(k), np.zeros(1, np.int64))
    def select(self, state, rng):
        state.chosen[0] = int(rng.random() * len(state.sums))
        state.chosen[1] = (state.chosen[0] + 1 + state.rounds[0] % 3) % len(state.sums)
        return state.chosen
    def update(self, state, chosen, rewards, rng):
        state.rounds[0] += 1
        for j in range(len(chosen)):
            state.sums[chosen[j]] += rewards[j] * rng.random()

NOTHING = Nothing()

def delegate(state, rng):
    return NOTHING.select(state, rng) if rng.random() < 0.5 else Nothing().select(state, rng)

class Printing(NamedTuple):
    scale: float = 2.0
    init, update = Nothing.init, Nothing.update
    def select(self, state, rng):
        if state.rounds[0] % 40 == 39:
            print("round", state.rounds[0], self.scale)
        return delegate(state, rng)

class Raising(NamedTuple):
    after: int = 30
    init, update = Nothing.init, Nothing.update
    def select(self, state, rng):
        if state.rounds[0] >= self.after:
            raise ValueError("enough", state.rounds[0])
        return state.chosen

class Outside(NamedTuple):
    shift: int = 100
    init, update = Nothing.init, Nothing.update
    def select(self, state, rng):
        state.sums[0] = state.sums[state.rounds[0] + self.shift]
        return state.chosen

@sw.environment(rewards="binary", feedback="independent")
class World(NamedTuple):
    """A world of the user's own."""
    level: float = 0.7
    n: int = 5
    k: int = 2
    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = self.level / (1 + chosen[j])
    def draw(self, chosen, rng, rewards):
        for j in range(len(chosen)):
            rewards[j] = 1.0 if rng.random() < self.level / (1 + chosen[j]) else 0.0
    def best(self):
        return np.arange(2)

def rounds(policy, world, state, rng, rewards, total):
    for _ in range(60):
        chosen = policy.select(state, rng)
        world.draw(chosen, rng, rewards)
        policy.update(state, chosen, rewards, rng)
        for j in range(len(rewards)):
            total[chosen[j]] += rewards[j]
'''

# `rounds`, much shorter than the loop of `simulate`, which takes seconds to compile, plays most pairs.
PROGRAM = """
import contextlib, io, json, sys
import numpy as np
import setwise as sw
from mine import Nothing, Outside, Printing, Raising, World, rounds

def played(policy, world, compile, **options):
    rng = np.random.default_rng(7)
    state, rewards, total = policy.init(5, 2, 60, rng), np.zeros(2), np.zeros(5)
    args = (policy, world, state, rng, rewards, total)
    loop = rounds
    if compile:
        from setwise.compiled import compile_for
        loop = compile_for(rounds, *args, **options)
    error = ""
    try:
        loop(*args)
    except (ValueError, IndexError) as raised:
        error = type(raised).__name__ + (str([*map(str, raised.args)]) if type(raised) is ValueError else "")
    numbers = [part.tobytes().hex() for part in (total, *[x for x in state if isinstance(x, np.ndarray)])]
    return [*numbers, rng.random(), error]

def main(compile, size):
    mnl, found, pairs = sw.environments.MNL([3.0, 2.0, 1.0, 0.5, 0.1], k=2), [], [(Raising(), World())]
    if size != "small":
        pairs += [(Nothing(), World()), (Printing(), mnl), (sw.UCB(), sw.environments.Scaled(World(), 0.5))]
    if size == "full":
        pairs += [(sw.Thompson(), World())]
        result = sw.simulate(sw.KLUCB(), mnl, 2000, runs=2, seed=5, compiled=compile)
        found = [result.regret.tobytes().hex(), result.pulls.tolist()]
    found += [played(*pair, compile) for pair in pairs]
    return [*found, played(Outside(), World(), compile, check_bounds=True)]

print(json.dumps(main(sys.argv[1] == "compiled", sys.argv[2])))
"""


def start(folder, *words, **environ):
    """Run the program in a new process with an empty cache."""
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])),
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "SETWISE_CACHE_DIR": str(folder / "cache"),
        "SETWISE_COMPILER": "numba",
        "NUMBA_OPT": "1",  # compiles sooner
        **environ,
    }
    environ = {name: value for name, value in environ.items() if value is not None}
    command = [sys.executable, *words]
    return subprocess.run(command, env=environ, cwd=folder, capture_output=True, text=True, timeout=600)


def play(folder, how, size="small", **environ):
    done = start(folder, "program.py", how, size, **environ)
    assert done.returncode == 0, done.stderr
    *printed, last = done.stdout.splitlines()
    return [printed, *json.loads(last)], done.stderr.splitlines()


def write(folder, preamble=""):
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(CLASSES)
    (folder / "program.py").write_text(PROGRAM)
    (folder / "sitecustomize.py").write_text(preamble)  # runs first in the program, and in the self-test's processes
    return folder


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory):
    """What the program does interpreted, with few pairs and with all of them."""
    folder = write(tmp_path_factory.mktemp("interpreted"))
    return {size: play(folder, "interpreted", size, NUMBA_DISABLE_JIT="1")[0] for size in ("small", "medium", "full")}


def test_the_program_does_what_it_is_there_for(interpreted):
    printed, raising, nothing, printing, _, outside = interpreted["medium"]
    assert printed == ["round 39 2.0"]
    assert nothing[-1] == printing[-1] == ""
    assert raising[-1] == "ValueError['enough', '30']" and outside[-1] == "IndexError"


SETTINGS = {
    "all": "1",
    "none": "0",
    **{f"no {name}": ",".join(other for other in PIECES if other != name) for name in PIECES},
}


@pytest.mark.parametrize("setting", ["all", "none"])
def test_compiled_code_gives_the_same_bits_with_all_or_none_of_the_internals(setting, tmp_path, interpreted):
    found = play(write(tmp_path), "compiled", "medium", SETWISE_NUMBA_INTERNALS=SETTINGS[setting])
    assert found == (interpreted["medium"], [])


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_compiled_code_gives_the_same_bits_with_any_of_the_internals(setting, tmp_path, interpreted):
    size = "full" if setting in ("all", "none") else "medium"
    found = play(write(tmp_path), "compiled", size, SETWISE_NUMBA_INTERNALS=SETTINGS[setting])
    assert found == (interpreted[size], [])


# What breaks a piece in another Numba, and the pieces that are left out then.

LATER = 'import numba; numba.__version__ = "99.1.0"\n'
OPTION = """
import numba.core.cpu as cpu
parse = cpu.CPUTargetOptions.parse_as_flags.__func__
def parse_as_flags(cls, flags, options):
    if REFUSED:
        raise KeyError("Unrecognized options")
    return parse(cls, flags, options)
cpu.CPUTargetOptions.parse_as_flags = classmethod(parse_as_flags)
"""
FROM_HERE = """
import sys
def ours():
    return sys._getframe(2).f_globals["__name__"] == "setwise.numba_internals"
"""
BROKEN = {
    "a name is gone": ("import numba.core.codegen as c; del c.JITCodeLibrary", ["parts"]),
    "a module is gone": ('import sys, numba; sys.modules["numba._dynfunc"] = None; del numba._dynfunc', ["parts"]),
    "environments are not found": (
        "import numba.core.environment as e, numba.core.compiler; e.lookup_environment = lambda name: None",
        ["parts"],
    ),
    "inlining is refused": (OPTION.replace("REFUSED", '"forceinline" in options'), ["inlining"]),
    "the switch is no bool": (
        OPTION.replace("REFUSED", 'type(options.get("boundscheck", True)) not in (bool, type(None))'),
        ["bounds"],
    ),
    "the switch is read once": (
        OPTION.replace("REFUSED", 'options.update(boundscheck=options.get("boundscheck") is True)'),
        ["bounds"],
    ),
    "a function has other arguments": (
        FROM_HERE
        + """
import numba.core.cgutils as c
null = c.get_null_value
def get_null_value(kind):
    if ours():
        raise TypeError("get_null_value() needs two arguments")
    return null(kind)
c.get_null_value = get_null_value
""",
        ["borrowing"],
    ),
}
CRASH = "import os, numba.core.environment as e, numba.core.compiler; e.lookup_environment = lambda name: os.abort()"


def verdict_in(folder):
    (path,) = (folder / "cache").rglob("setwise-internals-*.json")
    return json.loads(path.read_text())


QUICK = ("a name is gone", "the switch is read once", "a function has other arguments")


@pytest.mark.parametrize("how", [how if how in QUICK else pytest.param(how, marks=pytest.mark.slow) for how in BROKEN])
def test_a_piece_that_is_broken_is_left_out(how, tmp_path, interpreted):
    """Of a version that was tried: told by the doctor alone."""
    preamble, lost = BROKEN[how]
    folder = write(tmp_path, preamble)
    assert play(folder, "compiled") == (interpreted["small"], [])
    assert [name for name, reason in verdict_in(folder).items() if reason] == lost


def test_the_doctor_tells_of_a_broken_piece(tmp_path):
    folder = write(tmp_path, BROKEN["a name is gone"][0])
    told = " ".join(start(folder, "-m", "setwise", "doctor").stdout.split())
    assert "failing the self-test: parts (ImportError: cannot import name 'JITCodeLibrary'" in told
    assert "Results are the same; compiling takes longer" in told


@pytest.mark.parametrize(
    ("preamble", "lost"), [(BROKEN["a name is gone"][0], ["parts"]), (CRASH, list(PIECES))], ids=["broken", "crashing"]
)
def test_a_newer_numba_that_fails_is_told_once_in_one_line(preamble, lost, tmp_path, interpreted):
    folder = write(tmp_path, LATER + preamble)
    bits, lines = play(folder, "compiled")
    assert bits == interpreted["small"]
    assert [name for name, reason in verdict_in(folder).items() if reason] == lost
    assert len(lines) == 1
    for words in ("Numba 99.1.0", "newer than 0.68.1", "(parts: ", "results are the same"):
        assert words in lines[0]


def test_a_newer_numba_that_passes_is_used_in_silence(tmp_path, interpreted):
    folder = write(tmp_path, LATER)
    assert play(folder, "compiled") == (interpreted["small"], [])
    assert set(verdict_in(folder).values()) == {""}


def test_code_compiled_in_two_ways_is_cached_apart_and_the_second_process_tests_and_compiles_nothing(
    tmp_path, interpreted
):
    folder = write(tmp_path)
    kept = []
    for setting in ("1", "0", "1", "0"):
        bits, _ = play(folder, "compiled", SETWISE_NUMBA_INTERNALS=setting)
        assert bits == interpreted["small"]
        kept.append({path: path.stat().st_mtime_ns for path in (folder / "cache").rglob("*.*")})
    assert kept[0].items() < kept[1].items() and len(kept[1]) == 2 * len(kept[0]) - 1
    assert kept[1] == kept[2] == kept[3]


# The verdict.


@pytest.fixture
def tests(monkeypatch, tmp_path):
    """Count the self-tests, each with the next of the given verdicts, and store them in a folder of their own."""
    good, bad = dict.fromkeys(PIECES, ""), {**dict.fromkeys(PIECES, ""), "parts": "no"}
    given, calls = [bad, good], []

    def judge():
        calls.append(1)
        return given[len(calls) - 1]

    monkeypatch.setattr(numba_self_test, "judge_pieces", judge)
    monkeypatch.setattr(numba_self_test, "_test_apart", lambda: judge())
    monkeypatch.setattr(numba_self_test, "_verdict_path", lambda: str(tmp_path / "verdict.json"))
    return calls


def test_a_failure_is_remembered_for_a_day_and_a_success_for_good(tests, tmp_path):
    path = tmp_path / "verdict.json"
    assert numba_self_test.find_verdict()["parts"] == numba_self_test.find_verdict()["parts"] == "no"
    assert len(tests) == 1
    os.utime(path, (path.stat().st_mtime - 100_000,) * 2)
    assert numba_self_test.find_verdict()["parts"] == ""
    os.utime(path, (path.stat().st_mtime - 10**8,) * 2)
    assert numba_self_test.find_verdict()["parts"] == ""
    assert len(tests) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"parts": ""}'])
def test_a_damaged_verdict_is_tested_again(text, tests, tmp_path):
    (tmp_path / "verdict.json").write_text(text)
    assert numba_self_test.find_verdict()["parts"] == "no"
    assert json.loads((tmp_path / "verdict.json").read_text())["parts"] == "no"


def test_where_nothing_can_be_written_each_process_tests(tests, tmp_path, monkeypatch):
    for path in (str(tmp_path / "file" / "verdict.json"), None):
        (tmp_path / "file").write_text("")
        monkeypatch.setattr(numba_self_test, "_verdict_path", lambda path=path: path)
        numba_self_test.find_verdict()
    assert len(tests) == 2


def test_a_version_never_tried_is_tested_apart(tests, monkeypatch):
    monkeypatch.setattr(numba_self_test, "judge_pieces", None)
    for version in ("0.68.2", "0.60.0", "1.0", "0.69.0dev0+12.gabc"):
        monkeypatch.setattr("numba.__version__", version)
        assert not numba_self_test.is_tried("0.68.1", "0.61.0")
    assert numba_self_test.find_verdict()["parts"] == "no"
    monkeypatch.setattr("numba.__version__", "0.62.0rc1")
    assert numba_self_test.is_tried("0.68.1", "0.61.0")


def test_a_self_test_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr(numba_self_test, "CHILD", "import time; time.sleep(600)")
    monkeypatch.setattr(numba_self_test, "TIMEOUT", 0.5)
    assert set(numba_self_test._test_apart().values()) == {"its process did not end within 0.5 seconds"}


@pytest.mark.parametrize("child", ["print('nothing')", "print('verdict []')", "raise SystemExit(3)"])
def test_a_self_test_that_says_nothing_has_failed(child, monkeypatch):
    monkeypatch.setattr(numba_self_test, "CHILD", child)
    assert all(numba_self_test._test_apart().values())


def test_each_piece_passes_the_self_test_here():
    for pieces in [tuple(PIECES), *((name,) for name in PIECES), ()]:
        numba_self_test.self_test(pieces)


def test_the_warning_comes_once_per_process_even_as_an_error(tests, monkeypatch):
    monkeypatch.setattr("numba.__version__", "99.0")
    monkeypatch.setattr(numba_self_test, "_warned", False)
    monkeypatch.delenv("SETWISE_NUMBA_INTERNALS", raising=False)
    with pytest.raises(RuntimeWarning, match=r"Numba 99\.0 is newer"):
        numba_self_test.choose_toolkit()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "pipeline_class" not in numba_self_test.choose_toolkit().options


# The variable.


def test_the_variable_allows_all_none_or_some_and_a_word_it_does_not_know_is_refused(monkeypatch):
    for words, allowed in {
        "1": [*PIECES], "": [*PIECES], "0": [], "bounds, parts": ["parts", "bounds"], "inlining": ["inlining"]
    }.items():  # fmt: skip
        monkeypatch.setenv("SETWISE_NUMBA_INTERNALS", words)
        assert list(numba_self_test.allowed_pieces()) == allowed
    monkeypatch.setenv("SETWISE_NUMBA_INTERNALS", "off")
    with pytest.raises(sw.InputError, match=r"SETWISE_NUMBA_INTERNALS=off is neither 0 nor 1 nor a list of parts, "):
        numba_self_test.allowed_pieces()


def test_without_pieces_nothing_but_public_options_is_used():
    toolkit = build_toolkit()
    assert toolkit.options == toolkit.inlined == {"error_model": "numpy", "boundscheck": True}
    assert toolkit.borrow is None
    tags = {build_toolkit(pieces).tag for pieces in [(), tuple(PIECES), *((name,) for name in PIECES)]}
    assert len(tags) == len(PIECES) + 2


def test_pieces_that_fail_after_a_good_verdict_are_left_out(monkeypatch):
    def fail():
        raise ImportError("half an upgrade")

    monkeypatch.delenv("SETWISE_NUMBA_INTERNALS", raising=False)
    monkeypatch.setattr(numba_self_test, "find_verdict", lambda: dict.fromkeys(PIECES, ""))
    assert numba_self_test.choose_toolkit().borrow is not None
    monkeypatch.setattr("setwise.numba_internals._borrow", fail)
    assert numba_self_test.choose_toolkit() == build_toolkit()._replace(bounds=ANY)


def test_the_doctor_says_which_internals_are_in_use():
    def told(allowed, reason=""):
        return doctor.judge_internals(allowed, {**dict.fromkeys(PIECES, ""), "borrowing": reason})

    assert told(list(PIECES)).found == "in use (newest Numba tried: 0.68.1)"
    assert told([]).found == "not in use: parts, inlining, borrowing, bounds"
    assert "SETWISE_NUMBA_INTERNALS" in told(["parts"]).advice and told(["parts"]).verdict == doctor.OK
    assert told(list(PIECES), "KeyError: x").verdict == doctor.WARNING
    assert "borrowing (KeyError: x)" in told(list(PIECES), "KeyError: x").found


# The public way.


class Empty(NamedTuple):
    """Has no fields, which Numba takes for having no `self`."""

    def select(self, state, rng):
        return state[1:]


EMPTY = Empty()


def given(policy, state, rng):
    return policy.select(state, rng)[0]


def constant(policy, state, rng):
    return EMPTY.select(state, rng)[0]


def constructed(policy, state, rng):
    return Empty().select(state, rng)[0]


def either(policy, state, rng):
    chosen = Empty() if state[0] < 0 else policy
    return chosen.select(state, rng)[0]


def nested(policy, state, rng):
    return (policy, EMPTY)[1].select(state, rng)[0]


@pytest.mark.parametrize("function", [given, constant, constructed, either, nested])
def test_methods_of_a_class_without_fields_can_be_called(function):
    args = Empty(), np.array([1.0, 2.0]), np.random.default_rng(0)
    assert compiled.compile_for(function, *args)(*args) == function(*args) == 2.0


def test_without_a_writable_folder_code_is_compiled_and_not_cached(monkeypatch):
    class Alone(NamedTuple):
        pass

    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    monkeypatch.setattr(compiled, "_importable", lambda cls: True)
    monkeypatch.setattr(compiled, "_compiled", {})

    def add(alone, x):
        return x + 1.0

    assert compiled.compile_for(add, Alone(), 2.0)(Alone(), 2.0) == 3.0
    assert numba_self_test._verdict_path() is None


# Explaining an error never fails.


class Cunning(Exception):
    def __str__(self):
        raise TypeError("no words")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("\x1b[1mfirst line\x1b[0m\nsecond line"), "first line"),
        (ValueError("\n\n  late  \n"), "late"),
        (ValueError(""), "ValueError"),
        (ValueError("x" * 1000), f"{'x' * 150} ..."),
        (Cunning(), "Cunning"),
    ],
)
def test_an_error_that_cannot_be_parsed_is_told_by_its_first_line(error, reason, monkeypatch):
    def fail(*args):
        raise IndexError("Numba has other messages now")

    monkeypatch.setattr(compile_errors, "_unnamed_place", fail)
    text = compile_errors.explain(error, [sw.UCB, sw.UCB, sw.environments.MNL])
    assert text == f"UCB, MNL cannot be compiled: {reason}"


def test_the_newest_version_tried_is_the_one_that_is_pinned_and_the_oldest_is_the_one_that_is_required():
    root = Path(__file__).parents[1]
    pinned = (root / "constraints.txt").read_text().splitlines()
    assert f"numba=={numba_self_test.NEWEST_TRIED}" in pinned
    assert f'"numba>={numba_self_test.OLDEST_TRIED.removesuffix(".0")}"' in (root / "pyproject.toml").read_text()
    assert np.all(np.array(numba_self_test._numbers(numba_self_test.OLDEST_TRIED)) == [0, 61, 0])
