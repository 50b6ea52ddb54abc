"""A claim of the paper, and the verdict of a computation on it."""

import dataclasses
import time
from collections.abc import Callable

HOLDS = "holds"
CORRECTED = "holds with a correction"
FAILS = "does not hold"
UNDECIDED = "not decided by computation"
VERDICTS = (HOLDS, CORRECTED, FAILS, UNDECIDED)


@dataclasses.dataclass(frozen=True)
class Answer:
    """The result of computing a claim.

    as_printed: whether the claim holds as printed; None if a computation cannot decide
    computation: a description of the computation
    found: the numbers
    corrected: whether the corrected form holds, or None if there is none
    correction: the corrected form
    """

    as_printed: bool | None
    computation: str
    found: str
    corrected: bool | None = None
    correction: str = ""

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        if self.as_printed is None:
            return UNDECIDED
        if self.as_printed:
            return HOLDS
        return CORRECTED if self.corrected else FAILS


@dataclasses.dataclass(frozen=True)
class Claim:
    """A statement of the paper.

    name: short, for the command line and for links
    place: its place in the paper
    says: the statement, in our words
    compute: maps a seed to the answer
    shown: the name of the part of the report that shows it, or ""
    group: claims of one group share a computation, cached per process; "" for a claim of its own
    seconds: rough time on one core, without compilation; in a group, the longest claim includes the shared computation
    slow: whether quick runs skip it
    """

    name: str
    place: str
    says: str
    compute: Callable[[int], Answer]
    shown: str = ""
    group: str = ""
    seconds: float = 0.02
    slow: bool = False


@dataclasses.dataclass(frozen=True)
class Settled:
    """A claim with its verdict, as plain text and numbers for tables and files.

    shown: the name of the part of the report that shows it, or ""
    """

    name: str
    place: str
    says: str
    computation: str
    found: str
    correction: str
    verdict: str
    seconds: float
    shown: str = ""

    def text(self) -> str:
        """Return the claim as a few lines of text."""
        lines = [f"{self.name}: {self.verdict}", f"    claim       {self.says} ({self.place})"]
        lines += [f"    computed    {self.computation}", f"    found       {self.found}"]
        return "\n".join(lines + ([f"    correction  {self.correction}"] if self.correction else []))


def settle(claim: Claim, seed: int = 0) -> Settled:
    """Compute a claim and its verdict."""
    started = time.perf_counter()
    answer = claim.compute(seed)
    return Settled(
        name=claim.name,
        place=claim.place,
        says=claim.says,
        computation=answer.computation,
        found=answer.found,
        correction=answer.correction if answer.verdict == CORRECTED else "",
        verdict=answer.verdict,
        seconds=round(time.perf_counter() - started, 3),
        shown=claim.shown,
    )
