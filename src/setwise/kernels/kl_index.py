"""The index of one set under a shared budget of Kullback-Leibler divergence: see `kernels.kl_sets`."""

import math

import numpy as np

from setwise.types import Floats, Ints

EXACT = 1e-16  # relative tolerance of the minimum over l


def arm_terms(mean: float, pulls: int, multiplier: float) -> tuple[float, float, float]:
    """Return phi, the cost N kl(mu, q), and minus the derivative of the cost with respect to log l.

    >>> [round(term, 6) for term in arm_terms(0.5, 10, 0.05)]
    [0.688714, 2.406059, 2.763932]
    """
    scaled = multiplier * pulls
    if mean >= 1.0:
        return 1.0, 0.0, 0.0
    if mean <= 0.0:
        if scaled >= 1.0:
            return 0.0, 0.0, 0.0
        return 1.0 - scaled + scaled * math.log(scaled), -pulls * math.log(scaled), float(pulls)
    root = math.sqrt((1.0 - scaled) * (1.0 - scaled) + 4.0 * mean * scaled)
    if scaled < 1.0:
        q = 0.5 * (1.0 - scaled + root)
    else:
        q = 2.0 * mean * scaled / (root + scaled - 1.0)
    shrunk = 2.0 * scaled / (1.0 + scaled + root)  # (1 - q) / (1 - mu)
    more = q * shrunk * (1.0 - mean) / scaled  # q - mu
    if shrunk < 0.5:
        log_shrunk = math.log(shrunk)
    else:
        log_shrunk = math.log1p(-more / (1.0 - mean))
    cost = pulls * max(0.0, -mean * math.log1p(more / mean) - (1.0 - mean) * log_shrunk)
    fall = 0.5 * pulls * (1.0 + (1.0 - scaled - 2.0 * mean) / root)
    return q - multiplier * cost, cost, fall


def next_multiplier(multiplier: float, cost: float, fall: float, level: float) -> float:
    """Take a Newton step towards the multiplier whose cost equals the level.

    The cost is convex in log l: roughly a power of l for means inside (0, 1), linear in log l for means of 0.
    """
    if cost <= 0.0 or fall <= 0.0:
        return multiplier / 16.0
    if cost < 0.1 * level:
        move = (cost - level) / fall
    else:
        move = cost * math.log(cost / level) / fall
    return multiplier * math.exp(min(max(move, -5.0), 5.0))


def set_index(means: Floats, pulls: Ints, level: float, chosen: Ints, multiplier: float) -> tuple[float, float]:
    """Return b(s) for the budget f = `level`, and its multiplier; the search starts at `multiplier`."""
    low, high = 0.0, np.inf
    index, best = np.inf, multiplier
    for _ in range(200):
        value, cost, fall = multiplier * level, 0.0, 0.0
        for j in range(len(chosen)):
            terms = arm_terms(means[chosen[j]], pulls[chosen[j]], multiplier)
            value += terms[0]
            cost += terms[1]
            fall += terms[2]
        if value < index:
            index, best = value, multiplier
        if multiplier * (cost - level) * (cost - level) <= EXACT * value * fall:
            break
        if cost > level:
            low = multiplier
        else:
            high = multiplier
        multiplier = next_multiplier(multiplier, cost, fall, level)
        if not low < multiplier < high:
            multiplier = math.sqrt(low * high)
        if multiplier < 1e-300 or not low < multiplier < high:
            break
    return index, best
