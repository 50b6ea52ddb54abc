"""Small worlds with known answers: counter-examples to weak optimal set consistency, and traps for algorithms."""

import itertools
from typing import Any

import numpy as np

from setwise.environments.cascade import Cascade
from setwise.environments.coverage import Coverage
from setwise.environments.duels import Duels
from setwise.environments.full_bandit import FullBandit
from setwise.environments.independent import Independent
from setwise.environments.mallows import Mallows
from setwise.environments.markov_chain import MarkovChain
from setwise.environments.mixed_logit import MixedLogit
from setwise.environments.needle import Needle
from setwise.environments.nested_logit import NestedLogit
from setwise.environments.position_based import PositionBased
from setwise.environments.random_table import broken_table, random_table
from setwise.environments.rankings import Rankings
from setwise.environments.table import Table
from setwise.environments.unequal_noise import UnequalNoise


def trap() -> Any:
    """A world in which elimination accepts the wrong arm: arm 2 earns a lot beside any arm except the best two."""
    from fractions import Fraction

    def percent(*values: int) -> tuple[Any, ...]:
        return tuple(Fraction(value, 100) for value in values)

    table = {}
    for a, b in itertools.combinations(range(10), 2):
        if b < 2:
            table[a, b] = percent(45, 45)
        elif a < 2:
            table[a, b] = percent(45, 41)
        elif a == 2:
            table[a, b] = percent(83, 3)
        else:
            table[a, b] = percent(43, 43)
    return Table(table)


def needle(n: int = 10, k: int = 3) -> Any:
    """One hidden set pays more and all others the same: no policy beats trying all sets."""
    return Needle(n, k)


def markov_chain() -> Any:
    """Counter-example, Markov chain: customers who miss arm 1 take arm 0, so arm 0 earns less beside arm 1."""
    return MarkovChain(np.array([0.1, 0.45, 0.45]), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), k=2)


def nested_logit() -> Any:
    """Counter-example, nested logit: arms 0 and 1 are nearly the same and share the demand of one nest."""
    return NestedLogit(np.array([1.0, 0.99, 0.5]), np.array([0, 0, 1]), np.array([0.05, 1.0]), k=2)


def mixed_logit() -> Any:
    """Counter-example, mixed logit: half of the customers want arm 0 or 1, the other half arm 2."""
    return MixedLogit(np.array([0.5, 0.5]), np.array([[20.0, 19.0, 0.01], [0.01, 0.01, 1.0]]), k=2)


def rankings() -> Any:
    """Counter-example, rankings: arm 0 is the second choice of customers who prefer arm 1."""
    return Rankings([[0], [1, 0], [2]], np.array([0.3, 0.3, 0.4]), k=2)


def unequal_noise() -> Any:
    """Counter-example, random utility with unequal noise: arm 0 earns less beside arm 2, which is mostly noise."""
    return UnequalNoise(np.array([1.0, 0.5, 0.0]), np.array([1.0, 0.2, 10.0]), k=2, outside_scale=0.5)


def mallows(n: int = 6, k: int = 2, phi: float = 0.7) -> Any:
    """Mallows rankings around 0, 1, 2, ... with the outside option in the middle."""
    return Mallows(np.arange(n), phi, k, outside=n // 2)


def coverage() -> Any:
    """Four articles on three topics, the first two articles the same: the order of a set matters."""
    covers = np.array([[0.9, 0.1, 0.0], [0.9, 0.1, 0.0], [0.0, 0.8, 0.1], [0.1, 0.0, 0.9]])
    return Coverage(np.array([0.4, 0.3, 0.2]), covers, k=2)


def position_based() -> Any:
    """Clicks on three positions of a page, which fewer visitors look at the lower they are: the order matters."""
    return PositionBased(np.array([0.2, 0.5, 0.1, 0.4, 0.3, 0.3]), np.array([1.0, 0.6, 0.3]))


def cascade() -> Any:
    """Visitors look from the top and stop at their first click: arms below it are not observed."""
    return Cascade(np.array([0.2, 0.5, 0.1, 0.4, 0.3, 0.3]), k=3)


def full_bandit() -> Any:
    """Six independent arms of which only the total of three is observed."""
    return FullBandit(Independent(np.array([0.8, 0.7, 0.6, 0.4, 0.3, 0.2]), k=3))


def duels() -> Any:
    """Duels of five arms: arm 2 beats every other, and arms 0, 1 and 3 beat each other in a circle."""
    upper = {(0, 1): 0.7, (0, 2): 0.4, (0, 3): 0.3, (0, 4): 0.6, (1, 2): 0.35, (1, 3): 0.7, (1, 4): 0.6, (2, 3): 0.65}
    preferences = np.full((5, 5), 0.5)
    for (i, j), probability in {**upper, (2, 4): 0.8, (3, 4): 0.6}.items():
        preferences[i, j], preferences[j, i] = probability, 1.0 - probability
    return Duels(preferences)


PRESETS = {
    "trap": trap,
    "needle": needle,
    "markov-chain": markov_chain,
    "nested-logit": nested_logit,
    "mixed-logit": mixed_logit,
    "rankings": rankings,
    "unequal-noise": unequal_noise,
    "mallows": mallows,
    "coverage": coverage,
    "position-based": position_based,
    "cascade": cascade,
    "full-bandit": full_bandit,
    "duels": duels,
    "random-table": random_table,
    "broken-table": broken_table,
}
