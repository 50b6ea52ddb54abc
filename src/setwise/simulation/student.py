"""Student's t distribution: its upper tail and its quantiles, by the incomplete beta function.

With d degrees of freedom P(T > t) = I(d / (d + t^2); d / 2, 1 / 2) / 2 for t >= 0, where I is the regularised
incomplete beta function, here a continued fraction by Lentz's method (Numerical Recipes, third edition, section 6.4).
"""

import functools
import math

from setwise.types import InputError

TINY = 1e-300


def student_tail(t: float, degrees: float) -> float:
    """The chance that a Student variable with so many degrees of freedom is above t.

    >>> student_tail(0.0, 7), round(student_tail(1.0, 1), 12), round(student_tail(-1.0, 1), 12)
    (0.5, 0.25, 0.75)
    """
    _check_degrees(degrees)
    if math.isnan(t):
        return math.nan
    if t == 0.0:
        return 0.5
    # t^2 may overflow or vanish where t does not; the chance is then that of infinity or of zero
    tail = 0.5 * incomplete_beta(0.5 * degrees, 0.5, degrees, t * t) if math.isfinite(t * t) else 0.0
    return tail if t > 0.0 else 1.0 - tail


@functools.lru_cache(maxsize=4096)
def student_quantile(probability: float, degrees: float) -> float:
    """The t that a Student variable with so many degrees of freedom is below with that probability.

    Newton's method between two ends that close in, on the smaller of the tail beyond t and the mass between 0 and t.

    >>> round(student_quantile(0.975, 1), 6), round(student_quantile(0.975, 19), 6), student_quantile(0.5, 3)
    (12.706205, 2.093024, 0.0)
    """
    _check_degrees(degrees)
    if not 0.0 < probability < 1.0:
        raise InputError(f"probability is {probability:g}; a quantile is that of one between 0 and 1")
    if probability == 0.5:
        return 0.0
    beyond = min(probability, 1.0 - probability)
    size = _distance(beyond, abs(probability - 0.5), degrees)
    return size if probability > 0.5 else -size


def _distance(beyond: float, within: float, degrees: float) -> float:
    """The t > 0 with a chance of `beyond` above it, and of `within` between 0 and it."""
    far = beyond < 0.25

    def excess(t: float) -> float:
        """How far t is too large, as a share of the chance that is to be met."""
        if far:
            return 1.0 - 0.5 * incomplete_beta(0.5 * degrees, 0.5, degrees, t * t) / beyond
        return 0.5 * incomplete_beta(0.5, 0.5 * degrees, t * t, degrees) / within - 1.0

    low, high = 0.0, 1.0
    while excess(high) < 0.0:
        low, high = high, 2.0 * high
    t = high
    for _ in range(200):
        error = excess(t)
        low, high = (t, high) if error < 0.0 else (low, t)
        slope = _density(t, degrees) / (beyond if far else within)
        better = t - error / slope if slope > 0.0 else math.nan
        if not low < better < high:
            better = 0.5 * (low + high)
        if abs(better - t) <= 1e-14 * t:
            return better
        t = better
    return t


def _density(t: float, degrees: float) -> float:
    constant = math.lgamma(0.5 * degrees + 0.5) - math.lgamma(0.5 * degrees) - 0.5 * math.log(degrees * math.pi)
    return math.exp(constant - 0.5 * (degrees + 1.0) * math.log1p(t * t / degrees))


def incomplete_beta(a: float, b: float, first: float, second: float) -> float:
    """I(x; a, b), the chance that a Beta(a, b) variable is at most x = first / (first + second).

    The two parts are given apart because 1 - x would lose digits where x is close to 1.

    >>> round(incomplete_beta(1.0, 1.0, 0.3, 0.7), 12), round(incomplete_beta(2.0, 1.0, 0.6, 0.4), 12)
    (0.3, 0.36)
    """
    x, rest = first / (first + second), second / (first + second)
    if x <= 0.0 or rest <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    log_size = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    if x <= (a + 1.0) / (a + b + 2.0):
        return math.exp(log_size) * _fraction(a, b, x) / a
    return 1.0 - math.exp(log_size) * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, for x <= (a + 1) / (a + b + 2)."""
    upper, lower = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = lower
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            lower = 1.0 / _away_from_zero(1.0 + term * lower)
            upper = _away_from_zero(1.0 + term / upper)
            value *= upper * lower
        if abs(upper * lower - 1.0) < 1e-15:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) >= TINY else TINY


def _check_degrees(degrees: float) -> None:
    if not 0.0 < degrees < math.inf:
        raise InputError(f"degrees is {degrees:g}; degrees of freedom are a finite number above 0")
