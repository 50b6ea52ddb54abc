"""UCB and Thompson sampling with an arm for every set, as NumPy loops written in an afternoon.

At most one arm is rewarded in a round, so that a set's total is a coin with its mean.
"""

import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray


def means_of_sets(values: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the mean total of every set of k arms in a multinomial logit world."""
    weights = np.array([values[list(arms)].sum() for arms in combinations(range(len(values)), k)])
    found: NDArray[np.float64] = weights / (1 + weights)
    return found


def ucb(means: NDArray[np.float64], horizon: int, rounds: int, seed: int = 1) -> float:
    """Return the seconds per round of UCB, in the first rounds of a game with this horizon."""
    rng = np.random.default_rng(seed)
    plays, earned, index = np.zeros(len(means)), np.zeros(len(means)), np.full(len(means), np.inf)
    level = 0.5 * np.log(horizon)

    def play() -> None:
        row = index.argmax()
        plays[row] += 1
        earned[row] += rng.random() < means[row]
        index[row] = earned[row] / plays[row] + np.sqrt(level / plays[row])

    return _per_round(play, rounds)


def thompson(means: NDArray[np.float64], rounds: int, seed: int = 1) -> float:
    """Return the seconds per round of Thompson sampling, in the first rounds."""
    rng = np.random.default_rng(seed)
    first, second = np.ones(len(means)), np.ones(len(means))

    def play() -> None:
        row = rng.beta(first, second).argmax()
        (first if rng.random() < means[row] else second)[row] += 1

    return _per_round(play, rounds)


def _per_round(play: Callable[[], None], rounds: int) -> float:
    start = time.perf_counter()
    for _ in range(rounds):
        play()
    return (time.perf_counter() - start) / rounds
