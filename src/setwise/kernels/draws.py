"""Rewards of 0 and 1 drawn from their means: one round, the exact sum of many, or a whole epoch."""

import math

from setwise.kernels.binomial import draw_binomial
from setwise.types import Feedback, Floats, Generator


def draw_binary(feedback: Feedback, means: Floats, rng: Generator, rewards: Floats) -> None:
    """One round of 0/1 rewards with the given means; `rewards` may be the same array as `means`.

    `choice`: arm j is the only one rewarded with probability means[j], none with the rest;
    `independent`: each arm by itself.
    """
    if feedback == Feedback.choice:
        level = rng.random()
        for j in range(len(means)):
            below = level
            level -= means[j]
            rewards[j] = 1.0 if below >= 0.0 and level < 0.0 else 0.0
    else:
        for j in range(len(means)):
            rewards[j] = 1.0 if rng.random() < means[j] else 0.0


def draw_binary_many(feedback: Feedback, means: Floats, rounds: int, rng: Generator, totals: Floats) -> None:
    """The sum of `draw_binary` over many rounds, in one go; `totals` may be the same array as `means`.

    `choice`: a multinomial, drawn as binomials of what the arms before left over; `independent`: a binomial each.
    Rounding changes the mean of an arm by about k 2^-53: by 1e-4 k rewards in 10^12 rounds.
    """
    left = rounds
    rest = 1.0
    for j in range(len(means)):
        mean = means[j]
        if feedback == Feedback.choice:
            hits = draw_binomial(left, share_of(mean, rest), rng)
            left -= hits
            rest -= mean
        else:
            hits = draw_binomial(rounds, mean, rng)
        totals[j] = hits


def share_of(mean: float, rest: float) -> float:
    """The mean as a share of what is left of all; it may be all, or by rounding more."""
    return mean / rest if mean < rest else 1.0


def draw_binary_block(feedback: Feedback, means: Floats, rounds: int, rng: Generator, totals: Floats) -> None:
    """As `draw_binary_many`, by whichever way is faster for so many rounds; `totals` is an array of its own."""
    k = len(means)
    if feedback == Feedback.choice and rounds <= 3 * k:
        for j in range(k):
            totals[j] = 0.0
        for _ in range(rounds):
            level = rng.random()
            for j in range(k):
                level -= means[j]
                if level < 0.0:
                    totals[j] += 1.0
                    break
    else:
        draw_binary_many(feedback, means, rounds, rng, totals)


def draw_epoch(means: Floats, most: int, rng: Generator, totals: Floats) -> int:
    """The rewarded rounds of `choice` feedback before the first round that rewards no arm, up to `most` of them.

    How many there are is geometric; who was rewarded in them is a multinomial. Writes the sum of their rewards and
    returns how many they are; if fewer than `most`, a round without a reward follows. `totals` is an array of its own.
    """
    k = len(means)
    rewarded = 0.0
    for j in range(k):
        rewarded += means[j]
        totals[j] = 0.0
    rounds = most
    if rewarded <= 0.0:
        rounds = 0
    elif rewarded < 1.0:
        # The chance of m rewarded rounds or more is rewarded^m.
        length = math.log(1.0 - rng.random()) / math.log(rewarded)
        if length < most:
            rounds = int(length)
    if rounds <= 3 * k:
        for _ in range(rounds):
            level = rng.random() * rewarded
            j = 0
            while j < k - 1 and level >= means[j]:
                level -= means[j]
                j += 1
            totals[j] += 1.0
    else:
        left = rounds
        for j in range(k):
            share = share_of(means[j], rewarded)
            hits = draw_binomial(left, share if j < k - 1 else 1.0, rng)
            left -= hits
            rewarded -= means[j]
            totals[j] = hits
    return rounds
