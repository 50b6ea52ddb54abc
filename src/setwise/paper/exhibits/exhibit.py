"""A figure, table or list of the report: the runs it needs, and how they become a section."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from setwise.experiments.outcome import Order, Outcome
from setwise.report.parts import Section

SIZES = ("quick", "default", "full")


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much of the report to compute.

    size: "quick", "default" or "full"
    seed: equal seeds give equal reports
    runs, horizon: the user's override of each exhibit's own, or None
    """

    size: str = "default"
    seed: int = 0
    runs: int | None = None
    horizon: int | None = None

    def of(self, quick: Any, default: Any, full: Any) -> Any:
        """Return the value for the size."""
        return dict(zip(SIZES, (quick, default, full), strict=True))[self.size]

    def runs_of(self, quick: int, default: int, full: int) -> int:
        """Return the number of runs: the user's override, or the value for the size."""
        return self.runs if self.runs is not None else int(self.of(quick, default, full))

    def horizon_of(self, quick: int, default: int, full: int) -> int:
        """Return the number of rounds: the user's override, or the value for the size."""
        return self.horizon if self.horizon is not None else int(self.of(quick, default, full))


@dataclasses.dataclass(frozen=True)
class Exhibit:
    """One part of the report.

    name: on the command line, and the target of links
    title: its heading
    orders: returns the runs it needs
    section: turns their results into a section of the page
    """

    name: str
    title: str
    orders: Callable[[Scale], Sequence[Order]]
    section: Callable[[Scale, Outcome], Section]
