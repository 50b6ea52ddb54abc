"""A figure, table or list of the report: what it needs to have played, and how it becomes a section."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from setwise.experiments.outcome import Order, Outcome
from setwise.report.parts import Section

SIZES = ("quick", "default", "full")


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much of the report is computed.

    size: "quick", "default" or "full"
    seed: equal seeds give equal reports
    runs, horizon: what the user asked for instead of the exhibit's own, or None
    """

    size: str = "default"
    seed: int = 0
    runs: int | None = None
    horizon: int | None = None

    def of(self, quick: Any, default: Any, full: Any) -> Any:
        """The one of three values that goes with the size."""
        return dict(zip(SIZES, (quick, default, full), strict=True))[self.size]

    def runs_of(self, quick: int, default: int, full: int) -> int:
        """How many runs: what the user asked for, or the value for the size."""
        return self.runs if self.runs is not None else int(self.of(quick, default, full))

    def horizon_of(self, quick: int, default: int, full: int) -> int:
        """How many rounds: what the user asked for, or the value for the size."""
        return self.horizon if self.horizon is not None else int(self.of(quick, default, full))


@dataclasses.dataclass(frozen=True)
class Exhibit:
    """One part of the report.

    name: on the command line, and what links to it
    title: its heading
    orders: what it needs to have played
    section: from what was played to the section of the page
    """

    name: str
    title: str
    orders: Callable[[Scale], Sequence[Order]]
    section: Callable[[Scale, Outcome], Section]
