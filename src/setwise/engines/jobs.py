"""Independent jobs, their scheduling, and the estimate of progress."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

Progress = Callable[[str, float], None]  # called with a label and the share done
Take = Callable[[int, Any], None]


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """A function call to run on any worker.

    function, arguments: the call; both can be pickled
    label: for the progress bar
    seconds: estimated duration
    group: key of the code it has to compile, or ""
    shares: whether the function takes a callback `progress`, called with the share done
    common: arguments that come first; jobs with the same tuple object share it, and a cluster gets it once
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    label: str
    seconds: float = 1.0
    group: str = ""
    shares: bool = False
    common: tuple[Any, ...] = ()

    def run(self, progress: Callable[[float], None] | None = None) -> Any:
        """Run the job in this thread."""
        return self.function(*self.common, *self.arguments, **({"progress": progress} if self.shares else {}))


class Engine:
    """Base class of engines, which run jobs until closed.

    at_once: jobs at a time
    """

    at_once: int = 1

    def do(self, jobs: Sequence[Job], take: Take, progress: Progress | None = None) -> None:
        """Run all jobs; the answers do not depend on the engine.

        take: called in this thread with the number of a job and its answer, as soon as it arrives, in any order
        progress: callback, called with a label and the share done

        The first error stops the work, also one in `take`; so does Ctrl-C.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Release the engine's resources."""

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Queue:
    """Jobs not yet started, in the order in which a worker should take them.

    Prefer groups that the worker has compiled; then groups that no worker has started; then the group with the most
    work left per worker.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.waiting: dict[str, list[int]] = {job.group: [] for job in jobs}
        for number in sorted(range(len(jobs) - 1, -1, -1), key=lambda number: jobs[number].seconds):
            self.waiting[jobs[number].group].append(number)  # longest last, as jobs are popped from the end
        self.left = {group: sum(jobs[number].seconds for number in own) for group, own in self.waiting.items()}
        self.workers = dict.fromkeys(self.waiting, 0)
        self.count = len(jobs)

    def __len__(self) -> int:
        return self.count

    def next(self, compiled: Iterable[str] = ()) -> int:
        """Remove and return the next job for a worker that has compiled these groups."""

        def preference(group: str) -> tuple[int, float]:
            rank = 0 if group in compiled else 1 if self.workers[group] == 0 else 2
            return rank, -self.left[group] / (1 + self.workers[group])

        group = min((group for group, own in self.waiting.items() if own), key=preference)
        if group not in compiled:
            self.workers[group] += 1
        number = self.waiting[group].pop()
        self.left[group] -= self.jobs[number].seconds
        self.count -= 1
        return number


class Forecast:
    """Estimate the share of work done from expected times; measured times of the same group correct them."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.pending = dict.fromkeys(range(len(jobs)), 0.0)
        self.spent = 0.0
        self.expected: dict[str, float] = {}
        self.took: dict[str, float] = {}
        self.shown = 0.0

    def note(self, number: int, seconds: float) -> None:
        """Record a finished job and its duration."""
        job = self.jobs[number]
        del self.pending[number]
        self.spent += seconds
        self.expected[job.group] = self.expected.get(job.group, 0.0) + job.seconds
        self.took[job.group] = self.took.get(job.group, 0.0) + seconds

    def share(self) -> float:
        """Return the share done, from 0 to 1; it never decreases."""
        done = left = 0.0
        for number, part in self.pending.items():
            job = self.jobs[number]
            known = self.took.get(job.group, 0.0) / self.expected[job.group] if job.group in self.expected else 1.0
            done += part * known * job.seconds
            left += (1.0 - part) * known * job.seconds
        whole = self.spent + done + left
        self.shown = max(self.shown, (self.spent + done) / whole if whole > 0.0 else 1.0)
        return self.shown


def one_by_one(jobs: Sequence[Job], take: Take, progress: Progress | None) -> None:
    """Run the jobs in this thread, one after the other."""
    forecast = Forecast(jobs)
    for number, job in enumerate(jobs):

        def tell(share: float, number: int = number, job: Job = job) -> None:
            forecast.pending[number] = share
            if progress:
                progress(job.label, forecast.share())

        tell(0.0)
        started = time.monotonic()
        answer = job.run(tell)
        forecast.note(number, time.monotonic() - started)
        take(number, answer)
        if progress:
            progress(job.label, forecast.share())
