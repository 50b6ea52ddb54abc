"""Every part of Python that the compiler takes does the same as in the interpreter, to the last bit."""

import copy
import inspect
import math
import random
import struct

import constructs
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from setwise.compiled import DEFAULTS, compile_for
from setwise.compiler.compile import Compiled, compile_function
from setwise.compiler.kinds import Unsupported

WHOLE = st.integers(-40, 40) | st.integers(-(10**6), 10**6)
REAL = st.floats(-1e6, 1e6) | st.floats(-4.0, 4.0)


def functions(*parameters):
    found = inspect.getmembers(constructs, inspect.isfunction)
    return [
        f for _, f in found if tuple(inspect.signature(f).parameters) == parameters and f.__name__ != "several_results"
    ]


def compiled(function, *args):
    """The function, compiled without Numba."""
    return Compiled(compile_function(function, args, DEFAULTS), checked=True)


def bits(value):
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("<d", value)
    return value


def plain(value):
    """A Python number in place of NumPy's."""
    return value.item() if isinstance(value, np.generic) else value


def check(function, *args):
    """Compare results, arrays and generators."""
    here, there = copy.deepcopy(args), copy.deepcopy(args)
    with np.errstate(all="ignore"):
        expected = plain(function(*here))
    found = compiled(function, *there)(*there)
    if isinstance(found, float) and isinstance(expected, int):  # where only some of the branches are real
        expected = float(expected)
    assert bits(found) == bits(expected) and type(found) is type(expected), (function.__name__, args, found, expected)
    for one, other in zip(here, there, strict=True):
        same(one, other)


def same(one, other):
    if isinstance(one, tuple):
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, np.ndarray):
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, np.random.Generator):
        assert one.bit_generator.state == other.bit_generator.state


@pytest.mark.parametrize("function", functions("a", "b"), ids=lambda f: f.__name__)
@given(a=WHOLE, b=WHOLE)
@example(a=0, b=1)
@example(a=-7, b=-7)
@settings(max_examples=60)
def test_whole_numbers(function, a, b):
    if function is constructs.whole_division and b == 0:
        b = 1
    check(function, a, b)


@pytest.mark.parametrize("function", functions("x", "y"), ids=lambda f: f.__name__)
@given(x=REAL, y=REAL)
@example(x=0.0, y=-0.0)
@example(x=-0.0, y=0.5)
@settings(max_examples=60)
def test_real_numbers(function, x, y):
    try:
        check(function, x, y)
    except OverflowError:
        assert function is constructs.exponentials


@pytest.mark.parametrize("function", functions("a", "x"), ids=lambda f: f.__name__)
@given(a=WHOLE, x=REAL)
@settings(max_examples=60)
def test_mixed_numbers(function, a, x):
    check(function, a, x)


def arrays(rng):
    return rng.normal(size=rng.integers(6, 12)), rng.integers(-5, 90, rng.integers(1, 5))


@pytest.mark.parametrize("function", functions("values", "counts"), ids=lambda f: f.__name__)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=40)
def test_arrays(function, seed):
    check(function, *arrays(np.random.default_rng(seed)))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40)
def test_arrays_of_small_numbers(seed):
    rng, n = np.random.default_rng(seed), 7
    small, medium, large = (rng.integers(-90, 90, n).astype(kind) for kind in (np.int8, np.int16, np.int32))
    small = (small // 9).astype(np.int8)  # Python's products of two small numbers may overflow
    check(constructs.small_numbers, rng.random(n) < 0.5, small, (medium // 9).astype(np.int16), large)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40)
def test_matrices_and_named_tuples(seed):
    rng = np.random.default_rng(seed)
    check(constructs.matrices, rng.normal(size=(rng.integers(1, 4), 3)), rng.normal(size=(2, 2, 4)))
    inner = constructs.Inner(rng.normal(size=4), rng.random())
    check(constructs.named_tuples, constructs.Outer(inner, rng.integers(0, 9, 2)), int(seed % 7))


@pytest.mark.parametrize("function", functions("rng", "x"), ids=lambda f: f.__name__)
@given(seed=st.integers(0, 2**32), x=st.floats(-3.0, 3.0))
@settings(max_examples=60)
def test_draws(function, seed, x):
    rng = np.random.default_rng(seed)
    if seed % 2:
        rng.integers(0, 9, dtype=np.int32)  # leaves half of a word behind, which NumPy keeps
    check(function, rng, x)


def test_numbers_that_are_no_numbers():
    for x in (math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7e308):
        for function in (constructs.tests_of_numbers, constructs.real_extremes, constructs.real_arithmetic):
            for y in (0.5, math.nan, math.inf):
                check(function, x, y)


def test_memory_that_a_function_takes_is_given_back():
    """Buffers of 1.6 MB in each of 500 calls would be 800 MB."""
    import resource

    source = compiled(large_buffers, 1)
    source(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for count in range(500):
        assert source(count % 3) == count % 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KB


def large_buffers(a):
    one = np.zeros(100_000)
    two = np.empty(100_000, np.int64)
    for i in range(len(two)):
        two[i] = i
    one[7] = a
    if a == 1:
        return one[7] * (two[99] == 99)
    return one[7] + one[8]


# What it does not take is refused, and left to Numba.


def leaves_a_hole(a):
    if a > 0:
        return 1.0


def calls_itself(a):
    return 1 if a < 1 else a * calls_itself(a - 1)


def writes_a_constant(a):
    constructs.TABLE[0] = 1.0
    return a


def writes_a_constant_elsewhere(a):
    writes(constructs.TABLE, a)
    return a


def writes(values, a):
    values[0] = a


def sums(values):
    return np.sum(values)


def adds_arrays(values):
    values[:] = values + 1.0


def steps(values):
    return values[::2][0]


def prints(a):
    print(a)


def has_an_else(a):
    for i in range(a):
        a += i
    else:
        return 1
    return a


def changes_its_kind(a):
    x = constructs.TABLE
    if a > 0:
        x = 3.0
    return x


def returns_an_array_of_its_own(a):
    return made(a)[0]


def made(a):
    return np.zeros(a)


def grows_in_a_loop(a):
    total = 0.0
    for i in range(a):
        total += np.zeros(i + 1)[0]
    return total


def unknown_draw(rng):
    return rng.integers(0, 3)


def text(a):
    return "x" if a else "y"


def variable_arguments(*args):
    return args[0]


VALUES = np.arange(4.0)
REFUSED = [
    (leaves_a_hole, 1), (calls_itself, 3), (writes_a_constant, 1), (writes_a_constant_elsewhere, 1), (sums, VALUES),
    (adds_arrays, VALUES), (steps, VALUES), (prints, 1), (has_an_else, 2), (changes_its_kind, 1),
    (returns_an_array_of_its_own, 2), (grows_in_a_loop, 3), (unknown_draw, np.random.default_rng(0)), (text, 1),
    (variable_arguments, 1), (lambda a: a, 1), (total_of := constructs.total_of, VALUES.astype(np.float32)),
    (total_of, np.arange(8.0)[::2]), (total_of, VALUES.astype(np.uint64)), (unknown_draw, random.Random(0)),
    (constructs.draws, np.random.Generator(np.random.MT19937(0))), (len, VALUES),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arg"), REFUSED, ids=lambda part: getattr(part, "__name__", ""))
def test_what_is_not_known_is_refused(function, arg):
    arguments = (arg, 0.5) if function is constructs.draws else (arg,)
    with pytest.raises(Unsupported):
        compile_function(function, arguments, DEFAULTS)


def test_numba_takes_what_is_refused():
    assert compile_for(sums, VALUES)(VALUES) == 6.0


def test_a_function_without_source_is_refused():
    space = {}
    exec(compile("def f(a):\n    return a\n", "<nowhere>", "exec"), space)
    with pytest.raises(Unsupported, match="source is not found"):
        compile_function(space["f"], (1,), DEFAULTS)


def test_arguments_of_other_kinds_are_refused():
    function = compiled(constructs.elements, VALUES, np.arange(3))
    with pytest.raises(TypeError, match="other types"):
        function(VALUES, VALUES)


def test_compiled_code_may_be_called_by_many_threads():
    from concurrent.futures import ThreadPoolExecutor

    function = compiled(constructs.bisection, 2.0, 1.0)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda x: function(float(x), 1.0), range(2000)))
    assert found == [constructs.bisection(float(x), 1.0) for x in range(2000)]
