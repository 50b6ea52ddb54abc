"""A lock that a forked child does not wait for, if a thread of its parent held it: that thread is not in the child."""

import os
import threading
from types import TracebackType

from setwise.errors import WorkerLost


class ForkedLock:
    """A lock, to be held in a `with` block; in a child forked meanwhile, entering the block raises `WorkerLost`."""

    def __init__(self, doing: str) -> None:
        self._doing, self._lock, self._lost = doing, threading.RLock(), False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self) -> None:
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lost = True

    def __enter__(self) -> None:
        if self._lost:
            raise WorkerLost(
                f"this process was forked while a thread of its parent was {self._doing}, so that it cannot compile; "
                "start it by another method, such as spawn"
            )
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
