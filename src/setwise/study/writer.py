"""Group commit: one writer per storage and process runs the work of many threads in one transaction.

A thread submits its work to the writer and waits. The writer begins a transaction, takes all work queued by then,
brings the studies up to date with their journals, runs the work in order, and commits once. Nobody gets an answer
before that commit. If it fails, it is rolled back, and every caller gets the error.

After a lost connection the same work is retried; asks and tells have ids, so they count once.
"""

import contextlib
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from setwise.errors import DamagedFile, InputError, SetwiseError, StorageError
from setwise.study.replica import Replica, UpdateFailed
from setwise.study.storage import LostError, Storage

Answer = TypeVar("Answer")

MAX_BATCH = 1_000  # work items in one transaction
OPTIONAL_TIMEOUT = 2.0  # seconds to wait for optional work
STOP_TIMEOUT = 10.0  # seconds to wait for the writer thread to end
RETRY_DELAYS = (0.05, 1.0)  # first and longest delay in seconds after a lost connection


class Work:
    """A function to run in a transaction, for one study or none."""

    def __init__(self, run: Callable[["Work"], Any], replica: Replica | None, writes: bool, optional: bool) -> None:
        self.run = run
        self.replica = replica
        self.writes = writes
        self.optional = optional
        self.attempts = 0
        self.answer: Any = None
        self.error: BaseException | None = None
        self.cancelled = False
        self.begun = False
        self.failed = False  # whether it raised, so that the rest of the batch runs without it
        self._done = threading.Lock()
        self._done.acquire()

    def finish(self) -> None:
        self._done.release()

    def wait(self, timeout: float) -> bool:
        return self._done.acquire(timeout=timeout)


class _Abort(Exception):
    """Roll the transaction back, since a work item raised."""


class Writer:
    """Run the work for one storage: in a thread, or in the caller's if transactions are free."""

    def __init__(self, storage: Storage, timeout: float) -> None:
        self.storage = storage
        self.timeout = timeout
        self.clients = 0  # studies that use it
        self._replicas: weakref.WeakValueDictionary[int, Replica] = weakref.WeakValueDictionary()
        self._queue: deque[Work] = deque()
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self.transaction_lock = threading.Lock()  # held during a transaction

    def replica(self, key: int, policy: Any = None) -> Replica:
        """Return the replica of a study, shared by all who open it in this process."""
        with self._wake:
            found = self._replicas.get(key)
            if found is None:
                found = self._replicas[key] = Replica(self.storage, key, policy)
            elif not found.loaded:
                found.given = policy
            return found

    def mark_deleted(self, key: int) -> None:
        """Mark a study as deleted for all who have it open; call it in a transaction."""
        with self._wake:
            found = self._replicas.get(key)
        if found is not None:
            found.deleted = True

    def do(
        self, run: Callable[[Work], Answer], replica: Replica | None = None, writes: bool = True, optional: bool = False
    ) -> Answer:
        """Run a function in a transaction and return its answer once it is durable; wait only briefly if `optional`."""
        work = Work(run, replica, writes, optional)
        if self.storage.direct:
            with self.transaction_lock:
                self._run(writes, [work])
                self._snapshots([work])
        else:
            self._submit(work)
        error, answer = work.error, work.answer
        del work
        if error is None:
            return answer  # type: ignore[no-any-return]
        try:
            raise error
        finally:
            del error  # break the reference cycle through the traceback

    def _submit(self, work: Work) -> None:
        with self._wake:
            if self._stopped:
                raise StorageError(f"{self.storage.address} was closed; open it again")
            if self._thread is None or not self._thread.is_alive():
                thread = threading.Thread(target=self._serve, name="setwise-writer", daemon=True)
                thread.start()
                self._thread = thread
            self._queue.append(work)
            self._wake.notify()
        # The storage has its own timeout; this one is for a lock that another process never releases.
        if work.wait(OPTIONAL_TIMEOUT if work.optional else self.timeout + 5.0):
            return
        with self._wake:
            if not work.begun:
                work.cancelled = True
        if not work.cancelled:
            work.wait(-1)
            return
        where = self.storage.address
        raise StorageError(f"{where} was locked by others for {self.timeout:g} s; nothing was written, try again")

    def _serve(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._stopped:
                    self._wake.wait()
                if not self._queue:
                    return
                writes = any(work.writes for work in self._queue)
            with self.transaction_lock:
                self._serve_batch(writes)

    def _serve_batch(self, writes: bool) -> None:
        """Run one batch, answer its callers, then take snapshots."""
        batch = self._run(writes)
        for work in batch:
            work.finish()
        with contextlib.suppress(Exception):
            self._snapshots(batch)

    def _take(self, writes: bool) -> list[Work]:
        """Take a batch from the queue; stop at the first item that writes if the transaction only reads."""
        batch: list[Work] = []
        with self._wake:
            while self._queue and len(batch) < MAX_BATCH and (writes or not self._queue[0].writes):
                work = self._queue.popleft()
                work.begun = not work.cancelled
                if work.begun:
                    batch.append(work)
        return batch

    def _run(self, writes: bool, batch: list[Work] | None = None) -> list[Work]:
        """Run a batch in one transaction and return it.

        Without a batch, take one from the queue once the transaction has begun, which may take long. Retry while the
        connection is lost. If an item raises, rerun the others without it.
        """
        deadline = time.monotonic() + self.timeout
        pause = RETRY_DELAYS[0]
        while True:
            broken: Work | None = None
            try:
                with self.storage.transaction(writes):
                    if batch is None:
                        batch = self._take(writes)
                        left, deadline = list(batch), time.monotonic() + self.timeout
                    else:
                        left = [work for work in batch if not work.failed]
                    broken = self._attempt(left)
                    if broken is not None:
                        raise _Abort
                for work in left:
                    if work.replica is not None:
                        work.replica.committed()
                return batch
            except BaseException as error:
                if batch is None:
                    batch = self._take(True)  # all queued callers get the error
                left = [work for work in batch if not work.failed]
                self._roll_back(left)
                if broken is not None and isinstance(error, _Abort):
                    broken.failed = True
                    if broken.replica is not None:
                        broken.replica.discard()  # its policy may have left the state half-updated
                    if len(left) == 1:
                        return batch
                elif isinstance(error, LostError) and time.monotonic() <= deadline:
                    time.sleep(pause)
                    pause = min(2 * pause, RETRY_DELAYS[1])
                else:
                    for work in left:
                        work.error = error
                    return batch
            writes = any(work.writes for work in batch if not work.failed)

    def _attempt(self, batch: list[Work]) -> Work | None:
        """Run the work and store its rows; return an item that raised, which forces a rollback."""
        broken = self._catch_up(batch)
        for work in batch:
            work.error = None
            work.attempts += 1
            try:
                if work.replica is not None and work.replica.key in broken:
                    raise broken[work.replica.key]
                work.answer = work.run(work)
            except StorageError:
                raise
            except (InputError, DamagedFile) as error:
                work.error = error
            except UpdateFailed as error:
                work.error = error.__cause__
                return work
            except Exception as error:
                work.error = error
                return work
        for replica in {work.replica for work in batch if work.replica is not None}:
            replica.store()
        return None

    def _catch_up(self, batch: list[Work]) -> dict[int, SetwiseError]:
        """Lock the studies to be written and bring all up to date; return the errors by key."""
        replicas = {work.replica.key: work.replica for work in batch if work.replica is not None}
        written = {work.replica.key for work in batch if work.replica is not None and work.writes}
        broken: dict[int, SetwiseError] = {}
        for key in sorted(replicas):  # in a fixed order, against deadlocks
            replica = replicas[key]
            try:
                if key in written:
                    self.storage.lock(key)
                replica.catch_up()
            except StorageError:
                raise
            except (InputError, DamagedFile) as error:
                replica.discard()
                broken[key] = error
        return broken

    def _roll_back(self, batch: list[Work]) -> None:
        for work in batch:
            if work.replica is not None:
                work.replica.roll_back()

    def _snapshots(self, batch: list[Work]) -> None:
        for replica in {work.replica for work in batch if work.replica is not None and work.writes}:
            if replica.wants_snapshot():
                self.save(replica)

    def save(self, replica: Replica) -> None:
        """Save a snapshot; ignore errors, since it is only a cache."""
        with contextlib.suppress(Exception), self.storage.transaction(True):
            self.storage.lock(replica.key)
            replica.save_snapshot()

    def stop(self) -> None:
        """Stop the thread and close the storage."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(STOP_TIMEOUT)
            if thread.is_alive():  # waiting for a lock of another process; as a daemon it ends with this one
                return
        with contextlib.suppress(StorageError):
            self.storage.close()
