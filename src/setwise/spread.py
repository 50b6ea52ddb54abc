"""Independent pieces of work on all cores: in processes, so that policies are compiled side by side.

Numba compiles one thing at a time in a process. So every worker is a process of its own, all share the compiler's cache
on disk, and work that needs the same compiled code goes to the worker that has it, until nothing else is left to do.
"""

import contextlib
import dataclasses
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from setwise.types import InputError

Report = Callable[[str, float], None]


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """A piece of work.

    function, arguments: what is called; both can be sent to another process
    label: what it is, for the progress bar
    seconds: how long it is expected to take, roughly
    group: what has to be compiled for it, or ""
    shares: whether the function takes `progress`, to be called with the share that is done
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    label: str
    seconds: float = 1.0
    group: str = ""
    shares: bool = False


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


def spread(jobs: Sequence[Job], processes: int | None = None, report: Report | None = None) -> list[Any]:
    """Do all jobs; the answers in their order. What comes out does not depend on how many processes there are.

    The first error stops the work. So does an interruption from the keyboard.
    """
    cores = min(processes or os.cpu_count() or 1, len(jobs))
    forecast = Forecast(jobs)
    if cores <= 1:
        return [_here(number, job, forecast, report) for number, job in enumerate(jobs)]
    workers = [Worker() for _ in range(cores)]
    try:
        return _with_workers(jobs, workers, forecast, report)
    finally:
        for worker in workers:
            worker.stop()


def _here(number: int, job: Job, forecast: Forecast, report: Report | None) -> Any:
    def progress(share: float) -> None:
        forecast.pending[number] = share
        if report:
            report(job.label, forecast.share())

    progress(0.0)
    started = time.monotonic()
    answer = job.function(*job.arguments, **({"progress": progress} if job.shares else {}))
    forecast.note(number, time.monotonic() - started)
    if report:
        report(job.label, forecast.share())
    return answer


def _with_workers(jobs: Sequence[Job], workers: "list[Worker]", forecast: Forecast, report: Report | None) -> list[Any]:
    from concurrent.futures import wait
    from concurrent.futures.process import BrokenProcessPool

    waiting = sorted(range(len(jobs)), key=lambda number: -jobs[number].seconds)
    weight: dict[str, float] = {}
    for job in jobs:
        weight[job.group] = weight.get(job.group, 0.0) + job.seconds
    started: set[str] = set()
    answers: dict[int, Any] = {}
    busy: dict[Any, Worker] = {}
    while waiting or busy:
        for worker in workers:
            if waiting and worker.task is None:
                number = _choose(waiting, jobs, worker, started, weight)
                waiting.remove(number)
                started.add(jobs[number].group)
                try:
                    busy[worker.begin(number, jobs[number])] = worker
                except BrokenProcessPool:
                    raise InputError(_why_broken(jobs[number], worker)) from None
        done, _ = wait(busy, timeout=0.2, return_when="FIRST_COMPLETED")
        for task in done:
            worker = busy.pop(task)
            try:
                answers[worker.number], seconds = task.result()
            except BrokenProcessPool:
                raise InputError(_why_broken(jobs[worker.number], worker)) from None
            worker.ready = True
            forecast.note(worker.number, seconds)
            worker.task = None
        for worker in busy.values():
            forecast.pending[worker.number] = max(0.0, worker.share.value)
        if report:
            label = jobs[next(iter(busy.values())).number].label if busy else jobs[-1].label
            report(label, forecast.share())
    return [answers[number] for number in range(len(jobs))]


def _why_broken(job: Job, worker: "Worker") -> str:
    """Why a process is gone, as far as can be told."""
    if worker.ready or worker.share.value >= 0.0:
        return (
            f"the process that worked on {job.label} was killed, perhaps for want of memory; what was finished is "
            "kept: try again, or with one job"
        )
    return (
        "a process of its own could not be started; a script that asks for several jobs has to be a file and guard "
        'what it does by `if __name__ == "__main__":`, or ask for one job'
    )


def _choose(waiting: list[int], jobs: Sequence[Job], worker: "Worker", started: set[str], weight: Any) -> int:
    """Rather what this worker has compiled, then what nobody has begun, the most work first; then anything."""

    def preference(number: int) -> tuple[int, float]:
        group = jobs[number].group
        rank = 0 if group in worker.groups else 1 if group not in started else 2
        return rank, -weight[group]

    return min(waiting, key=preference)


class Worker:
    """One other process, with what it has compiled so far."""

    def __init__(self) -> None:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        context = multiprocessing.get_context("spawn")
        self.share: Any = context.Value("d", -1.0, lock=False)  # until it has begun
        self.ready = False
        self.pool = ProcessPoolExecutor(1, mp_context=context, initializer=_begin, initargs=(self.share, os.getcwd()))
        self.groups: set[str] = set()
        self.task: Any = None
        self.number = -1

    def begin(self, number: int, job: Job) -> Any:
        self.number = number
        self.groups.add(job.group)
        if self.ready:
            self.share.value = 0.0
        with _uninterrupted():  # a process that is started here leaves interruptions to this one from its first moment
            self.task = self.pool.submit(_work, job.function, job.arguments, job.shares)
        return self.task

    def stop(self) -> None:
        """End the process, whatever it is at: what it has kept is whole."""
        for process in list((self.pool._processes or {}).values()):
            process.kill()
        self.pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Interruptions from the keyboard are ignored in here, where signals can be set at all."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_share: Any = None


def _begin(share: Any, folder: str) -> None:
    """Ready a worker: it leaves interruptions to its parent, ends with it, and finds modules where the user works."""
    import multiprocessing
    import sys

    global _share
    _share = share
    _share.value = 0.0
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if folder not in sys.path:
        sys.path.append(folder)

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _work(function: Callable[..., Any], arguments: tuple[Any, ...], shares: bool) -> tuple[Any, float]:
    def progress(share: float) -> None:
        _share.value = share

    started = time.monotonic()
    answer = function(*arguments, **({"progress": progress} if shares else {}))
    return answer, time.monotonic() - started
