"""Test the lemma on the validity of the confidence bounds on coins, whose probabilities are computed exactly.

The lemma bounds the probability of |C_i(t) - sum of P| >= sqrt(alpha N_i(t) L) by 2 T^(-2 alpha), with L = log T. This
is Azuma's inequality for a number of plays N fixed in advance. N_i(t) is not: a policy may stop playing an arm just
when its bound has failed. Then the bound may fail at any N up to t, which takes a union bound over N.
N starts at 1: before the first play both sides are 0, and the event of the lemma is certain.
"""

import dataclasses
import math

import numpy as np


@dataclasses.dataclass(frozen=True)
class Failure:
    """The probability that a confidence bound fails, and its cost.

    printed: 2 T^(-2 alpha), for one arm after a fixed number of plays
    corrected: 2 n T^(1 - 2 alpha), for all arms and rounds together
    regret: 2 n k T^(2 - 2 alpha), the most it adds to R(T): the proofs bound this expectation only where none fails
    """

    printed: float
    corrected: float
    regret: float


def azuma_failure(alpha: float, horizon: int, n: int, k: int = 1) -> Failure:
    """Evaluate the validity lemma as printed, and with a union bound over the T values of N_i and the n arms."""
    once = 2.0 * float(horizon) ** (-2.0 * alpha)
    return Failure(once, n * horizon * once, n * k * horizon**2 * once)


def coin_tail(rounds: int, alpha: float, horizon: int) -> float:
    """Return P(|C - N/2| >= sqrt(alpha N L)) for the heads C of N tosses of a fair coin, by binomial coefficients."""
    least = 4.0 * alpha * rounds * math.log(horizon)
    ways = sum(math.comb(rounds, heads) for heads in range(rounds + 1) if (2 * heads - rounds) ** 2 >= least)
    return ways / (1 << rounds)


@dataclasses.dataclass(frozen=True)
class CoinTail:
    """The largest probability for a fair coin over 2 T^(-2 alpha), at most 1 by the lemma, and its number of tosses."""

    ratio: float
    rounds: int


def largest_coin_tail(alpha: float = 2.0, horizon: int = 100, most: int = 300) -> CoinTail:
    """Test the validity lemma for fixed N: return the largest ratio for N = 1, ..., min(most, T)."""
    limit = 2.0 * float(horizon) ** (-2.0 * alpha)
    found = [CoinTail(coin_tail(rounds, alpha, horizon) / limit, rounds) for rounds in range(1, min(most, horizon) + 1)]
    return max(found, key=lambda tail: tail.ratio)


@dataclasses.dataclass(frozen=True)
class StoppedCoin:
    """A fair coin as an arm, played until its confidence bound fails and never after.

    chance: the probability of |C_i(T) - sum of P| >= sqrt(alpha N_i(T) L), summed over all paths
    printed, corrected: that probability over 2 T^(-2 alpha), and over 2 T^(1 - 2 alpha)
    """

    chance: float
    printed: float
    corrected: float


def stopped_coin(alpha: float = 2.0, horizon: int = 1000) -> StoppedCoin:
    """Test the validity lemma for a policy that stops: return the probability that the coin ever leaves its bounds."""
    heads = np.arange(horizon + 1)
    inside = np.zeros(horizon + 1)
    inside[0] = 1.0
    lost = []
    for rounds in range(1, horizon + 1):
        inside[1:] = 0.5 * (inside[1:] + inside[:-1])
        inside[0] *= 0.5
        out = (2 * heads - rounds) ** 2 >= 4.0 * alpha * rounds * math.log(horizon)
        lost.append(float(inside[out].sum()))
        inside[out] = 0.0
    chance = math.fsum(lost)
    once = 2.0 * float(horizon) ** (-2.0 * alpha)
    return StoppedCoin(chance, chance / once, chance / (horizon * once))
