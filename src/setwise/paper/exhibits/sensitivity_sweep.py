"""A sweep: one policy over the values of one parameter, its own or its world's, with its runs and results."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setwise.experiments.outcome import Order, Outcome
from setwise.experiments.plays import Play
from setwise.report.parts import Series
from setwise.simulation.result import Result
from setwise.simulation.statistics import Interval, interval
from setwise.types import Floats, Ints

BAND = "95 % confidence interval of the mean"


class Sweep(NamedTuple):
    """One policy at several values of a parameter.

    policy: its name on the command line
    values: of the parameter
    plays: one for each value
    runs: number of runs of each
    """

    policy: str
    values: tuple[float, ...]
    plays: tuple[Play, ...]
    runs: int

    def orders(self) -> list[Order]:
        return [Order(play, self.runs) for play in self.plays]

    def results(self, outcome: Outcome) -> list[Result]:
        return [outcome.take(play, self.runs) for play in self.plays]

    def points(self, samples: Sequence[Floats]) -> Series:
        """Return the mean of the sample at each value, with its interval."""
        found = [interval(sample) for sample in samples]
        whole = all(math.isfinite(own.low) for own in found)
        return Series(
            label=self.policy,
            x=np.array(self.values, dtype=np.float64),
            y=np.array([own.value for own in found]),
            low=np.array([own.low for own in found]) if whole else None,
            high=np.array([own.high for own in found]) if whole else None,
            style=self.policy,
            kind="points",
        )


def last_decade(horizon: int) -> Ints:
    """Return a few checkpoints in the last decade, to measure growth."""
    return np.unique(np.rint(np.geomspace(max(1, math.ceil(horizon / 10)), horizon, 5)).astype(np.int64))


def final_regret(result: Result) -> Floats:
    """Return the regret of every run at the horizon."""
    return np.asarray(result.regret[:, -1])


def guide(label: str, values: Sequence[float], heights: Sequence[float] | Floats, style: str) -> Series:
    """Return a bound or slope to compare with, as a series."""
    return Series(
        label, np.array(values, dtype=np.float64), np.array(heights, dtype=np.float64), style=style, kind="guide"
    )


def exponent(values: Sequence[float] | Floats, samples: Sequence[Floats]) -> Interval:
    """Fit the slope of log regret over log value by least squares; return its mean over the runs with an interval.

    Runs of equal number are fitted together; they are independent. NaN if a run has no regret.

    >>> samples = [np.array([3.0, 5.0]), np.array([12.0, 20.0]), np.array([48.0, 80.0])]
    >>> round(exponent([1.0, 2.0, 4.0], samples).value, 9)
    2.0
    """
    heights = np.array(samples)
    if len(values) < 2 or (heights <= 0.0).any():
        return Interval(math.nan, math.nan, math.nan)
    logs = np.log(np.array(values, dtype=np.float64))
    logs = logs - logs.mean()
    return interval((logs @ np.log(heights)) / (logs @ logs))


def played(results: Sequence[Result]) -> str:
    """Format the number of runs and rounds."""
    runs, horizon = results[0].runs, results[0].horizon
    return f"{runs} run{'s' if runs > 1 else ''} of {horizon:,} rounds"


def number(value: float) -> str:
    """Format a number with three digits, or all digits before the point.

    >>> number(0.012345), number(1234.5), number(float("nan"))
    ('0.0123', '1,234', '-')
    """
    if math.isnan(value):
        return "-"
    if abs(value) < 1e-12:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def with_interval(found: Interval | tuple[float, float, float]) -> str:
    """Format a value and the ends of its interval.

    >>> with_interval((5.0, 4.0, 6.0)), with_interval((5.0, math.nan, math.nan))
    ('5 (4 to 6)', '5')
    """
    value, low, high = found
    return number(value) if math.isnan(low) else f"{number(value)} ({number(low)} to {number(high)})"


def span(values: Sequence[float] | Floats) -> str:
    """Format the range from smallest to largest."""
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"
