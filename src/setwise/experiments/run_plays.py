"""Run orders on an engine: read stored results, play missing runs, and store them as they arrive."""

from collections.abc import Iterable, Sequence
from typing import Any

from setwise.compiler.settings import SECONDS
from setwise.engines import EngineLike, Job, Progress, check_engine, check_sendable, open_engine
from setwise.errors import StorageError, WorkerLost
from setwise.experiments.outcome import Order, Outcome, merged
from setwise.experiments.plays import Play
from setwise.experiments.store import Store
from setwise.simulation.chunks import chunk_job, cut, seconds_of_chunk
from setwise.simulation.costs import cost_of_run
from setwise.simulation.result import Result


def play_all(
    orders: Iterable[Order],
    store: Store | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    others: Sequence[Job] = (),
    engine: EngineLike = "processes",
    address: str | None = None,
) -> tuple[Outcome, list[Any]]:
    """Play the orders and do other jobs beside them; return the outcome and the answers of the other jobs.

    store: this process stores results there as they arrive; None stores nothing
    jobs: jobs at a time; by default one per core, here or in the cluster
    progress: callback, called with a label and the share done
    others: other jobs, done by the same engine
    engine, address: as in `simulate`
    """
    check_engine(engine, address)
    wanted = merged(orders)
    check_sendable(engine, [order.play for order in wanted])
    gaps = [(order.play, *gap) for order in wanted for gap in missing(order, store)]
    answers: dict[int, Any] = {}
    chunks: list[tuple[Play, int, int]] = []
    if gaps or others:
        with open_engine(engine, jobs, address) as crew:
            chunks = chunks_of(gaps, crew.at_once)
            work = _jobs(chunks)

            def take(number: int, answer: Any) -> None:
                if store is not None and number < len(chunks):
                    store.keep(chunks[number][0], answer)
                else:
                    answers[number] = answer

            try:
                crew.do([*work, *others], take, progress)
            except WorkerLost as error:
                if store is None:
                    raise
                kept = f"finished results are safe in {store.folder}, and the same command resumes"
                raise WorkerLost(f"{error}; {kept}") from None
    results: dict[str, Result] = {}
    for order in wanted:
        own = [answers[number] for number, (play, *_) in enumerate(chunks) if play is order.play and store is None]
        found = Result.join(own) if store is None else store.load(order.play, order.runs)
        if found is None or found.runs < order.runs:
            where = store and store.folder
            raise StorageError(f"results were removed from {where} while others were played; try again")
        results[order.play.digest] = found
    played = sum(runs for _, _, runs in chunks)
    outcome = Outcome(results, played, sum(order.runs for order in wanted) - played)
    return outcome, [answers[len(chunks) + number] for number in range(len(others))]


def missing(order: Order, store: Store | None) -> list[tuple[int, int]]:
    """Return the missing runs as pairs of first run and count."""
    return [(0, order.runs)] if store is None else store.missing(order.play, order.runs, order.runs)


def chunks_of(gaps: Sequence[tuple[Play, int, int]], workers: int) -> list[tuple[Play, int, int]]:
    """Cut the missing runs into chunks of some seconds; smaller ones if some workers would get none."""
    cost = {id(play): cost_of_run(play.request) for play in {id(play): play for play, *_ in gaps}.values()}
    each = seconds_of_chunk(sum(runs * cost[id(play)][0] for play, _, runs in gaps), workers)
    return [(play, *chunk) for play, first, runs in gaps for chunk in cut(first, runs, *cost[id(play)], each)]


def _jobs(chunks: Sequence[tuple[Play, int, int]]) -> list[Job]:
    """Return the jobs that play the chunks; a play's first one also compiles."""
    commons = {id(play): (play.request,) for play in {id(play): play for play, *_ in chunks}.values()}
    jobs = []
    for play, first, runs in chunks:
        common = commons[id(play)]
        seconds = runs * cost_of_run(common[0])[0] + (SECONDS if first == 0 else 0.0)
        jobs.append(chunk_job(common, first, runs, seconds, play.group))
    return jobs
