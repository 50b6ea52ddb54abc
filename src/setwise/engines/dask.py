"""A Dask cluster: processes of this machine, or workers anywhere by the address of their scheduler.

Dask's own futures, and not joblib's back end for Dask: every answer is handed over as it arrives, and each job can be
given to the worker that has compiled for it. What is lost with a worker, the scheduler has others do again: the jobs it
was at, and answers that had not been fetched. A worker is given few jobs ahead, because the scheduler suspects all jobs
of a lost worker alike, and gives a job up after several losses. What jobs have in common is the answer of a task as
well: a worker fetches it once and keeps it, and it is made again if all workers that had it are lost (what is scattered
is not).
"""

import contextlib
import logging
import os
import time
import uuid
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from setwise.engines.connecting import check_listening, connected
from setwise.engines.interrupting import uninterrupted
from setwise.engines.jobs import Engine, Forecast, Job, Queue, Report, Take
from setwise.engines.likeness import Facts, check_alike, check_here, facts, question
from setwise.engines.quiet import nothing_logged
from setwise.engines.sending import pack, pack_job, run_packed
from setwise.errors import InputError, WorkerLost

WHAT = "a Dask scheduler"
AHEAD = 1  # jobs that a worker is given beyond those it can do at once, so that it need not wait
LOOK = 1.0  # seconds from one look at which workers there are to the next
PATIENCE = 15.0  # seconds to be welcomed
WELCOME = 5.0  # seconds that the first worker may take to come
ALONE = 60.0  # seconds without any worker after which the work is given up
CONFIGURED = {
    "distributed.admin.large-graph-warning-threshold": "1 TB",
    # A local cluster looks this long after the loss of a worker whether one of its name is there, and gives the name up
    # if not: also if one had come meanwhile, and was lost just now.
    "distributed.deploy.lost-worker-timeout": "52 weeks",
}


class Dask(Engine):
    """Jobs on a Dask cluster."""

    def __init__(self, at_once: int | None = None, address: str | None = None) -> None:
        self.address = address
        self.limit = at_once
        self.stack = contextlib.ExitStack()
        if address is not None:
            check_listening(address, WHAT, "tcp://192.0.2.7:8786", ("", "tcp", "tls", "ws", "wss"))
        try:
            self.stack.enter_context(_quiet())
            self.client = self.stack.enter_context(_local(at_once) if address is None else _remote(address))
            cores = self._cores()
            self.at_once = min(at_once or cores, cores)
        except BaseException:
            self.stack.close()
            raise

    def close(self) -> None:
        self.stack.close()

    @property
    def where(self) -> str:
        return "of this machine" if self.address is None else f"at {self.address}"

    def _cores(self) -> int:
        """How many jobs the cluster does at once; workers that are just starting are waited for, but not for long."""
        deadline = time.monotonic() + WELCOME
        while not (threads := self._threads()):
            if time.monotonic() > deadline:
                raise WorkerLost(f"the Dask cluster {self.where} has no workers; start some with `dask worker ADDRESS`")
            time.sleep(0.1)
        return sum(threads.values())

    def _threads(self) -> dict[str, int]:
        """The workers there are, and how many jobs each does at once."""
        try:
            found: dict[str, int] = self.client.nthreads()
        except (OSError, RuntimeError):
            raise self._lost() from None
        return found

    def _lost(self) -> WorkerLost:
        return WorkerLost(f"the Dask cluster {self.where} was lost")

    def do(self, jobs: Sequence[Job], take: Take, report: Report | None = None) -> None:
        packed = [pack_job(job) for job in jobs]
        commons = {id(job.common): job.common for job in jobs}
        shared = {key: pack(common) for key, common in commons.items()}
        names = {name for part in (*packed, *shared.values()) for name in part.names}
        crew = _Crew(self, jobs, sorted(names))
        crew.look()
        token, work = uuid.uuid4().hex, _by_value()
        places = {
            key: self.client.submit(bytes, part.data, key=f"setwise-common-{token}-{number}")
            for number, (key, part) in enumerate(shared.items())
        }

        def begin(number: int, worker: str, again: str = "") -> None:
            common = places[id(jobs[number].common)]
            where: Any = {"workers": [worker], "allow_other_workers": True}
            key = f"setwise-{token}-{number}{again}"
            given = crew.ours, common, packed[number].data
            crew.listen(number, worker, self.client.submit(work, *given, key=key, **where))

        try:
            while crew.queue or crew.busy:
                crew.look()
                for number, worker in crew.assign():
                    begin(number, worker)
                for number in crew.arrived():
                    worker, future = crew.busy.pop(number)
                    found = self._answer(future, jobs[number])
                    if found is None:  # a worker gave it up, wrongly
                        begin(number, worker, f"-{uuid.uuid4().hex}")
                        continue
                    answer, seconds = found
                    crew.forecast.note(number, seconds)
                    take(number, answer)
                crew.tell(report)
        finally:
            futures = [future for _, future in crew.busy.values()]
            with contextlib.suppress(Exception):
                self.client.cancel([*futures, *places.values()], force=True)

    def _answer(self, future: Any, job: Job) -> Any:
        from asyncio import CancelledError as Stopped
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker as error:
            raise WorkerLost(
                f"{job.label} was tried {error.allowed_failures + 1} times on the Dask cluster {self.where}, and each "
                "time the worker was lost, perhaps for want of memory"
            ) from None
        except (CancelledError, Stopped):
            raise self._lost() from None
        except OSError:
            if future.status == "error":  # what the job did failed, and not the way to the cluster
                raise
            raise self._lost() from None
        except ImportError as error:
            raise WorkerLost(
                f"a worker that came later to the Dask cluster {self.where} lacks what the work needs ({error}); "
                "install there what is installed here"
            ) from None


class _Crew:
    """Which jobs are where.

    names: the classes and functions of the user's in the jobs
    threads: the workers that were found to be alike, and how many jobs each does at once
    busy: of each job that was begun, the worker it was given to and its future
    """

    def __init__(self, engine: Dask, jobs: Sequence[Job], names: Sequence[str]) -> None:
        import queue

        self.engine = engine
        self.jobs = jobs
        self.ours, self.question = facts(names), question(names)
        self.alike: set[str] = set()
        self.queue, self.forecast = Queue(jobs), Forecast(jobs)
        self.busy: dict[int, tuple[str, Any]] = {}
        self.done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.threads: dict[str, int] = {}
        self.compiled: dict[str, set[str]] = {}
        self.looked = self.seen = self.told = -1e9

    def look(self) -> None:
        """Now and then, see which workers there are: some may be lost, and those that have come are looked at."""
        now = time.monotonic()
        if now - self.looked < LOOK:
            return
        found = self.engine._threads()
        self._check([worker for worker in found if worker not in self.alike])
        self.threads = {worker: threads for worker, threads in found.items() if worker in self.alike}
        self.looked = now
        self.seen = now if self.threads or self.seen < 0.0 else self.seen
        if now - self.seen > ALONE:
            raise WorkerLost(f"the Dask cluster {self.engine.where} has had no worker for {ALONE:.0f} s")

    def _check(self, workers: list[str]) -> None:
        """Refuse workers on which results could differ; one that does not answer is asked again at the next look."""
        if not workers:
            return
        try:
            found = self.engine.client.run(eval, self.question, workers=workers, on_error="return")
        except (OSError, RuntimeError):
            raise self.engine._lost() from None
        for worker, theirs in found.items():
            if not isinstance(theirs, Exception):
                check_alike(self.ours, theirs, worker)
                self.alike.add(worker)

    def assign(self) -> Iterator[tuple[int, str]]:
        """Who begins what."""
        given = dict.fromkeys(self.threads, 0)
        for worker, _ in self.busy.values():
            given[worker] = given.get(worker, 0) + 1
        for depth in range(max(self.threads.values(), default=0) + AHEAD):
            for worker, threads in self.threads.items():
                full = self.engine.limit is not None and self.engine.address and len(self.busy) >= self.engine.limit
                if not self.queue or full:
                    return
                if given[worker] <= depth < threads + AHEAD:
                    given[worker] += 1
                    own = self.compiled.setdefault(worker, set())
                    number = self.queue.next(own)
                    own.add(self.jobs[number].group)
                    yield number, worker

    def listen(self, number: int, worker: str, future: Any) -> None:
        """A job was given to a worker."""
        self.busy[number] = worker, future
        future.add_done_callback(lambda _: self.done.put(number))

    def arrived(self) -> Iterator[int]:
        """The jobs that are done; it waits for one, but not for long."""
        import queue

        with contextlib.suppress(queue.Empty):
            yield self.done.get(timeout=0.2)
            while True:
                yield self.done.get_nowait()

    def tell(self, report: Report | None) -> None:
        now = time.monotonic()
        if report and (now - self.told > 0.2 or not self.busy):
            self.told = now
            report(self.jobs[next(iter(self.busy), -1)].label, self.forecast.share())


def _by_value() -> Any:
    """The function that is sent: whole, since a worker that lacks the package could not find it by its name."""

    def work(ours: Any, common: Any, data: Any) -> Any:
        from setwise.engines.dask import _work

        return _work(ours, common, data)

    return work


def _work(ours: Facts, common: bytes, data: bytes) -> Any:
    """Do a job, on a worker; what nobody waits for any more is given up."""
    from distributed import get_worker

    worker: Any = get_worker()
    key = worker.get_current_task()

    def progress(share: float) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise KeyboardInterrupt  # what is played takes this as it takes one from the keyboard

    check_here(ours)
    try:
        return run_packed(common, data, progress)
    except KeyboardInterrupt:
        return None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What Dask logs of lost workers and the like does not belong on the user's terminal."""
    try:
        import dask.config
        import distributed  # noqa: F401
    except ImportError:
        raise InputError("engine='dask' needs Dask, which is not installed: pip install distributed") from None
    with nothing_logged("distributed"), dask.config.set(CONFIGURED):
        yield


@contextlib.contextmanager
def _local(at_once: int | None) -> Iterator[Any]:
    """A cluster of processes on this machine, for as long as it is needed."""
    from distributed import Client, LocalCluster

    try:
        with warnings.catch_warnings(), uninterrupted():
            warnings.simplefilter("ignore")
            cluster: Any = LocalCluster(
                n_workers=at_once or os.cpu_count() or 1,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=None,
                silence_logs=logging.CRITICAL,
            )
    except RuntimeError:
        raise InputError(
            "a Dask worker could not be started; a script that uses engine='dask' without an address has to be a file "
            'and guard what it does by `if __name__ == "__main__":`'
        ) from None
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


@contextlib.contextmanager
def _remote(address: str) -> Iterator[Any]:
    from distributed import Client

    client: Any = connected(lambda: Client(address, timeout=10, set_as_default=False), address, WHAT, PATIENCE)
    with client:
        yield client
