"""A claim of the paper, and what a computation says about it."""

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
    """What was found.

    as_printed: whether the claim came out as it is printed; None if a computation cannot say
    computation: what was computed
    found: the figures
    corrected: whether it holds in the corrected form, or None if there is none
    correction: what the corrected form is
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
    """What the paper says.

    name: short, for the command line and for links
    place: where it stands
    says: in our words
    compute: from a seed to the answer
    shown: the name of the part of the report that shows it; "" if none does
    group: claims of one group share a computation, which a process does once; "" for one that stands by itself
    seconds: how long it takes on one core once everything is compiled, roughly; in a group the longest does what they
        share
    slow: whether it is left out where little time is to be spent
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
    """A claim with its verdict, all of it text and numbers: for tables and files.

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
        """A few lines."""
        lines = [f"{self.name}: {self.verdict}", f"    claim       {self.says} ({self.place})"]
        lines += [f"    computed    {self.computation}", f"    found       {self.found}"]
        return "\n".join(lines + ([f"    correction  {self.correction}"] if self.correction else []))


def settle(claim: Claim, seed: int = 0) -> Settled:
    """Compute a claim."""
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
