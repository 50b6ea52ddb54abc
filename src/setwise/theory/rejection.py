"""Compute the running time of the paper's generator of random worlds (its Algorithm 2): its expectation is infinite.

It draws P(a|s) uniformly between P(a|s*), or 0 for an arm outside s*, and 1/k, and redraws all until the sum is at most
that of s*. With Y_a = k P(a|s*), w_a = 1 - Y_a for an arm of s* and 1 for another, and r the sum of the Y_a of the arms
not in s, one draw is accepted with probability

    p = P(sum of w_a U_a <= r) = (sum over subsets A of (-1)^|A| max(0, r - sum over A of w)^k) / (k! product of w)

The terms have both signs and may cancel. All numbers are multiples of 2^-53, so the sum is computed in integers,
without rounding.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

UNIT = 2**53  # NumPy's uniform numbers are multiples of 1 / UNIT


def acceptance(optimal: Sequence[float], kept: Iterable[int]) -> float:
    """Return the probability that one draw for a set is accepted, given P(a|s*) and the arms of s* it keeps, from 0.

    >>> acceptance([0.25, 0.25], []), acceptance([0.125, 0.25], [1])
    (0.5, 0.0625)
    """
    k, common = len(optimal), set(kept)
    levels = [k * Fraction(value) for value in optimal]
    room = sum((levels[arm] for arm in range(k) if arm not in common), Fraction(0))
    widths = [1 - levels[arm] if arm in common else Fraction(1) for arm in range(k)]
    # An arm with P(a|s*) = 1/k has zero width: nothing is drawn for it.
    above, below = _share([width for width in widths if width], room)
    return float(Fraction(above) / below)


def _share(widths: Sequence[int] | Sequence[Fraction], room: int | Fraction) -> tuple[int | Fraction, int | Fraction]:
    """Return k! times the volume of the part of a box where the coordinates sum to at most `room`, and of the box."""
    signed: list[tuple[int, int | Fraction]] = [(1, room)]
    for width in widths:
        # A vertex outside stays outside after further steps: drop it.
        signed += [(-sign, rest - width) for sign, rest in signed if rest > width]
    k = len(widths)
    return sum(sign * rest**k for sign, rest in signed), math.factorial(k) * math.prod(widths)


@dataclasses.dataclass(frozen=True)
class RejectionCost:
    """The cost of Algorithm 2 in random worlds, that is for random P(a|s*).

    n, k, draws: number of arms, size of a set, and number of worlds drawn
    acceptance_low, acceptance_median: 10 % quantile and median of the smallest acceptance over the sets of a world
    trials_median, trials_high: median and 90 % quantile of the expected number of proposals for a world
    beyond_1e6, beyond_1e9: share of worlds with more expected proposals than that
    """

    n: int
    k: int
    draws: int
    acceptance_low: float
    acceptance_median: float
    trials_median: float
    trials_high: float
    beyond_1e6: float
    beyond_1e9: float


def rejection_cost(n: int = 10, k: int = 5, draws: int = 1000, seed: int = 0) -> RejectionCost:
    """Compute acceptance probabilities in random worlds, and the expected number of proposals, sum over sets of 1/p."""
    rng = np.random.default_rng(seed)
    worlds = [_world_cost(n, levels) for levels in rng.integers(1, UNIT, size=(draws, k)).tolist()]
    least, trials = sorted(chance for chance, _ in worlds), sorted(total for _, total in worlds)
    return RejectionCost(
        n=n,
        k=k,
        draws=draws,
        acceptance_low=_quantile(least, 0.1),
        acceptance_median=_quantile(least, 0.5),
        trials_median=_quantile(trials, 0.5),
        trials_high=_quantile(trials, 0.9),
        beyond_1e6=sum(total > 1e6 for total in trials) / draws,
        beyond_1e9=sum(total > 1e9 for total in trials) / draws,
    )


def _world_cost(n: int, levels: Sequence[int]) -> tuple[float, float]:
    """Return the smallest acceptance and the expected number of proposals, given k P(a|s*) in units of 1 / UNIT."""
    k, least, total = len(levels), 1.0, 0.0
    # Sets that keep the same m arms of s* are equivalent: each has k - m of the n - k others.
    for m in range(max(0, 2 * k - n), k):
        for kept in itertools.combinations(levels, m):
            above, below = _share([UNIT - level for level in kept] + [UNIT] * (k - m), sum(levels) - sum(kept))
            least = min(least, float(above / below))
            total += math.comb(n - k, k - m) * float(below / above)
    return least, total


def _quantile(values: Sequence[float], share: float) -> float:
    # No interpolation: neighbours may be orders of magnitude apart.
    return values[int(share * len(values))]


def trials_exponent(k: int) -> float:
    """Return the exponent of 1/p as the P(a|s*) of the one arm that a set lacks tends to 0: it is -k.

    p = r^k / (k! product of w) for r <= min w, with r = k P(a|s*) uniform on (0, 1). So the expected number of
    proposals is at least a constant times the integral of r^-k, which is infinite for every k.
    """
    small = 2.0**-20 / k
    others = [0.5 / k] * (k - 1)
    chances = [acceptance([room, *others], range(1, k)) for room in (small, small / 2.0)]
    return math.log2(chances[1] / chances[0])
