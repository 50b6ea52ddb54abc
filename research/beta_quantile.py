"""Upper tails and quantiles of a Beta distribution, the same bits interpreted and compiled."""

import math

from setwise.simulation.statistics import Interval
from setwise.simulation.student import incomplete_beta


def upper_tail(a: float, b: float, x: float) -> float:
    """Return the chance that a Beta(a, b) variable exceeds x.

    >>> round(upper_tail(1.0, 1.0, 0.3), 12), round(upper_tail(2.0, 1.0, 0.6), 12)
    (0.7, 0.64)
    """
    return 1.0 if x <= 0.0 else 0.0 if x >= 1.0 else incomplete_beta(b, a, 1.0 - x, x)


def upper_quantile(a: float, b: float, chance: float) -> float:
    """Return the value that a Beta(a, b) variable exceeds with this chance, for a and b of at least 1.

    Newton's method on the logarithm of the tail, which is concave.

    >>> round(upper_quantile(1.0, 1.0, 0.25), 12), round(upper_quantile(31.0, 71.0, 0.001), 8)
    (0.75, 0.4525755)
    """
    constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    x = a / (a + b)
    below = 0.0
    for _ in range(200):
        tail = upper_tail(a, b, x)
        slope = math.exp(constant + (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x))
        if tail > chance:
            below = x
        if tail <= 0.0 or slope <= 0.0:  # so far up that the tail underflows
            x = 0.5 * (below + x)
            continue
        better = x + math.log(tail / chance) * tail / slope
        if better >= 1.0:
            better = 0.5 * (1.0 + x)
        elif better <= 0.0:
            better = 0.5 * x
        done = abs(better - x) <= 1e-13 * x
        x = better
        if done:
            break
    return x


def share_interval(count: int, total: int) -> Interval:
    """Return the share count / total with its exact 95 % confidence interval (Clopper and Pearson, 1934).

    >>> [round(end, 4) for end in share_interval(0, 100)], [round(end, 4) for end in share_interval(2, 4000)]
    ([0.0, 0.0, 0.0362], [0.0005, 0.0001, 0.0018])
    """
    high = upper_quantile(count + 1.0, float(total - count), 0.025) if count < total else 1.0
    low = 1.0 - upper_quantile(total - count + 1.0, float(count), 0.025) if count else 0.0
    return Interval(count / total, low, high)
