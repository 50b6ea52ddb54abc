"""Caches and stores identify classes by module, name, values and code: similar classes never share an entry."""

import importlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
from typing import NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise.digests import value_digest
from setwise.environments import MNL, Scaled
from setwise.environments.enumeration import best_by_enumeration, gaps_by_enumeration
from setwise.environments.tabulated import tabulated
from setwise.experiments import plays as plays
from setwise.experiments.plays import Play
from setwise.experiments.store import Store
from setwise.identity import _is_followed, identity
from setwise.seeding import stream_key

WORLD = """
from typing import NamedTuple
import numpy as np
import setwise as sw
from setwise.environments.enumeration import best_by_enumeration, gaps_by_enumeration

@sw.environment(rewards="binary", feedback="independent")
class World(NamedTuple):
    n: int = 4
    k: int = 2

    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = MEAN

    def draw(self, chosen, rng, rewards):
        raise NotImplementedError

    def best(self):
        return best_by_enumeration(self)

    def gaps(self):
        return gaps_by_enumeration(self)
"""
RISING = WORLD.replace("MEAN", "0.1 + 0.2 * chosen[j]")
FALLING = WORLD.replace("MEAN", "0.7 - 0.2 * chosen[j]")


@pytest.fixture
def interpreted(monkeypatch):
    """Look at few sets interpreted, however slow the machine is: some of the worlds here cannot be compiled."""
    monkeypatch.setattr("setwise.environments.enumeration.INTERPRETED_SECONDS", float("inf"))


def cell(source, name="World", **names):
    """Redefine the class in the same module, as a notebook cell does."""
    space = {"__name__": "notebook", **names}
    exec(compile(textwrap.dedent(source), "<cell>", "exec"), space)
    return space[name]


def test_a_class_defined_again_under_its_name_has_a_best_set_gaps_and_a_table_of_its_own():
    rising, falling = cell(RISING)(), cell(FALLING)()
    assert value_digest(rising) == value_digest(falling)
    assert best_by_enumeration(rising).tolist() == [2, 3]
    assert best_by_enumeration(falling).tolist() == [0, 1]
    assert gaps_by_enumeration(rising) == pytest.approx((0.2, 0.8))
    assert tabulated(rising).optimal.tolist() == [2, 3]
    assert tabulated(falling).optimal.tolist() == [0, 1]
    found = [sw.check(world)["best() is optimal"].holds for world in (rising, falling)]
    assert found == [True, True]


def test_random_streams_do_not_go_by_code_or_module():
    assert stream_key(sw.UCB(), cell(RISING)()) == stream_key(sw.UCB(), cell(FALLING)())


def test_a_world_inside_of_another_counts():
    rising, falling = (Scaled(cell(source)(), 2.0) for source in (RISING, FALLING))
    assert identity(rising) != identity(falling)
    assert (rising.best().tolist(), falling.best().tolist()) == ([2, 3], [0, 1])


CONSTANTS = {
    "of the class": ("    SIGN = 1.0\n", "self.SIGN * chosen[j]", {}),
    "a number": ("", "SIGN * chosen[j]", {"SIGN": 1.0}),
    "an array": ("", "SIGN[0] * chosen[j]", {"SIGN": np.array([1.0])}),
    "a list": ("", "SIGN[0] * chosen[j]", {"SIGN": [1.0]}),
    "a dictionary": ("", 'SIGN["x"] * chosen[j]', {"SIGN": {"x": 1.0}}),
}


def negative(value):
    """The same with all signs changed."""
    if isinstance(value, dict):
        return {key: -item for key, item in value.items()}
    return [-item for item in value] if isinstance(value, list) else -value


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("kind", CONSTANTS)
def test_a_constant_that_the_code_uses_counts(kind):
    line, mean, names = CONSTANTS[kind]
    source = WORLD.replace("    n: int = 4\n", line + "    n: int = 4\n").replace("MEAN", f"0.5 + 0.1 * {mean}")
    rising = cell(source, **names)()
    falling = cell(source.replace("SIGN = 1.0", "SIGN = -1.0"), **{key: negative(v) for key, v in names.items()})()
    again = cell(source, **names)()
    assert identity(rising) == identity(again) != identity(falling)
    assert (rising.best().tolist(), falling.best().tolist()) == ([2, 3], [0, 1])


@pytest.mark.parametrize("wrapped", ["@property", "@staticmethod", "@classmethod", ""])
def test_every_kind_of_method_counts(wrapped):
    source = WORLD.replace("MEAN", "0.5") + f"\n    {wrapped or 'pass'}\n    def extra(self):\n        return NUMBER\n"
    one, two = (cell(source.replace("NUMBER", number))() for number in "12")
    assert identity(one) != identity(two)


def test_an_inherited_method_counts():
    one, two = (cell(f"{source}\nclass Sub(World):\n    pass\n", "Sub")() for source in (RISING, FALLING))
    assert identity(one) != identity(two)


PREFIX = """
import collections, dataclasses, enum, functools
from typing import NamedTuple

class Settings:
    BONUS = NUMBER
    @staticmethod
    def bonus():
        return NUMBER

@dataclasses.dataclass
class Law:
    scale: float = NUMBER
    def bonus(self):
        return NUMBER

class Mode(enum.Enum):
    FAST = NUMBER

class Default(NamedTuple):
    bonus: float = NUMBER

@functools.cache
def cached():
    return NUMBER

def plain(x=NUMBER):
    return x

def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args):
        return NUMBER * function(*args)
    return wrapper

@wrapped
def decorated():
    return 1

def closure():
    numbers = [NUMBER]
    return lambda: numbers[0]

TABLE = {"f": lambda: NUMBER}
PARTIAL = functools.partial(plain, NUMBER)
BOUND = Law().bonus

class Callable:
    def __call__(self):
        return NUMBER

class Holder(NamedTuple):
    field: object = None

    def value(self):
        return USE
"""
USES = [
    "Settings.BONUS", "Settings.bonus()", "Law().scale", "Law().bonus()", "Mode.FAST.value", "Default().bonus",
    "cached()", "plain()", "decorated()", "TABLE['f']()", "PARTIAL()", "BOUND()", "Callable()()",
]  # fmt: skip
FIELDS = [
    "Law()", "Law", "Mode.FAST", "Default()", "(Default(),)", "cached", "PARTIAL", "BOUND", "closure()", "Callable()",
    "(plain,)", "{'f': plain}", "[decorated]", "collections.deque([NUMBER])",
]  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_what_a_method_refers_to_counts(use):
    one, two, again = (cell(PREFIX.replace("USE", use).replace("NUMBER", n), "Holder")() for n in "121")
    assert one.value() != two.value()
    assert identity(one) == identity(again) != identity(two)


@pytest.mark.parametrize("field", FIELDS)
def test_what_is_in_a_field_counts(field):
    def made(number):
        source = f"{PREFIX}\nMADE = Holder({field})\n".replace("USE", "0").replace("NUMBER", number)
        return cell(source, "MADE")

    assert identity(made("1")) == identity(made("1")) != identity(made("2"))


def test_what_a_method_imports_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for number in "12":
        (tmp_path / "fetched.py").write_text(f"def f():\n    return {number}\n")
        monkeypatch.delitem(sys.modules, "fetched", raising=False)
        importlib.invalidate_caches()
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        source = PREFIX.replace("        return USE", "        from fetched import f\n        return f()")
        found.append(identity(cell(source.replace("NUMBER", "1"), "Holder")()))
    assert found[0] != found[1]


class Model:
    """An object whose words do not say what is in it."""

    def __init__(self, sign):
        self.sign = sign


class Modelled(NamedTuple):
    model: object
    n: int = 4
    k: int = 2

    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = 0.5 + 0.1 * self.model.sign * chosen[j]


USES = {
    "import helper": "import helper",
    "import as": "import helper as h",
    "from a package": "from pack import helper",
    "a module by another name": "m = helper_module; m.X",
    "getattr": "getattr(helper_module, 'X')",
    "a module in a dict": "TABLE['helper'].X",
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_module_that_a_method_uses_as_a_whole_counts_by_its_source(use, tmp_path):
    script = f"""
import sys; sys.path.insert(0, ".")
import helper, pack.helper
import helper as helper_module
from typing import NamedTuple
from setwise.identity import _is_followed, identity
TABLE = {{"helper": helper}}
class Mine(NamedTuple):
    def init(self, n, k, horizon, rng):
        {use}
print(identity(Mine()))
"""
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")

    def told(x):
        for file in (tmp_path / "helper.py", tmp_path / "pack" / "helper.py"):
            file.write_text(f"X = {x}\n")
        command = [sys.executable, "-B", "-c", script]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    before = told(1)
    assert told(1) == before != told(2)


def test_attributes_of_functions_and_registered_functions_count():
    source = """
        import functools
        def f(x): return x + f.shift
        f.shift = SHIFT
        @functools.singledispatch
        def g(x): return 1
        @g.register
        def _(x: int): return OTHER
        class World:
            def one(self): return f(1)
            def two(self): return g(1)
    """
    found = {
        identity(cell(source.replace("SHIFT", shift).replace("OTHER", other)))
        for shift in ("1", "2") for other in ("3", "4")
    }  # fmt: skip
    assert len(found) == 4


@pytest.mark.parametrize("folder", ["site-packages", "here"], ids=["installed", "named like one of Python's modules"])
def test_the_code_of_the_class_counts_wherever_its_module_lies(folder, tmp_path, monkeypatch):
    name = "profile" if folder == "here" else "installed_world"
    place = tmp_path / folder
    place.mkdir()
    monkeypatch.syspath_prepend(place)
    found = []
    for source in (RISING, FALLING):
        (place / f"{name}.py").write_text(source)
        monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        importlib.invalidate_caches()
        _is_followed.cache_clear()
        found.append(identity(importlib.import_module(name).World()))
    monkeypatch.delitem(sys.modules, name)
    _is_followed.cache_clear()
    assert found[0] != found[1]


INSTALLED_POLICY = """
from typing import NamedTuple
from setwise import UCB
class Policy(NamedTuple):
    bound: float = 1.0
    init, select, certain_rounds, update_many = UCB.init, UCB.select, UCB.certain_rounds, UCB.update_many
    set_horizon, indices, select_from, grow = UCB.set_horizon, UCB.indices, UCB.select_from, UCB.grow
    def update(self, state, chosen, rewards, rng): state.chosen[0] = MEAN
"""


@pytest.mark.parametrize(
    ("source", "wrap"),
    [
        (WORLD, lambda module: Scaled(module.World(), 2.0)),
        (WORLD, lambda module: [(Scaled(module.World(), 2.0),)]),
        (INSTALLED_POLICY, lambda module: sw.Doubling(base=module.Policy())),
    ],
    ids=["a world in a world", "a list of worlds", "a policy in a policy"],
)
def test_the_code_of_an_installed_class_inside_one_of_ours_counts(source, wrap, tmp_path, monkeypatch):
    place = tmp_path / "site-packages"
    place.mkdir()
    monkeypatch.syspath_prepend(place)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = []
    for mean in ("0", "1", "0"):
        (place / "installed_inside.py").write_text(source.replace("MEAN", mean))
        monkeypatch.delitem(sys.modules, "installed_inside", raising=False)
        importlib.invalidate_caches()
        _is_followed.cache_clear()
        found.append(identity(wrap(importlib.import_module("installed_inside"))))
    monkeypatch.delitem(sys.modules, "installed_inside")
    _is_followed.cache_clear()
    assert found[0] == found[2] != found[1]


def test_a_class_made_by_exec_without_a_name_of_its_module_counts():
    def made(source):
        space = {}
        exec(source, space)
        return space["World"]()

    assert made(RISING).__module__ == "builtins"
    assert identity(made(RISING)) != identity(made(FALLING))
    assert identity(int) == identity(int) != identity(float)


@pytest.mark.usefixtures("interpreted")
def test_what_is_in_an_object_counts():
    assert value_digest(Modelled(Model(1))) == value_digest(Modelled(Model(-1)))
    assert best_by_enumeration(Modelled(Model(1))).tolist() == [2, 3]
    assert best_by_enumeration(Modelled(Model(-1))).tolist() == [0, 1]
    assert identity(Modelled(Model(1))) == identity(Modelled(Model(1)))


def test_an_object_that_cannot_be_looked_into_is_like_itself_alone():
    one, two = Model(1), Model(1)
    one.lock, two.lock = threading.Lock(), threading.Lock()
    assert identity(Modelled(one)) == identity(Modelled(one)) != identity(Modelled(two))


def test_a_function_in_a_field_counts():
    def scaled(by):
        return lambda arm: by * arm

    one, two, again = (Modelled(scaled(by)) for by in (1, 2, 1))
    assert identity(one) == identity(again) != identity(two)


def test_the_names_of_arms_do_not_count():
    assert identity(MNL([1.0, 2.0], k=1, names=("a", "b"))) == identity(MNL([1.0, 2.0], k=1))


def test_the_identity_is_the_same_in_every_process():
    script = (
        "import setwise as sw; from setwise.identity import identity; from setwise.experiments.plays import Play\n"
        "print(identity(sw.Doubling()), Play(sw.UCB(), sw.paper.camera(), 100).digest)"
    )
    here = f"{identity(sw.Doubling())} {Play(sw.UCB(), sw.paper.camera(), 100).digest}"
    for seed in "12":
        environ = {**os.environ, "PYTHONHASHSEED": seed}
        there = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
        assert there.stdout.strip() == here


def test_a_result_is_found_again_only_for_the_code_that_gave_it(tmp_path):
    store = Store(tmp_path)
    falling = Play(sw.UCB(), cell(FALLING)(), 50)
    store.keep(falling, falling.run(1, compiled=False))
    assert store.load(Play(sw.UCB(), cell(FALLING)(), 50), 1) is not None
    assert store.load(Play(sw.UCB(), cell(RISING)(), 50), 1) is None


def test_a_global_that_was_set_anew_is_another_play():
    world = cell(WORLD.replace("MEAN", "SIGN * 0.1 * chosen[j]"), SIGN=1.0)
    before = Play(sw.UCB(), world(), 50).digest
    world.means.__globals__["SIGN"] = 2.0
    assert Play(sw.UCB(), world(), 50).digest != before


def test_results_of_an_earlier_store_are_not_read_and_count_as_out_of_date(tmp_path, monkeypatch):
    store, play = Store(tmp_path), Play(sw.UCB(), sw.paper.camera(), 50)
    monkeypatch.setattr(plays, "STORE", 1)
    monkeypatch.setattr("setwise.experiments.store.STORE", 1)
    earlier = Play(sw.UCB(), sw.paper.camera(), 50)
    store.keep(earlier, earlier.run(1, compiled=False))
    assert store.entries()[0].current is True
    monkeypatch.undo()
    assert store.load(play, 1) is None
    assert [entry.current for entry in store.entries()] == [False]
    assert len(store.remove(stale=True)) == 1


TOML = """
title = "Two worlds of one name"
horizon = 400
runs = 2
policies = ["ucb", "oracle"]
[environments.a]
name = "wa.World"
[environments.b]
name = "wb.World"
"""


def test_worlds_of_one_name_in_two_modules_keep_their_own_regret(tmp_path):
    (tmp_path / "wa.py").write_text(RISING)
    (tmp_path / "wb.py").write_text(FALLING)
    (tmp_path / "two.toml").write_text(TOML)
    words = [sys.executable, "-m", "setwise", "run", "two.toml", "--out", "page", "--results", "out"]
    for _ in range(2):  # played, then read by another process
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        results = [sw.Result.load(path) for path in sorted((tmp_path / "out").glob("*.npz"))]
        assert len(results) == 4
        assert all((result.regret >= 0).all() for result in results)
        oracles = [result.pulls.sum(axis=0) for result in results if result.policy.startswith("Oracle")]
        assert sorted(np.flatnonzero(pulls).tolist() for pulls in oracles) == [[0, 1], [2, 3]]


class Boastful(NamedTuple):
    """A world that calls the wrong set best."""

    n: int = 4
    k: int = 2
    off: float = 0.2

    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = 0.1 + self.off * chosen[j]

    def draw(self, chosen, rng, rewards):
        for j in range(len(chosen)):
            rewards[j] = 1.0 if rng.random() < 0.1 + self.off * chosen[j] else 0.0

    def best(self):
        return np.array([0, 1])


@pytest.mark.parametrize("compiled", [False, True])
def test_a_negative_regret_is_refused_with_the_set_that_beat_the_best(compiled):
    with pytest.raises(sw.InputError) as refusal:
        sw.simulate(sw.UCB(), Boastful(), 100, compiled=compiled)
    text = str(refusal.value)
    assert text.startswith("Boastful.best() is [0, 1], worth 0.4, but UCB played [")
    assert "regret would be negative" in text
    played = json.loads(text[text.index("played ") + 7 : text.index(" in round")])
    assert f"worth {0.2 + 0.2 * sum(played):.6g}: " in text


def test_rounding_is_no_negative_regret():
    assert sw.simulate(sw.UCB(), Boastful(off=1e-14), 100, compiled=False).regret[0, -1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("best", [[0, 4], [0, 0], [0], [0.0, 1.0], [-1, 0]])
def test_a_best_set_that_is_none_is_refused(best):
    class Wrong(Boastful):
        def best(self):
            return np.array(best)

    Wrong.means, Wrong.draw = Boastful.means, Boastful.draw
    with pytest.raises(sw.InputError, match=r"Wrong.best\(\) is .*; it has to be 2 distinct arms from 0 to 3"):
        sw.simulate(sw.UCB(), Wrong(), 10, compiled=False)
