"""Processes of this machine, so that policies are compiled side by side.

Numba compiles one thing at a time in a process. So every worker is a process of its own, all share the compiler's cache
on disk, and work that needs the same compiled code goes to the worker that has it, until nothing else is left to do.
"""

import os
import signal
import threading
from collections.abc import Sequence
from typing import Any

from setwise.engines.interrupting import uninterrupted
from setwise.engines.jobs import Engine, Forecast, Job, Queue, Report, Take, one_by_one
from setwise.engines.sending import pack, pack_job, run_packed
from setwise.errors import InputError, SetwiseError, WorkerLost


class Processes(Engine):
    """Jobs in other processes; a single one at a time is done in this one."""

    def __init__(self, at_once: int | None = None) -> None:
        self.at_once = at_once or os.cpu_count() or 1

    def do(self, jobs: Sequence[Job], take: Take, report: Report | None = None) -> None:
        count = min(self.at_once, len(jobs))
        if count <= 1:
            one_by_one(jobs, take, report)
            return
        workers = [Worker() for _ in range(count)]
        try:
            _with_workers(jobs, workers, take, report)
        finally:
            for worker in workers:
                worker.stop()


def _with_workers(jobs: Sequence[Job], workers: "list[Worker]", take: Take, report: Report | None) -> None:
    from concurrent.futures import wait
    from concurrent.futures.process import BrokenProcessPool

    queue, forecast = Queue(jobs), Forecast(jobs)
    shared = {id(job.common): pack(job.common).data for job in {id(job.common): job for job in jobs}.values()}
    busy: dict[Any, Worker] = {}
    while queue or busy:
        for worker in workers:
            if queue and worker.task is None:
                number = queue.next(worker.compiled)
                try:
                    busy[worker.begin(number, jobs[number], shared)] = worker
                except BrokenProcessPool:
                    raise _why_broken(jobs[number], worker) from None
        done, _ = wait(busy, timeout=0.2, return_when="FIRST_COMPLETED")
        for task in done:
            worker = busy.pop(task)
            try:
                answer, seconds = task.result()
            except BrokenProcessPool:
                raise _why_broken(jobs[worker.number], worker) from None
            worker.ready = True
            worker.task = None
            forecast.note(worker.number, seconds)
            take(worker.number, answer)
        for worker in busy.values():
            forecast.pending[worker.number] = max(0.0, worker.share.value)
        if report:
            label = jobs[next(iter(busy.values())).number].label if busy else jobs[-1].label
            report(label, forecast.share())


def _why_broken(job: Job, worker: "Worker") -> SetwiseError:
    """Why a process is gone, as far as can be told."""
    if worker.ready or worker.share.value >= 0.0:
        return WorkerLost(
            f"the process that worked on {job.label} was killed, perhaps for want of memory: try again, or with one job"
        )
    return InputError(
        "a process of its own could not be started; a script that asks for several jobs has to be a file and guard "
        'what it does by `if __name__ == "__main__":`, or ask for one job'
    )


class Worker:
    """One other process, with what it has compiled so far."""

    def __init__(self) -> None:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        context = multiprocessing.get_context("spawn")
        self.share: Any = context.Value("d", -1.0, lock=False)  # until it has begun
        self.ready = False
        self.pool = ProcessPoolExecutor(1, mp_context=context, initializer=_begin, initargs=(self.share, os.getcwd()))
        self.compiled: set[str] = set()
        self.sent: set[int] = set()
        self.task: Any = None
        self.number = -1

    def begin(self, number: int, job: Job, shared: dict[int, bytes]) -> Any:
        """Give it a job; what it has in common with others is sent along with the first of them."""
        self.number = number
        self.compiled.add(job.group)
        if self.ready:
            self.share.value = 0.0
        key = id(job.common)
        common = None if key in self.sent else shared[key]
        self.sent.add(key)
        data = pack_job(job).data
        with uninterrupted():
            self.task = self.pool.submit(_work, key, common, data)
        return self.task

    def stop(self) -> None:
        """End the process, whatever it is at."""
        for process in list((self.pool._processes or {}).values()):
            process.kill()
        self.pool.shutdown(wait=True, cancel_futures=True)


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


_shared: dict[int, bytes] = {}


def _work(key: int, common: bytes | None, data: bytes) -> tuple[Any, float]:
    def progress(share: float) -> None:
        _share.value = share

    if common is not None:
        _shared[key] = common
    return run_packed(_shared[key], data, progress)
