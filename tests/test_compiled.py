"""Compiled and interpreted code behave the same: one test for each trap of compiling plain Python."""

import importlib.util
import json
import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise.compiled import compile_for
from setwise.compiler import compile
from setwise.environments import MNL, Independent, Scaled
from setwise.seeding import stream, stream_key
from setwise.types import Floats, Ints

WORLD = MNL([3.0, 2.5, 2.0, 1.0, 0.5, 0.1], k=2)
HORIZON = 200


class Crowded(NamedTuple):
    """A state whose fields have the names of methods: of the contract, of the rankings, and of tuples."""

    means: Floats
    draw: Ints
    top: Ints
    certain_rounds: Floats
    count: Ints
    index: Ints


@sw.policy
class Greedy(NamedTuple):
    """The k best means so far, found with new arrays in every round."""

    noise: float = 1e-9

    def init(self, n, k, horizon, rng):
        counts = np.zeros(n, np.int64)
        return Crowded(np.ones(n), counts, np.arange(k), np.zeros(n), np.zeros(1, np.int64), np.arange(n))

    def select(self, state, rng):
        values = state.means + self.noise * rng.random(len(state.index))
        return np.argsort(-values)[: len(state.top)]

    def update(self, state, chosen, rewards, rng):
        state.count[0] += 1
        for j in range(len(chosen)):
            state.draw[chosen[j]] += 1
            state.certain_rounds[chosen[j]] += rewards[j]
            state.means[chosen[j]] = state.certain_rounds[chosen[j]] / state.draw[chosen[j]]


class Counter(NamedTuple):
    count: Ints
    chosen: Ints


class Faulty(NamedTuple):
    """Plays the first k arms, and a set that is none after some rounds."""

    first: int
    second: int
    size: int
    after: int

    def init(self, n, k, horizon, rng):
        return Counter(np.zeros(1, np.int64), np.arange(k))

    def select(self, state, rng):
        if state.count[0] < self.after:
            return state.chosen[:]
        state.chosen[0] = self.first
        state.chosen[1] = self.second
        return state.chosen[: self.size]

    def update(self, state, chosen, rewards, rng):
        state.count[0] += 1


def ask(policy, state, rng):
    """A loop much shorter than `play`, which takes seconds to compile."""
    return policy.select(state, rng)[0]


def asked(policy):
    rng = np.random.default_rng(0)
    state = policy.init(2, 1, 10, rng)
    return compile_for(ask, policy, state, rng)(policy, state, rng)


def bits(result):
    return result.regret.tobytes().hex(), result.pulls.tolist()


def same_bits(*args, **options):
    interpreted = sw.simulate(*args, compiled=False, **options)
    return bits(sw.simulate(*args, **options)) == bits(interpreted)


def sentence(refusal):
    """What a refusal says, which is short and on one line."""
    text = str(refusal.value)
    assert "\n" not in text and len(text) < 400
    return text


def python(folder, *arguments, **environ):
    """The output of a new process that has a folder to import from and to cache compiled code in."""
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])),
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "SETWISE_CACHE_DIR": str(folder / "cache"),
        "NUMBA_OPT": "0",  # compiles sooner
        "PYTHONDONTWRITEBYTECODE": "1",  # an edit within the same second would run the old bytecode
        **environ,
    }
    command = [sys.executable, "-W", "error", *map(str, arguments)]
    done = subprocess.run(command, env=environ, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cached(folder):
    return sorted(path.name for end in ("nb*", "setwise-code") for path in (folder / "cache").rglob(f"*.{end}"))


@pytest.fixture
def load(tmp_path, monkeypatch):
    """A module made of a source text, in a file of its own."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python takes an edit within a second for the old file

    def load(name, source):
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load


# Edited code is never run stale.

POLICY = """\
from typing import NamedTuple
import numpy as np
PREAMBLE

class State(NamedTuple):
    chosen: np.ndarray

class Mine(NamedTuple):
    alpha: float = 1.0

    def init(self, n, k, horizon, rng):
        return State(np.arange(k))

    def select(self, state, rng):
        state.chosen[0] = VALUE
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        pass
"""

SIMULATE = """
import setwise as sw
from mine import Mine
world = sw.environments.Independent([0.1, 0.2, 0.3, 0.4], k=1)
print("pulls", sw.simulate(Mine(), world, horizon=20, compiled=True).pulls.tolist())
"""

ASK = """
from setwise.compiled import compile_for
def ask(policy, state, rng):
    return policy.select(state, rng)[0]
policy, rng = Mine(), np.random.default_rng(0)
state = policy.init(3, 1, 10, rng)
print("chosen", compile_for(ask, policy, state, rng)(policy, state, rng))
"""

EDITS = {  # the beginning of the policy's file, what select chooses, the other file, and the edit
    "its method": ("", "1", "", "= 1", "= 2"),
    "a constant": ("FIRST = 1", "FIRST", "", "FIRST = 1", "FIRST = 2"),
    "a long table": ("T = np.full(5000, 1)\nT[2] = 1", "T[2]", "", "T[2] = 1", "T[2] = 2"),
    "a function": ("def f():\n    return 1\n", "f()", "", "return 1", "return 2"),
    "a default": ("def f(x=1):\n    return x\n", "f()", "", "x=1", "x=2"),
    "another file": ("from OTHER import f", "f()", "def f():\n    return 1", "return 1", "return 2"),
    "a module": ("import OTHER", "OTHER.f()", "def f():\n    return 1", "return 1", "return 2"),
    "a constant of another file": ("import OTHER", "OTHER.FIRST", "FIRST = 1", "FIRST = 1", "FIRST = 2"),
    "a function of a function": (
        "from OTHER import f",
        "f()",
        "def f():\n    return g()\n\ndef g():\n    return 1",
        "return 1",
        "return 2",
    ),
    "an import": ("from math import floor as half", "int(half(1.5))", "", "floor as", "ceil as"),
    "two names": (
        "from OTHER import f as a, g as b",
        "a() + 0 * b()",
        "def f():\n    return 1\n\ndef g():\n    return 2",
        "f as a, g as b",
        "g as a, f as b",
    ),
    "an enum": ("from OTHER import E", "E.a", "import enum\nclass E(enum.IntEnum):\n    a = 1", "a = 1", "a = 2"),
}

ASK_ALL = """
import importlib, json, sys
import numpy as np
from setwise.compiled import compile_for
from ask import ask
found = []
for number in range(int(sys.argv[1])):
    policy = importlib.import_module(f"policy{number}").Mine()
    rng = np.random.default_rng(0)
    state = policy.init(3, 1, 10, rng)
    found.append([int(f(policy, state, rng)) for f in (compile_for(ask, policy, state, rng), ask)])
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def edited(tmp_path_factory):
    """What each policy chose, compiled and interpreted, before and after the edit: two processes for all of them."""
    folder = tmp_path_factory.mktemp("edited")
    (folder / "ask.py").write_text("def ask(policy, state, rng):\n    return policy.select(state, rng)[0]\n")
    (folder / "ask_all.py").write_text(ASK_ALL)
    for number, (preamble, value, other, _, _) in enumerate(EDITS.values()):
        source = POLICY.replace("PREAMBLE", preamble).replace("VALUE", value).replace("OTHER", f"other{number}")
        (folder / f"policy{number}.py").write_text(source)
        (folder / f"other{number}.py").write_text(other)
    before = json.loads(python(folder, "ask_all.py", len(EDITS)))
    for number, (_, _, _, old, new) in enumerate(EDITS.values()):
        for path in (folder / f"policy{number}.py", folder / f"other{number}.py"):
            path.write_text(path.read_text().replace(old, new))
    after = json.loads(python(folder, "ask_all.py", len(EDITS)))
    return dict(zip(EDITS, zip(before, after)))


@pytest.mark.parametrize("edit", EDITS)
def test_code_is_never_run_stale_after_an_edit_of(edit, edited):
    before, after = edited[edit]
    assert before == [1, 1]
    assert after == [2, 2]


@pytest.mark.slow
def test_an_edited_policy_file_is_never_run_stale_and_an_unedited_one_is_not_compiled_again(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(POLICY.replace("PREAMBLE", "").replace("VALUE", "1"))
    assert "pulls [[0, 20, 0, 0]]" in python(tmp_path, "-c", SIMULATE)
    files = cached(tmp_path)
    assert files != []
    (tmp_path / "cache").chmod(0o500)  # a second program would have nowhere to be stored
    assert "pulls [[0, 20, 0, 0]]" in python(tmp_path, "-c", SIMULATE)
    (tmp_path / "cache").chmod(0o700)
    assert cached(tmp_path) == files
    path.write_text(path.read_text().replace("= 1", "= 3"))
    assert "pulls [[0, 0, 0, 20]]" in python(tmp_path, "-c", SIMULATE)


def test_a_class_defined_again_replaces_the_first(load):
    source = POLICY.replace("PREAMBLE", "")
    assert asked(load("notebook", source.replace("VALUE", "1")).Mine()) == 1
    assert asked(load("notebook", source.replace("VALUE", "0")).Mine()) == 0


def test_a_function_defined_again_is_not_run_stale(load):
    """Numba keeps what it compiled for a class, so a refusal that says so would do as well."""
    module = load("notebook", POLICY.replace("PREAMBLE", "def f():\n    return 1\n").replace("VALUE", "f()"))
    assert asked(module.Mine()) == 1
    exec("def f():\n    return 0\n", vars(module))
    try:
        answer = asked(module.Mine())
    except sw.InputError as refusal:
        answer = str(refusal)
    assert answer == 0 or "changed" in str(answer)


# A class that breaks the contract is refused in one sentence, with the place.

DECLARED = """\
from typing import NamedTuple
import numpy as np
import setwise as sw

@sw.policy
class Mine(NamedTuple):
    def init(self, n, k, horizon, rng):
        return None

    def select(self, state, rng):
        return np.arange(3)

    def update(self, state, chosen, rewards, rng):
        pass
"""

CERTAIN_ROUNDS = "    def certain_rounds(self, state, chosen):\n        return 1\n"
UPDATE_MANY = "    def update_many(self, state, chosen, totals, rounds):\n        pass\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("def select", "def selct", 10, ["Mine.selct", "should be called select"]),
        ("def update", "def learn", 5, ["Mine has no method update(self, state, chosen, rewards, rng)"]),
        ("chosen, rewards, rng", "chosen, reward, rng", 13, ["Mine.update", "(self, state, chosen, rewards, rng)"]),
        ("state, rng", "rng, state", 10, ["Mine.select", "(self, rng, state)", "(self, state, rng)"]),
        ("k, horizon, rng", "k, rng", 7, ["Mine.init", "(self, n, k, horizon, rng)"]),
        ("        pass\n", f"        pass\n\n{CERTAIN_ROUNDS}", 16, ["Mine has certain_rounds but not update_many"]),
        ("        pass\n", f"        pass\n\n{UPDATE_MANY}", 16, ["Mine has update_many but not certain_rounds"]),
        ("Mine(NamedTuple)", "Mine", None, ["Mine is not a NamedTuple"]),
    ],
)
def test_a_broken_contract_is_told_with_class_and_place(load, old, new, line, words):
    assert DECLARED.count(old) == 1
    with pytest.raises(sw.InputError) as refusal:
        load("broken", DECLARED.replace(old, new))
    text = sentence(refusal)
    for word in ["Mine", *words, *([f"broken.py, line {line}"] if line else [])]:
        assert word in text


def test_a_class_that_was_not_declared_is_checked_when_it_is_played(load):
    source = DECLARED.replace("@sw.policy\n", "").replace("def select", "def selct")
    policy = load("broken", source).Mine()
    with pytest.raises(sw.InputError, match=r"Mine\.selct \(broken\.py, line 9\) should be called select"):
        sw.simulate(policy, WORLD, HORIZON)


# Code that cannot be compiled is told in one sentence, with the place.

UNCOMPILABLE = """\
import json
from typing import NamedTuple
import numpy as np

class State(NamedTuple):
    sums: np.ndarray
    chosen: np.ndarray

def helper(values):
    return values.nothing  # in a helper

class Mine(NamedTuple):
    alpha: float = 1.0

    def init(self, n, k, horizon, rng):
        return State(np.zeros(n), np.arange(k))

    def score(self, x):
        return x

    def select(self, state, rng):
        SELECT
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        UPDATE
"""


@pytest.mark.parametrize(
    ("method", "line", "words"),
    [
        ("select", 'json.dumps("x")', []),
        ("select", "np.linalg.nothing(state.sums)", ["nothing"]),
        ("select", "state.sums[0] = nowhere", ["nowhere"]),
        pytest.param("select", 'state.sums + "text"', ["add"], marks=pytest.mark.slow),
        pytest.param("select", "state.choosen", ["choosen"], marks=pytest.mark.slow),
        pytest.param("select", "self.alhpa", ["alhpa"], marks=pytest.mark.slow),
        ("select", "self.core(1.0)", ["core"]),
        pytest.param("select", "rng.choice(5, size=2)", ["choice"], marks=pytest.mark.slow),
        ("update", "state.chosen = chosen", ["chosen"]),
    ],
)
def test_code_that_cannot_be_compiled_is_told_with_class_method_and_line(load, method, line, words):
    source = UNCOMPILABLE.replace(method.upper(), line).replace("SELECT", "pass").replace("UPDATE", "pass")
    number = next(at for at, text in enumerate(source.splitlines(), 1) if text.strip() == line)
    policy = load("uncompilable", source).Mine()
    with pytest.raises(sw.InputError) as refusal:
        sw.simulate(policy, WORLD, HORIZON, compiled=True)
    text = sentence(refusal)
    for word in [f"Mine.{method}", f"uncompilable.py, line {number}", *words]:
        assert word in text


def test_a_helper_that_cannot_be_compiled_is_told_with_its_line(load):
    source = UNCOMPILABLE.replace("SELECT", "helper(state.sums)").replace("UPDATE", "pass")
    with pytest.raises(sw.InputError) as refusal:
        sw.simulate(load("uncompilable", source).Mine(), WORLD, HORIZON, compiled=True)
    text = sentence(refusal)
    assert "helper" in text and "uncompilable.py, line 10" in text and "nothing" in text


@pytest.mark.parametrize(
    ("old", "new", "method"),
    [
        ("return state.chosen", "state.chosen[0] = 0", "select"),
        ("return state.chosen", "return state.sums[:2]", "select"),
        pytest.param("return state.chosen", "return 3", "select", marks=pytest.mark.slow),
        ("return state.chosen", "return state.chosen if rng.random() < 0.5 else 3", "select"),
        pytest.param("return state.chosen", "yield state.chosen", "select", marks=pytest.mark.slow),
        ("return state.chosen", "with open('x') as file: return file", "select"),
        ("return State(np.zeros(n), np.arange(k))", "return {'sums': np.zeros(n)}", "init"),
    ],
)
def test_a_method_that_returns_something_else_is_told_with_its_name(load, old, new, method):
    source = UNCOMPILABLE.replace(old, new).replace("SELECT", "pass").replace("UPDATE", "pass")
    policy = load("uncompilable", source).Mine()
    with pytest.raises(sw.InputError) as refusal:
        sw.simulate(policy, WORLD, HORIZON, compiled=True)
    assert f"Mine.{method}" in sentence(refusal)


# Numbers are coerced, so that nothing is compiled twice.


def test_whole_and_broken_numbers_compile_once(monkeypatch):
    monkeypatch.setattr(compile, "_compiled", {})
    for alpha in (2, 2.0, np.float32(2)):
        sw.simulate(sw.UCB(alpha=alpha, bound=1), WORLD, HORIZON, compiled=True)
    for values in ([3, 2, 1], (3.0, 2.0, 1.0), np.arange(3.0, 0.0, -1.0), np.arange(9.0)[::3]):
        world = MNL(values, k=np.int64(2), outside=1, feedback="independent", names=None)
        sw.simulate(sw.UCB(), world, HORIZON, compiled=True)
    assert len(compile._compiled) == 1


# Compiled and interpreted runs give the same bits.


def test_compiled_interpreted_and_without_numba_are_the_same_bits(tmp_path):
    horizon = 3000  # so many that some are fast-forwarded
    code = f"""
import setwise as sw
world = sw.environments.MNL({WORLD.values.tolist()}, k=2)
for fast_forward in (True, False):
    result = sw.simulate(sw.UCB(), world, {horizon}, runs=2, seed=5, fast_forward=fast_forward)
    print(result.regret.tobytes().hex())
"""
    without_numba = python(tmp_path, "-c", code, NUMBA_DISABLE_JIT="1").split()
    assert cached(tmp_path) == []
    for fast_forward, found in zip((True, False), without_numba, strict=True):
        options = {"runs": 2, "seed": 5, "fast_forward": fast_forward}
        assert sw.simulate(sw.UCB(), WORLD, horizon, **options).regret.tobytes().hex() == found
        assert sw.simulate(sw.UCB(), WORLD, horizon, compiled=False, **options).regret.tobytes().hex() == found
    assert len(set(without_numba)) == 2


def test_fields_named_like_methods_and_arrays_made_in_select_compile():
    assert same_bits(Greedy(), WORLD, HORIZON, runs=3)


def test_a_policy_without_parameters_compiles(load):
    source = POLICY.replace("    alpha: float = 1.0\n\n", "").replace("PREAMBLE", "").replace("VALUE", "1")
    assert asked(load("plain", source).Mine()) == 1


def test_a_world_inside_a_world_compiles():
    world = Scaled(WORLD, [1.0, 3.0, 2.0, 0.5, 3.0, 1.0])
    for fast_forward in (True, False):
        assert same_bits(sw.UCB(bound=3), world, HORIZON, runs=2, fast_forward=fast_forward)


def test_a_policy_without_a_bound_does_the_same_compiled_and_interpreted_where_rewards_are_large():
    def outcome(**options):
        try:
            return bits(sw.simulate(Greedy(), Scaled(WORLD, 3.0), HORIZON, **options))
        except sw.InputError as refusal:
            return str(refusal)

    assert outcome() == outcome(compiled=False)


def test_a_class_in_a_script_works_and_is_cached_on_disk(tmp_path):
    source = POLICY.replace("PREAMBLE", "").replace("VALUE", "2")
    (tmp_path / "script.py").write_text(source + ASK)
    assert python(tmp_path, "script.py") == "chosen 2\n"
    files = cached(tmp_path)
    assert len(files) == 1
    assert python(tmp_path, "script.py") == "chosen 2\n"
    assert cached(tmp_path) == files


def test_importing_setwise_imports_nothing_heavy(tmp_path):
    heavy = ["numba", "llvmlite", "matplotlib", "pandas", "rich", "click", "scipy", "setwise.compiled"]
    code = f"import setwise, sys; print([name for name in {heavy} if name in sys.modules])"
    assert python(tmp_path, "-c", code) == "[]\n"


# A set that is none stops the run with one sentence, compiled and interpreted.


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize(
    ("arms", "size", "words"),
    [
        ((0, 6), 2, "arm 6; arms are numbered from 0 to 5"),
        ((10**12, 0), 2, "arm 1000000000000; arms are numbered from 0 to 5"),
        ((-1, 0), 2, "arm -1; arms are numbered from 0 to 5"),
        ((-1, -1), 2, "arm -1; arms are numbered from 0 to 5"),
        ((4, 4), 2, "arm 4 twice; a set has distinct arms"),
        ((0, 1), 1, "1 arms; a set has k=2"),
        ((0, 1), 0, "0 arms; a set has k=2"),
    ],
)
@pytest.mark.parametrize("by", ["compiled", "interpreted"])
def test_a_set_that_is_none_is_told_with_its_round(arms, size, words, after, by):
    policy = Faulty(*arms, size, after)
    with pytest.raises(sw.InputError) as refusal:
        sw.simulate(policy, WORLD, HORIZON, compiled=by == "compiled")
    assert sentence(refusal) == f"Faulty.select chose {words} (round {after + 1})"


# A run is a function of what is run, alone.


def simulated(policy=None, world=WORLD, runs=6, seed=1, **options):
    return sw.simulate(policy or sw.UCB(), world, HORIZON, runs=runs, seed=seed, **options)


@pytest.fixture(scope="module")
def alone():
    return bits(simulated(threads=1))


@pytest.mark.parametrize("threads", [2, 5, 20])
def test_runs_do_not_depend_on_the_number_of_threads(threads, alone):
    assert bits(simulated(threads=threads)) == alone


def test_runs_do_not_depend_on_what_else_is_run(alone):
    simulated(seed=2)
    simulated(sw.UCB(alpha=1))
    np.random.default_rng(1).random(10)
    assert bits(simulated()) == alone


def test_more_runs_leave_the_first_as_they_were():
    few, many = simulated(runs=3), simulated(runs=6)
    assert np.array_equal(few.regret, many.regret[:3]) and np.array_equal(few.pulls, many.pulls[:3])
    assert len({row.tobytes() for row in many.regret}) == 6


def test_arms_names_do_not_change_a_run(alone):
    assert bits(simulated(world=WORLD._replace(names=tuple("abcdef")))) == alone


def test_seed_policy_environment_and_run_each_have_a_stream_of_their_own():
    def first(seed, policy, world, run):
        return stream(seed, stream_key(policy, world), run).random()

    found = [
        first(0, sw.UCB(), WORLD, 0),
        first(1, sw.UCB(), WORLD, 0),
        first(0, sw.UCB(alpha=1), WORLD, 0),
        first(0, Greedy(), WORLD, 0),
        first(0, sw.UCB(), WORLD._replace(outside=2.0), 0),
        first(0, sw.UCB(), Independent(WORLD.values / 3, k=2), 0),
        first(0, sw.UCB(), WORLD, 1),
    ]
    assert len(set(found)) == len(found)
    assert first(0, sw.UCB(2), WORLD, 0) == found[0]


def test_results_differ_with_seed_policy_and_environment(alone):
    others = [simulated(seed=2), simulated(sw.UCB(alpha=1)), simulated(world=WORLD._replace(outside=2.0))]
    assert len({alone[0], *(bits(result)[0] for result in others)}) == 4
