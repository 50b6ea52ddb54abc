"""Faults that a study has to survive: each a function with sizes, small in `test_faults.py`, full in `make faults`."""

import time
from typing import NamedTuple


class Found(NamedTuple):
    """What a fault did: how many times, in how many seconds, what was lost or counted twice, and what went wrong."""

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
    """Collects what goes wrong while a fault is at work."""

    def __init__(self, what):
        self.what = what
        self.lost = 0
        self.doubled = 0
        self.errors = []
        self.note = ""
        self._begun = time.perf_counter()

    def expect(self, true, problem):
        """Note a problem unless something is true."""
        if not true:
            self.errors.append(str(problem))

    def take(self, truth):
        """Take in what was found wrong with a journal."""
        self.lost += truth.lost
        self.doubled += truth.doubled
        self.errors += truth.problems

    def end(self, many):
        seconds = time.perf_counter() - self._begun
        return Found(self.what, many, seconds, self.lost, self.doubled, tuple(self.errors), self.note)


def sentence(error, *words):
    """What is wrong with an error that has to be one sentence of ours with some words in it; None if nothing is."""
    from setwise.errors import SetwiseError

    if not isinstance(error, SetwiseError):
        return f"{type(error).__name__} instead of a sentence: {error}"
    text = str(error)
    if "\n" in text or not 20 < len(text) < 400:
        return f"not one sentence: {text!r}"
    missing = [word for word in words if word not in text]
    return f"{missing} is not in {text!r}" if missing else None
