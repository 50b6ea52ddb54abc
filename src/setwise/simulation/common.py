"""Common random numbers: what a set earns in a round of a run, whoever plays it and whatever was played before.

The numbers of a round are a function of seed, environment, run and round alone; see `kernels/rounds.py`. Rewards of 0
and 1 are drawn from them by inversion:

    independent   every arm a has a number U_a of its own, and is rewarded if U_a < P(a|s): the same in all sets at
                  equal mean
    choice        one number U is looked up in the sums of P(a|s), the arms by number: low numbers reward the first
                  arms in all sets, high ones none

In other worlds `draw` gets the arms by number and a generator at the start of the round, so that equal sets earn equal
rewards. Where the order of a set matters, it is kept.

Glasserman and Yao 1992, "Some guidelines and guarantees for common random numbers".
"""

from typing import Any, NamedTuple

import numpy as np

from setwise.kernels.draws import draw_binary
from setwise.kernels.rounds import begin_round, next_round, uniform_at
from setwise.types import Feedback, Floats, Generator, Ints


class Common(NamedTuple):
    """The world's random numbers, apart from the policy's generator.

    start: the start of the round
    ordered: whether the order of a set matters
    rng: the world's generator, for the `draw` of an environment
    arms, order, rewards: buffers for the arms as they are drawn, their places in the set, and their rewards
    """

    start: Ints
    ordered: bool
    rng: Generator
    arms: Ints
    order: Ints
    rewards: Floats


def new_common(k: int, ordered: bool) -> Common:
    """Create the buffers; `write_start` sets the run."""
    rng = np.random.Generator(np.random.PCG64(0))
    return Common(np.zeros(4, np.int64), ordered, rng, np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k))


def draw_binary_round(
    feedback: Feedback, chosen: Ints, means: Floats, rng: Generator, rewards: Floats, common: Common | None
) -> None:
    """Draw one round of 0/1 rewards with these means, from the policy's generator or from the common numbers."""
    if common is None:  # known at compile time: then nothing below is compiled
        draw_binary(feedback, means, rng, rewards)
        return
    if feedback == Feedback.choice:
        arrange(chosen, common)
        level = uniform_at(common.start, 0)
        for i in range(len(chosen)):
            place = common.order[i]
            below = level
            level -= means[place]
            rewards[place] = 1.0 if below >= 0.0 and level < 0.0 else 0.0
    else:
        for j in range(len(chosen)):
            rewards[j] = 1.0 if uniform_at(common.start, chosen[j]) < means[j] else 0.0
    next_round(common.start)


def draw_round(environment: Any, chosen: Ints, rng: Generator, rewards: Floats, common: Common | None) -> None:
    """Draw one round by the environment's own method, from the policy's generator or from the common numbers."""
    if common is None:
        environment.draw(chosen, rng, rewards)
        return
    begin_round(common.rng, common.start)
    arrange(chosen, common)
    drawn = common.rewards[: len(chosen)]
    environment.draw(common.arms[: len(chosen)], common.rng, drawn)
    for i in range(len(chosen)):
        rewards[common.order[i]] = drawn[i]
    next_round(common.start)


def arrange(chosen: Ints, common: Common) -> None:
    """Write the arms by number, unless their order matters, and the place of each in the set."""
    arms = common.arms
    order = common.order
    for j in range(len(chosen)):
        i = j
        while i > 0 and not common.ordered and arms[i - 1] > chosen[j]:
            arms[i] = arms[i - 1]
            order[i] = order[i - 1]
            i -= 1
        arms[i] = chosen[j]
        order[i] = j
