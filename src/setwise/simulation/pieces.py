"""Runs in pieces for other processes and machines: large enough to be worth sending, small enough to be shared."""

import math
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

from setwise.engines import Job, check_sendable, open_engine
from setwise.simulation.result import Result
from setwise.simulation.simulate import Interrupted, can_fast_forward, simulate

SECONDS = 5.0  # of a piece: what is lost with a worker, and how evenly the work is shared
LEAST_SECONDS = 0.1
RATE = 20.0  # pieces in a second, at most, if there is enough to do: answers are taken one by one
EACH = 2  # pieces for each worker, if there is little to do
BYTES = 2**26  # of the answer of a piece, at most, if it has more than one run


def seconds_of_run(policy: Any, environment: Any, horizon: int, fast_forward: bool | None, record: bool) -> float:
    """How long a run takes, roughly; what is played sets the forecast right."""
    rounds = float(horizon)
    if can_fast_forward(policy, environment) and fast_forward is not False and not record:
        later = max(1.0, rounds / 1e5)
        more = 0.15 * math.log10(later) if hasattr(policy, "demand") else 0.015 * (math.sqrt(later) - 1.0)
        return 2e-7 * min(rounds, 1e5) + more
    return 4e-7 * rounds


def bytes_of_run(n: int, points: int, record: bool) -> int:
    """How large the answer is, roughly: what is recorded of one run."""
    return 8 * (n + 2 * points + (n * points if record else 0))


def seconds_of_piece(total: float, workers: int) -> float:
    """How long a piece should take, if all of the work takes so long.

    >>> seconds_of_piece(1000.0, 4), seconds_of_piece(16.0, 4), seconds_of_piece(1.0, 4), seconds_of_piece(1e6, 200)
    (5.0, 2.0, 0.125, 10.0)
    """
    return min(max(SECONDS, workers / RATE), max(LEAST_SECONDS, total / (EACH * workers)))


def cut(first: int, runs: int, run_seconds: float, run_bytes: int, seconds: float) -> Iterator[tuple[int, int]]:
    """Pieces of about the same size that take so many seconds: pairs of the first run and how many.

    >>> list(cut(10, 7, run_seconds=1.0, run_bytes=1000, seconds=3.5))
    [(10, 3), (13, 3), (16, 1)]
    """
    most = max(1, min(math.floor(seconds / run_seconds), BYTES // run_bytes))
    size = math.ceil(runs / math.ceil(runs / most))
    for start in range(first, first + runs, size):
        yield start, min(size, first + runs - start)


def simulate_in_pieces(
    common: tuple[Any, ...],
    first: int,
    runs: int,
    engine: str,
    at_once: int | None,
    address: str | None,
    progress: Callable[[float], None] | None,
) -> Result:
    """Play runs on an engine; the same result as `simulate` has on threads.

    common: policy, environment, horizon, seed, checkpoints and the other options
    """
    check_sendable(engine, common)
    policy, environment, horizon, _, points, options = common
    seconds = seconds_of_run(policy, environment, horizon, options["fast_forward"], options["record"])
    size = bytes_of_run(int(environment.n), len(points), options["record"])
    label = f"{type(policy).__name__} in {type(environment).__name__}"
    found: dict[int, Result] = {}
    try:
        with open_engine(engine, at_once, address) as crew:
            each = seconds_of_piece(runs * seconds, crew.at_once)
            pieces = cut(first, runs, seconds, size, each)
            jobs = [Job(play_piece, own, label, own[1] * seconds, label, True, common) for own in pieces]
            crew.do(jobs, found.__setitem__, progress and (lambda _, share: progress(share)))
    except KeyboardInterrupt:
        done = _from_the_first_on(found)
        raise Interrupted(Result.join(done) if done else None) from None
    return Result.join(_from_the_first_on(found))


def play_piece(
    policy: Any,
    environment: Any,
    horizon: int,
    seed: int,
    points: tuple[int, ...],
    options: dict[str, Any],
    first: int,
    runs: int,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Play some of the runs, on one thread of whatever process this is."""
    return simulate(
        policy,
        environment,
        horizon,
        runs,
        seed,
        checkpoints=points,
        first=first,
        threads=1,
        progress=progress,
        **options,
    )


def _from_the_first_on(found: dict[int, Result]) -> list[Result]:
    """The pieces that follow each other from number 0 on."""
    return [found[number] for number in takewhile(found.__contains__, range(len(found)))]
