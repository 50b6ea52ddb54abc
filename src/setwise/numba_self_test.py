"""Test Numba's internals before they are used, and leave out every piece that fails.

The self-test compiles a small program with all pieces and compares it with the interpreted one. Versions of Numba that
were never tried are tested in a process of their own, because there the test may crash or hang. The verdict is stored
beside Numba's cache, so that a process that finds its code there does not test again.
"""

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import overload

from setwise.errors import InputError
from setwise.files import read_file, write_atomic
from setwise.numba_internals import PIECES, Toolkit, build_toolkit, digest_of

OLDEST_TRIED, NEWEST_TRIED = "0.61.0", "0.68.1"  # versions of Numba
VARIABLE = "SETWISE_NUMBA_INTERNALS"
TIMEOUT = 120.0  # of a test in a process of its own, in seconds
DAY = 86400.0  # how long a failure is remembered, in seconds: its cause may have been the machine

Verdict = dict[str, str]  # why a piece is not used, "" if it is


def choose_toolkit() -> Toolkit:
    """Return the toolkit with the pieces that are allowed and pass the self-test."""
    allowed = allowed_pieces()
    failed = {name: reason for name, reason in (find_verdict() if allowed else {}).items() if reason}
    if failed and not is_tried(NEWEST_TRIED):
        _warn_once(*next(iter(failed.items())))
    try:
        return build_toolkit(tuple(name for name in allowed if name not in failed))
    except Exception:  # Numba's files changed since the verdict
        return build_toolkit()


_warned = False


def _warn_once(name: str, reason: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        text = (
            f"Numba {numba.__version__} is newer than {NEWEST_TRIED}, the newest tried with Setwise, and fails the "
            f"self-test ({name}: {reason}); results are the same, but compiling takes longer"
        )
        warnings.warn_explicit(text, RuntimeWarning, "setwise", 0)  # has no line of source to print


def allowed_pieces() -> tuple[str, ...]:
    """Return the pieces that the environment variable allows: all, none or those it names."""
    words = os.environ.get(VARIABLE, "1").strip() or "1"
    names = {"0": [], "1": list(PIECES)}.get(words, [word.strip() for word in words.split(",")])
    if not set(names) <= set(PIECES):
        raise InputError(f"{VARIABLE}={words} is neither 0 nor 1 nor a list of {', '.join(PIECES)}: use one of these")
    return tuple(name for name in PIECES if name in names)


def is_disabled() -> bool:
    """Whether Numba compiles nothing, as NUMBA_DISABLE_JIT says."""
    return bool(numba.config.DISABLE_JIT)


def is_tried(newest: str, oldest: str = "0") -> bool:
    """Whether this Numba is no newer than the newest and no older than the oldest version."""
    return _numbers(oldest) <= _numbers(numba.__version__) <= _numbers(newest)


def _numbers(version: str) -> list[int]:
    """Return the numbers of a release; what follows them, as in 0.70.0rc1, counts as newer than 0.69."""
    return [int(part) if part.isdecimal() else 0 for part in version.split(".")[:3]]


# The verdict, stored beside Numba's cache.


def find_verdict() -> Verdict:
    """Return the stored verdict on each piece, or test them and store it."""
    path = _verdict_path()
    stored = _read_verdict(path)
    if stored is not None:
        return stored
    verdict = judge_pieces() if is_tried(NEWEST_TRIED, OLDEST_TRIED) else _test_apart()
    if path is not None:
        with contextlib.suppress(OSError):  # without it, the next process tests again
            write_atomic(path, json.dumps(verdict).encode())
    return verdict


def _verdict_path() -> str | None:
    """Return the path of the verdict on these versions, or None if Numba has no cache."""
    try:
        folder = numba.njit(cache=True)(entry).stats.cache_path
        internals = digest_of(build_toolkit.__code__.co_filename)
        key = digest_of(__file__, internals, sys.version, sys.platform, platform.machine())
        return os.path.join(folder, f"setwise-internals-{key[:16]}.json")
    except Exception:  # no folder is writable, or another Numba tells it another way
        return None


def _read_verdict(path: str | None) -> Verdict | None:
    try:
        verdict: Any = json.loads(read_file(path)) if path is not None else None
        age = time.time() - os.path.getmtime(path) if path is not None else 0.0
    except (OSError, ValueError):
        return None
    if not isinstance(verdict, dict) or set(verdict) != set(PIECES):
        return None
    return verdict if age < DAY or not any(verdict.values()) else None


CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from setwise.numba_self_test import judge_pieces
print("verdict", json.dumps(judge_pieces(cache=True)))
"""


def _test_apart() -> Verdict:
    """Test in a process of its own, which may crash or hang, then in another that loads the code from the cache."""
    verdict = dict.fromkeys(PIECES, "")
    with tempfile.TemporaryDirectory(prefix="setwise-", ignore_cleanup_errors=True) as folder:
        for _ in range(2):
            try:
                found = _ask_child({**os.environ, "NUMBA_CACHE_DIR": folder})
                verdict = {name: verdict[name] or found[name] for name in PIECES}
            except Exception as error:  # it crashed, hung, or said something else
                return dict.fromkeys(PIECES, _reason(error))
    return verdict


def _ask_child(environ: dict[str, str]) -> Verdict:
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("there is no Python to test it with")
    command = [sys.executable, "-c", CHILD, json.dumps(sys.path)]
    done = subprocess.run(
        command, env=environ, timeout=TIMEOUT, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    return json.loads(done.stdout.rpartition("verdict ")[2])  # type: ignore[no-any-return]


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"its process ended with code {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"its process did not end within {error.timeout:g} seconds"
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else f"{text[:190]} ..."


# The program that is compiled and compared.


class Given(NamedTuple):
    """Arguments of the program: arrays, one of them in a tuple, and a generator."""

    values: Any
    sums: tuple[Any, ...]
    rng: Any


def pick(values: Any, index: Any, limit: Any) -> Any:
    """Return a value; the error's text and number are Python objects that compiled code has to find."""
    if values[index] > limit:
        raise ValueError("above the limit", values[index])
    return values[index]


def accumulate(given: Any, index: Any, limit: Any) -> Any:
    """Add to an array of the caller, with a random number."""
    given.sums[0][index] += pick(given.values, index, limit) * given.rng.random()
    return given.sums[0][index]


def borrow(given: Any) -> Any:
    """Stand for the intrinsic of the toolkit."""
    return given


def entry(given: Any, index: Any, limit: Any) -> Any:
    """Call the program."""
    return accumulate(given, index, limit)


def borrowing_entry(given: Any, index: Any, limit: Any) -> Any:
    """Call the program with borrowed arrays."""
    return accumulate(borrow(given), index, limit)


def judge_pieces(cache: bool = False) -> Verdict:
    """Test all pieces together and, if that fails, each alone."""
    reason = _test(*PIECES, cache=cache)
    alone = {name: _test(name, cache=cache) if reason else "" for name in PIECES}
    return alone if any(alone.values()) else dict.fromkeys(PIECES, reason)


def _test(*pieces: str, cache: bool) -> str:
    try:
        self_test(pieces, cache)
    except Exception as error:
        return _reason(error)
    return ""


def self_test(pieces: tuple[str, ...], cache: bool = False) -> None:
    """Compile the program with these pieces; raise if it differs from the interpreted one."""
    toolkit = build_toolkit(pieces)
    # Numba caches compiled code per function, so each test gets new functions.
    space: dict[str, Any] = {}
    for function in (pick, accumulate, entry, borrowing_entry):
        space[function.__name__] = FunctionType(function.__code__, space)
    space |= {"borrow": toolkit.borrow, "__name__": __name__, "__builtins__": __builtins__}
    overload(space["pick"], strict=False, jit_options=toolkit.options)(lambda values, index, limit: space["pick"])
    overload(space["accumulate"], strict=False, jit_options=toolkit.inlined)(
        lambda given, index, limit: space["accumulate"]
    )
    chosen = space["entry" if toolkit.borrow is None else "borrowing_entry"]
    for checked in (False, True):
        toolkit.bounds.on = checked
        chosen.__qualname__ = chosen.__name__ = f"entry_{toolkit.tag}{'_checked' * checked}"
        program = numba.njit(nogil=True, cache=cache, error_model="numpy", boundscheck=checked)(chosen)
        program.compile(tuple(map(numba.typeof, (_given(), 1, 2.0))))
        toolkit.link(program)
        found, expected = _outcomes(program, checked), _outcomes(accumulate, checked)
        if found != expected:
            raise AssertionError(f"{found} in place of {expected}")


def _given() -> Given:
    """Return new arguments; their arrays end in the middle of their memory, so that no index here does any harm."""
    return Given(np.arange(8.0)[:4], (np.zeros(8)[:4],), np.random.default_rng(0))


def _outcomes(program: Any, checked: bool) -> list[Any]:
    """Return results, errors, contents of the arrays and changes of their reference counts."""
    given = _given()
    arrays = (given.values, given.sums[0])
    before = [sys.getrefcount(array) for array in arrays]
    found: list[Any] = [float(program(given, index, 2.0)) for index in (1, 2)]
    found += [sys.getrefcount(array) - count for array, count in zip(arrays, before, strict=True)]
    for index, limit in [(3, 2.0)] + [(6, 9.0)] * checked:  # errors come last: with Numba, they leak references
        try:
            found.append(float(program(given, index, limit)))
        except IndexError:
            found.append("IndexError")
        except ValueError as error:
            found.append([*map(str, error.args)])
    return [*found, *(array.tolist() for array in arrays), given.rng.random()]
