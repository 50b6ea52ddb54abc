"""How many of so many rounds are rewarded: exact, for up to 10^12 rounds and any chance.

Small means are drawn by inversion, from 0 upwards, the others by `normal_hat`. NumPy's own binomial is not used. Up to
NumPy 2.4 two terms in the last test of its algorithm have the wrong sign: where the variance is some hundreds, 1e-4 of
all draws are wrong (`benchmarks/draws.py` prints it). Near 10^12 rounds that test is off by up to 1e-4 in any version,
by rounding. And the same seed gives other draws in other versions.
"""

import math

from setwise.kernels.normal_hat import ENDLESS, draw_step
from setwise.types import Generator

SMALL_MEAN = 36.0  # up to which inversion is faster
HALVES = 134217729.0  # 2^27 + 1: splits a float into two of half the digits, whose products are exact


def draw_binomial(rounds: int, chance: float, rng: Generator) -> int:
    """How many of up to 10^12 rounds are rewarded, each with the same chance; it may be beyond 0 or 1 by rounding.

    >>> import numpy as np
    >>> [draw_binomial(10**12, chance, np.random.default_rng(0)) for chance in (0.0, 1.0)]
    [0, 1000000000000]
    """
    rare = min(chance, 1.0 - chance)
    if rounds <= 0 or rare <= 0.0:
        return rounds if chance > 0.5 else 0
    if float(rounds) * rare < SMALL_MEAN:
        hits = count_upwards(rounds, rare, rng)
    else:
        hits = count_around_mode(rounds, rare, rng)
    return rounds - hits if chance > 0.5 else hits


def count_upwards(rounds: int, chance: float, rng: Generator) -> int:
    """A binomial by inversion."""
    none = math.exp(float(rounds) * math.log1p(-chance))
    odds = chance / (1.0 - chance)
    hits = 0
    part = none
    level = rng.random()
    while level >= part:
        level -= part
        if hits == rounds or part == 0.0:  # what rounding left over
            hits = 0
            part = none
            level = rng.random()
        else:
            part *= float(rounds - hits) * odds / float(hits + 1)
            hits += 1
    return hits


def count_around_mode(rounds: int, chance: float, rng: Generator) -> int:
    """A binomial by rejection."""
    # The mode is (rounds + 1) chance, rounded down. Here the product is high + low without any error.
    factor = rounds + 1.0
    high = factor * chance
    a = HALVES * factor
    a -= a - factor
    b = HALVES * chance
    b -= b - chance
    low = (factor - a) * (chance - b) - (((high - a * b) - (factor - a) * b) - a * (chance - b))
    mode = int(high)
    if (high - mode) + low < 0.0:
        mode -= 1
    w1 = mode + 0.5
    w2 = rounds - mode + 0.5
    tilt = math.log1p(((w1 - high) - low) / (w2 * chance))  # log of w1 (1 - chance) / (w2 chance)
    return mode + draw_step(w1, w2, ENDLESS, ENDLESS, tilt, rng)
