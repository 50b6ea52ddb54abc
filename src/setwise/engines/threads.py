"""Threads of this process, our own or the user's: nothing is pickled, so that any class works.

Compiled code runs in parallel. Compiling itself is serial, so jobs that share compiled code follow each other on one
thread, while others play.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from setwise.engines.crew import Crew
from setwise.engines.jobs import Engine, Job, Progress, Take, one_by_one

Found = TypeVar("Found")


def on_threads(
    work: Callable[[], Found], count: int, stop: Callable[[], None], watch: Callable[[], None] | None = None
) -> list[Found]:
    """Call `work` on `count` threads at once; return their results.

    stop: makes the calls return early; called on an error in this thread, and on Ctrl-C
    watch: called in this thread every 0.1 s
    """
    with ThreadPoolExecutor(count) as pool:
        try:
            calls = [pool.submit(work) for _ in range(count)]
            waiting = set(calls)
            while waiting:
                _, waiting = wait(waiting, timeout=0.1)
                if watch is not None:
                    watch()
        except BaseException:
            stop()
            raise
    return [call.result() for call in calls]


class Threads(Engine):
    """Run jobs in this process, on several threads."""

    def __init__(self, at_once: int | None = None) -> None:
        self.at_once = at_once or os.cpu_count() or 1

    def do(self, jobs: Sequence[Job], take: Take, progress: Progress | None = None) -> None:
        count = min(self.at_once, len(jobs))
        if count <= 1:
            one_by_one(jobs, take, progress)
            return
        with ThreadPoolExecutor(count) as pool:
            ThreadCrew(jobs, count, pool).run(take, progress)


class ThreadCrew(Crew):
    """Run jobs on the threads of a pool; a running one stops when it next reports its progress."""

    def __init__(self, jobs: Sequence[Job], count: int, pool: ThreadPoolExecutor) -> None:
        super().__init__(jobs, range(count))
        self.pool = pool
        self.stopped = threading.Event()

    def submit(self, number: int, worker: Any) -> "Future[tuple[Any, float]]":
        return self.pool.submit(self.run_job, number, worker)

    def run_job(self, number: int, worker: Any) -> tuple[Any, float]:
        """Run a job in a thread of the pool; return the answer and its duration in seconds."""
        started = time.monotonic()
        return self.jobs[number].run(self.progress_of(number)), time.monotonic() - started

    def progress_of(self, number: int) -> Callable[[float], None]:
        def progress(share: float) -> None:
            if self.stopped.is_set():
                raise KeyboardInterrupt  # handled like Ctrl-C
            self.forecast.pending[number] = share

        return progress

    def stop(self) -> None:
        self.stopped.set()
        super().stop()
        wait([future for _, future in self.busy.values()])
