"""Policies that draw their sets, each written plainly: their counts, and the law of their sets.

`allowed` accepts every set of k arms; `law` returns the probability of each set in the current state if it has a closed
form, and `sample` draws a set in any case.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Facts = dict[str, NDArray[np.int64] | NDArray[np.float64]]
Arms = tuple[int, ...]


def is_set(chosen: Sequence[int], n: int, k: int) -> bool:
    """Whether these are k distinct arms of n."""
    return len(chosen) == k and len(set(chosen)) == k and all(0 <= arm < n for arm in chosen)


def largest(values: NDArray[np.float64], k: int, rng: np.random.Generator) -> Arms:
    """The k arms of largest value in order of their number, ties broken uniformly at random."""
    order = np.lexsort((rng.random(len(values)), -values))
    return tuple(sorted(int(arm) for arm in order[:k]))


class Thompson:
    """Draw theta_i from Beta(1 + successes, 1 + failures) for every arm and play the k largest.

    Reference: Thompson, "On the likelihood that one unknown probability exceeds another", 1933; Komiyama, Honda,
    Nakagawa, "Optimal Regret Analysis of Thompson Sampling in Stochastic Multi-armed Bandit Problem with Multiple
    Plays", 2015. Rewards here are 0 or B: others would be turned into 0 or B by a coin.
    """

    def __init__(self, n: int, k: int, horizon: int, bound: float = 1.0) -> None:
        self.n = n
        self.k = k
        self.bound = bound
        self.successes = [0] * n
        self.failures = [0] * n

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether the set can be selected now."""
        return is_set(chosen, self.n, self.k)

    def sample(self, rng: np.random.Generator) -> Arms:
        """A set with the law of the policy's."""
        theta = rng.beta(1 + np.array(self.successes), 1 + np.array(self.failures))
        return largest(theta, self.k, rng)

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Learn the rewards, which are aligned with the chosen arms."""
        for arm, reward in zip(chosen, rewards, strict=True):
            if reward == self.bound:
                self.successes[arm] += 1
            elif reward == 0:
                self.failures[arm] += 1
            else:
                raise ValueError(f"a reward of {reward} is neither 0 nor {self.bound}")

    def facts(self) -> Facts:
        """What is known, by name."""
        return {"successes": np.array(self.successes), "failures": np.array(self.failures)}


class EpsilonGreedy:
    """With probability epsilon_t = min(1, c n / (k t)) a set at random, otherwise the k arms of largest mean.

    An arm that was never played counts as having the largest mean of all.

    Reference: Auer, Cesa-Bianchi, Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", 2002, with a
    share of n / k arms for each place.
    """

    def __init__(self, n: int, k: int, horizon: int, c: float = 5.0) -> None:
        self.n = n
        self.k = k
        self.c = c
        self.rounds = 0
        self.pulls = [0] * n
        self.reward = [0.0] * n

    def epsilon(self) -> float:
        """The share of sets drawn at random, in the round at hand."""
        return min(1.0, self.c * self.n / (self.k * (self.rounds + 1)))

    def means(self) -> list[float]:
        """The mean reward of every arm."""
        return [c / n if n > 0 else math.inf for c, n in zip(self.reward, self.pulls, strict=True)]

    def law(self) -> dict[Arms, float]:
        """The probability of every set: the sets of largest means are equally likely, as are all at random."""
        means = self.means()
        sets = list(combinations(range(self.n), self.k))
        border = sorted(means)[-self.k]
        above = {arm for arm in range(self.n) if means[arm] > border}
        top = [s for s in sets if above <= set(s) and all(means[arm] >= border for arm in s)]
        epsilon = self.epsilon()
        return {s: epsilon / len(sets) + (1 - epsilon) / len(top) * (s in top) for s in sets}

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether the set can be selected now."""
        return is_set(chosen, self.n, self.k) and self.law()[tuple(sorted(chosen))] > 0

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Learn the rewards, which are aligned with the chosen arms."""
        self.rounds += 1
        for arm, reward in zip(chosen, rewards, strict=True):
            self.pulls[arm] += 1
            self.reward[arm] += reward

    def facts(self) -> Facts:
        """What is known, by name."""
        return {
            "rounds": np.array([self.rounds]),
            "pulls": np.array(self.pulls),
            "reward": np.array(self.reward),
        }


class Uniform:
    """Every set of k arms is equally likely in every round."""

    def __init__(self, n: int, k: int, horizon: int) -> None:
        self.n = n
        self.k = k
        self.rounds = 0
        self.pulls = [0] * n
        self.reward = [0.0] * n

    def law(self) -> dict[Arms, float]:
        """The probability of every set."""
        return {s: 1 / math.comb(self.n, self.k) for s in combinations(range(self.n), self.k)}

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether the set can be selected now."""
        return is_set(chosen, self.n, self.k)

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Count the round."""
        self.rounds += 1
        for arm, reward in zip(chosen, rewards, strict=True):
            self.pulls[arm] += 1
            self.reward[arm] += reward

    def facts(self) -> Facts:
        """What is known, by name."""
        return {
            "rounds": np.array([self.rounds]),
            "pulls": np.array(self.pulls),
            "reward": np.array(self.reward),
        }
