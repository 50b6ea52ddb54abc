"""Where in the user's own code an error comes from."""

import linecache
import os


def place_of(error: BaseException) -> str | None:
    """The function and the line: of the innermost frame that is neither Setwise's nor NumPy's, if there is one."""
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


def out_of_bounds(error: IndexError) -> str:
    """One sentence for an index out of bounds in interpreted code."""
    return f"{place_of(error)}: {error}; compiled code would read or write beside the array"
