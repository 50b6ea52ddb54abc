"""Pairwise statistics for dueling policies, and sets built from them.

`wins[i, j]` is how often arm i beat arm j, `share[i, j]` the share of their comparisons that i won, and `spread[i, j]`
is 1 / sqrt(number of comparisons). Only the pairs of the last set change, so the upper confidence bound

    u_ij = share[i, j] + root * spread[i, j],    root = sqrt(alpha log t)

costs one multiplication and one addition when needed. For a pair never compared it is the `unseen` of `new_pairs`.
`share[i, i]` is infinite: an arm is not compared with itself.

A potential winner is an arm that no other clearly beats: its bound against every other arm reaches the border. In
`standing`, potential winners are WINNER, arms already in the set TAKEN, all others OPEN.
"""

import math

import numpy as np
import numpy.typing as npt

from setwise.kernels.topk import top_k_among
from setwise.kernels.winners import Matrix, beat_all_others, winner_of
from setwise.types import Floats, Generator, InputError, Ints

HALF = 0.5
ABOVE_HALF = math.nextafter(0.5, 1.0)  # x >= ABOVE_HALF means x > 1/2
TAKEN, OPEN, WINNER = range(3)


def check_pairs(name: str, k: int) -> None:
    """Raise an error if sets have only one arm."""
    if k < 2:
        raise InputError(f"{name} compares the arms of a set, so a set needs 2 arms or more; k is {k}")


def new_pairs(n: int, unseen: float) -> tuple[Matrix, Matrix, Matrix]:
    """Return wins, share and spread before the first round."""
    share = np.full((n, n), unseen)
    np.fill_diagonal(share, np.inf)
    return np.zeros((n, n)), share, np.zeros((n, n))


def learn_winner(wins: Matrix, share: Matrix, spread: Matrix, chosen: Ints, rewards: Floats) -> None:
    """Record that the rewarded arm beat every other arm of the set; do nothing if no arm was rewarded."""
    winner = winner_of(rewards)
    if winner < 0:
        return
    beat_all_others(wins, chosen, winner)
    arm = chosen[winner]
    for j in range(len(chosen)):
        if j != winner:
            other = chosen[j]
            both = wins[arm, other] + wins[other, arm]
            share[arm, other] = wins[arm, other] / both
            share[other, arm] = wins[other, arm] / both
            spread[arm, other] = spread[other, arm] = 1.0 / math.sqrt(both)


def count_beaten(share: Matrix, spread: Matrix, root: float, border: float, beaten: Ints) -> int:
    """Write by how many others each arm is clearly beaten; return the number of potential winners."""
    winners = 0
    for i in range(len(beaten)):
        count = 0
        for j in range(len(beaten)):
            if share[i, j] + root * spread[i, j] < border:
                count += 1
        beaten[i] = count
        if count == 0:
            winners += 1
    return winners


def largest(values: Floats, standing: Ints, needed: int, rng: Generator) -> int:
    """Return the arm of largest value among those of standing `needed` or more, ties uniform; -1 if there is none."""
    found = -1
    best = -np.inf
    ties = 0
    for arm in range(len(values)):
        if standing[arm] >= needed:
            if ties == 0 or values[arm] > best:
                found = arm
                best = values[arm]
                ties = 1
            elif values[arm] == best:
                ties += 1
    if ties > 1:
        place = int(rng.random() * ties)
        for arm in range(len(values)):
            if standing[arm] >= needed and values[arm] == best:
                if place == 0:
                    return arm
                place -= 1
    return found


def first_arm(share: Matrix, spread: Matrix, root: float, standing: Ints, least: Floats, rng: Generator) -> int:
    """Return the potential winner whose least bound against the other potential winners is largest, ties uniform.

    If there is none, return a random open arm. `least` is a buffer.
    """
    for arm in range(len(standing)):
        least[arm] = np.inf
        if standing[arm] == WINNER:
            for other in range(len(standing)):
                if standing[other] == WINNER:
                    least[arm] = min(least[arm], share[arm, other] + root * spread[arm, other])
    found = largest(least, standing, WINNER, rng)
    return found if found >= 0 else largest(least, standing, OPEN, rng)


def build(share: Matrix, spread: Matrix, root: float, standing: Ints, least: Floats, chosen: Ints, size: int,
          rng: Generator) -> None:  # fmt: skip
    """Fill `chosen` from place `size` on, each time with the arm whose least bound against the set is largest.

    Potential winners come first, then the others; ties are uniform. `least` is a buffer.
    """
    for arm in range(len(standing)):
        least[arm] = np.inf
        for j in range(size):
            least[arm] = min(least[arm], share[arm, chosen[j]] + root * spread[arm, chosen[j]])
    needed = WINNER
    while size < len(chosen):
        best = largest(least, standing, needed, rng)
        if best < 0:
            needed = OPEN
            continue
        chosen[size] = best
        standing[best] = TAKEN
        size += 1
        for arm in range(len(standing)):
            least[arm] = min(least[arm], share[arm, best] + root * spread[arm, best])


def fill(values: Floats, free: npt.NDArray[np.bool_], chosen: Ints, best: Floats, size: int, rng: Generator) -> int:
    """Fill `chosen` from place `size` on with the free arms of largest value, ties uniform; return the new size.

    `best` is a buffer as long as `chosen`.
    """
    if size == len(chosen):
        return size
    return size + top_k_among(values, free, chosen[size:], best[size:], rng)
