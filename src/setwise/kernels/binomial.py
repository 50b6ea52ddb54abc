"""Exact binomial draws for up to 10^12 rounds and any probability.

Small means use inversion from 0 upwards, larger ones rejection by `normal_hat`. NumPy's binomial is not used, for
three reasons. Up to NumPy 2.4, two terms in the last test of its algorithm have the wrong sign: for variances of a few
hundred, 1e-4 of all draws are wrong (`benchmarks/draws.py` prints the share). Near 10^12 rounds, rounding errors of up
to 1e-4 affect that test in every version. And the draws for a seed differ between versions.
"""

import math

from setwise.kernels.normal_hat import ENDLESS, draw_step
from setwise.types import Generator

SMALL_MEAN = 36.0  # inversion is faster up to here
HALVES = 134217729.0  # 2^27 + 1: splits a float into two halves whose products are exact


def draw_binomial(rounds: int, chance: float, rng: Generator) -> int:
    """Draw the number of rewarded rounds out of up to 10^12; rounding may put `chance` slightly outside [0, 1].

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
    """Draw a binomial by inversion."""
    none = math.exp(float(rounds) * math.log1p(-chance))
    odds = chance / (1.0 - chance)
    hits = 0
    part = none
    level = rng.random()
    while level >= part:
        level -= part
        if hits == rounds or part == 0.0:  # past the end by rounding: draw again
            hits = 0
            part = none
            level = rng.random()
        else:
            part *= float(rounds - hits) * odds / float(hits + 1)
            hits += 1
    return hits


def count_around_mode(rounds: int, chance: float, rng: Generator) -> int:
    """Draw a binomial by rejection."""
    # The mode is floor((rounds + 1) chance); high + low is that product without rounding error.
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
