"""Users' classes: an index out of bounds is an error, never corrupt memory; `print` and `raise` work compiled."""

import functools
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise.environments import MNL
from setwise.environments.enumeration import best_by_enumeration
from setwise.simulation import trial

WORLD = MNL([3.0, 2.5, 2.0, 1.0], k=2)
MINE = """
from typing import NamedTuple
import numpy as np
import setwise as sw

class State(NamedTuple):
    rounds: np.ndarray
    sums: np.ndarray

class Trouble(Exception):
    pass

class Mine(NamedTuple):
    after: int = 3

    def init(self, n, k, horizon, rng):
        return State(np.zeros(1, np.int64), np.zeros(n))

    def select(self, state, rng):
        SELECT
        return np.arange(2)

    def update(self, state, chosen, rewards, rng):
        state.rounds[0] += 1
        UPDATE

def main():
    print(sw.simulate(Mine(), sw.environments.MNL([3.0, 2.5, 2.0, 1.0], k=2), HORIZON).horizon)

if __name__ == "__main__":
    main()
"""


def source(select="pass", update="pass", horizon=6):
    return MINE.replace("SELECT", select).replace("UPDATE", update).replace("HORIZON", str(horizon))


def run(folder, text, as_module):
    """Play in a process of its own: of a class in `__main__`, or of one in a module, which is cached on disk."""
    (folder / "mine.py").write_text(text)
    words = ["-c", "import mine; mine.main()"] if as_module else ["mine.py"]
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=300)


def played(text, **options):
    space = {"__name__": "notebook"}
    exec(compile(text, "<cell>", "exec"), space)
    return sw.simulate(space["Mine"](), WORLD, 50, **options)


@pytest.mark.parametrize("as_module", [False, True])
def test_compiled_code_prints_what_it_is_told_to_once_and_does_not_hang(tmp_path, as_module):
    text = source('print("round", state.rounds[0], state.sums[0], self.after, True)')
    for _ in range(1 + as_module):  # compiled, then read from the cache
        done = run(tmp_path, text, as_module)
        assert done.stdout.splitlines() == [*(f"round {t} 0.0 3 True" for t in range(6)), "6"], done.stderr


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('if state.rounds[0] >= 300: raise ValueError("at three hundred")', "ValueError: at three hundred"),
        pytest.param(
            'if state.rounds[0] >= 300: raise ValueError("at", state.rounds[0])',
            "ValueError: ('at', 300)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            'if state.rounds[0] >= 300: raise ValueError(f"at {state.rounds[0]}")',
            "ValueError: at 300",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            'if state.rounds[0] >= 300: raise Trouble("own", self.after)', "Trouble: ('own', 3)", marks=pytest.mark.slow
        ),
        pytest.param('assert state.rounds[0] < 300, "too many"', "AssertionError: too many", marks=pytest.mark.slow),
    ],
)
def test_what_compiled_code_raises_is_raised(tmp_path, line, error):
    done = run(tmp_path, source(line, horizon=1001), False)  # beyond what is interpreted
    assert done.returncode == 1
    assert error in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("line", ["state.sums[len(state.sums)] = 1.0", "state.sums[4] += state.sums[-1]"])
def test_an_index_out_of_bounds_is_refused_before_compiled_code_runs(line):
    with pytest.raises(sw.InputError, match=r"Mine.update \(<cell>, line 25\): index 4 is out of bounds for axis 0"):
        played(source(update=line))


def test_an_index_that_goes_out_of_bounds_later_is_found_by_check_bounds():
    text = source(update="state.sums[max(0, state.rounds[0] - 300)] += 1.0")
    space = {"__name__": "notebook"}
    exec(compile(text, "<cell>", "exec"), space)
    with pytest.raises(
        sw.InputError, match="Mine in MNL: index is out of bounds in run 0, after round 300; compiled=F"
    ):
        sw.simulate(space["Mine"](), WORLD, 400, checkpoints=[300, 400], check_bounds=True)
    with pytest.raises(sw.InputError, match=r"Mine.update \(<cell>, line 25\): index 4 is out of bounds"):
        sw.simulate(space["Mine"](), WORLD, 400, compiled=False)


@pytest.mark.parametrize("fast_forward", [False, True])
def test_checked_bounds_give_the_same_bits(fast_forward):
    options = {"horizon": 2000, "runs": 2, "fast_forward": fast_forward}
    checked, plain = (sw.simulate(sw.UCB(), WORLD, check_bounds=check, **options) for check in (True, False))
    assert np.array_equal(checked.regret, plain.regret) and np.array_equal(checked.pulls, plain.pulls)


class Short(NamedTuple):
    """A world with fewer means than arms."""

    values: np.ndarray
    n: int = 40
    k: int = 3

    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = self.values[chosen[j]]

    def draw(self, chosen, rng, rewards):
        self.means(chosen, rewards)

    def best(self):
        return np.arange(3)


def test_means_out_of_bounds_are_refused_before_all_sets_are_looked_at_compiled():
    with pytest.raises(sw.InputError, match=r"Short.means \(test_trial.py, line \d+: .*\): index 3\d is out of bounds"):
        best_by_enumeration(Short(np.linspace(0.1, 0.9, 37)))


def test_a_world_of_ones_own_is_tried_too():
    with pytest.raises(sw.InputError, match=r"Short.means"):
        sw.simulate(sw.Uniform(), Short(np.linspace(0.9, 0.1, 5)), 100)


def test_a_method_that_only_raises_is_told_by_its_name_and_line():
    with pytest.raises(sw.InputError, match=r"Mine.select \(<cell>, line 20\) raised NotImplementedError: later"):
        played(source('raise NotImplementedError("later")'), compiled=True)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("x = 1.0 / float(len(state.sums) - 4); state.sums[0] = x", ZeroDivisionError),
        ("state.sums[0] = rng.beta(state.sums[1], 1.0)", ValueError),  # compiled, it never ends
    ],
)
def test_an_error_that_only_interpreted_code_has_is_raised(line, error):
    with pytest.raises(error):
        played(source(line))


def test_a_trial_leaves_no_trace_in_the_results():
    text = source("state.sums[0] = rng.random()", "state.sums[1] += state.sums[0]")
    trial._tried.clear()
    first, second, interpreted = played(text), played(text), played(text, compiled=False)
    assert first.regret.tobytes() == second.regret.tobytes() == interpreted.regret.tobytes()


def test_a_pair_is_tried_once_and_a_class_that_is_defined_again_is_tried_again(monkeypatch):
    rounds = []
    monkeypatch.setattr(trial, "play", lambda *args: rounds.append(args))
    space = {"__name__": "notebook"}
    exec(compile(source(), "<cell>", "exec"), space)
    for _ in range(2):
        sw.simulate(space["Mine"](), WORLD, 20, compiled=True)
    assert len(rounds) == 1
    sw.simulate(sw.UCB(), WORLD, 20, compiled=True)  # both are Setwise's own
    assert len(rounds) == 1
    sw.simulate(space["Mine"](), MNL([3.0, 2.5, 2.0, 1.0, 0.5], k=2), 20, compiled=True)
    assert len(rounds) == 2


def test_a_slow_policy_is_tried_for_a_while_and_not_for_ever(monkeypatch):
    monkeypatch.setattr(trial, "ROUNDS", 10**9)
    monkeypatch.setattr(trial, "SECONDS", 0.05)
    space = {"__name__": "notebook"}
    exec(compile(source(), "<cell>", "exec"), space)
    assert sw.simulate(space["Mine"](), WORLD, 10**6).horizon == 10**6


def test_an_unknown_name_is_told_with_its_line_by_the_compiler_itself():
    from setwise import compiled

    space = {"__name__": "notebook"}
    exec(compile(source("x = 3\n        y = nowhere + x"), "mine.py", "exec"), space)
    rng = np.random.default_rng(0)
    mine = space["Mine"]()
    with pytest.raises(sw.InputError, match=r"^Mine.select cannot be compiled \(mine.py, line 21.*'nowhere'"):
        compiled.compile_for(ask, mine, mine.init(4, 2, 10, rng), rng)


def ask(policy, state, rng):
    return policy.select(state, rng)[0]


def test_other_parameters_are_tried_again():
    text = source(update="state.sums[self.after] += 1.0")
    space = {"__name__": "notebook"}
    exec(compile(text, "<cell>", "exec"), space)
    assert sw.simulate(space["Mine"](), WORLD, 20).runs == 1
    with pytest.raises(sw.InputError, match="index 1000 is out of bounds"):
        sw.simulate(space["Mine"](1000), WORLD, 20)


def test_one_wrong_set_of_many_is_found_when_all_are_looked_at():
    class Rare(Short):
        def means(self, chosen, out):
            for j in range(len(chosen)):
                far = 10**7 if chosen[0] == 7 and chosen[1] == 11 and chosen[2] == 13 else 0
                out[j] = self.values[chosen[j] + far]

    Rare.draw, Rare.best = Short.draw, Short.best
    with pytest.raises(
        sw.InputError, match=r"Rare.means: index is out of bounds, for one of the 9,880 sets of 3 of its 40"
    ):
        best_by_enumeration(Rare(np.linspace(0.1, 0.9, 40)))


class Plain(NamedTuple):
    """A world of 0 and 1 that does not say how to draw many rounds."""

    n: int = 5
    k: int = 2

    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = 0.1 * chosen[j]

    def draw(self, chosen, rng, rewards):
        for j in range(len(chosen)):
            rewards[j] = 1.0 if rng.random() < 0.1 * chosen[j] else 0.0

    def best(self):
        return np.array([3, 4])


Plain = sw.environment(rewards="binary", feedback="independent")(Plain)


def test_a_world_inside_of_another_that_cannot_draw_many_rounds_is_played_round_by_round():
    prices = sw.environments.Scaled(Plain(), [1.0, 1.0, 1.0, 1.0, 0.5])
    result = sw.simulate(sw.UCB(), prices, 2000, compiled=False)
    assert not result.fast_forward
    alike = sw.environments.Scaled(sw.environments.Independent(0.1 * np.arange(5), k=2), prices.prices)
    assert sw.simulate(sw.UCB(), alike, 2000, compiled=False).fast_forward


def doubled(method):
    """A decorator of the user's own."""

    @functools.wraps(method)
    def wrapper(self, state, rng):
        return method(self, state, rng) + 2

    return wrapper


@pytest.mark.parametrize("declare", [sw.policy, lambda cls: cls])
def test_a_decorator_of_the_users_own_counts_in_compiled_code(declare):
    space = {"__name__": "notebook", "doubled": doubled}
    text = source().replace("    def select", "    @doubled\n    def select")
    exec(compile(text, "<cell>", "exec"), space)
    mine = declare(space["Mine"])
    for compiled in (True, False):
        assert sw.simulate(mine(), WORLD, 20, compiled=compiled).pulls.tolist() == [[0, 0, 20, 20]]
