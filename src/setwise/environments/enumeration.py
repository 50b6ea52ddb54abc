"""Every set of a world, one after the other: on all cores, and compiled where that pays.

Whoever looks at all sets writes a function `look(environment, chosen, n, row, rows, findings)` that goes through that
many sets from the chosen one on and notes what it finds in arrays. Each thread has findings of its own; as it goes
through rising rows, what the threads find together does not depend on how many there are.
"""

import math
import os
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import shown
from setwise.digests import classes_of, is_own
from setwise.identity import identity
from setwise.kernels.sets import next_set, set_of_row
from setwise.places import explained_place, out_of_bounds
from setwise.types import Floats, InputError, Ints

MOST_SETS = 20_000_000
INTERPRETED_SETS = 2_000  # so few are through before they would be compiled,
INTERPRETED_SECONDS = 1.0  # unless their means take long
CHUNK = 1 << 14


def number_of_sets(environment: Any) -> int:
    """C(n, k)."""
    return math.comb(int(environment.n), int(environment.k))


def tolerance_of(environment: Any) -> float:
    """By how much computed means may be off: differences up to this are ties."""
    return float(getattr(environment, "accuracy", 1e-12)) * max(1.0, float(getattr(environment, "bound", 1.0)))


def stated_best(environment: Any) -> Ints:
    """The set that the world itself calls best, in its order, if it is one."""
    with explained_place(type(environment)):
        n, k = int(environment.n), int(environment.k)
        best = np.asarray(environment.best())
    right = best.dtype.kind in "iu" and best.shape == (k,) and len(np.unique(best)) == k
    if not right or best.min() < 0 or best.max() >= n:
        raise InputError(
            f"{type(environment).__name__}.best() is {shown(best)}; it has to be {k} distinct arms from 0 to {n - 1}"
        )
    return best.astype(np.int64)


def survey(
    look: Callable[..., None],
    environment: Any,
    new_findings: Callable[[], Any],
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Any]:
    """Call `look` until all sets were seen; return the findings of each thread."""
    from concurrent.futures import ThreadPoolExecutor, wait

    sets = number_of_sets(environment)
    n, k = int(environment.n), int(environment.k)
    if sets <= INTERPRETED_SETS and sets * _seconds_of_one(environment) <= INTERPRETED_SECONDS:
        findings = new_findings()
        look(environment, set_of_row(n, k, 0), n, 0, sets, findings)
        return [findings]
    from setwise.compiled import compile_for, plain

    _try_means(environment, sets)
    world = plain(environment)
    # Once for all sets, so that the checks cost little.
    own = all(map(is_own, classes_of(environment)))
    call = compile_for(look, world, set_of_row(n, k, 0), n, 0, 1, new_findings(), check_bounds=not own)
    rows = iter(range(0, sets, CHUNK))
    done = [0]
    stop = threading.Event()

    def work() -> Any:
        findings = new_findings()
        for row in rows:
            if stop.is_set():
                break
            call(world, set_of_row(n, k, row), n, row, min(CHUNK, sets - row), findings)
            done[0] += CHUNK
        return findings

    count = min(threads or os.cpu_count() or 1, 1 + sets // CHUNK)
    with ThreadPoolExecutor(count) as pool:
        try:
            workers = [pool.submit(work) for _ in range(count)]
            waiting = set(workers)
            while waiting:
                _, waiting = wait(waiting, timeout=0.1)
                if progress is not None:
                    progress(min(1.0, done[0] / sets))
        except BaseException:
            stop.set()
            raise
    try:
        return [worker.result() for worker in workers]
    except IndexError as error:
        name = type(environment).__name__
        raise InputError(f"{name}.means: {error}, for one of the {sets:,} sets of {k} of its {n} arms") from error


TRIED = 20  # sets


def _try_means(environment: Any, sets: int) -> None:
    """Refuse means that index out of bounds, on some sets, interpreted: compiled code does not check that."""
    if all(map(is_own, classes_of(environment))):
        return
    n, k = int(environment.n), int(environment.k)
    out = np.zeros(k)
    for number in range(TRIED):
        try:
            environment.means(set_of_row(n, k, number * (sets - 1) // (TRIED - 1)), out)
        except IndexError as error:
            raise InputError(out_of_bounds(error)) from error


def _seconds_of_one(environment: Any) -> float:
    """How long the means of a set take when they are interpreted."""
    chosen, out = set_of_row(int(environment.n), int(environment.k), 0), np.zeros(int(environment.k))
    taken = []
    for _ in range(3):  # whoever else is at work may make one of them long
        started = time.perf_counter()
        environment.means(chosen, out)
        taken.append(time.perf_counter() - started)
    return min(taken)


def run_compiled(function: Callable[..., None], *args: Any, interpreted: bool = False) -> None:
    """Call a plain function compiled, or interpreted where compiling would take longer."""
    if interpreted:
        function(*args)
        return
    from setwise.compiled import compile_for, plain

    args = tuple(map(plain, args))
    compile_for(function, *args)(*args)


class Values(NamedTuple):
    """What the sets are worth.

    ceiling: values above it do not count for `top`
    top, bottom: the largest value up to the ceiling and the least value
    row: of the first set worth `top`
    means: a buffer
    """

    ceiling: Floats
    top: Floats
    bottom: Floats
    row: Ints
    means: Floats


def look_at_values(environment: Any, chosen: Ints, n: int, row: int, rows: int, findings: Values) -> None:
    """Note the largest value up to the ceiling, where it is, and the least value."""
    k = len(chosen)
    for r in range(row, row + rows):
        environment.means(chosen, findings.means)
        value = 0.0
        for j in range(k):
            value += findings.means[j]
        if value > findings.top[0] and value <= findings.ceiling[0]:
            findings.top[0] = value
            findings.row[0] = r
        findings.bottom[0] = min(findings.bottom[0], value)
        next_set(n, chosen)


def _values(environment: Any, ceiling: float) -> tuple[float, int, float]:
    """The largest value up to the ceiling, its first row, and the least value."""

    def nothing() -> Values:
        return Values(
            np.array([ceiling]), np.array([-np.inf]), np.array([np.inf]), np.array([-1]), np.zeros(environment.k)
        )

    found = survey(look_at_values, environment, nothing)
    top, row = max(((own.top[0], -own.row[0]) for own in found), default=(-np.inf, 1))
    return float(top), -int(row), float(min(own.bottom[0] for own in found))


class AllValues(NamedTuple):
    """The value of every set, by its row, and a buffer."""

    values: Floats
    means: Floats


def look_at_all_values(environment: Any, chosen: Ints, n: int, row: int, rows: int, findings: AllValues) -> None:
    """Note the value of every set."""
    for r in range(row, row + rows):
        environment.means(chosen, findings.means)
        findings.values[r] = 0.0
        for j in range(len(chosen)):
            findings.values[r] += findings.means[j]
        next_set(n, chosen)


def all_values(environment: Any) -> Floats:
    """Q(s) of every set, in the order of `itertools.combinations`."""
    check_enumerable(environment)
    values = np.zeros(number_of_sets(environment))
    survey(look_at_all_values, environment, lambda: AllValues(values, np.zeros(environment.k)))
    return values


def check_enumerable(environment: Any) -> None:
    """Refuse a world with more sets than can be looked at one by one."""
    sets = number_of_sets(environment)
    if sets > MOST_SETS:
        name = type(environment).__name__
        raise InputError(
            f"{name}: {environment.k} of {environment.n} arms make {sets:,} sets, too many to look at one by one "
            f"(at most {MOST_SETS:,}); use fewer arms"
            + (", or give best_set" if "best_set" in getattr(environment, "_fields", ()) else "")
        )


_known: dict[str, tuple[Ints, tuple[float, float]]] = {}


def _best_and_gaps(environment: Any) -> tuple[Ints, tuple[float, float]]:
    """The optimal set, of several the first, and the least positive and the largest gap; remembered."""
    check_enumerable(environment)
    known = _known.get(identity(environment))
    if known is None:
        top, row, bottom = _values(environment, np.inf)
        second, _, _ = _values(environment, float(np.nextafter(top - tolerance_of(environment), -np.inf)))
        gaps = (top - second, top - bottom) if second > -np.inf else (0.0, 0.0)
        known = set_of_row(int(environment.n), int(environment.k), row), gaps
        remember(environment, *known)
    return known


def remember(environment: Any, best: Ints, gaps: tuple[float, float]) -> None:
    """Keep what was found by looking at all sets, so that nobody has to look again."""
    if len(_known) >= 256:
        _known.pop(next(iter(_known)))
    _known[identity(environment)] = best, gaps


def best_by_enumeration(environment: Any) -> Ints:
    """The optimal set, of several the first."""
    return np.array(_best_and_gaps(environment)[0])


def gaps_by_enumeration(environment: Any) -> tuple[float, float]:
    """The least positive and the largest gap; differences of the order of rounding are ties."""
    return _best_and_gaps(environment)[1]
