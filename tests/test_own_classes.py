"""Users' classes that would give wrong numbers are refused; the error names the method and the fix."""

import itertools
import linecache
from typing import NamedTuple

import numpy as np
import pytest

import setwise as sw


class Counts(NamedTuple):
    pulls: np.ndarray
    chosen: np.ndarray


HEAD = "from typing import NamedTuple\nimport random\nimport numpy as np\nimport setwise as sw\n"
POLICY = """
@sw.policy
class Mine(NamedTuple):
    mode: KIND = VALUE

    def init(self, n, k, horizon, rng):
        return Counts(np.zeros(n), np.zeros(k, np.int64))

    def select(self, state, rng):
        k = len(state.chosen)
        if TEST:
            return np.arange(len(state.pulls) - k, len(state.pulls))
        return np.arange(k)

    def update(self, state, chosen, rewards, rng):
        pass
"""
HELPERS = """
def inner(a): return 0.5 * (a + 1) / 6
def value(a): return inner(a)
"""
WORLD = """
@sw.environment(FACTS)
class World(NamedTuple):
    k: int = 2

    @property
    def n(self):
        return SIZE

    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = MEAN

    def draw(self, chosen, rng, rewards):
        for j in range(len(chosen)):
            rewards[j] = REWARD

    def best(self):
        return BEST
"""
SIMPLE = sw.environments.Independent([0.9, 0.8, 0.7, 0.3, 0.2, 0.1], k=3)
BINARY = 'feedback="independent", rewards="binary"'
cells = itertools.count()
both = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])


def made(source, name, space=None, cell="<string>", **words):
    """The class that a source defines, with words in it replaced."""
    for word, text in words.items():
        source = source.replace(word, text)
    space = {"__name__": "__main__", "Counts": Counts} if space is None else space
    exec(compile(HEAD + source, cell, "exec"), space)
    return space[name]


def policy(test, kind="str", value="'last'"):
    return made(POLICY, "Mine", TEST=test, KIND=kind, VALUE=value)()


def world(mean="0.1 * chosen[j]", facts=BINARY, n="5", best="np.array([3, 4])", reward="0.0"):
    """A world of a notebook, whose cells Python can show, so that it is compiled without Numba."""
    words = {"MEAN": mean, "FACTS": facts, "SIZE": n, "BEST": best, "REWARD": reward}
    text, cell = HEAD + WORLD, f"<cell {next(cells)}>"
    for word, value in words.items():
        text = text.replace(word, value)
    linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
    return made(WORLD, "World", cell=cell, **words)()


@pytest.mark.parametrize(
    ("test", "kind", "value"),
    [
        ('self.mode == "last"', "str", '"last"'),
        ('self.mode != "first"', "str", '"last"'),
        ("not self.mode", "str", '""'),
        ("self.mode", "tuple", "(3, 4, 5)"),
        ("self.mode(-2) > 1", "object", "abs"),
    ],
)
def test_a_field_that_compiled_code_cannot_use_is_refused_and_never_taken_for_none(test, kind, value):
    assert sw.simulate(policy(test, kind, value), SIMPLE, 100, compiled=False).regret[0, -1] == pytest.approx(180.0)
    refused = r"Mine\.select cannot be compiled .*a field that is a text, a tuple or a function: make it a number"
    with pytest.raises(sw.InputError, match=refused):
        sw.simulate(policy(test, kind, value), SIMPLE, 100, compiled=True)


@both
@pytest.mark.parametrize(("test", "lost"), [("self.mode is None", 0.0), ("self.mode is not None", 180.0)])
def test_whether_such_a_field_is_none_is_known(test, lost, compiled):
    result = sw.simulate(policy(test, "object", "(1, 2)"), SIMPLE, 100, compiled=compiled)
    assert result.regret[0, -1] == pytest.approx(lost)


def test_a_helper_defined_anew_is_never_run_stale_with_another_policy_or_in_another_class():
    """Code without a source file is compiled by Numba, which compiles a function once."""
    space = {"__name__": "__main__"}
    words = {"MEAN": "value(chosen[j])", "FACTS": BINARY, "SIZE": "6", "BEST": "np.array([4, 5])", "REWARD": "0.0"}
    first = made(HELPERS + WORLD, "World", space, **words)()
    sw.simulate(sw.UCB(), first, 100, compiled=True)
    made("def inner(a): return 0.9 - 0.1 * a", "inner", space)
    with pytest.raises(sw.InputError, match=r"^World uses code that has changed .*: define World again$"):
        sw.simulate(sw.KLUCB(), first, 100, compiled=True)
    words["BEST"] = "np.array([0, 1])"
    second = made(WORLD, "World", space, **words)()
    with pytest.raises(sw.InputError, match=r"^value uses code that has changed .*: define value again$"):
        sw.simulate(sw.KLUCB(), second, 100, compiled=True)
    third = made(HELPERS.replace("0.5 * (a + 1) / 6", "0.9 - 0.1 * a") + WORLD, "World", space, **words)()
    compiled, interpreted = (sw.simulate(sw.KLUCB(), third, 100, compiled=how).regret for how in (True, False))
    assert np.array_equal(compiled, interpreted)


@both
@pytest.mark.parametrize(
    ("draw", "name"), [("np.random.rand()", "np.random.rand"), ("random.random()", "random.random")]
)
def test_a_policy_that_draws_from_anything_but_rng_is_refused(draw, name, compiled):
    with pytest.raises(sw.InputError, match=rf"^Mine\.select draws from {name}, which .* seed; draw from rng$"):
        sw.simulate(policy(f"{draw} < 0.5"), SIMPLE, 10, compiled=compiled)


@both
@pytest.mark.parametrize(
    ("mean", "facts", "said"),
    [
        ("np.nan if chosen[j] == 1 else 0.1", BINARY, "nan.* wrong for arm 1; .* numbers from 0 to 1"),
        ("np.nan if chosen[j] == 4 else 0.1", BINARY, r"means gives \[0\.1, nan\] for its best set"),
        ("1.9 if chosen[j] == 1 else 0.9", BINARY, "1.9.* wrong for arm 1"),
        ("-0.5 if chosen[j] == 1 else 0.2", BINARY, "-0.5.* wrong for arm 1"),
        ("2.5 if chosen[j] == 1 else 1.9", "bound=2.0", "2.5.* wrong for arm 1; means are numbers from 0 to 2"),
        ("0.9 if chosen[j] > 2 else 0.8", 'feedback="choice", rewards="binary"', r"1\.[67] in all; .* at most 1"),
    ],
)
def test_means_that_cannot_be_are_refused(mean, facts, said, compiled):
    with pytest.raises(sw.InputError, match=said):
        sw.simulate(sw.UCB(bound=2.0), world(mean, facts), 1000, compiled=compiled)


@both
@pytest.mark.parametrize("reward", ["50.0", "-1.0", "np.nan"])
def test_a_reward_that_cannot_be_is_refused_also_late(reward, compiled):
    rare = world(reward=f"{reward} if rng.random() < 0.001 else 0.0", facts='feedback="independent"')
    with pytest.raises(sw.InputError, match=r"^World: the reward of arm \d is .* in round \d{3,}; .* 0 to 1 a round"):
        sw.simulate(sw.UCB(), rare, 100_000, compiled=compiled, seed=1)


def test_errors_in_n_and_best_are_told_with_their_place():
    with pytest.raises(sw.InputError, match=r"^World\.n \(.*\) raised TypeError: object of type 'int' has no len"):
        sw.simulate(sw.UCB(), world(n="len(3)"), 10)
    with pytest.raises(sw.InputError, match=r"^World\.best \(.*\) raised ZeroDivisionError"):
        sw.simulate(sw.UCB(), world(best="1 // 0"), 10)


@both
def test_a_set_of_two_dimensions_is_refused(compiled):
    square = made(
        POLICY.replace("np.arange(k)", "np.zeros((k, k), np.int64)"), "Mine", TEST="False", KIND="int", VALUE="0"
    )
    with pytest.raises(sw.InputError, match=r"^Mine\.select returned .*; it has to return an array of k whole numbers"):
        sw.simulate(square(), SIMPLE, 10, compiled=compiled)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("helper(k, more=2) > 0", "cannot call helper with these arguments: give them by position"),
        ("self.n > 0", "does not see properties: make n a field"),
    ],
)
def test_mistakes_that_are_easily_made_are_told_in_words(test, said, monkeypatch):
    monkeypatch.setenv("SETWISE_COMPILER", "numba")  # ours compiles both
    source = POLICY.replace("    def init(", "    @property\n    def n(self):\n        return 3\n\n    def init(")
    mine = made(f"def helper(a, more=1): return a + more\n{source}", "Mine", TEST=test, KIND="int", VALUE="0")
    with pytest.raises(sw.InputError, match=said):
        sw.simulate(mine(), SIMPLE, 10, compiled=True)


def test_a_number_in_place_of_a_list_is_refused():
    with pytest.raises(sw.InputError, match=r"^Mine: mode is 3; give a list of numbers$"):
        made(POLICY, "Mine", TEST="True", KIND="np.ndarray", VALUE="np.zeros(2)")(3)


def test_an_inherited_method_does_not_count_and_the_sentence_says_what_to_write():
    with pytest.raises(
        sw.InputError, match=r"no method init\(.*\), .*; an inherited one does not count: write init = Base"
    ):
        made("@sw.policy\nclass Mine(sw.UCB):\n    pass\n", "Mine")
