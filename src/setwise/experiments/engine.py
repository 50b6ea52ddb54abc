"""Orders played by an engine: what is kept already is read, what is missing is played, and kept as it arrives."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from setwise.engines import Job, Report, check_engine, check_sendable, open_engine
from setwise.errors import StorageError, WorkerLost
from setwise.experiments.outcome import Order, Outcome, merged
from setwise.experiments.play import Play
from setwise.experiments.store import Store
from setwise.simulation.pieces import bytes_of_run, cut, seconds_of_piece, seconds_of_run
from setwise.simulation.result import Result

COMPILE_SECONDS = 5.0


def play_all(
    orders: Iterable[Order],
    store: Store | None = None,
    jobs: int | None = None,
    report: Report | None = None,
    others: Sequence[Job] = (),
    engine: str = "processes",
    address: str | None = None,
) -> tuple[Outcome, list[Any]]:
    """Play what is ordered, and do other work beside it; return the outcome and the answers of the others.

    store: where results are kept, by this process and as they arrive; without, nothing is
    jobs: how many pieces of work at a time; by default as many as there are cores, here or in the cluster
    report: called now and then with what is going on and the share that is done
    engine, address: who plays, as in `simulate`
    """
    check_engine(engine, address)
    wanted = merged(orders)
    check_sendable(engine, [order.play for order in wanted])
    gaps = [(order.play, *gap) for order in wanted for gap in missing(order, store)]
    answers: dict[int, Any] = {}
    pieces: list[tuple[Play, int, int]] = []
    if gaps or others:
        with open_engine(engine, jobs, address) as crew:
            pieces = pieces_of(gaps, crew.at_once)
            common = {id(play): (play,) for play, *_ in pieces}
            work = [_job(play, first, runs, common[id(play)]) for play, first, runs in pieces]

            def take(number: int, answer: Any) -> None:
                if store is not None and number < len(pieces):
                    store.keep(pieces[number][0], answer)
                else:
                    answers[number] = answer

            try:
                crew.do([*work, *others], take, report)
            except WorkerLost as error:
                if store is None:
                    raise
                kept = f"what was finished is in {store.folder}, and the same command goes on with it"
                raise WorkerLost(f"{error}; {kept}") from None
    results: dict[str, Result] = {}
    for order in wanted:
        own = [answers[number] for number, (play, *_) in enumerate(pieces) if play is order.play and store is None]
        found = Result.join(own) if store is None else store.load(order.play, order.runs)
        if found is None or found.runs < order.runs:
            where = store and store.folder
            raise StorageError(f"results were removed from {where} while others were played; try again")
        results[order.play.digest] = found
    played = sum(runs for _, _, runs in pieces)
    outcome = Outcome(results, played, sum(order.runs for order in wanted) - played)
    return outcome, [answers[len(pieces) + number] for number in range(len(others))]


def missing(order: Order, store: Store | None) -> list[tuple[int, int]]:
    """The runs that have yet to be played: pairs of the first and how many."""
    return [(0, order.runs)] if store is None else store.missing(order.play, order.runs, order.runs)


def pieces_of(gaps: Sequence[tuple[Play, int, int]], workers: int) -> list[tuple[Play, int, int]]:
    """What is missing in pieces that take seconds; smaller ones, if there would be none for some of the workers."""
    seconds = {id(play): _seconds(play) for play, *_ in gaps}
    each = seconds_of_piece(sum(runs * seconds[id(play)] for play, _, runs in gaps), workers)
    return [
        (play, *piece)
        for play, first, runs in gaps
        for piece in cut(first, runs, seconds[id(play)], _bytes(play), each)
    ]


def _seconds(play: Play) -> float:
    return seconds_of_run(play.policy, play.environment, play.horizon, play.fast_forward, play.record)


def _bytes(play: Play) -> int:
    return bytes_of_run(int(play.environment.n), len(play.checkpoints), play.record)


def _job(play: Play, first: int, runs: int, common: tuple[Play]) -> Job:
    return Job(
        play_piece,
        (first, runs),
        f"{type(play.policy).__name__} in {type(play.environment).__name__}",
        runs * _seconds(play) + (COMPILE_SECONDS if first == 0 else 0.0),
        play.group,
        True,
        common,
    )


def play_piece(play: Play, first: int, runs: int, progress: Callable[[float], None] | None = None) -> Result:
    """Play some runs, on one thread of whatever process this is."""
    return play.run(runs, first, threads=1, progress=progress)
