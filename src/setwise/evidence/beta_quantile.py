"""Upper tails and upper quantiles of a Beta distribution, the same bits interpreted and compiled.

The tail is a continued fraction (Numerical Recipes, third edition, section 6.4, by Lentz's method), whose length grows
with the square root of the parameters. The quantile is Newton's method on the logarithm of the tail: a Beta
distribution with parameters of 1 or more has a concave one, so that from the first step on it comes down to the
solution.
"""

import math

TINY = 1e-300


def beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, for x < (a + 1) / (a + b + 2)."""
    c = 1.0
    d = 1.0 - (a + b) * x / (a + 1.0)
    if abs(d) < TINY:
        d = TINY
    d = 1.0 / d
    result = d
    for m in range(1, 100000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        d = 1.0 + even * d
        c = 1.0 + even / c
        if abs(d) < TINY:
            d = TINY
        if abs(c) < TINY:
            c = TINY
        d = 1.0 / d
        result *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        d = 1.0 + odd * d
        c = 1.0 + odd / c
        if abs(d) < TINY:
            d = TINY
        if abs(c) < TINY:
            c = TINY
        d = 1.0 / d
        step = d * c
        result *= step
        if abs(step - 1.0) < 1e-14:
            break
    return result


def log_density(a: float, b: float, x: float) -> float:
    """The logarithm of x (1 - x) times the density."""
    return math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)


def upper_tail(a: float, b: float, x: float) -> float:
    """The chance that a Beta(a, b) variable is above x.

    >>> round(upper_tail(1.0, 1.0, 0.3), 12), round(upper_tail(2.0, 1.0, 0.6), 12)
    (0.7, 0.64)
    """
    if x <= 0.0:
        return 1.0
    if x >= 1.0:
        return 0.0
    front = math.exp(log_density(a, b, x))
    if x < (a + 1.0) / (a + b + 2.0):
        return 1.0 - front * beta_fraction(a, b, x) / a
    return front * beta_fraction(b, a, 1.0 - x) / b


def upper_quantile(a: float, b: float, chance: float) -> float:
    """What a Beta(a, b) variable exceeds with this chance, a and b at least 1.

    >>> round(upper_quantile(1.0, 1.0, 0.25), 12), round(upper_quantile(31.0, 71.0, 0.001), 8)
    (0.75, 0.4525755)
    """
    x = a / (a + b)
    below = 0.0
    for _ in range(200):
        tail = upper_tail(a, b, x)
        slope = math.exp(log_density(a, b, x)) / (x * (1.0 - x))
        if tail > chance:
            below = x
        if tail <= 0.0 or slope <= 0.0:  # so far up that the tail is 0 in floating point
            x = 0.5 * (below + x)
            continue
        step = math.log(tail / chance) * tail / slope
        new = x + step
        if new >= 1.0:
            new = 0.5 * (1.0 + x)
        elif new <= 0.0:
            new = 0.5 * x
        done = abs(new - x) <= 1e-13 * x
        x = new
        if done:
            break
    return x
