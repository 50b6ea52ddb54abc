"""Build sets arm by arm around a duel, and keep track of eliminated arms.

In `standing`, an arm that may still enter the set is OPEN, any other is TAKEN, as in `kernels.pairs`. Eliminated arms
are listed in the order of removal, so that the last removed can fill up a set.
"""

import math

import numpy as np

from setwise.kernels.pairs import OPEN, TAKEN, largest
from setwise.kernels.winners import winner_of
from setwise.types import Floats, Generator, Ints


def bandit_index(reward: float, pulls: int, level: float) -> float:
    """Return C / N + sqrt(level / N), the index of a bandit inside a policy; infinite for an arm never played.

    >>> bandit_index(3.0, 4, 1.0), bandit_index(0.0, 0, 1.0)
    (1.25, inf)
    """
    if pulls == 0:
        return np.inf
    return float(reward / pulls + math.sqrt(level / pulls))


def duel_winner(rewards: Floats) -> int:
    """Return which of the first two arms of the set won, 0 or 1; -1 if neither did.

    >>> [duel_winner(np.array(rewards)) for rewards in ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0])]
    [1, -1, -1]
    """
    winner = winner_of(rewards)
    return winner if winner < 2 else -1


def open_all(standing: Ints) -> None:
    """Mark every arm OPEN."""
    for arm in range(len(standing)):
        standing[arm] = OPEN


def take_best(index: Floats, standing: Ints, chosen: Ints, start: int, rng: Generator) -> int:
    """Fill the places from `start` on with the open arms of largest index, best first, ties broken uniformly.

    Return the first place left empty for lack of open arms.
    """
    for j in range(start, len(chosen)):
        arm = largest(index, standing, OPEN, rng)
        if arm < 0:
            return j
        standing[arm] = TAKEN
        chosen[j] = arm
    return len(chosen)


def take_drawn(counts: Ints, standing: Ints, chosen: Ints, start: int, rng: Generator) -> int:
    """Fill the places from `start` on with open arms drawn without replacement in proportion to their counts.

    Return the first place left empty because no open arm had a positive count.
    """
    for j in range(start, len(chosen)):
        total = 0
        for arm in range(len(counts)):
            if standing[arm] == OPEN:
                total += counts[arm]
        if total == 0:
            return j
        left = int(rng.random() * total)
        for arm in range(len(counts)):
            if standing[arm] == OPEN:
                left -= counts[arm]
                if left < 0:
                    standing[arm] = TAKEN
                    chosen[j] = arm
                    break
    return len(chosen)


def take_removed(removed: Ints, gone: int, chosen: Ints, start: int) -> None:
    """Fill the places from `start` on with removed arms, the last removed first."""
    for j in range(start, len(chosen)):
        chosen[j] = removed[gone - 1 - (j - start)]


def remove(arm: int, active: Ints, removed: Ints, gone: Ints) -> None:
    """Remove an arm for good; `gone` counts the removed arms."""
    active[arm] = 0
    removed[gone[0]] = arm
    gone[0] += 1
