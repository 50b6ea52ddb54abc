"""Statistics of runs: confidence intervals, bands, paired and unpaired tests, and the growth rate of regret."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.simulation.result import Result
from setwise.simulation.student import student_quantile, student_tail
from setwise.types import Floats, InputError

__all__ = [
    "LINEAR", "Band", "Growth", "Interval", "Paired", "band", "deviation_band", "growth", "holm", "interval", "paired",
    "paired_ratio", "ratio", "student_95", "student_quantile", "student_tail", "unpaired",
]  # fmt: skip

LINEAR = 0.9  # threshold of the slope between linear and slower growth


class Interval(NamedTuple):
    """A value with the ends of its confidence interval, of 95 % unless stated; NaN for a single run."""

    value: float
    low: float
    high: float


class Band(NamedTuple):
    """A curve with the limits of its band, at each checkpoint."""

    mean: Floats
    low: Floats
    high: Floats


class Paired(NamedTuple):
    """Comparison of two samples: the mean difference, its confidence interval (95 % unless stated), and the p-value.

    p is the two-sided p-value of the test of equal means; NaN for a single run.
    """

    difference: float
    low: float
    high: float
    p: float


class Growth(NamedTuple):
    """Growth of regret in the last decade of rounds: the slope of log regret over log round, with its interval.

    1 is linear regret, 1/2 that of a square root; c log T has about 1 / log T.
    """

    slope: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """ "linear" if the whole interval is above 0.9, "slower" if all of it is below, else "unclear".

        Slower growth has a slope well below 0.9 after the initial phase: log T about 0.1 at 10^5 rounds, its square
        0.2, a square root 0.5, T^(2/3) 0.67. Linear regret after an initial cost a, a + c t, has a slope below 1:
        0.93 if a is 2 % of the total, 0.9 if it is 3 %. The verdict is about this decade only: "linear" regret may grow
        slower later, and "slower" regret after a high initial cost may become linear.
        """
        if self.low > LINEAR:
            return "linear"
        return "slower" if self.high < LINEAR else "unclear"

    @property
    def linear(self) -> bool:
        """Whether the verdict is "linear"."""
        return self.verdict == "linear"


def student_95(degrees: float) -> float:
    """Return the 97.5 % quantile of Student's t: half of a 95 % interval, in standard errors."""
    return student_quantile(0.975, degrees)


def _quantile(confidence: float, degrees: float) -> float:
    """Return half of a confidence interval, in standard errors."""
    return student_quantile(0.5 + 0.5 * confidence, degrees)


def interval(values: Sequence[float] | Floats, confidence: float = 0.95) -> Interval:
    """Return the mean of independent values with its confidence interval, mean -+ t s / sqrt(runs).

    >>> interval([1.0, 2.0, 3.0])
    Interval(value=2.0, low=-0.484..., high=4.484...)
    """
    sample = _sample(values)
    half = _half(sample, confidence)
    mean = float(sample.mean())
    return Interval(mean, mean - half, mean + half)


def _half(sample: Floats, confidence: float = 0.95) -> float:
    """Return half of the confidence interval of the mean."""
    if len(sample) < 2:
        return math.nan
    return _quantile(confidence, len(sample) - 1) * float(sample.std(ddof=1)) / math.sqrt(len(sample))


def band(result: Result, regret: Floats | None = None) -> Band:
    """Return mean regret with its 95 % interval, at each checkpoint; or of other curves with a row for each run."""
    curves = result.regret if regret is None else regret
    mean = np.asarray(curves.mean(axis=0))
    if len(curves) < 2:
        return Band(mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan))
    half = student_95(len(curves) - 1) * curves.std(axis=0, ddof=1) / math.sqrt(len(curves))
    return Band(mean, mean - half, mean + half)


def deviation_band(result: Result, regret: Floats | None = None) -> Band:
    """Return mean regret -+ the standard deviation of a run, at each checkpoint, as in the paper's figures."""
    curves = result.regret if regret is None else regret
    mean = np.asarray(curves.mean(axis=0))
    spread = curves.std(axis=0, ddof=1) if len(curves) > 1 else np.full_like(mean, np.nan)
    return Band(mean, mean - spread, mean + spread)


def growth(result: Result, regret: Floats | None = None, until: int | None = None, confidence: float = 0.95) -> Growth:
    """Fit the slope of log mean regret over log round by least squares, on the checkpoints of the last decade.

    The decade ends at the round `until`, by default at the horizon.

    The interval is slope -+ t s, with the jackknife variance over the runs,
    s^2 = (runs - 1) / runs * sum of (slope without run i - their mean)^2.
    """
    curves = result.regret if regret is None else regret
    end = result.horizon if until is None else until
    late = (result.rounds >= end / 10) & (result.rounds <= end)
    logs, curves = np.log(result.rounds[late].astype(float)), curves[:, late]
    runs = len(curves)
    slope = _slope(logs, curves.mean(axis=0))
    if runs < 2:
        return Growth(slope, math.nan, math.nan)
    total = curves.sum(axis=0)
    without = np.array([_slope(logs, (total - own) / (runs - 1)) for own in curves])
    half = _quantile(confidence, runs - 1) * math.sqrt((runs - 1) * float(without.var()))
    return Growth(slope, slope - half, slope + half)


def _slope(logs: Floats, regret: Floats) -> float:
    """Fit the slope of log regret over log round where regret is positive; 0 if nowhere, NaN if at a single point."""
    scale = float(np.abs(regret).max(initial=0.0))
    # Subtracting a run from the sum leaves rounding errors where the others have no regret.
    some = regret > 1e-12 * scale
    if not some.any():
        return 0.0
    x = logs[some]
    if len(x) < 2:
        return math.nan
    x = x - x.mean()
    return float(x @ np.log(regret[some]) / (x @ x))


def paired(first: Sequence[float] | Floats, second: Sequence[float] | Floats, confidence: float = 0.95) -> Paired:
    """Compare two samples, paired by position: mean of first - second, by Student's paired test.

    >>> paired([3.0, 5.0, 4.0], [1.0, 2.0, 3.0])
    Paired(difference=2.0, low=-0.484..., high=4.484..., p=0.0741...)
    """
    one, other = _sample(first), _sample(second)
    if len(one) != len(other):
        raise InputError(f"samples of {len(one)} and {len(other)} values cannot be paired: give as many of each")
    differences = one - other
    mean, half = float(differences.mean()), _half(differences, confidence)
    if len(one) < 2:
        return Paired(mean, math.nan, math.nan, math.nan)
    error = float(differences.std(ddof=1)) / math.sqrt(len(one))
    return Paired(mean, mean - half, mean + half, _chance(mean, error, len(one) - 1))


def _chance(mean: float, error: float, degrees: float) -> float:
    """Return the two-sided p-value of a mean of 0, given its standard error."""
    if error > 0.0:
        return 2.0 * student_tail(abs(mean) / error, degrees)
    return 1.0 if mean == 0.0 else 0.0  # all differences are equal


def unpaired(first: Sequence[float] | Floats, second: Sequence[float] | Floats, confidence: float = 0.95) -> Paired:
    """Compare two independent samples: mean of first - mean of second, by Welch's test (Welch, 1947).

    >>> unpaired([3.0, 5.0, 4.0], [1.0, 2.0, 3.0])
    Paired(difference=2.0, low=-0.266..., high=4.266..., p=0.0704...)
    """
    samples = [_sample(first), _sample(second)]
    mean = float(samples[0].mean() - samples[1].mean())
    if min(map(len, samples)) < 2:
        return Paired(mean, math.nan, math.nan, math.nan)
    parts = [float(sample.var(ddof=1)) / len(sample) for sample in samples]
    degrees = _degrees(parts, samples)
    error = math.sqrt(sum(parts))
    half = _quantile(confidence, degrees) * error
    return Paired(mean, mean - half, mean + half, _chance(mean, error, degrees))


def _degrees(parts: list[float], samples: list[Floats]) -> float:
    """Return the degrees of freedom of a sum of squared errors of two samples (Welch-Satterthwaite)."""
    squares = sum(part**2 / (len(own) - 1) for part, own in zip(parts, samples, strict=True))
    return sum(parts) ** 2 / squares if squares > 0.0 else float(sum(map(len, samples)) - 2)


def holm(chances: Sequence[float]) -> list[float]:
    """Adjust the p-values of several tests to control the family-wise error rate (Holm, 1979).

    The i-th smallest of m is multiplied by m - i + 1, then raised to at least the one before it, and capped at 1.

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


def ratio(first: Sequence[float] | Floats, second: Sequence[float] | Floats, confidence: float = 0.95) -> Interval:
    """Return the ratio of the means of two independent samples, with its confidence interval.

    Delta method on the logarithm, whose variance is the sum of both relative variances, with Welch-Satterthwaite
    degrees of freedom. NaN if a mean is not above 0.

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
    half = _quantile(confidence, _degrees(parts, samples)) * math.sqrt(sum(parts))
    return Interval(one / other, one / other * math.exp(-half), one / other * math.exp(half))


def paired_ratio(
    first: Sequence[float] | Floats, second: Sequence[float] | Floats, confidence: float = 0.95
) -> Interval:
    """Return the ratio of the means of two samples, paired by position, with its confidence interval.

    Delta method on the logarithm, whose variance is that of the mean of x / mean(x) - y / mean(y). NaN if a mean is not
    above 0.

    >>> paired_ratio([2.0, 4.0], [1.0, 2.0])
    Interval(value=2.0, low=2.0, high=2.0)
    """
    one, other = _sample(first), _sample(second)
    if not (one.mean() > 0.0 and other.mean() > 0.0):
        return Interval(math.nan, math.nan, math.nan)
    value, half = float(one.mean() / other.mean()), _half(one / one.mean() - other / other.mean(), confidence)
    return Interval(value, value * math.exp(-half), value * math.exp(half))


def _sample(values: Any) -> Floats:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0:
        raise InputError(f"a sample has shape {sample.shape}; give one row of one value or more")
    return sample
