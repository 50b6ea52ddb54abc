"""What clusters log of lost workers and the like does not belong on the user's terminal."""

import contextlib
import logging
from collections.abc import Iterator


@contextlib.contextmanager
def nothing_logged(library: str) -> Iterator[None]:
    """The loggers that a library has by now say nothing in here."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == library]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
