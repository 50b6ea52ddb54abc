"""Student's t distribution: upper tail and quantiles, by the incomplete beta function.

With d degrees of freedom P(T > t) = I(d / (d + t^2); d / 2, 1 / 2) / 2 for t >= 0, where I is the regularised
incomplete beta function, computed as a continued fraction by Lentz's method (Numerical Recipes, third edition, section
6.4).
"""

import functools
import math

from setwise.types import InputError

TINY = 1e-300


def student_tail(t: float, degrees: float) -> float:
    """Return P(T > t) for Student's t with the given degrees of freedom.

    >>> student_tail(0.0, 7), round(student_tail(1.0, 1), 12), round(student_tail(-1.0, 1), 12)
    (0.5, 0.25, 0.75)
    """
    _check_degrees(degrees)
    if math.isnan(t):
        return math.nan
    if t == 0.0:
        return 0.5
    # t^2 may overflow or underflow where t does not; the tail is then that of infinity or of zero.
    tail = 0.5 * incomplete_beta(0.5 * degrees, 0.5, degrees, t * t) if math.isfinite(t * t) else 0.0
    return tail if t > 0.0 else 1.0 - tail


@functools.lru_cache(maxsize=4096)
def student_quantile(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t: the t with P(T <= t) = probability.

    Newton's method with bisection, on the smaller of the tail beyond t and the mass between 0 and t.

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
    """Return the t > 0 with P(T > t) = beyond and P(0 < T < t) = within."""
    far = beyond < 0.25

    def excess(t: float) -> float:
        """Return the relative error of the probability at t, positive if t is too large."""
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
    """Return I(x; a, b) = P(B <= x) for B ~ Beta(a, b), at x = first / (first + second).

    x is given by two parts because 1 - x would lose digits for x close to 1.

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
    """Return the continued fraction of the incomplete beta function, for x <= (a + 1) / (a + b + 2)."""
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
