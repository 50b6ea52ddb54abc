"""Cut runs into chunks for other processes and machines: large enough to be worth sending, small enough to share."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from itertools import takewhile

from setwise.engines import EngineLike, Job, check_sendable, open_engine
from setwise.simulation.checks import Request
from setwise.simulation.costs import cost_of_run
from setwise.simulation.result import Result
from setwise.simulation.simulate import Interrupted, Runs

SECONDS = 5.0  # per chunk: limits the work lost with a worker, and balances the load
LEAST_SECONDS = 0.1
RATE = 20.0  # maximum chunks per second for large work: answers are taken one by one
EACH = 2  # chunks per worker for small work
BYTES = 2**26  # maximum size of a chunk's answer, if it has more than one run


def seconds_of_chunk(total: float, workers: int) -> float:
    """Return the duration of a chunk, given the duration of all work.

    >>> seconds_of_chunk(1000.0, 4), seconds_of_chunk(16.0, 4), seconds_of_chunk(1.0, 4), seconds_of_chunk(1e6, 200)
    (5.0, 2.0, 0.125, 10.0)
    """
    return min(max(SECONDS, workers / RATE), max(LEAST_SECONDS, total / (EACH * workers)))


def cut(first: int, runs: int, run_seconds: float, run_bytes: int, seconds: float) -> Iterator[tuple[int, int]]:
    """Cut runs into chunks of equal size and about `seconds`; yield pairs of first run and count.

    >>> list(cut(10, 7, run_seconds=1.0, run_bytes=1000, seconds=3.5))
    [(10, 3), (13, 3), (16, 1)]
    """
    most = max(1, min(math.floor(seconds / run_seconds), BYTES // run_bytes))
    size = math.ceil(runs / math.ceil(runs / most))
    for start in range(first, first + runs, size):
        yield start, min(size, first + runs - start)


def simulate_in_chunks(
    request: Request,
    engine: EngineLike,
    at_once: int | None,
    address: str | None,
    progress: Callable[[float], None] | None,
) -> Result:
    """Play runs on an engine, with the same result as `simulate` on threads."""
    common = (request,)
    check_sendable(engine, common)
    seconds, size = cost_of_run(request)
    found: dict[int, Result] = {}
    try:
        with open_engine(engine, at_once, address) as crew:
            each = seconds_of_chunk(request.runs * seconds, crew.at_once)
            chunks = cut(request.first_run, request.runs, seconds, size, each)
            jobs = [chunk_job(common, first, runs, runs * seconds) for first, runs in chunks]
            crew.do(jobs, found.__setitem__, progress and (lambda _, share: progress(share)))
    except KeyboardInterrupt:
        done = _from_the_first_on(found)
        raise Interrupted(Result.join(done) if done else None) from None
    return Result.join(_from_the_first_on(found))


def chunk_job(common: tuple[Request], first_run: int, runs: int, seconds: float, group: str = "") -> Job:
    """Return the job that plays some of the runs; jobs of one request share the tuple `common`."""
    request = common[0]
    label = f"{type(request.policy).__name__} in {type(request.environment).__name__}"
    return Job(play_chunk, (first_run, runs), label, seconds, group or label, True, common)


def play_chunk(request: Request, first_run: int, runs: int, progress: Callable[[float], None] | None = None) -> Result:
    """Play some runs of a request on one thread of the current process."""
    return Runs(dataclasses.replace(request, first_run=first_run, runs=runs)).play_all(1, progress)


def _from_the_first_on(found: dict[int, Result]) -> list[Result]:
    """Return the consecutive chunks from number 0 on."""
    return [found[number] for number in takewhile(found.__contains__, range(len(found)))]
