"""Axes of charts: their limits, and ticks at round numbers with labels that do not overlap."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise.report.parts import Chart
from setwise.report.text import RAISED, SMALL, text_width
from setwise.types import Floats

# Bands and guides extend the axis to at most so many times the curves: a bound far above would flatten them.
BAND_ROOM, GUIDE_ROOM, LOG_GUIDE_ROOM = 1.6, 1.15, 1e4
LABEL_HEIGHT, LABEL_GAP = 0.27, 0.08  # inches from tick to tick on a vertical axis, between labels on a horizontal one


def x_limits(chart: Chart) -> tuple[float, float]:
    """Return the first and the last point, with 0 as the start if that is near."""
    low, high = _spread(_shown([series.x for series in chart.series], chart.x_log), chart.x_log)
    if not chart.x_log and 0.0 < low < 0.1 * high:
        low = 0.0
    if any(series.kind == "points" for series in chart.series):  # half a mark would be cut off at the end
        return _padded(low, high, chart.x_log, 0.03)
    return low, high


def y_limits(chart: Chart) -> tuple[float, float]:
    """Return limits around the curves; a linear axis starts at 0 unless a value is below.

    Bands and guides are included as far as they do not make the curves small.
    """
    log = chart.y_log
    curves = [series for series in chart.series if series.kind != "guide"] or list(chart.series)
    low, high = _spread(_shown([series.y for series in curves], log), log)
    bands = _shown([end for series in curves for end in (series.low, series.high) if end is not None], log)
    guides = _shown([series.y for series in chart.series if series.kind == "guide"], log)
    lowest, highest = low, high
    for others, room in ((bands, BAND_ROOM), (guides, LOG_GUIDE_ROOM if log else GUIDE_ROOM)):
        if log:
            others = np.clip(others, low / room, high * room)
        else:
            others = np.clip(others, min(low, 0.0), low + room * (high - low) if low < 0.0 else room * high)
        lowest, highest = min(lowest, others.min(initial=low)), max(highest, others.max(initial=high))
    if log or lowest < 0.0:
        return _padded(float(lowest), float(highest), log, 0.03)
    return 0.0, 1.04 * float(highest)


def fitting_ticks(low: float, high: float, log: bool, length: float, across: bool) -> tuple[list[float], list[str]]:
    """Return as many ticks as fit on an axis so many inches long, and their labels.

    across: whether the axis is horizontal, where labels are side by side
    """
    if not across:
        return ticks(low, high, log, int(length / LABEL_HEIGHT))
    scale = np.log10 if log else np.asarray
    for most in range(9, 1, -1):
        values, labels = ticks(low, high, log, most)
        places = length * scale(values) / float(scale(high) - scale(low))
        widths = np.array([text_width(label, SMALL) for label in labels])
        if np.all(np.diff(places) >= (widths[1:] + widths[:-1]) / 2.0 + LABEL_GAP):
            break
    return values, labels


def ticks(low: float, high: float, log: bool, most: int) -> tuple[list[float], list[str]]:
    """Return at most so many round numbers (at least two) between the limits, and their labels.

    >>> ticks(1.0, 1e6, True, 4)[1]
    ['10⁰', '10²', '10⁴', '10⁶']
    >>> ticks(0.0, 1700.0, False, 5)[1]
    ['0', '500', '1,000', '1,500']
    """
    from matplotlib.ticker import LogLocator, MaxNLocator

    most = max(most, 2)
    choices: list[Any] = [MaxNLocator(bins, steps=[1, 2, 2.5, 5, 10]) for bins in range(most, 0, -1)]
    decades = log and high >= 100.0 * low
    if log:
        dense = [(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)] if high <= 10.0 * low else []
        steps = [(1.0,)] if decades else [*dense, (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)]
        choices[:0] = [LogLocator(subs=step, numticks=most) for step in steps]
    for locator in choices:
        values = [value for value in locator.tick_values(low, high) if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if 2 <= len(values) <= most:
            break
    powers = decades or max(values) >= (1e5 if log else 1e7) or max(values) < 1e-3
    return values, [tick_label(value, powers) for value in values]


def tick_label(value: float, power: bool) -> str:
    """Format a number plainly, or as a multiple of a power of ten.

    >>> tick_label(12500.0, False), tick_label(0.25, False), tick_label(20000.0, True), tick_label(0.01, True)
    ('12,500', '0.25', '2 · 10⁴', '10⁻²')
    """
    if not power or not value:
        return f"{value:,.6f}".rstrip("0").rstrip(".")
    digits, exponent = f"{value:.5e}".split("e")
    digits, raised = digits.rstrip("0").rstrip("."), "10" + str(int(exponent)).translate(RAISED)
    return raised if digits == "1" else f"{digits} · {raised}"


def _shown(arrays: Sequence[Floats], log: bool) -> Floats:
    """Return all values that the axis can show."""
    values = np.concatenate([np.asarray(array, dtype=np.float64) for array in arrays]) if arrays else np.empty(0)
    return np.asarray(values[np.isfinite(values) & ((values > 0.0) | (not log))])


def _spread(values: Floats, log: bool) -> tuple[float, float]:
    """Return the smallest and the largest value, moved apart if they are equal."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (1.0, 10.0)
    if high > low:
        return low, high
    if log:
        return low / 2.0, high * 2.0
    return (low - 0.5, high + 0.5) if low else (0.0, 1.0)


def _padded(low: float, high: float, log: bool, share: float) -> tuple[float, float]:
    """Return the limits with a margin on both sides."""
    if log:
        return low / (high / low) ** share, high * (high / low) ** share
    return low - share * (high - low), high + share * (high - low)
