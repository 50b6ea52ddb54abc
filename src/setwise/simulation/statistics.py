"""What runs say beyond their mean: intervals, bands, comparisons, and whether regret still grows linearly."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.simulation.result import Result
from setwise.simulation.student import student_quantile, student_tail
from setwise.types import Floats, InputError

__all__ = [
    "LINEAR", "Band", "Growth", "Interval", "Paired", "band", "deviation_band", "growth", "holm", "interval", "paired",
    "ratio", "student_95", "student_quantile", "student_tail",
]  # fmt: skip

LINEAR = 0.9  # the slope that tells linear growth from slower growth


class Interval(NamedTuple):
    """A value with the ends of its 95 % interval, which are NaN where there is a single run."""

    value: float
    low: float
    high: float


class Band(NamedTuple):
    """A curve with the ends of its band, at each checkpoint."""

    mean: Floats
    low: Floats
    high: Floats


class Paired(NamedTuple):
    """Two samples compared run by run: the mean difference, its 95 % interval, and the chance p of one as large.

    p is two-sided, by Student's paired test, if there is no difference in the means; NaN for a single run.
    """

    difference: float
    low: float
    high: float
    p: float


class Growth(NamedTuple):
    """How regret grows over the last decade of rounds: the slope of log regret over log round, with a 95 % interval.

    1 is linear regret, 1/2 that of a square root; c log T has about 1 / log T.
    """

    slope: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """ "linear" if the whole interval is above 0.9, "slower" if all of it is below, else "unclear".

        Slower growth has a slope well below 0.9 once its start is over: log T about 0.1 at 10^5 rounds, its square
        0.2, a square root 0.5, T^(2/3) 0.67. Linear regret after a start that costs a, a + c t, has a slope below 1:
        0.93 if the start is 2 % of the whole, 0.9 if it is 3 %. What is measured is this decade: regret that is
        "linear" may grow slower later, and "slower" after a dear start may be linear in the end.
        """
        if self.low > LINEAR:
            return "linear"
        return "slower" if self.high < LINEAR else "unclear"

    @property
    def linear(self) -> bool:
        """Whether the interval says that regret still grows linearly."""
        return self.verdict == "linear"


def student_95(degrees: float) -> float:
    """The 97.5 % quantile of Student's t: half of a 95 % interval, in standard errors."""
    return student_quantile(0.975, degrees)


def interval(values: Sequence[float] | Floats) -> Interval:
    """The mean of independent values with its 95 % interval, mean -+ t s / sqrt(runs).

    >>> interval([1.0, 2.0, 3.0])
    Interval(value=2.0, low=-0.484..., high=4.484...)
    """
    sample = _sample(values)
    half = _half(sample)
    mean = float(sample.mean())
    return Interval(mean, mean - half, mean + half)


def _half(sample: Floats) -> float:
    """Half of the 95 % interval of the mean."""
    if len(sample) < 2:
        return math.nan
    return student_95(len(sample) - 1) * float(sample.std(ddof=1)) / math.sqrt(len(sample))


def band(result: Result, regret: Floats | None = None) -> Band:
    """The mean regret with its 95 % interval, at each checkpoint; of other curves with a row for each run, if given."""
    curves = result.regret if regret is None else regret
    mean = np.asarray(curves.mean(axis=0))
    if len(curves) < 2:
        return Band(mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan))
    half = student_95(len(curves) - 1) * curves.std(axis=0, ddof=1) / math.sqrt(len(curves))
    return Band(mean, mean - half, mean + half)


def deviation_band(result: Result, regret: Floats | None = None) -> Band:
    """The mean regret -+ the standard deviation of a run, at each checkpoint, as the paper shades it."""
    curves = result.regret if regret is None else regret
    mean = np.asarray(curves.mean(axis=0))
    spread = curves.std(axis=0, ddof=1) if len(curves) > 1 else np.full_like(mean, np.nan)
    return Band(mean, mean - spread, mean + spread)


def growth(result: Result, regret: Floats | None = None) -> Growth:
    """The slope of log mean regret over log round by least squares, over the checkpoints of the last decade.

    The interval is that of the jackknife over the runs: the slope without each run in turn says how much one run
    matters, s^2 = (runs - 1) / runs * sum of (slope without run i - their mean)^2, and the ends are t s away.
    """
    curves = result.regret if regret is None else regret
    late = result.rounds >= result.horizon / 10
    logs, curves = np.log(result.rounds[late].astype(float)), curves[:, late]
    runs = len(curves)
    slope = _slope(logs, curves.mean(axis=0))
    if runs < 2:
        return Growth(slope, math.nan, math.nan)
    total = curves.sum(axis=0)
    without = np.array([_slope(logs, (total - own) / (runs - 1)) for own in curves])
    half = student_95(runs - 1) * math.sqrt((runs - 1) * float(without.var()))
    return Growth(slope, slope - half, slope + half)


def _slope(logs: Floats, regret: Floats) -> float:
    """Of log regret over log round, where there is regret; 0 if there is none, NaN if a single point has some."""
    scale = float(np.abs(regret).max(initial=0.0))
    # a run taken out of a sum leaves rounding errors where the others have no regret
    some = regret > 1e-12 * scale
    if not some.any():
        return 0.0
    x = logs[some]
    if len(x) < 2:
        return math.nan
    x = x - x.mean()
    return float(x @ np.log(regret[some]) / (x @ x))


def paired(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> Paired:
    """First less second, of two samples in which equal places belong together: Student's paired test.

    >>> paired([3.0, 5.0, 4.0], [1.0, 2.0, 3.0])
    Paired(difference=2.0, low=-0.484..., high=4.484..., p=0.0741...)
    """
    one, other = _sample(first), _sample(second)
    if len(one) != len(other):
        raise InputError(f"samples of {len(one)} and {len(other)} values cannot be paired: give as many of each")
    differences = one - other
    mean, half = float(differences.mean()), _half(differences)
    if len(one) < 2:
        return Paired(mean, math.nan, math.nan, math.nan)
    error = float(differences.std(ddof=1)) / math.sqrt(len(one))
    if error > 0.0:
        p = 2.0 * student_tail(abs(mean) / error, len(one) - 1)
    else:  # all differences are equal
        p = 1.0 if mean == 0.0 else 0.0
    return Paired(mean, mean - half, mean + half, p)


def holm(chances: Sequence[float]) -> list[float]:
    """The p-values of several tests, adjusted so that all of them together err with the chance of one (Holm, 1979).

    The i-th smallest of m is multiplied by m - i + 1, is at least the one before it, and at most 1.

    >>> holm([0.03, 0.01, 0.04])
    [0.06, 0.03, 0.06]
    """
    for chance in chances:
        if not 0.0 <= chance <= 1.0:
            raise InputError(f"a p-value is {chance:g}; it lies between 0 and 1")
    adjusted = [0.0] * len(chances)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        largest = max(largest, min(1.0, (len(chances) - rank) * chances[place]))
        adjusted[place] = largest
    return adjusted


def ratio(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> Interval:
    """The mean of the first sample over that of the second, with its 95 % interval; the samples are independent.

    By the delta method on the logarithm, whose variance is the sum of both relative variances, with the degrees of
    freedom that Welch and Satterthwaite give. NaN where a mean is not above 0.

    >>> ratio([50.0, 50.0], [10.0, 10.0])
    Interval(value=5.0, low=5.0, high=5.0)
    """
    samples = [_sample(first), _sample(second)]
    one, other = (float(sample.mean()) for sample in samples)
    if not (one > 0.0 and other > 0.0):
        return Interval(math.nan, math.nan, math.nan)
    if min(map(len, samples)) < 2:
        return Interval(one / other, math.nan, math.nan)
    parts = [float(sample.var(ddof=1) / len(sample) / sample.mean() ** 2) for sample in samples]
    variance = sum(parts)
    if variance == 0.0:
        return Interval(one / other, one / other, one / other)
    degrees = variance**2 / sum(part**2 / (len(own) - 1) for part, own in zip(parts, samples, strict=True))
    half = student_95(degrees) * math.sqrt(variance)
    return Interval(one / other, one / other * math.exp(-half), one / other * math.exp(half))


def _sample(values: Any) -> Floats:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0:
        raise InputError(f"a sample has shape {sample.shape}; give one row of one value or more")
    return sample
