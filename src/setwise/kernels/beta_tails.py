"""The tails of Beta(1 + s, 1 + f), the law of an arm's mean after s successes and f failures, at least one in all.

`largest_betas` derives the bound and the thinning. The counts need not be whole numbers.
"""

import math

from setwise.kernels.normal_hat import stirling_rest
from setwise.types import Generator

NONE = -1.0  # in place of a mean: not revealed


def draw_mean(successes: float, failures: float, rng: Generator) -> float:
    """Draw an arm's mean; Beta(1, 1) is uniform, which is much faster to draw."""
    if successes + failures == 0.0:
        return rng.random()
    return rng.beta(1.0 + successes, 1.0 + failures)


def draw_crossing(
    successes: float, failures: float, weak: bool, level: float, limit: float, bound: float, place: float,
    rng: Generator
) -> float:  # fmt: skip
    """Draw the mean of a candidate, given that it is not beyond the limit; `NONE` if it is not beyond the level.

    bound: the chance of a candidate, at least that of crossing the level
    place: a uniform number up to the bound
    """
    least = min(bound, crossing_bound(successes, failures, level, weak))
    while place < least:
        mean = draw_beyond(successes, failures, level, least, rng)
        if mean == NONE or (mean <= limit if weak else mean >= limit):
            return mean
        place = rng.random()
    return NONE


def draw_beyond(successes: float, failures: float, level: float, bound: float, rng: Generator) -> float:
    """Draw a mean beyond the level, on the side away from s / N, or `NONE`.

    `NONE` has such a chance that, if this is called with chance `bound`, the mean is that of Beta(1 + s, 1 + f) there.
    """
    rate = ((successes + failures) * level - successes) / (level * (1.0 - level))
    step = rng.standard_exponential()
    mean = level + step / rate
    if mean <= 0.0 or mean >= 1.0:
        return NONE
    if math.log(bound * abs(rate)) - step - rng.standard_exponential() < log_density(successes, failures, mean):
        return mean
    return NONE


def crossing_bound(successes: float, failures: float, level: float, weak: bool) -> float:
    """Return an upper bound of density(l) / rate at the level l, hence of P(theta > l), or P(theta < l) if not weak.

    It is 1 if the level is not beyond p = s / N. The density is (N + 1) Bin(s; N, p) exp(-N kl(p, l)), with

        Bin(s; N, p) <= sqrt((N + 0.177) / (2 pi (s + 0.159) (f + 0.159)))
        kl(p, l) >= (p - l)^2 / (2 w (1 - w)), w = (p + 2 l) / 3
        exp(-y) <= (1 + y / 64)^(-64)

    The second holds because kl(p, l) is the integral of (u - p) / (u (1 - u)) over u from p to l, and 1 / (u (1 - u))
    is convex: by Jensen's inequality it is, on average, at least its value at the average u, which is w. The first
    holds because (x! e^x / x^x)^2 / (2 pi) - x is above 0.159 for all x >= 0, and below 0.177 for x >= 0.99.
    """
    rounds = successes + failures
    distance = rounds * level - successes if weak else successes - rounds * level
    if distance <= 0.0:
        return 1.0
    square = distance * distance
    point = (2.0 * rounds * level + successes) * (1.0 / 3.0)
    scale = 128.0 * point * (rounds - point)
    x = scale / (scale + square * rounds)
    for _ in range(6):
        x *= x
    share = (rounds + 0.177) / ((successes + 0.159) * (failures + 0.159) * square * (2.0 * math.pi))
    return x * (rounds + 1.0) * level * (1.0 - level) * math.sqrt(share)


def log_density(successes: float, failures: float, x: float) -> float:
    """Return the logarithm of the density of Beta(1 + s, 1 + f) at x.

    With R, Stirling's rest, of `normal_hat`, no large terms cancel: for m = N + 1, u = s + 1/2 and v = f + 1/2,

        log m N! / (s! f!) x^s (1 - x)^f = log(m / (x (1 - x))) / 2 - log(2 pi) / 2 + R(u) + R(v) - R(m - 1/2)
            + 1/2 + (m - 1/2) log(1 - 1 / (2 m)) - u log(u / (m x)) - v log(v / (m (1 - x))).
    """
    m = successes + failures + 1.0
    u = successes + 0.5
    v = failures + 0.5
    d = u - m * x
    deviance = u * math.log1p(d / (m * x)) + v * math.log1p(-d / (m * (1.0 - x)))
    rest = rest_of(u) + rest_of(v) - rest_of(m - 0.5)
    middle = 0.5 + (m - 0.5) * math.log1p(-0.5 / m)
    return 0.5 * math.log(m / (x * (1.0 - x))) - 0.5 * math.log(2.0 * math.pi) + rest + middle - deviance


def rest_of(w: float) -> float:
    """Return R(w), Stirling's rest, also if w is not half of an odd number.

    By definition, R(w) - R(w + 1) = 1 - w log(1 + 1/w) + log((w + 1/2) / (w + 1)).

    >>> round(rest_of(0.5), 12), round(rest_of(0.5 + 1e-13), 12)
    (0.072364942925, 0.072364942925)
    """
    rest = 0.0
    if w - 0.5 != int(w):
        while w < 16.0:
            rest += 1.0 - w * math.log1p(1.0 / w) + math.log((w + 0.5) / (w + 1.0))
            w += 1.0
    return rest + stirling_rest(w)
