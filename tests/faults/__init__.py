"""Fault injection for studies: one function per fault, small in `test_faults.py`, full size in `make faults`."""

import time
from typing import NamedTuple


class Found(NamedTuple):
    """The outcome of a fault: repetitions, seconds, lost and doubled answers, and errors."""

    what: str
    many: str
    seconds: float
    lost: int = 0
    doubled: int = 0
    errors: tuple[str, ...] = ()
    note: str = ""

    @property
    def ok(self):
        return not (self.lost or self.doubled or self.errors)


class Findings:
    """Collect the errors of a fault."""

    def __init__(self, what):
        self.what = what
        self.lost = 0
        self.doubled = 0
        self.errors = []
        self.note = ""
        self._begun = time.perf_counter()

    def expect(self, true, problem):
        """Record a problem unless the condition is true."""
        if not true:
            self.errors.append(str(problem))

    def take(self, truth):
        """Add the errors found in a journal."""
        self.lost += truth.lost
        self.doubled += truth.doubled
        self.errors += truth.problems

    def end(self, many):
        seconds = time.perf_counter() - self._begun
        return Found(self.what, many, seconds, self.lost, self.doubled, tuple(self.errors), self.note)


def sentence(error, *words):
    """Return None if an error is one of ours, one sentence, and contains the words; else say what is wrong."""
    from setwise.errors import SetwiseError

    if not isinstance(error, SetwiseError):
        return f"{type(error).__name__} instead of a sentence: {error}"
    text = str(error)
    if "\n" in text or not 20 < len(text) < 400:
        return f"not one sentence: {text!r}"
    missing = [word for word in words if word not in text]
    return f"{missing} is not in {text!r}" if missing else None
