"""Pieces of work that do not depend on each other; who does which first; and how much of it is done."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

Report = Callable[[str, float], None]
Take = Callable[[int, Any], None]


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """A piece of work.

    function, arguments: what is called; both can be sent to another process
    label: what it is, for the progress bar
    seconds: how long it is expected to take, roughly
    group: what has to be compiled for it, or ""
    shares: whether the function takes `progress`, to be called with the share that is done
    common: arguments that come first; jobs that have the very same tuple share it, and a cluster is sent it once
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    label: str
    seconds: float = 1.0
    group: str = ""
    shares: bool = False
    common: tuple[Any, ...] = ()

    def run(self, progress: Callable[[float], None] | None = None) -> Any:
        """Do it, here and now."""
        return self.function(*self.common, *self.arguments, **({"progress": progress} if self.shares else {}))


class Engine:
    """Something that does jobs, and is closed when it is no longer needed.

    at_once: how many jobs it does at a time
    """

    at_once: int = 1

    def do(self, jobs: Sequence[Job], take: Take, report: Report | None = None) -> None:
        """Do all jobs; what comes out does not depend on the engine.

        take: called in this thread with the number of a job and its answer, as soon as there is one, in any order
        report: called now and then with what is going on and the share that is done

        The first error stops the work, also one in `take`. So does an interruption from the keyboard.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what was opened."""

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Queue:
    """What has yet to be begun, and what a worker should begin next.

    Rather what it has compiled already; then what nobody has begun; then what has the most work left for each worker
    that is at it.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.waiting: dict[str, list[int]] = {job.group: [] for job in jobs}
        for number in sorted(range(len(jobs) - 1, -1, -1), key=lambda number: jobs[number].seconds):
            self.waiting[jobs[number].group].append(number)  # the longest last: it is taken first
        self.left = {group: sum(jobs[number].seconds for number in own) for group, own in self.waiting.items()}
        self.workers = dict.fromkeys(self.waiting, 0)
        self.count = len(jobs)

    def __len__(self) -> int:
        return self.count

    def next(self, compiled: Iterable[str] = ()) -> int:
        """The number of the job to begin, for a worker that has compiled these groups."""

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
    """How much of the work is done: by what was expected, set right by what the same kind of work took so far."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.pending = dict.fromkeys(range(len(jobs)), 0.0)
        self.spent = 0.0
        self.expected: dict[str, float] = {}
        self.took: dict[str, float] = {}
        self.shown = 0.0

    def note(self, number: int, seconds: float) -> None:
        """A job is finished."""
        job = self.jobs[number]
        del self.pending[number]
        self.spent += seconds
        self.expected[job.group] = self.expected.get(job.group, 0.0) + job.seconds
        self.took[job.group] = self.took.get(job.group, 0.0) + seconds

    def share(self) -> float:
        """From 0 to 1, never less than before."""
        done = left = 0.0
        for number, part in self.pending.items():
            job = self.jobs[number]
            known = self.took.get(job.group, 0.0) / self.expected[job.group] if job.group in self.expected else 1.0
            done += part * known * job.seconds
            left += (1.0 - part) * known * job.seconds
        whole = self.spent + done + left
        self.shown = max(self.shown, (self.spent + done) / whole if whole > 0.0 else 1.0)
        return self.shown


def one_by_one(jobs: Sequence[Job], take: Take, report: Report | None) -> None:
    """Do the jobs in this thread, one after the other."""
    forecast = Forecast(jobs)
    for number, job in enumerate(jobs):

        def progress(share: float, number: int = number, job: Job = job) -> None:
            forecast.pending[number] = share
            if report:
                report(job.label, forecast.share())

        progress(0.0)
        started = time.monotonic()
        answer = job.run(progress)
        forecast.note(number, time.monotonic() - started)
        take(number, answer)
        if report:
            report(job.label, forecast.share())
