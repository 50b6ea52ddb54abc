"""Turn Numba's errors, thousands of characters long, into one sentence.

This parses Numba's messages and frames, which no version promises. It never fails: where parsing goes wrong, the
sentence names the classes and repeats the first line of Numba's message.
"""

import dis
import linecache
import os
import re
from typing import Any

from setwise.digests import reachable

HIDDEN = "a text, a tuple or a function"  # also the name of the Numba type of such a field


def explain(error: Exception, classes: list[type]) -> str:
    """Explain in one sentence why the classes cannot be compiled."""
    try:
        return _explain(error, classes)
    except Exception:  # another Numba has other messages and frames
        return _explain_briefly(error, classes)


def _explain_briefly(error: Exception, classes: list[type]) -> str:
    try:
        lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).split("\n")
    except Exception:
        lines = []
    first = next((line.strip() for line in lines if line.strip()), type(error).__name__)
    return f"{_names(classes)} cannot be compiled: {_shorten(first)}"


def _names(classes: list[type]) -> str:
    return ", ".join(dict.fromkeys(cls.__name__ for cls in classes)) or "the function"


def _shorten(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:150]} ..."


def _explain(error: Exception, classes: list[type]) -> str:
    """Name class, method, line and innermost reason."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    innermost = message.rsplit("nopython mode pipeline", 1)[-1]
    places = re.findall(r'File "([^"]+)", line (\d+):', innermost)
    lines = [line.strip(" -") for line in innermost.splitlines()[1:] or innermost.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("File", "During"))] or ["not supported"]
    reason = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    reason = _in_place_of(message) or _in_words(message, innermost) or _shorten(reason)
    places = [place for place in _unnamed_place(error, message, classes) if place] + places
    for file, line in places:
        owner = _owner(file, int(line), classes)
        if owner:
            name, path = owner
            text = linecache.getline(path, int(line)).strip()
            return f"{name} cannot be compiled ({os.path.basename(file)}, line {line}: {text}): {reason}"
    where = f" ({os.path.basename(places[0][0])}, line {places[0][1]})" if places else ""
    return f"{_names(classes)} cannot be compiled{where}: {reason}"


HELPERS = {
    "choice": "choose, choose_one and choose_weighted",
    "beta": "draw_betas",
    "gamma": "draw_gammas",
    "standard_gamma": "draw_gammas",
    "normal": "draw_normals",
    "exponential": "draw_exponentials",
    "binomial": "draw_bernoullis",
}


def _in_place_of(message: str) -> str | None:
    """Return a replacement for a generator method that Numba lacks, or lacks for arrays."""
    unknown = re.search(r"Unknown attribute '(\w+)' of type NumPyRandomGeneratorType", message)
    if unknown:
        instead = HELPERS.get(unknown[1])
        hint = f"use {instead} of setwise.kernels" if instead else "draw from rng.random() instead"
        return f"compiled code has no rng.{unknown[1]}: {hint}"
    scalar = re.search(r"function NumPyRandomGeneratorType_(\w+)", message)
    if scalar:
        instead = HELPERS.get(scalar[1])
        hint = f"use {instead} of setwise.kernels, or draw" if instead else "draw"
        return f"compiled code has rng.{scalar[1]} for single numbers only: {hint} one after the other in a loop"
    return None


UNKNOWN = (
    (re.escape(HIDDEN), f"compiled code has no use for a field that is {HIDDEN}: make it a number or an array"),
    (r"exception_match", "compiled code catches all errors or none: write `except Exception`, or `except`"),
    (
        r"FORMAT_WITH_SPEC|FORMAT_VALUE|FORMAT_SIMPLE",
        "compiled code formats no numbers: print them one by one",
    ),
    (
        r"Unknown attribute '(n|k)' of type \w+\(",
        r"compiled code does not see properties: make \1 a field, or take the length of an array",
    ),
)


def _in_words(message: str, innermost: str) -> str | None:
    """Explain some common mistakes in one sentence."""
    for pattern, words in UNKNOWN:
        found = re.search(pattern, message)
        if found:
            return found.expand(words)
    call = re.search(r"No implementation of function Function\(<function (\w+) at ", innermost)
    if call:
        return (
            f"compiled code cannot call {call[1]} with these arguments: give them by position, numbers or arrays only"
        )
    return None


def _unnamed_place(error: Exception, message: str, classes: list[type]) -> list[Any]:
    """Return file and line where the message has none: of an unknown name, or of the function being compiled."""
    unknown = re.search(r"name '(\w+)' is not defined", message)
    if unknown:
        for function in reachable(*classes):
            line = function.__code__.co_firstlineno
            for instruction in dis.Bytecode(function.__code__):
                line = instruction.positions.lineno or line if instruction.positions else line
                if instruction.opname == "LOAD_GLOBAL" and instruction.argval == unknown[1]:
                    return [(function.__code__.co_filename, line)]
    if any(cls.__name__ == "NumbaError" for cls in type(error).__mro__):
        return []
    place, trace = None, error.__traceback__
    while trace is not None:
        local = trace.tb_frame.f_locals
        if trace.tb_frame.f_code.co_name == "compile_extra" and hasattr(local.get("func"), "__code__"):
            place = (local["func"].__code__.co_filename, local["func"].__code__.co_firstlineno)
        for name in ("inst", "self"):
            at: Any = getattr(local.get(name), "loc", None)
            if place and getattr(at, "filename", None) == place[0]:
                place = (place[0], at.line)
        trace = trace.tb_next
    return [place]


def _owner(file: str, line: int, classes: list[type]) -> tuple[str, str] | None:
    """Return the method or function that contains the line, and its file."""
    for function in reachable(*classes):
        code = function.__code__
        last = max((at for _, _, at in code.co_lines() if at), default=code.co_firstlineno)
        if os.path.basename(code.co_filename) == os.path.basename(file) and code.co_firstlineno <= line <= last:
            return function.__qualname__, code.co_filename
    return None
