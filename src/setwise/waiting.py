"""Say on a terminal what is being waited for."""

import contextlib
import sys
import threading
from collections.abc import Iterator

PATIENCE = 0.3  # seconds until it is said


@contextlib.contextmanager
def saying(text: str) -> Iterator[None]:
    """Print one line on a terminal if the block takes longer than a moment; in a pipe or a notebook, print nothing."""
    stream = sys.stderr
    if not text or stream is None or not stream.isatty():
        yield
        return
    timer = threading.Timer(PATIENCE, lambda: print(text, file=sys.stderr, flush=True))
    timer.daemon = True
    with contextlib.suppress(RuntimeError):  # no thread can be started, as when Python shuts down
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
