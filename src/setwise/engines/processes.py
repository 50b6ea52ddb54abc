"""Engine of local processes, which compile policies in parallel.

Numba compiles one function at a time per process. So every worker is a process, all share Numba's cache on disk, and
jobs that need the same compiled code go to the worker that has it, until nothing else is left. A thread of this process
talks to each worker through a pipe.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from setwise.engines.jobs import Engine, Job, Progress, Take, one_by_one
from setwise.engines.process_setup import ignore_interrupts
from setwise.engines.serialization import JobOutcome, outcome_of, pack, pack_job, run_packed
from setwise.engines.threads import ThreadCrew
from setwise.errors import InputError, SetwiseError, WorkerLost


class Processes(Engine):
    """Run jobs in worker processes; a single job, or one at a time, runs in this process."""

    def __init__(self, at_once: int | None = None) -> None:
        self.at_once = at_once or os.cpu_count() or 1

    def do(self, jobs: Sequence[Job], take: Take, progress: Progress | None = None) -> None:
        count = min(self.at_once, len(jobs))
        if count <= 1:
            one_by_one(jobs, take, progress)
            return
        commons = {id(job.common): job.common for job in jobs}
        shared = {key: pack(common).data for key, common in commons.items()}
        with contextlib.ExitStack() as stack:
            workers = [stack.enter_context(Worker(shared)) for _ in range(count)]
            pool = stack.enter_context(ThreadPoolExecutor(count))
            ProcessCrew(jobs, workers, pool).run(take, progress)


class ProcessCrew(ThreadCrew):
    """Run jobs in worker processes, each driven by a thread."""

    def __init__(self, jobs: Sequence[Job], workers: "Sequence[Worker]", pool: ThreadPoolExecutor) -> None:
        super().__init__(jobs, len(workers), pool)
        self.processes = workers

    def run_job(self, number: int, worker: Any) -> tuple[Any, float]:
        process: Worker = self.processes[worker]
        return process.run(self.jobs[number], self.progress_of(number))

    def stop(self) -> None:
        for worker in self.processes:
            worker.process.kill()
        super().stop()


class Worker:
    """One worker process.

    shared: the jobs' common arguments, packed; a worker gets them with the first job that has them
    """

    def __init__(self, shared: dict[int, bytes]) -> None:
        context = multiprocessing.get_context("spawn")
        self.shared, self.sent = shared, set[int]()
        self.ready = False
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there, os.getcwd()))
        with ignore_interrupts():
            self.process.start()
        there.close()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *reason: object) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def run(self, job: Job, progress: Callable[[float], None]) -> tuple[Any, float]:
        """Run a job in the process and wait for its answer."""
        key, data = id(job.common), pack_job(job).data
        common = None if key in self.sent else self.shared[key]
        self.sent.add(key)
        try:
            if not self.ready:
                self.pipe.recv()
                self.ready = True
            self.pipe.send((key, common, data))
            while isinstance(reply := self.pipe.recv(), float):
                progress(reply)
        except (EOFError, OSError):
            raise self._why_dead(job) from None
        found: tuple[Any, float] = reply.get()
        return found

    def _why_dead(self, job: Job) -> SetwiseError:
        if self.ready:
            return WorkerLost(
                f"the process that ran {job.label} was killed, perhaps for lack of memory: try again, or with one job"
            )
        return InputError(
            "a worker process could not be started; a script that asks for several jobs has to be a file and guard "
            'its code by `if __name__ == "__main__":`, or ask for one job'
        )


def _serve(pipe: Any, folder: str) -> None:
    """Run jobs from the pipe until the parent closes it, or dies.

    Ignore Ctrl-C, which reaches the parent as well, and import from the user's working directory.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if folder not in sys.path:
        sys.path.append(folder)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    commons: dict[int, bytes] = {}
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        pipe.send(None)
        while True:
            key, common, data = pipe.recv()
            if common is not None:
                commons[key] = common
            reply = outcome_of(run_packed, commons[key], data, lambda share: pipe.send(float(share)))
            try:
                pipe.send(reply)
            except (AttributeError, TypeError, ValueError) as error:  # the answer cannot be pickled
                pipe.send(JobOutcome(None, RuntimeError(f"an answer cannot be pickled: {error}")))


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
