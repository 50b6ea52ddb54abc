"""Play many runs of one policy in one environment, on all cores."""

import os
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from setwise.engines import EngineLike, check_engine
from setwise.environments.tabulated import can_tabulate, tabulated
from setwise.places import place_of
from setwise.seeding import stream, stream_key
from setwise.simulation.checks import Request, check_request, plays_smaller, task_of
from setwise.simulation.failures import check_returns, failure_of, index_error
from setwise.simulation.play import FINE, STOPPED, Record, new_record, play
from setwise.simulation.result import Result
from setwise.simulation.trial import is_tested, prints, try_out
from setwise.types import InputError, Ints
from setwise.validation import whole_number


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a simulation; `result` has the finished runs, or None.

    It has the consecutive runs from the first on, so that every run keeps its number; runs finished after a gap are
    dropped.
    """

    def __init__(self, result: Result | None) -> None:
        super().__init__()
        self.result = result


def simulate(
    policy: Any,
    environment: Any,
    horizon: int,
    runs: int = 1,
    seed: int = 0,
    *,
    checkpoints: int | Sequence[int] | Ints = 100,
    spacing: str = "log",
    fast_forward: bool | None = None,
    record_indices: bool = False,
    first_run: int = 0,
    tabulate: bool = False,
    threads: int | None = None,
    compiled: bool = True,
    check_bounds: bool = False,
    progress: Callable[[float], None] | None = None,
    engine: EngineLike = "threads",
    address: str | None = None,
) -> Result:
    """Play a policy in an environment and return the regret.

    horizon: rounds per run, up to 10^12; the policy knows it
    runs: number of independent runs
    seed: a run depends only on seed, policy, environment, its number, horizon, checkpoints and fast_forward
    checkpoints: number of rounds to record regret at, or a list of them; the horizon is always the last
    spacing: of the checkpoints, "log" or "linear"
    fast_forward: play the rounds in which the set is certain at once (exact, the same distribution); by default
        wherever policy and environment support it, except when recording
    record_indices: also record every arm's index and rho(t), round by round
    first_run: number of the first run, to extend earlier results
    tabulate: cache the means of an environment with few sets in a table, see `environments/tabulated.py`; the same runs
    threads: runs at a time; by default one per core, here or in the cluster
    compiled: False interprets the same code, for debugging; the results are the same bits
    check_bounds: check every index of compiled code, which is slower; the results are the same bits. Otherwise only the
        first rounds of your own classes are checked, because they are interpreted first
    progress: callback, called with the share done
    engine: "threads", "processes", "dask", or any open executor of `concurrent.futures`, which stays open; all give the
        same bits. All but threads need classes that can be imported from a module, and a script guarded by
        `if __name__ == "__main__":`, like Python's multiprocessing
    address: of a Dask cluster, for example "tcp://192.0.2.7:8786"; by default a local one is started
    """
    check_engine(engine, address)
    request = check_request(
        policy, environment, horizon, runs, seed, checkpoints, spacing, fast_forward, record_indices, first_run,
        tabulate, compiled, check_bounds,
    )  # fmt: skip
    at_once = None if threads is None else whole_number("threads", threads, 1)
    if engine != "threads":
        from setwise.simulation.chunks import simulate_in_chunks

        return simulate_in_chunks(request, engine, at_once, address, progress)
    return Runs(request).play_all(at_once, progress)


class Runs:
    """The runs of a request, on threads of this process."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.task = task_of(
            request.policy, request.environment, request.n, request.k, request.fast, request.record_indices
        )
        # Also without fast-forward, so that both share compiled code.
        self._stretches = self.task.binary and hasattr(request.policy, "required_reward")
        self._key = stream_key(request.policy, request.environment)
        self._stop = np.zeros(1, np.int64)
        self._prepared: dict[int, Any] = {request.first_run: self._prepare(request.first_run, self._stop)}
        self._running: dict[int, Record] = {}
        self._finished: dict[int, Record] = {}
        self._loop, self._pair = self._make_loop()

    def _prepare(self, run: int, stop: Ints) -> tuple[Any, Any, Record]:
        """Return state, generator and an empty record of a run."""
        own = self.request
        rng = stream(own.seed, self._key, run)
        record = new_record(own.n, own.k, len(own.rounds), own.record_indices, self._stretches, stop)
        return own.policy.init(own.n, own.k, own.horizon, rng), rng, record

    def _make_loop(self) -> tuple[Callable[..., None], tuple[Any, Any]]:
        """Return the loop and the pair it plays, compiled if asked for."""
        own, task = self.request, self.task
        world = own.environment
        if own.tabulate and can_tabulate(world) and task.least == own.k:
            world = tabulated(world)
        pair = own.policy, world
        if not own.compiled:
            return play, pair
        check_bounds, trouble = own.check_bounds, None
        if not check_bounds and not is_tested(*pair):
            check_bounds = prints(*pair)
            if not check_bounds:
                trial = self._prepare(own.first_run, np.zeros(1, np.int64))
                trouble = try_out(*pair, trial, task, own.horizon)
        loop = self._compile(*pair, check_bounds, trouble)
        if trouble is not None:
            raise trouble
        return loop

    def _compile(
        self, policy: Any, world: Any, check_bounds: bool, trouble: Exception | None
    ) -> tuple[Callable[..., None], tuple[Any, Any]]:
        """Compile the loop for this pair; return it with the pair it takes. `trouble` may explain a failure."""
        from setwise.compiled import compile_for, plain

        pair = plain(policy), plain(world)
        state, rng, record = self._prepared[self.request.first_run]
        given = (*pair, state, rng, self.task, self.request.rounds, record)
        try:
            return compile_for(play, *given, check_bounds=check_bounds), pair
        except InputError:
            check_returns(policy, state, rng)
            place = trouble and place_of(trouble)
            if not place or isinstance(trouble, InputError):
                raise
            raise InputError(f"{place} raised {type(trouble).__name__}: {trouble}") from trouble

    def play_all(self, at_once: int | None, progress: Callable[[float], None] | None) -> Result:
        """Play all runs, so many at a time; Ctrl-C keeps the finished ones."""
        own = self.request
        threads = min(at_once or os.cpu_count() or 1, own.runs)
        watch = None if progress is None else lambda: progress(self._share_done())
        interrupted = run_all(self._play_one, own.runs, threads, self._stop, watch)
        numbers = range(own.first_run, own.first_run + own.runs)
        complete = [self._finished[run] for run in takewhile(self._finished.__contains__, numbers)]
        result = _result(own, complete) if complete else None
        if interrupted or result is None:
            raise Interrupted(result)
        return result

    def _play_one(self, number: int) -> None:
        own, run = self.request, self.request.first_run + number
        state, rng, record = self._prepared.pop(run, None) or self._prepare(run, self._stop)
        self._running[run] = record
        try:
            self._loop(*self._pair, state, rng, self.task, own.rounds, record)
        except (IndexError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            if not own.compiled and place_of(error) is None:
                check_returns(own.policy, state, rng)
            if not isinstance(error, IndexError) or (not own.compiled and place_of(error) is None):
                raise
            done = int(record.status[3])
            raise InputError(index_error(own.policy, own.environment, error, run, done, own.compiled)) from error
        if record.status[0] == FINE:
            self._finished[run] = _without_buffers(record)
        elif record.status[0] != STOPPED:
            raise InputError(failure_of(own.policy, own.environment, record, self.task))
        del self._running[run]

    def _share_done(self) -> float:
        under_way = sum(float(record.status[3]) for record in list(self._running.values()))
        return (len(self._finished) + under_way / float(self.request.horizon)) / self.request.runs


def run_all(
    one_run: Callable[[int], None], runs: int, threads: int, stop: Ints, watch: Callable[[], None] | None
) -> bool:
    """Call `one_run` for every number on several threads; return whether the user pressed Ctrl-C.

    The first error or Ctrl-C stops the active runs and starts no others.
    """
    from setwise.engines.threads import on_threads

    numbers = iter(range(runs))

    def stop_all() -> None:
        stop[0] = 1

    def work() -> None:
        for run in numbers:
            if stop[0] != 0:
                return
            try:
                one_run(run)
            except BaseException:
                stop_all()
                raise

    try:
        on_threads(work, threads, stop_all, watch)
    except KeyboardInterrupt:
        return True
    return False


def _without_buffers(record: Record) -> Record:
    nothing: Any = np.zeros(0)
    return record._replace(
        last=nothing, since=nothing, inside=nothing, means=nothing, rewards=nothing, now=nothing, stretch=None
    )


def _result(request: Request, records: list[Record]) -> Result:
    recorded = len(records[0].index_rows) > 0
    regret, surrogate_regret, rho = np.array([own.curves for own in records]).transpose(1, 0, 2).copy()
    return Result(
        policy=repr(request.policy),
        environment=repr(request.environment),
        horizon=request.horizon,
        seed=request.seed,
        fast_forward=request.fast,
        rounds=request.rounds,
        regret=regret,
        pulls=np.array([own.pulls for own in records]),
        surrogate_regret=surrogate_regret if hasattr(request.environment, "surrogate") else None,
        indices=np.array([own.index_rows for own in records]) if recorded else None,
        rho=rho if recorded else None,
        names=getattr(request.environment, "names", None),
        smaller=np.array([own.smaller[0] for own in records]) if plays_smaller(request.policy) else None,
        first=request.first_run,
    )
