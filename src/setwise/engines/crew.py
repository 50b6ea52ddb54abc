"""The loop that all engines share: submit jobs to workers, and deliver each answer as it arrives."""

import contextlib
import queue
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from setwise.engines.jobs import Forecast, Job, Progress, Queue, Take

WAIT = 0.2  # seconds between two reports of progress


class Crew:
    """The workers of one call of `do`, and the jobs they run.

    busy: worker and future of every submitted job
    compiled: groups that each worker has compiled
    """

    def __init__(self, jobs: Sequence[Job], workers: Iterable[Any] = ()) -> None:
        self.jobs = jobs
        self.queue, self.forecast = Queue(jobs), Forecast(jobs)
        self.busy: dict[int, tuple[Any, Any]] = {}
        self.compiled: dict[Any, set[str]] = {worker: set() for worker in workers}
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._told = -1e9

    def assign(self) -> Iterator[tuple[int, Any]]:
        """Yield the jobs to submit now, with their workers: one job for each idle worker."""
        taken = {worker for worker, _ in self.busy.values()}
        for worker in self.compiled:
            if self.queue and worker not in taken:
                yield self.next_for(worker), worker

    def submit(self, number: int, worker: Any) -> Any:
        """Submit a job to a worker; return its future."""
        raise NotImplementedError

    def answer(self, number: int, future: Any) -> tuple[Any, float] | None:
        """Return the answer of a finished job and its duration, or None to submit it again."""
        found: tuple[Any, float] = future.result()
        return found

    def stop(self) -> None:
        """Cancel the jobs that have not started."""
        for _, future in self.busy.values():
            future.cancel()

    def run(self, take: Take, progress: Progress | None) -> None:
        """Run all jobs; the first error, or Ctrl-C, stops the rest."""
        try:
            while self.queue or self.busy:
                for number, worker in self.assign():
                    self._begin(number, worker)
                for number in self._arrived():
                    worker, future = self.busy.pop(number)
                    found = self.answer(number, future)
                    if found is None:
                        self._begin(number, worker)
                        continue
                    answer, seconds = found
                    self.forecast.note(number, seconds)
                    take(number, answer)
                self._tell(progress)
        except BaseException:
            self.stop()
            raise

    def next_for(self, worker: Any) -> int:
        """Remove and return the next job for a worker."""
        compiled = self.compiled.setdefault(worker, set())
        number = self.queue.next(compiled)
        compiled.add(self.jobs[number].group)
        return number

    def _begin(self, number: int, worker: Any) -> None:
        future = self.submit(number, worker)
        self.busy[number] = worker, future
        future.add_done_callback(lambda _: self._done.put(number))

    def _arrived(self) -> Iterator[int]:
        """Yield the finished jobs; wait a moment for the first."""
        with contextlib.suppress(queue.Empty):
            yield self._done.get(timeout=WAIT)
            while True:
                yield self._done.get_nowait()

    def _tell(self, progress: Progress | None) -> None:
        now = time.monotonic()
        if progress is not None and (now - self._told > WAIT or not self.busy):
            self._told = now
            progress(self.jobs[next(iter(self.busy), -1)].label, self.forecast.share())
