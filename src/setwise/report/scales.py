"""Axes: from where to where, and which numbers stand at them.

Matplotlib's own ticks are looked for anew at every drawing, and its powers of ten typeset as formulas; that would take
longer than the rest of a figure.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.report.parts import Chart
from setwise.types import Floats

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# How many times as high as the curves bands and guides may be; on a linear axis a bound far above would flatten them.
BAND_ROOM, GUIDE_ROOM, LOG_GUIDE_ROOM = 1.6, 1.15, 1e4


class Scale(NamedTuple):
    """An axis: its ends, whether it is logarithmic, and its ticks with their labels."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]
    labels: tuple[str, ...]

    def places(self, values: Any, least: bool = False) -> Floats:
        """Where values stand, from 0 at the low end to 1 at the high end.

        A value that cannot be shown, such as 0 on a logarithmic axis, is NaN or, with `least`, at the low end.
        """
        numbers = np.array(values, dtype=np.float64)
        low, high = self.low, self.high
        if self.log:
            numbers[numbers <= 0.0] = low if least else np.nan
            numbers, low, high = np.log10(numbers), math.log10(low), math.log10(high)
        numbers[~np.isfinite(numbers)] = np.nan
        return (numbers - low) / (high - low)


def x_scale(chart: Chart, room: int) -> Scale:
    """From the first point to the last, or from 0 if that is near, with at most so many ticks."""
    values = _shown([series.x for series in chart.series], chart.x_log)
    low, high = (float(values.min()), float(values.max())) if len(values) else (1.0, 10.0)
    low, high = _apart(low, high, chart.x_log)
    if not chart.x_log and 0.0 < low < 0.1 * high:
        low = 0.0
    if any(series.kind == "points" for series in chart.series):  # half a mark would be cut off at the end
        margin = (high / low) ** 0.03 if chart.x_log else 0.03 * (high - low)
        low, high = (low / margin, high * margin) if chart.x_log else (low - margin, high + margin)
    return with_ticks(low, high, chart.x_log, room)


def y_scale(chart: Chart, room: int) -> Scale:
    """Around the curves, with at most so many ticks; a linear axis starts at 0 unless something is below."""
    low, high = _apart(*_y_ends(chart), chart.y_log)
    if chart.y_log:
        margin = (high / low) ** 0.03
        return with_ticks(low / margin, high * margin, True, room)
    margin = 0.04 * (high - min(low, 0.0))
    return with_ticks(low - margin if low < 0.0 else 0.0, high + margin, False, room)


def _y_ends(chart: Chart) -> tuple[float, float]:
    """The ends of the curves, and of bands and guides as far as they do not make the curves small."""
    curves = [series for series in chart.series if series.kind != "guide"] or list(chart.series)
    values = _shown([series.y for series in curves], chart.y_log)
    if not len(values):
        return 1.0, 10.0
    low, high = float(values.min()), float(values.max())
    bands = _shown([end for series in curves for end in (series.low, series.high) if end is not None], chart.y_log)
    guides = _shown([series.y for series in chart.series if series.kind == "guide"], chart.y_log)
    lowest, highest = low, high
    for others, most in ((bands, BAND_ROOM), (guides, LOG_GUIDE_ROOM if chart.y_log else GUIDE_ROOM)):
        if chart.y_log:
            others = np.clip(others, low / most, high * most)
        else:
            others = np.clip(others, min(low, 0.0), low + most * (high - low) if low < 0.0 else most * high)
        lowest, highest = min(lowest, others.min(initial=low)), max(highest, others.max(initial=high))
    return float(lowest), float(highest)


def with_ticks(low: float, high: float, log: bool, room: int) -> Scale:
    """The axis with at most `room` ticks (at least two), at numbers that a reader would choose.

    >>> with_ticks(1.0, 1e6, True, 4).labels
    ('10⁰', '10²', '10⁴', '10⁶')
    >>> with_ticks(0.0, 1700.0, False, 5).labels
    ('0', '500', '1,000', '1,500')
    """
    room = max(room, 2)
    first, last = (math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)) if log else (0, 0)
    if last - first >= 2:
        step = math.ceil((last - first + 1) / room)
        powers = range(first, last + 1, step)
        return Scale(low, high, log, tuple(10.0**power for power in powers), tuple(map(power_of_ten, powers)))
    ticks = _between_powers(low, high, room) if log else _linear_ticks(low, high, room)
    powers_too = log and max(ticks) >= 1e5  # as the labels of an axis with more powers of ten are
    return Scale(low, high, log, tuple(ticks), _multiples(ticks) if powers_too else _numbers(ticks))


def power_of_ten(power: int) -> str:
    """10^x in plain characters.

    >>> power_of_ten(-3)
    '10⁻³'
    """
    return "10" + str(power).translate(RAISED)


def raised(text: str) -> str:
    """The text with whole powers in raised characters.

    >>> raised("B^2 n^1.5 10^-3")
    'B² n^1.5 10⁻³'
    """
    return re.sub(r"\^(-?\d+)\b(?!\.\d)", lambda found: found[1].translate(RAISED), text)


def _multiples(ticks: Sequence[float]) -> tuple[str, ...]:
    """Labels each as a multiple of its own power of ten, as few digits as it takes."""
    found = (f"{tick:.5e}".split("e") for tick in ticks)
    parts = [(mantissa.rstrip("0").rstrip("."), power_of_ten(int(power))) for mantissa, power in found]
    return tuple(power if mantissa == "1" else f"{mantissa} · {power}" for mantissa, power in parts)


def _between_powers(low: float, high: float, room: int) -> list[float]:
    """Ticks of a logarithmic axis that has at most two powers of ten on it."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    choices = ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
    for digits in choices[2:] if high > 10.0 * low else choices:
        steps = [float(f"{digit}e{power}") for power in powers for digit in digits]
        ticks = [step for step in steps if low * (1 - 1e-9) <= step <= high * (1 + 1e-9)]
        if len(ticks) <= room:
            break
    return ticks if len(ticks) >= 2 else _linear_ticks(low, high, room)


def _linear_ticks(low: float, high: float, room: int) -> list[float]:
    """Multiples of the smallest of 1, 2, 2.5 and 5 times a power of ten that leaves no more than there is room for."""
    power = math.floor(math.log10((high - low) / room))
    for step in (float(f"{digit}e{exponent}") for exponent in range(power, power + 3) for digit in (1, 2, 2.5, 5)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < room:
            break
    return [step * number for number in range(first, last + 1)]


def _numbers(ticks: Sequence[float]) -> tuple[str, ...]:
    """Labels with as many decimals as tell the ticks apart; very large and very small ones as a multiple of 10^x."""
    largest = max((abs(tick) for tick in ticks), default=0.0)
    if largest >= 1e7 or 0.0 < largest < 1e-3:
        power = math.floor(math.log10(largest) + 1e-9)
        return tuple(f"{tick / 10.0**power:.3g} · {power_of_ten(power)}" if tick else "0" for tick in ticks)
    return tuple(f"{tick:,.6f}".rstrip("0").rstrip(".") if abs(tick) < 1e4 else f"{tick:,.0f}" for tick in ticks)


def _shown(arrays: Sequence[Floats], log: bool) -> Floats:
    """All values that the axis can show."""
    values = np.concatenate([np.asarray(array, dtype=np.float64) for array in arrays]) if arrays else np.empty(0)
    return np.asarray(values[np.isfinite(values) & ((values > 0.0) | (not log))])


def _apart(low: float, high: float, log: bool) -> tuple[float, float]:
    """Ends that differ, for a chart whose points all have the same value."""
    if high > low:
        return low, high
    if log:
        return low / 2.0, high * 2.0
    return (low - 0.5, high + 0.5) if low else (0.0, 1.0)
