"""Shared by ESCB-1 and ESCB-2: the state, the exploration level, and the first rounds, which cover all arms."""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.kernels.topk import top_k
from setwise.types import Floats, Generator, Ints


class ESCBState(NamedTuple):
    """State of ESCB.

    pulls, reward: N and C of every arm
    rounds: rounds played
    means, widths: buffers for C / (B N) and 1 / N of every arm
    chosen, best: buffers for a set
    work: buffers of the search for the best set
    """

    pulls: Ints
    reward: Floats
    rounds: Ints
    means: Floats
    widths: Floats
    chosen: Ints
    best: Floats
    work: Any


def new_state(n: int, k: int, work: Any) -> ESCBState:
    """Return the state before the first round."""
    return ESCBState(
        pulls=np.zeros(n, np.int64),
        reward=np.zeros(n),
        rounds=np.zeros(1, np.int64),
        means=np.zeros(n),
        widths=np.zeros(n),
        chosen=np.arange(k),
        best=np.zeros(k),
        work=work,
    )


def exploration(t: int, k: int, theoretical: bool) -> float:
    """Return f(t) = log t, or log t + 4 k log log t, with t raised to 2 or 3 so that it is positive.

    >>> round(exploration(1000, 2, True), 8), round(exploration(1000, 2, False), 8)
    (22.36891315, 6.90775528)
    """
    if theoretical:
        log = math.log(max(t, 3))
        return log + 4.0 * k * math.log(log)
    return math.log(max(t, 2))


def summarise(state: ESCBState, bound: float) -> bool:
    """Write the means and widths of the arms; return whether all arms have been played."""
    covered = True
    for arm in range(len(state.pulls)):
        pulls = state.pulls[arm]
        if pulls == 0:
            covered = False
        else:
            state.means[arm] = min(1.0, state.reward[arm] / (bound * pulls))
            state.widths[arm] = 1.0 / pulls
    return covered


def cover(state: ESCBState, rng: Generator) -> Ints:
    """Draw a set with as many arms never played as possible, all such sets equally likely."""
    for arm in range(len(state.pulls)):
        state.widths[arm] = 1.0 if state.pulls[arm] == 0 else 0.0
    top_k(state.widths, state.chosen, state.best, rng)
    return state.chosen


def reset(state: ESCBState) -> None:
    """Reset the state to before the first round."""
    for arm in range(len(state.pulls)):
        state.pulls[arm] = 0
        state.reward[arm] = 0.0
    state.rounds[0] = 0
