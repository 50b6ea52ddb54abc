"""Locate errors in the user's own code."""

import contextlib
import linecache
import os
from collections.abc import Iterator

from setwise.digests import is_own
from setwise.errors import InputError


def place_of(error: BaseException) -> str | None:
    """Return function and line of the innermost frame outside Setwise and NumPy, or None."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "").split(".")[0]
        frames.append((module, trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    users = [frame for frame in frames if frame[0] not in ("setwise", "numpy")]
    if not users:
        return None
    _, code, line = users[-1]
    text = linecache.getline(code.co_filename, line).strip()
    return f"{code.co_qualname} ({os.path.basename(code.co_filename)}, line {line}{f': {text}' if text else ''})"


@contextlib.contextmanager
def explained_place(cls: type) -> Iterator[None]:
    """Re-raise errors of the user's own class as an `InputError` that names the line; Setwise's errors pass through."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        place = None if is_own(cls) else place_of(error)
        if place is None:
            raise
        raise InputError(f"{place} raised {type(error).__name__}: {error}") from error


def out_of_bounds(error: IndexError) -> str:
    """Return the message for an index out of bounds in interpreted code."""
    return f"{place_of(error)}: {error}; compiled code would read or write beside the array"
