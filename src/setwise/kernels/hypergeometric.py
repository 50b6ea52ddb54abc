"""Exact hypergeometric draws for counts up to 10^12: the good items in a sample without replacement.

Given the totals of many rounds, all orders of the rounds are equally likely, so the totals of the first half are
hypergeometric. A long stretch of rounds can therefore be drawn at once and split later if needed.

The distribution is symmetric in good and bad, in sample and rest, and in good and sample. So the first of the four
cells of the table can be made the smallest:

    c1 = x            c2 = small - x                      small <= large: the fewer of good and bad,
    c3 = large - x    c4 = total - small - large + x      and the smaller of sample and rest

A few items are drawn one by one. Small means use inversion from 0 upwards, larger ones rejection by `normal_hat`.
"""

import math

from setwise.kernels.normal_hat import draw_step, growth
from setwise.types import Generator

FEW = 20  # up to this many are faster one by one
SMALL_MEAN = 12.0  # inversion is about as fast up to here
LOW = 1 << 20  # counts are multiplied in two parts, because products of 10^24 overflow 64 bits


def draw_hypergeometric(good: int, bad: int, sample: int, rng: Generator) -> int:
    """Draw the number of good items in a sample without replacement; `good` and `bad` up to 10^12 each.

    >>> import numpy as np
    >>> draw_hypergeometric(3, 0, 2, np.random.default_rng(0)), draw_hypergeometric(5, 7, 12, np.random.default_rng(0))
    (2, 5)
    """
    good = int(good)  # Python integers cannot overflow if interpreted code gets NumPy's
    total = good + int(bad)
    sample = int(sample)
    kind = min(good, total - good)
    part = min(sample, total - sample)
    small = min(kind, part)
    large = max(kind, part)
    if small <= FEW:
        hits = draw_singly(small, large, total, rng)
    elif float(small) * float(large) < SMALL_MEAN * float(total):
        hits = draw_upwards(small, large, total, rng)
    else:
        hits = draw_around_mode(small, large, total, rng)
    if good > kind:
        hits = part - hits
    if sample > part:
        hits = good - hits
    return hits


def draw_singly(small: int, large: int, total: int, rng: Generator) -> int:
    """Draw how many of `small` are among `large` of the total, one by one."""
    hits = 0
    for i in range(small):
        if rng.random() * float(total - i) < float(large - hits):
            hits += 1
    return hits


def draw_upwards(small: int, large: int, total: int, rng: Generator) -> int:
    """Draw how many of `small` are among `large` of the total, by inversion."""
    w = float(total) + 0.5
    change = growth(w, -float(small)) - growth(w - float(large), -float(small))
    none = math.exp(float(small) * math.log1p(-float(large) / w) + change)  # (total - large)! (total - small)! / ...
    hits = 0
    chance = none
    level = rng.random()
    while level >= chance:
        level -= chance
        if hits == small or chance == 0.0:  # past the end by rounding: draw again
            hits = 0
            chance = none
            level = rng.random()
        else:
            more = float(small - hits) * float(large - hits)
            hits += 1
            chance *= more / (float(hits) * float(total - small - large + hits))
    return hits


def draw_around_mode(small: int, large: int, total: int, rng: Generator) -> int:
    """Draw how many of `small` are among `large` of the total, by rejection."""
    # The mode is floor((small + 1) (large + 1) / (total + 2)); w1 w4 - w2 w3 follows from the remainder.
    mode = int((small + 1.0) * (large + 1.0) / (total + 2.0))
    high = (small + 1) * ((large + 1) // LOW) - mode * ((total + 2) // LOW)
    low = (small + 1) * ((large + 1) % LOW) - mode * ((total + 2) % LOW)
    left = high * LOW + low
    if left < 0:
        mode -= 1
        left += total + 2
    elif left >= total + 2:
        mode += 1
        left -= total + 2
    w1 = mode + 0.5
    w2 = small - mode + 0.5
    w3 = large - mode + 0.5
    w4 = total - small - large + mode + 0.5
    tilt = math.log1p((0.5 * (total + 2) - left) / (w2 * w3))
    return mode + draw_step(w1, w2, w3, w4, tilt, rng)
