"""What ESCB-1 and ESCB-2 share: what they count, how much they explore, and the rounds that cover all arms."""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import check_range
from setwise.kernels.topk import top_k
from setwise.types import Floats, Generator, InputError, Ints


class ESCBState(NamedTuple):
    """What ESCB knows.

    pulls, reward: of every arm, N and C
    rounds: how many rounds were played
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
    """The state before the first round."""
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


def check_bound(name: str, bound: float) -> None:
    """Refuse a largest reward that is not a positive finite number."""
    check_range(f"{name}: bound", bound, 0.0, math.inf, strict=True)


def exploration(t: int, k: int, theoretical: bool) -> float:
    """f(t) = log t, or log t + 4 k log log t, with t at least 2 or 3 so that it is positive.

    >>> round(exploration(1000, 2, True), 8), round(exploration(1000, 2, False), 8)
    (22.36891315, 6.90775528)
    """
    if theoretical:
        log = math.log(max(t, 3))
        return log + 4.0 * k * math.log(log)
    return math.log(max(t, 2))


def summarise(state: ESCBState, bound: float) -> bool:
    """Write means and widths of the arms; return whether all of them have been played."""
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
    """A set with as many arms as possible that were never played, all such sets equally likely."""
    for arm in range(len(state.pulls)):
        state.widths[arm] = 1.0 if state.pulls[arm] == 0 else 0.0
    top_k(state.widths, state.chosen, state.best, rng)
    return state.chosen


def learn(state: ESCBState, chosen: Ints, rewards: Floats) -> None:
    """Add one round to its arms."""
    for j in range(len(chosen)):
        state.pulls[chosen[j]] += 1
        state.reward[chosen[j]] += rewards[j]
    state.rounds[0] += 1


def forget(state: ESCBState) -> None:
    """As before the first round."""
    for arm in range(len(state.pulls)):
        state.pulls[arm] = 0
        state.reward[arm] = 0.0
    state.rounds[0] = 0


def grown(state: ESCBState, n: int, work: Any) -> ESCBState:
    """The state with n arms, the new ones never played."""
    before = len(state.pulls)
    if n < before:
        raise InputError(f"n={n} is less than the {before} arms there are; arms are added, never taken away")
    larger = new_state(n, len(state.chosen), work)
    larger.pulls[:before] = state.pulls
    larger.reward[:before] = state.reward
    larger.rounds[:] = state.rounds
    return larger
