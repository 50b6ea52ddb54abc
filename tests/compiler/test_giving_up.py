"""Where the interpreter would raise, or compute something else, compiled code of a user's gives up."""

import math
import threading
from typing import Any

import numpy as np
import pytest
import unruly

import setwise as sw
from setwise.compiled import DEFAULTS, compile_for
from setwise.compiler.compile import Compiled, GaveUp, compile_function

WORLD = sw.paper.camera()


def compiled(function, *args):
    return Compiled(compile_function(function, args, DEFAULTS), checked=True)


GOES_ON = [
    (unruly.divides, 1.0, 2.0),
    (unruly.divides_elements, np.array([1.0, 0.0]), 1.0),
    (unruly.divides_converted, np.array([1.0, 2.0]), 1.0),
    (unruly.divides_wholes, -7, 2),
    (unruly.takes_the_rest, -7, 2),
    (unruly.adds, 2**62, 2**62 - 1),
    (unruly.subtracts, -(2**63), -1),
    (unruly.multiplies, 2**31, 2**31),
    (unruly.squares, 2**31, 0),
    (unruly.shifts_left, 1, 62),
    (unruly.shifts_right, -5, 63),
    (unruly.logarithm, 2.0, 1.0),
    (unruly.logarithm, math.inf, 1.0),
    (unruly.root, math.nan, 1.0),
    (unruly.exponential, 700.0, 1.0),
    (unruly.exponential, -1000.0, 0.5),
    (unruly.power, 2.0, 0.5),
    (unruly.whole, -2.5, 1),
    (unruly.floors, 2.5, 1),
    (unruly.unassigned, 4, 5),
    (unruly.asserts, 1, 2),
    (unruly.raises, 1, 2),
    (unruly.calls_one_that_raises, 1, 2),
    (unruly.allocates, 0, 1),
    (unruly.allocates, 5, 1),
]
GIVES_UP = [
    (unruly.divides, 1.0, 0.0),
    (unruly.divides_converted, np.array([1.0, 0.0]), 1.0),
    (unruly.divides_wholes, 7, 0),
    (unruly.takes_the_rest, 7, 0),
    (unruly.divides_wholes, -(2**63), -1),
    (unruly.takes_the_rest, -(2**63), -1),
    (unruly.adds, 2**62, 2**62),
    (unruly.subtracts, -(2**63), 1),
    (unruly.multiplies, 2**32, 2**31),
    (unruly.squares, 2**32, 0),
    (unruly.shifts_left, 1, 63),
    (unruly.shifts_left, 1, 64),
    (unruly.shifts_left, 1, -1),
    (unruly.shifts_right, 5, 64),
    (unruly.shifts_right, 5, -1),
    (unruly.logarithm, 0.0, 1.0),
    (unruly.logarithm, -1.0, 1.0),
    (unruly.root, -1.0, 1.0),
    (unruly.exponential, 800.0, 1.0),
    (unruly.power, -2.0, 0.5),
    (unruly.power, 0.0, -1.0),
    (unruly.power, 1e300, 2.0),
    (unruly.whole, math.nan, 1),
    (unruly.whole, math.inf, 1),
    (unruly.whole, 1e19, 1),
    (unruly.floors, math.nan, 1),
    (unruly.unassigned, 1, 5),
    (unruly.asserts, 3, 2),
    (unruly.raises, 4, 2),
    (unruly.calls_one_that_raises, 4, 2),
    (unruly.allocates, -1, 1),
    (unruly.allocates, 2**40, 1),
]


def named(part):
    return getattr(part, "__name__", None)


@pytest.mark.parametrize(("function", "a", "b"), GOES_ON, ids=named)
def test_what_both_do_is_done(function, a, b):
    with np.errstate(all="ignore"):
        expected = function(a, b)
    found = compiled(function, a, b)(a, b)
    assert found == expected or (math.isnan(found) and math.isnan(expected))


@pytest.mark.parametrize(("function", "a", "b"), GIVES_UP, ids=named)
def test_what_the_interpreter_does_in_another_way_is_left_to_it(function, a, b):
    call = compiled(function, a, b)
    with pytest.raises(GaveUp, match="compiled=False shows where"):
        call(a, b)
    good = next(case for case in GOES_ON if case[0] is function)
    with np.errstate(all="ignore"):
        found, expected = compiled(*good)(*good[1:]), function(*good[1:])
    assert found == expected or math.isnan(expected)  # the next call knows nothing of it


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("beta", (0.0, 1.0)),
        ("beta", (1.0, -2.0)),
        ("gamma", (-1.0, 1.0)),
        ("gamma", (1.0, -1.0)),
        ("normal", (0.0, -1.0)),
        ("exponential", (-1.0,)),
        ("standard_gamma", (-0.5,)),
    ],
)
def test_draws_with_impossible_parameters_are_left_to_numpy(method, given):
    space: dict[str, Any] = {}
    names = ", ".join("xyz"[: len(given)])
    source = f"def draws(rng, {names}):\n    return rng.{method}({names})\n"
    import linecache

    cell = f"<draws {method}>"
    linecache.cache[cell] = (len(source), None, source.splitlines(keepends=True), cell)
    exec(compile(source, cell, "exec"), space)
    rng = np.random.default_rng(0)
    good = tuple(1.0 for _ in given)
    expected = getattr(np.random.default_rng(0), method)(*good)
    call = compiled(space["draws"], rng, *good)
    assert call(rng, *good) == expected
    with pytest.raises(ValueError):
        getattr(rng, method)(*given)
    with pytest.raises(GaveUp):
        call(rng, *given)


def test_a_thread_that_gives_up_does_not_stop_the_others():
    call, wrong = compiled(unruly.raises, 1, 2), []

    def ask(number):
        for _ in range(300):
            try:
                found = call(number, 2)
            except GaveUp:
                found = None
            if found != (None if number > 3 else 2):
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# Truth values.


@pytest.mark.parametrize("function", [unruly.either, unruly.both, unruly.three], ids=named)
@pytest.mark.parametrize(("x", "y"), [(0.0, 3.0), (2.0, 3.0), (2.0, 0.0), (0.0, 0.0), (0, 4), (3, 0.5), (True, 7)])
def test_and_and_or_give_one_of_their_operands(function, x, y):
    assert compiled(function, x, y)(x, y) == function(x, y)


def test_sums_of_truth_values_are_refused_because_numpy_has_other_ones():
    flags = np.array([True, True])
    for function in (unruly.counts, unruly.negates):
        with pytest.raises(sw.InputError, match=r"line \d+: .* computes with truth values, .*; write int\(\.\.\.\)"):
            compile_for(function, flags, 1)
    assert compiled(unruly.counts_right, flags, 3)(flags, 3) == unruly.counts_right(flags, 3)


def test_whole_numbers_of_more_than_64_bits_are_refused():
    with pytest.raises(sw.InputError, match="18446744073709551615 has more than 64 bits"):
        compile_for(unruly.adds, 2**64 - 1, 1)
    with pytest.raises(sw.InputError, match="has more than 64 bits"):
        compile_for(unruly.too_large, 1)


# Things that change after they were compiled.


def test_what_code_refers_to_is_looked_up_again(monkeypatch):
    def answer():
        return compile_for(unruly.refers, 1.0)(1.0)

    assert answer() == unruly.refers(1.0) == 8.0
    monkeypatch.setattr(unruly, "FACTOR", 3.0)
    assert answer() == unruly.refers(1.0) == 12.0
    monkeypatch.setattr(unruly.Settings, "factor", 5.0)
    assert answer() == unruly.refers(1.0) == 30.0
    monkeypatch.setattr(unruly, "TABLE", unruly.TABLE * 2.0)
    assert answer() == unruly.refers(1.0) == 60.0
    unruly.WEIGHTS.values[0] = 2.0  # in place
    assert answer() == unruly.refers(1.0) == 120.0
    unruly.OFFSETS[0] = 1.0
    assert answer() == unruly.refers(1.0) == 121.0
    unruly.WEIGHTS.values[0], unruly.OFFSETS[0] = 1.0, 0.0


@pytest.mark.parametrize(("what", "error"), [(1, ZeroDivisionError), (2, ValueError), (3, KeyError)])
def test_an_error_of_a_late_round_is_the_interpreters(what, error):
    for way in (True, False):
        with pytest.raises(error) as told:
            sw.simulate(unruly.Late(what), WORLD, 400, runs=2, compiled=way)
        assert str(told.value) in ("float division by zero", "none of the weights is above 0", "'late'")
    assert sw.simulate(unruly.Late(), WORLD, 400, compiled=True).regret.shape[0] == 1


def test_a_run_that_only_the_interpreter_can_play_has_its_numbers():
    one, other = (sw.simulate(unruly.Late(4), WORLD, 400, runs=2, seed=1, compiled=way) for way in (True, False))
    assert np.array_equal(one.regret, other.regret) and np.array_equal(one.pulls, other.pulls)


def test_an_attribute_of_the_class_that_was_changed_counts(monkeypatch):
    for boost in (1.0, -1.0, 0.1):
        monkeypatch.setattr(unruly.Late, "boost", boost)
        one, other = (sw.simulate(unruly.Late(), WORLD, 250, seed=1, compiled=way).regret for way in (True, False))
        assert np.array_equal(one, other)


@pytest.mark.parametrize("kind", [1, 2])
def test_states_of_other_types_in_later_runs_are_refused(kind):
    with pytest.raises(sw.InputError, match=r"^Fickle\.init returns arrays of other types than in the first run"):
        sw.simulate(unruly.Fickle(kind), WORLD, 1001, runs=20, compiled=True)


def test_states_of_small_numbers_are_refused_where_they_would_be_compiled():
    with pytest.raises(sw.InputError, match=r"^Small\.init returns rounds as an array of int8; compiled code takes"):
        sw.simulate(unruly.Small(), WORLD, 50, compiled=True)
    assert sw.simulate(unruly.Small(), WORLD, 50, compiled=False).regret.shape[0] == 1


def test_an_interruption_while_compiling_is_one_without_a_result(monkeypatch):
    def interrupt(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("setwise.compiled.compile_for", interrupt)
    with pytest.raises(sw.Interrupted) as stopped:
        sw.simulate(sw.UCB(), WORLD, 50, compiled=True)
    assert stopped.value.result is None
