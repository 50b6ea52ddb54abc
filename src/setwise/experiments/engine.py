"""Orders played on all cores: what is kept already is read, what is missing is played, and all of it is kept."""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from setwise.experiments.outcome import Order, Outcome, merged
from setwise.experiments.play import Play
from setwise.experiments.store import Store
from setwise.simulation.result import Result
from setwise.simulation.simulate import can_fast_forward
from setwise.spread import Job, Report, spread
from setwise.types import InputError

CHUNK_SECONDS = 5.0  # of a piece of work: what a killed process loses, and how evenly cores are used
COMPILE_SECONDS = 5.0


def play_all(
    orders: Iterable[Order],
    store: Store | None = None,
    jobs: int | None = None,
    report: Report | None = None,
    others: Sequence[Job] = (),
) -> tuple[Outcome, list[Any]]:
    """Play what is ordered, and do other work beside it; return the outcome and the answers of the others.

    store: where results are kept; without, nothing is
    jobs: how many processes; 1 plays in this one, on threads. By default as many as there are cores
    report: called now and then with what is going on and the share that is done
    """
    wanted = merged(orders)
    here = (jobs or os.cpu_count() or 1) == 1
    pieces = [(order.play, *piece) for order in wanted for piece in missing(order, store)]
    work = [_job(*piece, store, here) for piece in pieces]
    answers = spread([*work, *others], jobs, report)
    results: dict[str, Result] = {}
    for order in wanted:
        own = [answer for answer, (play, *_) in zip(answers, pieces) if play is order.play]
        found = Result.join(own) if store is None else store.load(order.play, order.runs)
        if found is None or found.runs < order.runs:
            raise InputError(f"results were removed from {store and store.folder} while others were played; try again")
        results[order.play.digest] = found
    played = sum(runs for _, _, runs in pieces)
    return Outcome(results, played, sum(order.runs for order in wanted) - played), answers[len(work) :]


def missing(order: Order, store: Store | None) -> list[tuple[int, int]]:
    """The runs that have yet to be played, in pieces of about `CHUNK_SECONDS`: pairs of the first and how many."""
    size = max(1, math.floor(CHUNK_SECONDS / seconds_of_run(order.play)))
    size = math.ceil(order.runs / math.ceil(order.runs / size))  # pieces of about the same size
    if store is not None:
        return store.missing(order.play, order.runs, size)
    return [(first, min(size, order.runs - first)) for first in range(0, order.runs, size)]


def seconds_of_run(play: Play) -> float:
    """How long a run takes, roughly; what is played sets the forecast right."""
    rounds = float(play.horizon)
    if can_fast_forward(play.policy, play.environment) and play.fast_forward is not False and not play.record:
        return 2e-7 * min(rounds, 1e5) + 5e-5 * math.sqrt(max(0.0, rounds - 1e5))
    return 4e-7 * rounds


def _job(play: Play, first: int, runs: int, store: Store | None, here: bool) -> Job:
    name = type(play.policy).__name__
    return Job(
        play_chunk,
        (play, first, runs, None if store is None else store.folder, None if here else 1),
        f"{name} in {type(play.environment).__name__}",
        runs * seconds_of_run(play) + (COMPILE_SECONDS if first == 0 else 0.0),
        play.group,
        shares=True,
    )


def play_chunk(
    play: Play,
    first: int,
    runs: int,
    folder: str | None,
    threads: int | None,
    progress: Callable[[float], None] | None = None,
) -> Result | None:
    """Play some runs, and keep them in the folder or return them."""
    result = play.run(runs, first, threads=threads, progress=progress)
    if folder is None:
        return result
    Store(folder, create=False).keep(play, result)
    return None
