"""Any `concurrent.futures.Executor` that the user brings: a pool of processes, of MPI ranks, of a cluster.

It is used through `submit` alone, and never shut down. Jobs are pickled, and each checks that its worker has the same
code and libraries, because only the executor knows its workers. A job returns its error as a value, so that an error of
the future is the executor's own: a worker that died, a connection that was lost.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from typing import Any

from setwise.engines.compatibility import Facts, check_here, facts
from setwise.engines.crew import Crew
from setwise.engines.jobs import Engine, Job, Progress, Take
from setwise.engines.serialization import JobOutcome, outcome_of, pack, pack_job, run_packed
from setwise.engines.threads import ThreadCrew
from setwise.errors import InputError, SetwiseError, WorkerLost

MOST = 1000  # jobs submitted at a time, unless the user says how many, or there are more workers


class Executors(Engine):
    """Run jobs on the user's executor.

    at_once: jobs submitted at a time. By default one per worker if the executor has `num_workers`, else one per core,
        not counting those that run already
    """

    def __init__(self, executor: Executor, at_once: int | None = None) -> None:
        self.executor = executor
        self.limit = at_once
        self.at_once = at_once or getattr(executor, "num_workers", None) or os.cpu_count() or 1

    def do(self, jobs: Sequence[Job], take: Take, progress: Progress | None = None) -> None:
        crew: Crew
        if isinstance(self.executor, ThreadPoolExecutor):
            crew = _ForeignThreads(jobs, min(self.at_once, len(jobs)), self.executor)
        else:
            crew = _ForeignCrew(jobs, self)
        crew.run(take, progress)


class _ForeignThreads(ThreadCrew):
    """Run jobs on the user's threads, without pickling."""

    def submit(self, number: int, worker: Any) -> "Future[tuple[Any, float]]":
        return _submitted(self.pool, self.run_job, number, worker)

    def answer(self, number: int, future: Any) -> tuple[Any, float] | None:
        try:
            return super().answer(number, future)
        except (BrokenExecutor, CancelledError) as error:
            raise _lost(self.pool, self.jobs[number], error) from None


class PackedCrew(Crew):
    """Run pickled jobs on workers of other processes.

    packed, shared: the jobs, and their common arguments
    ours: versions and code that the workers must share with this process
    resubmits: whether a job that was interrupted on its worker is submitted again
    """

    resubmits = False

    def __init__(self, jobs: Sequence[Job]) -> None:
        super().__init__(jobs)
        self.packed = [pack_job(job) for job in jobs]
        self.shared = {key: pack(common) for key, common in {id(job.common): job.common for job in jobs}.items()}
        names = {name for part in (*self.packed, *self.shared.values()) for name in part.names}
        self.ours = facts(sorted(names))

    def answer(self, number: int, future: Any) -> tuple[Any, float] | None:
        try:
            outcome: JobOutcome = future.result()
        except (Exception, CancelledError) as reason:
            raise self.lost(self.jobs[number], reason) from None
        if isinstance(outcome.error, KeyboardInterrupt) and self.resubmits:
            return None
        found: tuple[Any, float] = outcome.get()
        return found

    def lost(self, job: Job, error: BaseException) -> SetwiseError:
        """Return the error for a job that was lost, not one that failed."""
        raise NotImplementedError


class _ForeignCrew(PackedCrew):
    """Run jobs on workers that only the executor knows."""

    def __init__(self, jobs: Sequence[Job], engine: Executors) -> None:
        super().__init__(jobs)
        self.engine = engine

    def assign(self) -> Iterator[tuple[int, Any]]:
        limit, at_once, busy = self.engine.limit, self.engine.at_once, len(self.busy)
        if limit is not None:
            room = limit - busy
        else:
            waiting = sum(not future.running() for _, future in self.busy.values())
            room = min(at_once - waiting, max(MOST, 2 * at_once) - busy)
        for _ in range(min(room, len(self.queue))):
            yield self.queue.next(), None

    def submit(self, number: int, worker: Any) -> "Future[Any]":
        common = self.shared[id(self.jobs[number].common)].data
        return _submitted(self.engine.executor, run_checked, self.ours, common, self.packed[number].data)

    def lost(self, job: Job, error: BaseException) -> SetwiseError:
        return _lost(self.engine.executor, job, error)


def _submitted(executor: Executor, function: Any, *arguments: Any) -> "Future[Any]":
    name = type(executor).__name__
    try:
        return executor.submit(function, *arguments)
    except BrokenExecutor as error:
        raise WorkerLost(f"{name} is broken ({_words(error)}); open a new one and try again") from None
    except RuntimeError as error:
        raise InputError(f"{name} takes no jobs ({_words(error)}); give an executor that is open") from None


def _lost(executor: Executor, job: Job, error: BaseException) -> SetwiseError:
    name = type(executor).__name__
    if isinstance(error, CancelledError):
        return WorkerLost(f"{name} cancelled {job.label}; keep it open until the work is done, and try again")
    if isinstance(error, BrokenExecutor):
        return WorkerLost(
            f"a worker of {name} died while running {job.label} ({_words(error)}), perhaps for lack of memory; its "
            "unfinished jobs are lost: open a new executor and try again"
        )
    return WorkerLost(f"{name} could not run {job.label} ({type(error).__name__}: {_words(error)}); try again")


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__


def run_checked(ours: Facts, common: bytes, data: bytes, progress: Callable[[float], None] | None = None) -> JobOutcome:
    """Check this worker and run a job on it; return its answer, or its error."""

    def run() -> tuple[Any, float]:
        check_here(ours)
        return run_packed(common, data, progress)

    return outcome_of(run)
