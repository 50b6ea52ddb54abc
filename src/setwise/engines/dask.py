"""Engine for a Dask cluster: local processes, or remote workers by the address of their scheduler.

It uses Dask's futures, not joblib's Dask backend: every answer is delivered as it arrives, and a job can go to the
worker that has compiled its code. If a worker dies, the scheduler reruns its jobs and its unfetched answers elsewhere.
A worker gets few jobs ahead, because the scheduler suspects all jobs of a lost worker, and gives a job up after several
losses. The jobs' common arguments are the result of a task as well: a worker fetches them once and caches them, and
they are recomputed if all workers that had them die (scattered data is not).
"""

import contextlib
import logging
import os
import time
import uuid
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from setwise.engines.compatibility import Facts
from setwise.engines.connecting import check_listening, connected
from setwise.engines.executors import PackedCrew, run_checked
from setwise.engines.jobs import Engine, Job, Progress, Take
from setwise.engines.process_setup import ignore_interrupts, silence_logging
from setwise.errors import InputError, WorkerLost

AHEAD = 1  # jobs queued at a worker beyond those it runs, so that it need not wait
LOOK = 1.0  # seconds between two looks at the list of workers
PATIENCE = 15.0  # timeout of connecting, in seconds
WELCOME = 5.0  # seconds to wait for the first worker
ALONE = 60.0  # seconds without any worker before giving up
CONFIGURED = {
    "distributed.admin.large-graph-warning-threshold": "1 TB",
    # This long after losing a worker, a local cluster gives its name up unless a worker of that name is there: even if
    # a replacement had come and was lost just now.
    "distributed.deploy.lost-worker-timeout": "52 weeks",
}


class Dask(Engine):
    """Run jobs on a Dask cluster."""

    def __init__(self, at_once: int | None = None, address: str | None = None) -> None:
        self.address = address
        self.limit = at_once
        self.stack = contextlib.ExitStack()
        if address is not None:
            check_listening(address)
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

    def do(self, jobs: Sequence[Job], take: Take, progress: Progress | None = None) -> None:
        crew = _DaskCrew(jobs, self)
        try:
            crew.run(take, progress)
        finally:
            crew.release()

    def threads(self) -> dict[str, int]:
        """Return the workers, and how many jobs each runs at once."""
        try:
            found: dict[str, int] = self.client.nthreads()
        except (OSError, RuntimeError):
            raise self.lost() from None
        return found

    def lost(self) -> WorkerLost:
        return WorkerLost(f"the Dask cluster {self.where} was lost")

    def _cores(self) -> int:
        """Return how many jobs the cluster runs at once; wait a few seconds for workers that are starting."""
        deadline = time.monotonic() + WELCOME
        while not (threads := self.threads()):
            if time.monotonic() > deadline:
                raise WorkerLost(f"the Dask cluster {self.where} has no workers; start some with `dask worker ADDRESS`")
            time.sleep(0.1)
        return sum(threads.values())


class _DaskCrew(PackedCrew):
    """The workers of a cluster.

    threads: how many jobs each worker runs at once
    """

    resubmits = True  # a worker may take a job for cancelled by mistake

    def __init__(self, jobs: Sequence[Job], engine: Dask) -> None:
        super().__init__(jobs)
        self.engine = engine
        self.threads: dict[str, int] = {}
        self.looked, self.seen = -1e9, time.monotonic()
        self.work = _by_value()
        self.places = {
            key: engine.client.submit(bytes, part.data, key=f"setwise-common-{uuid.uuid4().hex}")
            for key, part in self.shared.items()
        }

    def look(self) -> None:
        """Update the list of workers once a second."""
        now = time.monotonic()
        if now - self.looked < LOOK:
            return
        self.threads, self.looked = self.engine.threads(), now
        self.seen = now if self.threads else self.seen
        if now - self.seen > ALONE:
            raise WorkerLost(f"the Dask cluster {self.engine.where} has had no worker for {ALONE:.0f} s")

    def assign(self) -> Iterator[tuple[int, str]]:
        self.look()
        limit = self.engine.limit if self.engine.address else None
        given = dict.fromkeys(self.threads, 0)
        for worker, _ in self.busy.values():
            given[worker] = given.get(worker, 0) + 1
        for depth in range(max(self.threads.values(), default=0) + AHEAD):
            for worker, threads in self.threads.items():
                if not self.queue or (limit is not None and len(self.busy) >= limit):
                    return
                if given[worker] <= depth < threads + AHEAD:
                    given[worker] += 1
                    yield self.next_for(worker), worker

    def submit(self, number: int, worker: str) -> Any:
        where: Any = {"workers": [worker], "allow_other_workers": True, "key": f"setwise-{uuid.uuid4().hex}"}
        common = self.places[id(self.jobs[number].common)]
        return self.engine.client.submit(self.work, self.ours, common, self.packed[number].data, **where)

    def lost(self, job: Job, error: BaseException) -> WorkerLost:
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            return WorkerLost(
                f"{job.label} was tried {error.allowed_failures + 1} times on the Dask cluster {self.engine.where}, "
                "and each time its worker died, perhaps for lack of memory"
            )
        if isinstance(error, ImportError):
            return WorkerLost(
                f"a worker of the Dask cluster {self.engine.where} cannot run jobs ({error}); install there what is "
                "installed here"
            )
        return self.engine.lost()

    def stop(self) -> None:
        """Leave cancelling to `release`, which needs one request for all jobs."""

    def release(self) -> None:
        """Cancel the unfinished jobs, and free the common arguments."""
        futures = [future for _, future in self.busy.values()]
        with contextlib.suppress(Exception):
            self.engine.client.cancel([*futures, *self.places.values()], force=True)


def _by_value() -> Any:
    """Return the task function, which is sent by value: a worker without the package could not import it."""

    def work(ours: Any, common: Any, data: Any) -> Any:
        from setwise.engines.dask import run_task

        return run_task(ours, common, data)

    return work


def run_task(ours: Facts, common: bytes, data: bytes) -> Any:
    """Run a job on a worker; stop if it was cancelled."""
    from distributed import get_worker

    worker: Any = get_worker()
    key = worker.get_current_task()

    def progress(share: float) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise KeyboardInterrupt  # handled like Ctrl-C

    return run_checked(ours, common, data, progress)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's log messages, as of lost workers, in this context."""
    try:
        import dask.config
        import distributed  # noqa: F401
    except ImportError:
        raise InputError("engine='dask' needs Dask, which is not installed: pip install distributed") from None
    with silence_logging("distributed"), dask.config.set(CONFIGURED):
        yield


@contextlib.contextmanager
def _local(at_once: int | None) -> Iterator[Any]:
    """Start a local cluster of processes for this context."""
    from distributed import Client, LocalCluster

    try:
        with warnings.catch_warnings(), ignore_interrupts():
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

    client: Any = connected(lambda: Client(address, timeout=10, set_as_default=False), address, PATIENCE)
    with client:
        yield client
