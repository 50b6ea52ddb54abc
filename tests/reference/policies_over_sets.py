"""Policies with an arm for every set of k: dictionaries over `itertools.combinations`, plain and slow.

`allowed` says whether a set can be selected in the present state, `update` learns a round, `facts` returns the state
in the order of the sets, under the names of the package, and `law` the probability of each set that is drawn.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .index_policies import TOLERANCE, Facts, divergence_index

Arms = tuple[int, ...]


class SetPolicy:
    """Plays of every set, and the totals of its rounds."""

    def __init__(self, n: int, k: int, horizon: int) -> None:
        self.horizon = horizon
        self.totals: dict[Arms, list[float]] = {arms: [] for arms in combinations(range(n), k)}

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Learn the total reward of the set."""
        self.totals[tuple(sorted(chosen))].append(math.fsum(rewards))


class SetUCB(SetPolicy):
    """index(s) = mean + M sqrt(alpha log T / N), infinite if the set was never played."""

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 0.5, total: float = 1.0) -> None:
        super().__init__(n, k, horizon)
        self.alpha = alpha
        self.total = total

    def index_of(self, totals: Sequence[float]) -> float:
        """The index of a set that was played."""
        plays = len(totals)
        return math.fsum(totals) / plays + self.total * math.sqrt(self.alpha * math.log(self.horizon) / plays)

    def indices(self) -> dict[Arms, float]:
        """The index of every set."""
        return {arms: self.index_of(totals) if totals else math.inf for arms, totals in self.totals.items()}

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether no set has an index that is larger by more than rounding."""
        indices = self.indices()
        return indices[tuple(sorted(chosen))] >= max(indices.values()) - TOLERANCE

    def facts(self) -> Facts:
        """What is known of every set, by name."""
        return {
            "pulls": np.array([len(totals) for totals in self.totals.values()]),
            "reward": np.array([math.fsum(totals) for totals in self.totals.values()]),
            "indices": np.array(list(self.indices().values())),
        }


class SetKLUCB(SetUCB):
    """index(s) = M max{q in [p, 1]: N kl(p, q) <= alpha log T}, p = mean / M."""

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 1.0, total: float = 1.0) -> None:
        super().__init__(n, k, horizon, alpha, total)

    def index_of(self, totals: Sequence[float]) -> float:
        """The index of a set that was played."""
        mean = min(1.0, math.fsum(totals) / (self.total * len(totals)))
        return self.total * divergence_index(mean, len(totals), self.alpha * math.log(self.horizon))


class SetThompson(SetPolicy):
    """Draw theta of every set from its Beta posterior, and play the set of largest theta."""

    def __init__(self, n: int, k: int, horizon: int, bound: float = 1.0) -> None:
        super().__init__(n, k, horizon)
        self.bound = bound

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether it is a set."""
        return tuple(sorted(chosen)) in self.totals

    def largest(self) -> float:
        """M, the largest total so far, or the bound."""
        return max([self.bound, *(total for totals in self.totals.values() for total in totals)])

    def posterior(self, totals: Sequence[float]) -> tuple[float, float]:
        """Both parameters: those of a coin if totals are 0 or M, else with the variance of the totals."""
        shares = [0.0, 1.0, *(total / self.largest() for total in totals)]
        mean, variance = float(np.mean(shares)), float(np.var(shares))
        count = len(shares) * mean * (1 - mean) / variance
        return count * mean, count * (1 - mean)

    def law(self) -> dict[Arms, float]:
        """The probability that theta of a set is the largest, by integrating its density times the others' laws."""
        x: NDArray[np.float64] = (np.arange(200_000) + 0.5) / 200_000
        laws = [stats.beta(*self.posterior(totals)) for totals in self.totals.values()]
        below = np.array([law.cdf(x) for law in laws])
        chances = [
            float(np.mean(law.pdf(x) * np.prod(np.delete(below, row, axis=0), axis=0))) for row, law in enumerate(laws)
        ]
        assert abs(sum(chances) - 1) < 1e-6
        return dict(zip(self.totals, (chance / sum(chances) for chance in chances), strict=True))

    def facts(self) -> Facts:
        """What is known of every set, by name, with totals in units of the bound."""
        shares = [[total / self.bound for total in totals] for totals in self.totals.values()]
        return {
            "plays": np.array([len(totals) for totals in shares]),
            "sums": np.array([math.fsum(totals) for totals in shares]),
            "squares": np.array([math.fsum(total**2 for total in totals) for totals in shares]),
            "largest": np.array([self.largest() / self.bound]),
        }
