"""Enumerate all sets of a world, on all cores, and compiled if that pays.

A visitor `look(environment, chosen, n, row, rows, findings)` goes through `rows` sets from `chosen` on and records its
results in arrays. Each thread has findings of its own and visits rows in increasing order, so the combined result does
not depend on the number of threads.
"""

import itertools
import math
import os
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from setwise.digests import classes_of, is_own
from setwise.identity import identity
from setwise.kernels.sets import next_set, set_of_row
from setwise.lazy_compiler import load_compiler
from setwise.places import explained_place, out_of_bounds
from setwise.types import Floats, InputError, Ints
from setwise.validation import shown

MOST_SETS = 20_000_000
MOST_ORDERS = 100_000
INTERPRETED_SETS = 2_000  # up to here interpreting is faster than compiling,
INTERPRETED_SECONDS = 1.0  # unless the means take longer than this
CHUNK = 1 << 14


def number_of_sets(environment: Any) -> int:
    """Return C(n, k)."""
    return math.comb(int(environment.n), int(environment.k))


def tolerance_of(environment: Any) -> float:
    """Return the error of the computed means; smaller differences count as ties."""
    return float(getattr(environment, "accuracy", 1e-12)) * max(1.0, float(getattr(environment, "bound", 1.0)))


def has_value(environment: Any) -> bool:
    """Whether the world counts regret by a method `value`; a field of that name is none."""
    return callable(getattr(type(environment), "value", None))


def stated_best(environment: Any) -> Ints:
    """Return the world's own `best()`, in its order; raise an error if it is not a set."""
    with explained_place(type(environment)):
        n, k = int(environment.n), int(environment.k)
        best = np.asarray(environment.best())
    least = 1 if getattr(environment, "smaller_sets", False) else k
    right = best.dtype.kind in "iu" and best.ndim == 1 and least <= len(best) <= k
    if not right or len(np.unique(best)) < len(best) or best.min() < 0 or best.max() >= n:
        raise InputError(
            f"{type(environment).__name__}.best() is {shown(best)}; it has to be {k} distinct arms from 0 to {n - 1}"
        )
    return best.astype(np.int64)


def scan_sets(
    look: Callable[..., None],
    environment: Any,
    new_findings: Callable[[], Any],
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Any]:
    """Call `look` until all sets are visited; return the findings of each thread."""
    sets = number_of_sets(environment)
    n, k = int(environment.n), int(environment.k)
    if sets <= INTERPRETED_SETS and sets * _seconds_of_one(environment) <= INTERPRETED_SECONDS:
        findings = new_findings()
        look(environment, set_of_row(n, k, 0), n, 0, sets, findings)
        return [findings]
    from setwise.engines.threads import on_threads

    _try_means(environment, sets)
    # Bounds checks are cheap here, because each set is visited only once.
    own = all(map(is_own, classes_of(environment)))
    what = f"the means of {type(environment).__name__}"
    call = load_compiler().compile_for(
        look, environment, set_of_row(n, k, 0), n, 0, 1, new_findings(), check_bounds=not own, what=what
    )
    rows = iter(range(0, sets, CHUNK))
    done = [0]
    stop = threading.Event()

    def work() -> Any:
        findings = new_findings()
        for row in rows:
            if stop.is_set():
                break
            call(environment, set_of_row(n, k, row), n, row, min(CHUNK, sets - row), findings)
            done[0] += CHUNK
        return findings

    count = min(threads or os.cpu_count() or 1, 1 + sets // CHUNK)
    watch = None if progress is None else lambda: progress(min(1.0, done[0] / sets))
    try:
        return on_threads(work, count, stop.set, watch)
    except IndexError as error:
        name = type(environment).__name__
        raise InputError(f"{name}.means: {error}, for one of the {sets:,} sets of {k} of its {n} arms") from error


TRIED = 20  # sets


def _try_means(environment: Any, sets: int) -> None:
    """Raise an error if `means` indexes out of bounds on a sample of sets; compiled code would not notice."""
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
    """Measure how long the means of one set take when interpreted."""
    chosen, out = set_of_row(int(environment.n), int(environment.k), 0), np.zeros(int(environment.k))
    taken = []
    for _ in range(3):  # other processes may slow down one of them
        started = time.perf_counter()
        environment.means(chosen, out)
        taken.append(time.perf_counter() - started)
    return min(taken)


def run_compiled(function: Callable[..., None], *args: Any, interpreted: bool = False) -> None:
    """Call a plain function, compiled unless `interpreted`."""
    if interpreted:
        function(*args)
        return
    load_compiler().compile_for(function, *args)(*args)


class Values(NamedTuple):
    """Extreme values of the sets.

    ceiling: `top` ignores values above it
    top, bottom: the largest value up to the ceiling, and the least value
    row: of the first set of value `top`
    means: a buffer
    """

    ceiling: Floats
    top: Floats
    bottom: Floats
    row: Ints
    means: Floats


def scan_values(environment: Any, chosen: Ints, n: int, row: int, rows: int, findings: Values) -> None:
    """Record the largest value up to the ceiling, its row, and the least value."""
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
    """Return the largest value up to the ceiling, its first row, and the least value."""

    def nothing() -> Values:
        return Values(
            np.array([ceiling]), np.array([-np.inf]), np.array([np.inf]), np.array([-1]), np.zeros(environment.k)
        )

    found = scan_sets(scan_values, environment, nothing)
    top, row = max(((own.top[0], -own.row[0]) for own in found), default=(-np.inf, 1))
    return float(top), -int(row), float(min(own.bottom[0] for own in found))


class AllValues(NamedTuple):
    """The value of every set by row, and a buffer."""

    values: Floats
    means: Floats


def scan_all_values(environment: Any, chosen: Ints, n: int, row: int, rows: int, findings: AllValues) -> None:
    """Record the value of every set."""
    for r in range(row, row + rows):
        environment.means(chosen, findings.means)
        findings.values[r] = 0.0
        for j in range(len(chosen)):
            findings.values[r] += findings.means[j]
        next_set(n, chosen)


def all_values(environment: Any) -> Floats:
    """Return Q(s) of every set, in the order of `itertools.combinations`."""
    check_enumerable(environment)
    values = np.zeros(number_of_sets(environment))
    scan_sets(scan_all_values, environment, lambda: AllValues(values, np.zeros(environment.k)))
    return values


def check_enumerable(environment: Any) -> None:
    """Raise an error if the world has too many sets to enumerate."""
    sets = number_of_sets(environment)
    if sets > MOST_SETS:
        name = type(environment).__name__
        raise InputError(
            f"{name}: {environment.k} of {environment.n} arms make {sets:,} sets, too many to look at one by one "
            f"(at most {MOST_SETS:,}); use fewer arms"
            + (", or give best_set" if not_given(environment, "best_set") else "")
        )


_known: dict[str, tuple[Ints, tuple[float, float]]] = {}


def _best_and_gaps(environment: Any) -> tuple[Ints, tuple[float, float]]:
    """Return the first optimal set, and the least positive and the largest gap; cached."""
    check_enumerable(environment)
    known = _known.get(identity(environment))
    if known is None:
        top, row, bottom = _values(environment, np.inf)
        second, _, _ = _values(environment, float(np.nextafter(top - tolerance_of(environment), -np.inf)))
        gaps = (top - second, top - bottom) if second > -np.inf else (0.0, 0.0)
        known = set_of_row(int(environment.n), int(environment.k), row), gaps
        cache_best(environment, *known)
    return known


def _best_order_and_gaps(environment: Any) -> tuple[Ints, tuple[float, float]]:
    """Return the first optimal ordered set, and the least positive and the largest gap to another; cached."""
    n, k, name = int(environment.n), int(environment.k), type(environment).__name__
    if not has_few_orders(environment):
        raise InputError(
            f"{name}: {k} of {n} arms have {math.perm(n, k):,} orders, too many to look at one by one (at most "
            f"{MOST_ORDERS:,}); use fewer arms" + (", or give best_set" if not_given(environment, "best_set") else "")
        )
    known = _known.get(identity(environment))
    if known is None:
        known = scan_orders(environment)
        cache_best(environment, *known)
    return known


def scan_orders(environment: Any) -> tuple[Ints, tuple[float, float]]:
    """Return the first optimal ordered set, and the least positive and the largest gap to another."""
    n, k = int(environment.n), int(environment.k)
    means, values = np.zeros(k), np.zeros(math.perm(n, k))
    best, top = np.arange(k), -np.inf
    for row, order in enumerate(itertools.permutations(range(n), k)):
        chosen = np.array(order)
        environment.means(chosen, means)
        values[row] = sum(means.tolist())
        if values[row] > top:
            best, top = chosen, values[row]
    gaps = values.max() - values
    positive = gaps[gaps > tolerance_of(environment)]
    return best, (float(positive.min()), float(gaps.max())) if positive.size else (0.0, 0.0)


def not_given(environment: Any, field: str) -> bool:
    """Whether the environment has a field that was left empty."""
    return field in getattr(environment, "_fields", ()) and getattr(environment, field) is None


def has_few_orders(environment: Any) -> bool:
    """Whether all ordered sets can be looked at one by one."""
    return math.perm(int(environment.n), int(environment.k)) <= MOST_ORDERS


def has_order(environment: Any) -> bool:
    """Whether the means depend on the order of the arms in a set."""
    return bool(getattr(environment, "ordered_sets", False))


def cache_best(environment: Any, best: Ints, gaps: tuple[float, float]) -> None:
    """Cache the result of an enumeration."""
    if len(_known) >= 256:
        _known.pop(next(iter(_known)))
    _known[identity(environment)] = best, gaps


def best_by_enumeration(environment: Any) -> Ints:
    """Return the first optimal set."""
    return np.array(_best_and_gaps(environment)[0])


def best_by_orders(environment: Any) -> Ints:
    """Return the first optimal ordered set of a world in which the value of a set depends on its order."""
    return np.array(_best_order_and_gaps(environment)[0])


def gaps_by_orders(environment: Any) -> tuple[float, float]:
    """Return the least positive and the largest gap among ordered sets."""
    return _best_order_and_gaps(environment)[1]


def gaps_by_enumeration(environment: Any) -> tuple[float, float]:
    """Return the least positive and the largest gap; differences within rounding error are ties."""
    return _best_and_gaps(environment)[1]
