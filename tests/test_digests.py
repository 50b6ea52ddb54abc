"""Digests are the same in every process, and change with everything that affects a result."""

import enum
import functools
import json
import math
import os
import subprocess
import sys
import threading
from typing import NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise.digests import code_digest, reachable, value_digest
from setwise.environments import MNL, Scaled
from setwise.simulation.play import play

WORLD = MNL([3.0, 2.0, 1.0], k=2, names=("a", "b", "c"))

IN_A_NEW_PROCESS = """
import json
import setwise as sw
from setwise.digests import code_digest, value_digest
from setwise.environments import MNL
from setwise.simulation.play import play
world = MNL([3.0, 2.0, 1.0], k=2, names=("x", "y", "z"))
print(json.dumps([value_digest(world), value_digest(sw.UCB(1)), code_digest(play, sw.UCB, MNL)]))
"""

SET_OF_NAMES = """
from setwise.digests import code_digest
def known(name):
    return name in {"camera", "tripod", "flash"}
print(code_digest(known))
"""


class Pair(NamedTuple):
    left: float
    right: float


class Setting(NamedTuple):
    """Not declared, so that any value can be tried."""

    array: object = np.array([1.0, 2.0])
    number: object = 1.0
    text: object = "x"
    nested: object = Pair(1.0, 2.0)
    feedback: object = sw.Feedback.choice
    names: object = ("a", "b")


def in_a_new_process(code, hash_seed):
    environ = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def function(source, **names):
    """The function f of a source text, with these global names."""
    space = {"__name__": "somewhere", **names}
    exec(compile(source, "somewhere.py", "exec"), space)
    return space["f"]


def digest(source, **names):
    return code_digest(function(source, **names))


def test_the_digest_of_a_value_is_pinned():
    value = (1, 2.5, "x", np.arange(3))
    assert value_digest(value) == "dd76b11c64368508db6260af761a5afdeaf6687e5b387a92efa72f08cfa262c9"


@pytest.mark.parametrize("hash_seed", [1, 2])
def test_no_process_changes_a_digest(hash_seed):
    here = [value_digest(WORLD), value_digest(sw.UCB(1)), code_digest(play, sw.UCB, MNL)]
    assert json.loads(in_a_new_process(IN_A_NEW_PROCESS, hash_seed)) == here


def test_no_process_changes_the_digest_of_code_with_a_set_of_strings():
    assert len({in_a_new_process(SET_OF_NAMES, hash_seed) for hash_seed in (1, 2, 3)}) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("array", np.array([1.0, 2.5])),
        ("array", np.array([[1.0, 2.0]])),
        ("array", np.array([1.0, 2.0], dtype=np.float32)),
        ("number", 1),
        ("number", True),
        ("number", math.nextafter(1.0, 2.0)),
        ("number", None),
        ("text", "y"),
        ("nested", Pair(2.0, 1.0)),
        ("nested", (1.0, 2.0)),
        ("feedback", sw.Feedback.independent),
        ("feedback", 0),
    ],
)
def test_every_field_counts(field, value):
    assert value_digest(Setting()._replace(**{field: value})) != value_digest(Setting())


def test_names_of_arms_do_not_count():
    renamed = [WORLD._replace(names=names) for names in (("x", "y", "z"), None)]
    assert {value_digest(world) for world in renamed} == {value_digest(WORLD)}
    assert value_digest(Scaled(WORLD, 2.0)) == value_digest(Scaled(WORLD._replace(names=None), 2.0))


def test_the_layout_of_an_array_does_not_count():
    rows = np.arange(6.0).reshape(2, 3)
    assert value_digest(rows) == value_digest(np.asfortranarray(rows)) == value_digest(rows.astype(">f8"))
    assert value_digest(np.float64(2.5)) == value_digest(2.5)


def test_the_border_between_texts_counts():
    assert value_digest(("ab", "c")) != value_digest(("a", "bc"))
    assert value_digest((("a",), "b")) != value_digest(("a", ("b",)))


def test_the_class_of_a_policy_counts():
    class Couple(NamedTuple):
        left: float
        right: float

    assert value_digest(Pair(1.0, 2.0)) != value_digest(Couple(1.0, 2.0))


def test_comments_and_line_numbers_do_not_count():
    source = "def f(x):\n    return x + 1\n"
    moved = "\n\n# a comment\ndef f(x):\n    # another\n\n    return x + 1\n"
    assert digest(source) == digest(moved)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x + 2\n",
        "def f(x):\n    return x + 1.0\n",
        "def f(x):\n    return x + True\n",
        "def f(x):\n    return x - 1\n",
        "def f(y):\n    return y + 1\n",
        "def f(x, y=1):\n    return x + 1\n",
    ],
)
def test_every_change_of_the_code_counts(source):
    assert digest(source) != digest("def f(x):\n    return x + 1\n")


def test_an_attribute_is_not_the_global_of_its_name():
    source = "def f(obj):\n    return obj.foo + obj.bar(1)\n"
    assert digest(source, foo=1, bar=1) == digest(source, foo=2, bar=function("def f(x):\n    return x\n"))


def test_global_constants_count():
    source = "def f(x):\n    return [y for y in x if y > LIMIT]\n"
    assert digest(source, LIMIT=1) != digest(source, LIMIT=2)
    long = np.zeros(5000)
    other = long.copy()
    other[2500] = 1.0
    assert digest(source, LIMIT=long) != digest(source, LIMIT=other)


def test_an_unused_global_does_not_count():
    assert digest("def f(x):\n    return x\n", LIMIT=1) == digest("def f(x):\n    return x\n", LIMIT=2)


def test_default_arguments_count():
    source = "def f(x, table=TABLE):\n    return table[x]\n"
    long = np.zeros(5000)
    other = long.copy()
    other[2500] = 1.0
    assert digest(source, TABLE=(1, 2)) != digest(source, TABLE=(1, 3))
    assert digest(source, TABLE=long) != digest(source, TABLE=other)


def test_keyword_defaults_count():
    assert digest("def f(x, *, y=1):\n    return x + y\n") != digest("def f(x, *, y=2):\n    return x + y\n")


def test_helper_functions_count_however_far():
    source = "def f(x):\n    return helper(x)\n"
    helper = "def f(x):\n    return inner(x)\n"
    one, two = (function(f"def f(x):\n    return x + {number}\n") for number in (1, 2))
    assert digest(source, helper=function(helper, inner=one)) != digest(source, helper=function(helper, inner=two))


def test_helpers_found_through_a_module_count():
    module = type(math)("module")
    source = "def f(x):\n    return module.helper(x) + module.LIMIT\n"
    module.helper, module.LIMIT = function("def f(x):\n    return x\n"), 1
    before = digest(source, module=module)
    module.LIMIT = 2
    assert digest(source, module=module) != before
    module.LIMIT, module.helper = 1, function("def f(x):\n    return -x\n")
    assert digest(source, module=module) != before


def test_a_decorated_helper_counts():
    def decorated(number):
        plain = function(f"def f(x):\n    return x + {number}\n")
        return functools.wraps(plain)(lambda x: plain(x))

    source = "def f(x):\n    return helper(x)\n"
    assert digest(source, helper=decorated(1)) != digest(source, helper=decorated(2))


def test_what_a_closure_holds_counts():
    def adding(number):
        return lambda x: x + number

    assert code_digest(adding(1)) != code_digest(adding(2))
    assert code_digest(adding(1)) == code_digest(adding(1))


def test_which_function_a_name_stands_for_counts():
    source = "def f(x):\n    return first(x) - second(x)\n"
    assert digest(source, first=math.floor, second=math.ceil) != digest(source, first=math.ceil, second=math.floor)
    one, two = (function(f"def f(x):\n    return x + {number}\n") for number in (1, 2))
    one.__qualname__, two.__qualname__ = "one", "two"
    assert digest(source, first=one, second=two) != digest(source, first=two, second=one)


def test_the_value_of_an_enum_member_counts():
    source = "def f(x):\n    return x + Mode.fast\n"
    one, two = (enum.IntEnum("Mode", {"fast": value}, module=__name__) for value in (1, 2))
    assert digest(source, Mode=one) != digest(source, Mode=two)


def test_the_methods_of_a_class_count_with_what_they_call():
    names = {function.__qualname__ for function in reachable(sw.UCB)}
    assert {"UCB.select", "UCB.certain_rounds", "learn", "confidence_index", "rounds_above"} <= names


def test_the_methods_of_a_named_tuple_in_a_global_count():
    def inner(number):
        def select(self, state, rng):
            return state + number

        return type("Inner", (Pair,), {"select": select})(1.0, 2.0)

    source = "def f(state, rng):\n    return INNER.select(state, rng)\n"
    assert digest(source, INNER=inner(1)) != digest(source, INNER=inner(2))


def test_what_changes_while_the_program_runs_is_not_code() -> None:
    before = code_digest(sw.environments.Coverage)
    for scale in (0.3, 0.5):
        world = sw.environments.Coverage([0.5, 0.3], [[scale, 0.1], [0.2, 0.9], [0.4, 0.4]], k=2)
        assert len(world.best()) == 2  # found by enumeration, and remembered
    assert code_digest(sw.environments.Coverage) == before


class Wordless:
    pass


def test_an_object_without_words_of_its_own_is_not_told_by_its_address():
    one, other = Wordless(), Wordless()
    assert repr(one) != repr(other)
    assert value_digest(one) == value_digest(other) != value_digest(np.r_)


class Exacting(NamedTuple):
    exact: bool = True
    names: tuple = ()

    def select(self, state, rng):
        return self._pick(state)

    def _pick(self, state):
        return state


def test_only_labels_of_environments_are_left_out_of_a_digest():
    assert value_digest(Exacting(True)) != value_digest(Exacting(False))
    assert value_digest(Exacting(names=("a",))) != value_digest(Exacting(names=("b",)))


def test_private_methods_are_part_of_the_code(monkeypatch):
    before = code_digest(Exacting)

    def pick(self, state):
        return state + 1

    pick.__qualname__ = Exacting._pick.__qualname__
    monkeypatch.setattr(Exacting, "_pick", pick)
    assert code_digest(Exacting) != before


def test_docstrings_do_not_count_and_texts_do():
    def digest(source):
        space = {"__name__": "made"}
        exec(source, space)
        return code_digest(space["f"])

    plain = digest("def f(x):\n    return x + 1\n")
    assert digest('def f(x):\n    """Add one."""\n    return x + 1\n') == plain
    assert digest("def f(x):\n    return x + 2\n") != plain
    assert digest('def f(x):\n    return "a"\n') != digest('def f(x):\n    return "b"\n')
    assert digest('def f(x):\n    """Say."""\n    return "a"\n') != digest(
        'def f(x):\n    """Say."""\n    return "b"\n'
    )
    assert digest('f = lambda x: "a"') != digest('f = lambda x: "b"')
    inner = 'def f(x):\n    return ["{}" for _ in x]\n'
    assert digest(inner.format("a")) != digest(inner.format("b"))


def test_the_address_of_an_object_does_not_count():
    locks = [threading.Lock() for _ in range(3)] + [threading.RLock()]
    assert len({value_digest(lock) for lock in locks}) == 2  # by their types
    assert value_digest("lock at 0x1") != value_digest("lock at 0x2")
