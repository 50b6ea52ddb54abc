"""Draws of 0/1 rewards from their means: one round, the exact sum of many rounds, or a whole epoch."""

import math

from setwise.kernels.binomial import draw_binomial
from setwise.types import Feedback, Floats, Generator


def draw_binary(feedback: Feedback, means: Floats, rng: Generator, rewards: Floats) -> None:
    """Draw one round of 0/1 rewards with the given means; `rewards` may be the same array as `means`.

    `choice`: at most one arm is rewarded, arm j with probability means[j];
    `independent`: each arm is drawn independently.
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
    """Draw the sum of `draw_binary` over many rounds at once; `totals` may be the same array as `means`.

    `choice`: a multinomial, drawn as a sequence of conditional binomials; `independent`: one binomial per arm.
    Rounding changes the mean of an arm by about k 2^-53, that is by 1e-4 k rewards in 10^12 rounds.
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
    """Return mean / rest, capped at 1: rounding may make the mean exceed the rest."""
    return mean / rest if mean < rest else 1.0


def draw_binary_block(feedback: Feedback, means: Floats, rounds: int, rng: Generator, totals: Floats) -> None:
    """Draw as `draw_binary_many` does, by the faster method for this number of rounds; `totals` must not be `means`."""
    k = len(means)
    if feedback == Feedback.choice and rounds <= 3 * k:
        for j in range(k):
            totals[j] = 0.0
        for _ in range(rounds):
            level = rng.random()
            winner = 0
            for j in range(k):  # without a branch, which would be unpredictable
                level -= means[j]
                winner += level >= 0.0
            if winner < k:
                totals[winner] += 1.0
    else:
        draw_binary_many(feedback, means, rounds, rng, totals)


def draw_epoch(means: Floats, most: int, rng: Generator, totals: Floats) -> int:
    """Draw the rounds of `choice` feedback before the first one without a reward, but at most `most`.

    Their number is geometric, the rewarded arms are multinomial. Write the sum of the rewards to `totals`, which must
    not be `means`, and return the number of rounds; if it is below `most`, a round without a reward follows.
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
        # P(at least m rewarded rounds) = rewarded^m.
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
