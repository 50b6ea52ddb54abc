"""An interruption from the keyboard reaches every process of a terminal; only the one that began the work should act.

Signals can be set in the main thread alone; in others nothing changes.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def _handled(handler: Any) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Interruptions are ignored in here, and by the processes that are started here from their first moment on."""
    with _handled(signal.SIG_IGN):
        yield


@contextlib.contextmanager
def interrupted_later() -> Iterator[None]:
    """An interruption in here takes effect at the end: half of what is done here cannot be undone."""
    noted: list[int] = []
    try:
        with _handled(lambda number, frame: noted.append(number)):
            yield
    finally:
        if noted:
            raise KeyboardInterrupt
