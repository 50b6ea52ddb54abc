"""Group commit: one writer for each storage in a process, which does the work of many threads in one transaction.

A thread that asks or tells hands its work to the writer and waits. The writer begins a transaction, takes all work
that has come in by then, brings the studies up to the end of their journals, does the work in order, and commits once.
Nobody has an answer before that commit. If it fails, nothing of it has happened, and everybody is told so.

If a connection was lost, the same work is done again: whatever is asked or told has an id, and is counted once.
"""

import contextlib
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from setwise.errors import DamagedFile, InputError, SetwiseError, StorageError
from setwise.study.ledger import Ledger
from setwise.study.memory import Memory
from setwise.study.storage import LostError, Storage

Answer = TypeVar("Answer")

MOST = 1_000  # pieces of work in one transaction
BRIEFLY = 2.0  # seconds that optional work may wait
LAST = 10.0  # seconds that the end of a process waits for its writer
PAUSE = (0.05, 1.0)  # seconds before a lost connection is tried again, at first and at most


class Work:
    """Something to be done in a transaction, for one study or none."""

    def __init__(self, run: Callable[["Work"], Any], ledger: Ledger | None, writes: bool, optional: bool) -> None:
        self.run = run
        self.ledger = ledger
        self.writes = writes
        self.optional = optional
        self.attempts = 0
        self.answer: Any = None
        self.error: BaseException | None = None
        self.cancelled = False
        self.begun = False
        self._done = threading.Lock()
        self._done.acquire()

    def finish(self) -> None:
        self._done.release()

    def wait(self, timeout: float) -> bool:
        return self._done.acquire(timeout=timeout)


class Writer:
    """Does the work for one storage. Memory needs no thread for it: there is nothing to wait for."""

    def __init__(self, storage: Storage, timeout: float) -> None:
        self.storage = storage
        self.timeout = timeout
        self.clients = 0  # how many studies use it
        self._ledgers: weakref.WeakValueDictionary[int, Ledger] = weakref.WeakValueDictionary()
        self._queue: deque[Work] = deque()
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._direct = isinstance(storage, Memory)
        self.turn = threading.Lock()  # held while a transaction is under way

    def ledger(self, key: int, policy: Any = None) -> Ledger:
        """The one ledger of a study in this process, as long as somebody has it."""
        with self._wake:
            found = self._ledgers.get(key)
            if found is None:
                found = self._ledgers[key] = Ledger(self.storage, key, policy)
            elif not found.is_open():
                found.policy = policy
            return found

    def forget(self, key: int) -> None:
        """In a transaction: whoever has the study, it is deleted."""
        with self._wake:
            found = self._ledgers.get(key)
        if found is not None:
            found.deleted = True

    def do(
        self, run: Callable[[Work], Answer], ledger: Ledger | None = None, writes: bool = True, optional: bool = False
    ) -> Answer:
        """Have something done, and return its answer once it is durable; what is optional is not waited for long."""
        work = Work(run, ledger, writes, optional)
        if self._direct:
            with self.turn:
                self._do_all([work])
                self._snapshots([work])
        else:
            self._hand_over(work)
        error, answer = work.error, work.answer
        del work
        if error is None:
            return answer  # type: ignore[no-any-return]
        try:
            raise error
        finally:
            del error  # a traceback would keep all of this alive

    def _hand_over(self, work: Work) -> None:
        with self._wake:
            if self._stopped:
                raise StorageError(f"{self.storage.address} was closed; open it again")
            if self._thread is None or not self._thread.is_alive():
                thread = threading.Thread(target=self._serve, name="setwise-writer", daemon=True)
                thread.start()
                self._thread = thread
            self._queue.append(work)
            self._wake.notify()
        # The storage has a timeout of its own; this one is for a lock that another process never releases.
        if work.wait(BRIEFLY if work.optional else self.timeout + 5.0):
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
            with self.turn:
                self._one_transaction(writes)

    def _one_transaction(self, writes: bool) -> None:
        """Begin, which may take long, and only then take what has come in."""
        error: BaseException | None = None
        try:
            self.storage.begin(writes)
        except BaseException as failure:
            error = failure
        batch = self._take(writes or error is not None)
        if error is None and not batch:  # whoever was there has given up
            self.storage.rollback()
        elif error is None:
            self._do_all(batch, begun=True)
        elif isinstance(error, LostError):
            self._do_all(batch)
        else:
            for work in batch:
                work.error = error
        for work in batch:
            work.finish()
        with contextlib.suppress(Exception):
            self._snapshots(batch)

    def _take(self, writes: bool) -> list[Work]:
        """The work at the front of the queue; that of writers only if the transaction is one."""
        batch: list[Work] = []
        with self._wake:
            while self._queue and len(batch) < MOST and (writes or not self._queue[0].writes):
                work = self._queue.popleft()
                work.begun = not work.cancelled
                if work.begun:
                    batch.append(work)
        return batch

    def _do_all(self, batch: list[Work], begun: bool = False) -> None:
        """Do the work in one transaction, again if the connection is lost, and without a piece that fails by itself."""
        deadline = time.monotonic() + self.timeout
        pause = PAUSE[0]
        left = list(batch)
        while left:
            culprit: Work | None = None
            try:
                if not begun:
                    self.storage.begin(any(work.writes for work in left))
                begun = False
                culprit = self._attempt(left)
                if culprit is None:
                    self.storage.commit()
                    for work in left:
                        if work.ledger is not None:
                            work.ledger.settle()
                    return
            except LostError as error:
                self._undo(left)
                if time.monotonic() + pause > deadline or all(work.optional for work in left):
                    for work in left:
                        work.error = error
                    return
                time.sleep(pause)
                pause = min(2 * pause, PAUSE[1])
                continue
            except BaseException as error:
                self._undo(left)
                for work in left:
                    work.error = error
                return
            self._undo(left)
            if culprit.ledger is not None:
                culprit.ledger.discard()  # its policy may have left anything behind
            left.remove(culprit)

    def _attempt(self, batch: list[Work]) -> Work | None:
        """Do the work and write it; return a piece that broke down, which spoils what the others did."""
        broken = self._catch_up(batch)
        for work in batch:
            work.error = None
            work.attempts += 1
            try:
                if work.ledger is not None and work.ledger.key in broken:
                    raise broken[work.ledger.key]
                work.answer = work.run(work)
            except StorageError:
                raise
            except (InputError, DamagedFile) as error:
                work.error = error
            except Exception as error:
                work.error = error
                return work
        for ledger in {work.ledger for work in batch if work.ledger is not None}:
            ledger.store()
        return None

    def _catch_up(self, batch: list[Work]) -> dict[int, SetwiseError]:
        """Bring all studies to the end of their journals, those that are written to locked; return what is broken."""
        ledgers: dict[int, tuple[Ledger, bool]] = {}
        for work in batch:
            if work.ledger is not None:
                known = ledgers.get(work.ledger.key)
                ledgers[work.ledger.key] = (work.ledger, work.writes or (known is not None and known[1]))
        broken: dict[int, SetwiseError] = {}
        for key in sorted(ledgers):  # in a fixed order, so that two workers never wait for each other
            ledger, written = ledgers[key]
            try:
                if written:
                    self.storage.lock(key)
                ledger.fold()
            except StorageError:
                raise
            except (InputError, DamagedFile) as error:
                ledger.discard()
                broken[key] = error
        return broken

    def _undo(self, batch: list[Work]) -> None:
        for work in batch:
            if work.ledger is not None:
                work.ledger.undo()
        with contextlib.suppress(StorageError):
            self.storage.rollback()

    def _snapshots(self, batch: list[Work]) -> None:
        for ledger in {work.ledger for work in batch if work.ledger is not None and work.writes}:
            if ledger.wants_snapshot():
                self.save(ledger)

    def save(self, ledger: Ledger) -> None:
        """Keep a snapshot; nothing is lost if that fails."""
        try:
            self.storage.begin(True)
            self.storage.lock(ledger.key)
            ledger.save()
            self.storage.commit()
        except Exception:
            with contextlib.suppress(Exception):
                self.storage.rollback()

    def stop(self) -> None:
        """End the thread, and close the storage."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(LAST)
            if thread.is_alive():  # it waits for a lock of another process; the end of this one ends it
                return
        with contextlib.suppress(StorageError):
            self.storage.close()
