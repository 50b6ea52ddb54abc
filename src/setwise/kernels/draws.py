"""Rewards of 0 and 1 drawn from their means: one round, or the exact sum of many."""

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
    """
    left = rounds
    rest = 1.0
    for j in range(len(means)):
        mean = means[j]
        if feedback == Feedback.choice:
            share = 1.0
            if mean < rest:
                share = mean / rest
            hits = 0
            if left > 0 and share > 0.0:
                hits = rng.binomial(left, share)
            left -= hits
            rest -= mean
        else:
            hits = rng.binomial(rounds, min(mean, 1.0))  # a mean computed by quadrature may be 1 and a rounding error
        totals[j] = hits


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
