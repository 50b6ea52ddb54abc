"""Rewards in [0, B]: an arm rewarded in a 0/1 world earns its price.

X_a = b_a Y_a  with Y the rewards of the underlying world, so E[X_a] = b_a P(a|s) and B = max b_a
"""

from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.best_set import check_best_set
from setwise.environments.enumeration import (
    best_by_enumeration,
    best_by_orders,
    gaps_by_enumeration,
    gaps_by_orders,
)
from setwise.environments.mnl import MNL
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import array, check_range


@environment(
    title="Scaled",
)
class Scaled(NamedTuple):
    """A 0/1 world with prices.

    base: the world that decides which arms are rewarded
    prices: reward of a rewarded arm: one number for all, or one per arm
    best_set: the optimal set; found by enumeration if not given
    """

    base: Any
    prices: Floats
    best_set: Any = None

    def check(self) -> dict[str, Any]:
        if (
            isinstance(self.base, type)
            or not hasattr(self.base, "means")
            or getattr(self.base, "rewards", None) != "binary"
        ):
            raise InputError(f"Scaled: base is {self.base!r}; it has to be an environment with rewards of 0 and 1")
        if self.prices.shape not in ((), (self.base.n,)):
            raise InputError(f"Scaled: prices has the shape {self.prices.shape}; give one number or one for each arm")
        check_range("Scaled: prices", self.prices, 0.0, np.finfo(np.float64).max)
        if not (self.prices > 0.0).any():
            raise InputError("Scaled: all prices are 0; at least one has to be more")
        prices = array("Scaled: prices", np.broadcast_to(self.prices, self.base.n))
        best = check_best_set("Scaled: best_set", self.best_set, self.n, self.k)
        return {"prices": prices, "best_set": best}

    @property
    def n(self) -> int:
        return int(self.base.n)

    @property
    def k(self) -> int:
        return int(self.base.k)

    @property
    def bound(self) -> float:
        return float(self.prices.max())

    @property
    def feedback(self) -> Feedback:
        return Feedback(self.base.feedback)

    @property
    def outside_option(self) -> bool:
        return bool(self.base.outside_option)

    @property
    def smaller_sets(self) -> bool:
        return bool(getattr(self.base, "smaller_sets", False))

    @property
    def ordered_sets(self) -> bool:
        return bool(getattr(self.base, "ordered_sets", False))

    @property
    def missing(self) -> bool:
        return bool(getattr(self.base, "missing", False))

    @property
    def accuracy(self) -> float:
        return float(getattr(self.base, "accuracy", 1e-12))

    @property
    def names(self) -> tuple[str, ...] | None:
        return getattr(self.base, "names", None)

    def means(self, chosen: Ints, out: Floats) -> None:
        self.base.means(chosen, out)
        for j in range(len(chosen)):
            out[j] *= self.prices[chosen[j]]

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.base.draw(chosen, rng, rewards)
        for j in range(len(chosen)):
            rewards[j] *= self.prices[chosen[j]]

    def draw_many(self, chosen: Ints, rounds: int, rng: Generator, totals: Floats) -> None:
        self.base.draw_many(chosen, rounds, rng, totals)
        for j in range(len(chosen)):
            totals[j] *= self.prices[chosen[j]]

    def best(self) -> Ints:
        if self.best_set is not None:
            return np.array(self.best_set)
        if (self.prices == self.prices[0]).all():
            return np.array(self.base.best())
        if isinstance(self.base, MNL):
            return best_priced_mnl(self.base, self.prices)
        return best_by_orders(self) if self.ordered_sets else best_by_enumeration(self)

    def gaps(self) -> tuple[float, float]:
        if (self.prices == self.prices[0]).all():
            least, largest = self.base.gaps()
            return float(least * self.prices[0]), float(largest * self.prices[0])
        return gaps_by_orders(self) if self.ordered_sets else gaps_by_enumeration(self)


def best_priced_mnl(base: Any, prices: Floats) -> Ints:
    """Return the k arms of largest sum(b v) / (v_0 + sum(v)), by Dinkelbach's method.

    For a guess z of the optimum, take the set of the k largest v (b - z); its ratio is the next guess. The guesses
    increase to the optimum in a few steps.
    """
    guess = -1.0
    while True:
        chosen = np.argsort(-base.values * (prices - guess), kind="stable")[: base.k]
        weights = base.values[chosen]
        ratio = float(weights @ prices[chosen] / (base.outside + weights.sum()))
        if ratio <= guess:
            return chosen.astype(np.int64)
        guess = ratio
