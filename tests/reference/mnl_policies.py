"""Policies for multinomial logit choice, line by line: an epoch offers one set until nothing is bought.

In an epoch every arm's purchases are geometric with its weight as their mean, whatever the set. `allowed` learns the
set of an epoch from its first round. `facts` counts the purchases of finished epochs.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .index_policies import is_top
from .sampling_policies import Arms, Facts, is_set, largest


class EpochPolicy:
    """Offer a set until a round in which nothing is bought, then learn from that epoch.

    offers: of every arm, the finished epochs that offered it
    purchases: of every arm, those in finished epochs
    """

    def __init__(self, n: int, k: int, horizon: int) -> None:
        self.n = n
        self.k = k
        self.horizon = horizon
        self.epochs = 0
        self.rounds = 0
        self.offers = [0] * n
        self.purchases = [0.0] * n
        self.held: list[int] | None = None
        self.bought: dict[int, float] = {}

    def may_start(self, chosen: Sequence[int]) -> bool:
        """Whether an epoch can start with the set now."""
        raise NotImplementedError

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether the set can be selected now."""
        if self.held is None:
            return is_set(chosen, self.n, self.k) and self.may_start(chosen)
        return sorted(chosen) == sorted(self.held)

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Learn what was bought; a round without a purchase ends the epoch."""
        self.rounds += 1
        if self.held is None:
            self.held = list(chosen)
            self.bought = dict.fromkeys(chosen, 0.0)
        for arm, reward in zip(chosen, rewards, strict=True):
            self.bought[arm] += reward
        if sum(rewards) == 0:
            for arm in self.held:
                self.offers[arm] += 1
                self.purchases[arm] += self.bought[arm]
            self.epochs += 1
            self.held = None
            self.finish()

    def finish(self) -> None:
        """What else there is to do when an epoch ends."""

    def weight(self, arm: int) -> float:
        """Purchases for each offer of an arm that was offered: the estimate of its weight."""
        return self.purchases[arm] / self.offers[arm]

    def facts(self) -> Facts:
        """What is known, by name."""
        return {
            "rounds": np.array([self.rounds]),
            "offers": np.array(self.offers),
            "purchases": np.array(self.purchases),
            "epochs": np.array([self.epochs]),
        }


class MNLUCB(EpochPolicy):
    """v_i + sqrt(v_i A / T_i) + A / T_i with A = alpha log(sqrt(n) l + 1) after l epochs, of all arms offered.

    With `cap` it is at most 1 and arms that were never offered come first; without they have the index 1.

    Reference: Agrawal, Avadhanula, Goyal, Zeevi, "MNL-Bandit: A Dynamic Learning Approach to Assortment Selection",
    2019, Algorithm 1.
    """

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 48.0, cap: bool = True) -> None:
        super().__init__(n, k, horizon)
        self.alpha = alpha
        self.cap = cap
        self.index = [math.inf if cap else 1.0] * n

    def finish(self) -> None:
        """Work out the index of every arm that was offered."""
        level = self.alpha * math.log(math.sqrt(self.n) * self.epochs + 1)
        for arm in range(self.n):
            if self.offers[arm] > 0:
                weight, offers = self.weight(arm), self.offers[arm]
                index = weight + math.sqrt(weight * level / offers) + level / offers
                self.index[arm] = min(1.0, index) if self.cap else index

    def may_start(self, chosen: Sequence[int]) -> bool:
        """Whether an epoch can start with the set now."""
        return is_top(self.index, chosen, self.k)

    def facts(self) -> Facts:
        """What is known, by name."""
        return {**super().facts(), "indices": np.array(self.index)}


class MNLThompsonBeta(EpochPolicy):
    """Draw theta_i from Beta(1 + offers, 1 + purchases) and offer the k arms of largest 1 / theta_i - 1.

    Reference: Agrawal, Avadhanula, Goyal, Zeevi, "Thompson Sampling for the MNL-Bandit", 2017, Algorithm 1.
    """

    def may_start(self, chosen: Sequence[int]) -> bool:
        """Any set can be."""
        return True

    def sample(self, rng: np.random.Generator) -> Arms:
        """A set for the start of an epoch, with the law of the policy's."""
        theta = rng.beta(1 + np.array(self.offers), 1 + np.array(self.purchases))
        return largest(1 / np.maximum(theta, 1e-12) - 1, self.k, rng)


class MNLThompsonGaussian(EpochPolicy):
    """Offer the k arms of largest min(1, v_i + z sigma_i), z being the largest of k normal draws, shared by all arms.

    sigma_i = sqrt(50 v_i (v_i + 1) / T_i) + 75 sqrt(log(T k)) / T_i. Before that, epochs that offer every arm once.

    Reference: Agrawal, Avadhanula, Goyal, Zeevi, "Thompson Sampling for the MNL-Bandit", 2017, Algorithm 2; the first
    epochs have sets of k in place of single arms.
    """

    def may_start(self, chosen: Sequence[int]) -> bool:
        """As many arms never offered as fit, while there are any; then any set."""
        fresh = sum(self.offers[arm] == 0 for arm in chosen)
        return fresh == min(self.k, self.offers.count(0))

    def sigma(self, arm: int) -> float:
        """The width of an arm's draw."""
        weight, offers = self.weight(arm), self.offers[arm]
        return math.sqrt(50 * weight * (weight + 1) / offers) + 75 * math.sqrt(math.log(self.horizon * self.k)) / offers

    def value(self, arm: int, z: float) -> float:
        """What an arm counts for when the largest normal draw is z."""
        return min(1.0, self.weight(arm) + z * self.sigma(arm))

    def sample(self, rng: np.random.Generator) -> Arms:
        """A set for the start of an epoch after the first ones, with the law of the policy's."""
        z = max(rng.standard_normal() for _ in range(self.k))
        values: NDArray[np.float64] = np.array([self.value(arm, z) for arm in range(self.n)])
        return largest(values, self.k, rng)
