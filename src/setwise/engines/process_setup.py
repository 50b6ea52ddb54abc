"""Signals and logging around worker processes.

Ctrl-C reaches every process of a terminal, but only the one that started the work should act on it. Python sets signal
handlers in the main thread only, so `ignore_interrupts` does nothing in others.
"""

import contextlib
import logging
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C in this context, and in processes that are started in it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def silence_logging(library: str) -> Iterator[None]:
    """Silence the library's loggers in this context."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == library]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
