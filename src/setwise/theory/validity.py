"""The lemma on the validity of the confidence bounds, against coins whose chances are computed exactly.

The lemma bounds the chance that |C_i(t) - sum of P| >= sqrt(alpha N_i(t) L) by 2 T^(-2 alpha), with L = log T. This is
Azuma's inequality for a number of plays N that is fixed beforehand. N_i(t) is not: a policy may stop playing an arm
just when its bound has failed. Then the chance is that of failing at any N up to t, and a sum over N has to be taken.
N starts at 1: before the first play both sides are 0, and the event of the lemma is certain.
"""

import dataclasses
import math

import numpy as np


@dataclasses.dataclass(frozen=True)
class Failure:
    """The chance that a confidence bound fails, and what that costs.

    printed: 2 T^(-2 alpha), for one arm after a fixed number of plays
    corrected: 2 n T^(1 - 2 alpha), for all arms and rounds together
    regret: 2 n k T^(2 - 2 alpha), the most it adds to R(T), which is an expectation, and is bounded where none fails
    """

    printed: float
    corrected: float
    regret: float


def azuma_failure(alpha: float, horizon: int, n: int, k: int = 1) -> Failure:
    """The validity lemma as printed, and with the sum over the T values that N_i can have and over the n arms."""
    once = 2.0 * float(horizon) ** (-2.0 * alpha)
    return Failure(once, n * horizon * once, n * k * horizon**2 * once)


def coin_tail(rounds: int, alpha: float, horizon: int) -> float:
    """P(|C - N/2| >= sqrt(alpha N L)) for the heads C of a fair coin thrown N times: a sum of binomial coefficients."""
    least = 4.0 * alpha * rounds * math.log(horizon)
    ways = sum(math.comb(rounds, heads) for heads in range(rounds + 1) if (2 * heads - rounds) ** 2 >= least)
    return ways / (1 << rounds)


@dataclasses.dataclass(frozen=True)
class CoinTail:
    """The largest chance of a fair coin over 2 T^(-2 alpha), and after how many throws; the lemma says at most 1."""

    ratio: float
    rounds: int


def largest_coin_tail(alpha: float = 2.0, horizon: int = 100, most: int = 300) -> CoinTail:
    """The validity lemma for one fixed N: the largest ratio for N = 1, ..., most, at most T."""
    limit = 2.0 * float(horizon) ** (-2.0 * alpha)
    found = [CoinTail(coin_tail(rounds, alpha, horizon) / limit, rounds) for rounds in range(1, min(most, horizon) + 1)]
    return max(found, key=lambda tail: tail.ratio)


@dataclasses.dataclass(frozen=True)
class StoppedCoin:
    """An arm that is a fair coin, played until its confidence bound fails and then no more.

    chance: that |C_i(T) - sum of P| >= sqrt(alpha N_i(T) L), summed over all paths
    printed, corrected: that over 2 T^(-2 alpha), and over 2 T^(1 - 2 alpha)
    """

    chance: float
    printed: float
    corrected: float


def stopped_coin(alpha: float = 2.0, horizon: int = 1000) -> StoppedCoin:
    """The validity lemma for the N_i(T) of a policy that stops: the chance that the coin ever leaves its bounds."""
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
