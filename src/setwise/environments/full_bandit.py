"""Full-bandit feedback: only the total reward of the set is observed, not what each arm earned.

    X_a = (sum over b in s of Y_b) / |s|  for every arm a of s, with Y the rewards of the underlying world

so that the rewards of a round add up to its total, P(a|s) = Q(s) / |s|, and regret is that of the underlying world.

Cesa-Bianchi, Lugosi 2012, "Combinatorial bandits"; Rejwan, Mansour 2020, "Top-k combinatorial bandits with full-bandit
feedback".
"""

from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.enumeration import has_value
from setwise.types import Feedback, Floats, Generator, InputError, Ints


@environment(
    title="Full-bandit feedback",
    feedback="total",
    total_order="always",
)
class FullBandit(NamedTuple):
    """Another world of which only the total of a set is observed, shared equally among its arms.

    base: the world that draws the rewards

    All arms of a set earn the same, so their order is total, with ties.

    >>> from setwise.environments import Independent
    >>> world = FullBandit(Independent([0.9, 0.5, 0.1], k=2))
    >>> world.best().tolist(), world.bound
    ([0, 1], 1.0)
    """

    base: Any

    def check(self) -> None:
        if isinstance(self.base, type) or not hasattr(self.base, "means"):
            raise InputError(
                f"FullBandit: base is {self.base!r}; it has to be an environment, such as MNL([1, 2], k=1)"
            )
        name = type(self.base).__name__
        if getattr(self.base, "missing", False):
            raise InputError(f"FullBandit: {name} does not show every reward, so there is no total; use missing=False")
        if has_value(self.base):
            raise InputError(f"FullBandit: {name} counts regret by its own value, not by the total, which says nothing")

    @property
    def n(self) -> int:
        return int(self.base.n)

    @property
    def k(self) -> int:
        return int(self.base.k)

    @property
    def bound(self) -> float:
        """The largest share of an arm: of one reward with choice feedback, of k rewards otherwise."""
        most = float(getattr(self.base, "bound", 1.0))
        return most / self.k if getattr(self.base, "feedback", None) == Feedback.choice else most

    @property
    def outside_option(self) -> bool:
        return bool(getattr(self.base, "outside_option", True))

    @property
    def ordered_sets(self) -> bool:
        return bool(getattr(self.base, "ordered_sets", False))

    @property
    def accuracy(self) -> float:
        return float(getattr(self.base, "accuracy", 1e-12))

    @property
    def names(self) -> tuple[str, ...] | None:
        return getattr(self.base, "names", None)

    def means(self, chosen: Ints, out: Floats) -> None:
        self.base.means(chosen, out)
        share_equally(out)

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.base.draw(chosen, rng, rewards)
        share_equally(rewards)

    def draw_many(self, chosen: Ints, rounds: int, rng: Generator, totals: Floats) -> None:
        self.base.draw_many(chosen, rounds, rng, totals)
        share_equally(totals)

    def best(self) -> Ints:
        return np.array(self.base.best())

    def gaps(self) -> tuple[float, float]:
        least, largest = self.base.gaps()
        return float(least), float(largest)


def share_equally(rewards: Floats) -> None:
    """Replace every number by the mean of all.

    >>> rewards = np.array([1.0, 0.0, 0.5])
    >>> share_equally(rewards)
    >>> rewards
    array([0.5, 0.5, 0.5])
    """
    total = 0.0
    for j in range(len(rewards)):
        total += rewards[j]
    for j in range(len(rewards)):
        rewards[j] = total / len(rewards)
