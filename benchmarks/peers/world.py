"""The paper's multinomial logit, for libraries without such a world: v_i = 1 - 0.8 i / n, outside weight 1.

For n = 20 these are the paper's values, v_i = 1 - 0.04 i. Plain Python is faster than NumPy for ten arms, and a
small part of a round.
"""

import random
from collections.abc import Callable, Iterable


def customers(n: int, seed: int = 1) -> Callable[[Iterable[int]], int | None]:
    """Return a function that is shown a set of arms and returns the arm bought, or None."""
    values = [1 - 0.8 * i / n for i in range(1, n + 1)]
    draw = random.Random(seed).random

    def buy(chosen: Iterable[int]) -> int | None:
        weights = [values[arm] for arm in chosen]
        mark = draw() * (1.0 + sum(weights))
        for arm, weight in zip(chosen, weights):
            mark -= weight
            if mark < 0.0:
                return arm
        return None

    return buy
