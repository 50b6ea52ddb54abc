"""Policies with an index per arm, line by line from their formulas: plain and slow.

Each class plays the k arms of largest index. `allowed` says whether a set can be selected in the present state by any
outcome of the ties, `update` learns a round, and `facts` returns the state under the names of the package.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-9

Facts = dict[str, NDArray[np.int64] | NDArray[np.float64]]


def is_top(index: Sequence[float], chosen: Sequence[int], k: int) -> bool:
    """Whether these are k distinct arms and no other arm has an index that is larger by more than rounding."""
    arms = {int(arm) for arm in chosen}
    if len(chosen) != k or len(arms) != k:
        return False
    lowest = min(index[arm] for arm in arms)
    return all(index[arm] <= lowest + TOLERANCE for arm in range(len(index)) if arm not in arms)


def bernoulli_divergence(p: float, q: float) -> float:
    """kl(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q)), with 0 log 0 = 0."""
    total = 0.0
    if p > 0:
        total += p * math.log(p / q) if q > 0 else math.inf
    if p < 1:
        total += (1 - p) * math.log((1 - p) / (1 - q)) if q < 1 else math.inf
    return total


def divergence_index(mean: float, pulls: int, level: float) -> float:
    """max{q in [mean, 1] : pulls kl(mean, q) <= level}, by 200 bisections, or until no float is between."""
    if level == 0:
        return mean  # where kl vanishes, rounding would decide
    low, high = mean, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if pulls * bernoulli_divergence(mean, middle) <= level:
            low = middle
        else:
            high = middle
    return low


class IndexPolicy:
    """Play the k arms of largest index; an arm that was never played has an infinite one.

    A subclass gives the index of an arm from N, C and the sum of squared rewards, for the round `time` at hand. With
    `moving` the indices of all arms are recomputed in every round, otherwise only those of the arms just played.
    """

    moving = False

    def __init__(self, n: int, k: int, horizon: int) -> None:
        self.n = n
        self.k = k
        self.horizon = horizon
        self.rounds = 0
        self.pulls = [0] * n
        self.reward = [0.0] * n
        self.squares = [0.0] * n
        self.index = [math.inf] * n

    def index_of(self, arm: int, time: int) -> float:
        """The index of an arm that was played."""
        raise NotImplementedError

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether the set can be selected now."""
        return is_top(self.index, chosen, self.k)

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Learn the rewards, which are aligned with the chosen arms."""
        self.rounds += 1
        for arm, reward in zip(chosen, rewards, strict=True):
            self.pulls[arm] += 1
            self.reward[arm] += reward
            self.squares[arm] += reward**2
        for arm in range(self.n):
            if self.pulls[arm] > 0 and (self.moving or arm in chosen):
                self.index[arm] = self.index_of(arm, self.rounds + 1)

    def facts(self) -> Facts:
        """What is known, by name."""
        return {
            "rounds": np.array([self.rounds]),
            "pulls": np.array(self.pulls),
            "reward": np.array(self.reward),
            "squares": np.array(self.squares),
            "indices": np.array(self.index),
        }


class KLUCB(IndexPolicy):
    """U_i = B max{q in [mu_i, 1] : N_i kl(mu_i, q) <= alpha log T}, with mu_i = C_i / (N_i B).

    Reference: Garivier, Cappe, "The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond", 2011, with log T for
    log t.
    """

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 1.0, bound: float = 1.0) -> None:
        super().__init__(n, k, horizon)
        self.alpha = alpha
        self.bound = bound

    def level(self, pulls: int) -> float:
        """What N kl(mu, q) may come to."""
        return self.alpha * math.log(self.horizon)

    def index_of(self, arm: int, time: int) -> float:
        """The index of an arm that was played."""
        pulls = self.pulls[arm]
        mean = min(1.0, self.reward[arm] / (pulls * self.bound))
        return self.bound * divergence_index(mean, pulls, self.level(pulls))


class KLMOSS(KLUCB):
    """As KL-UCB with max(0, log(T k / (n N_i))) in place of alpha log T.

    Reference: Menard, Garivier, "A Minimax and Asymptotically Optimal Algorithm for Stochastic Bandits", 2017, and
    Audibert, Bubeck, "Minimax Policies for Adversarial and Stochastic Bandits", 2009; n / k arms for each place.
    """

    def level(self, pulls: int) -> float:
        """What N kl(mu, q) may come to."""
        return max(0.0, math.log(self.horizon * self.k / (self.n * pulls)))


class UCBV(IndexPolicy):
    """U_i = mu_i + sqrt(2 V_i E / N_i) + 3 c B E / N_i with E = zeta log T and the variance V_i = S2_i / N_i - mu_i^2.

    Reference: Audibert, Munos, Szepesvari, "Exploration-exploitation tradeoff using variance estimates in multi-armed
    bandits", 2009, with log T for log t.
    """

    def __init__(self, n: int, k: int, horizon: int, zeta: float = 1.0, c: float = 1.0, bound: float = 1.0) -> None:
        super().__init__(n, k, horizon)
        self.level = zeta * math.log(horizon)
        self.c = c
        self.bound = bound

    def index_of(self, arm: int, time: int) -> float:
        """The index of an arm that was played."""
        pulls = self.pulls[arm]
        mean = self.reward[arm] / pulls
        variance = max(0.0, self.squares[arm] / pulls - mean**2)
        return mean + math.sqrt(2 * variance * self.level / pulls) + 3 * self.c * self.bound * self.level / pulls


class AnytimeUCB(IndexPolicy):
    """U_i = mu_i + B sqrt(alpha log t / N_i), of all arms in every round t.

    Reference: Auer, Cesa-Bianchi, Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", 2002, UCB1.
    """

    moving = True

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 2.0, bound: float = 1.0) -> None:
        super().__init__(n, k, horizon)
        self.alpha = alpha
        self.bound = bound

    def index_of(self, arm: int, time: int) -> float:
        """The index of an arm that was played."""
        pulls = self.pulls[arm]
        return self.reward[arm] / pulls + self.bound * math.sqrt(self.alpha * math.log(time) / pulls)


class CUCB(IndexPolicy):
    """U_i = mu_i + B sqrt(3 log t / (2 N_i)), of all arms in every round t; with `clip` no more than B.

    Reference: Chen, Wang, Yuan, "Combinatorial Multi-Armed Bandit: General Framework and Applications", 2013.
    """

    moving = True

    def __init__(self, n: int, k: int, horizon: int, bound: float = 1.0, clip: bool = False) -> None:
        super().__init__(n, k, horizon)
        self.bound = bound
        self.clip = clip

    def index_of(self, arm: int, time: int) -> float:
        """The index of an arm that was played."""
        pulls = self.pulls[arm]
        index = self.reward[arm] / pulls + self.bound * math.sqrt(3 * math.log(time) / (2 * pulls))
        return min(self.bound, index) if self.clip else index


class CombUCB1(IndexPolicy):
    """U_i = mu_i + B sqrt(1.5 log(t - 1) / N_i), once every arm was observed.

    Until then the arms never observed come first, and all others are alike: infinity and 0.

    Reference: Kveton, Wen, Ashkan, Szepesvari, "Tight Regret Bounds for Stochastic Combinatorial Semi-Bandits", 2015,
    Algorithms 1 and 2.
    """

    moving = True

    def __init__(self, n: int, k: int, horizon: int, bound: float = 1.0) -> None:
        super().__init__(n, k, horizon)
        self.bound = bound

    def index_of(self, arm: int, time: int) -> float:
        """The index of an arm that was played."""
        if min(self.pulls) == 0:
            return 0.0
        pulls = self.pulls[arm]
        return self.reward[arm] / pulls + self.bound * math.sqrt(1.5 * math.log(time - 1) / pulls)


class Doubling(IndexPolicy):
    """Algorithm 1 with a horizon of `first`, twice that once so many rounds were played, and so on.

    U_i = mu_i + B sqrt(alpha log T / N_i). When T doubles, every index is recomputed. With `restart` nothing is
    kept from one phase to the next, and a phase has as many rounds as its horizon.

    Reference: Yang, Ren, Dhillon, Sanghavi, "Combinatorial Bandits without Total Order for Arms", 2021, Algorithm 1,
    with the doubling trick.
    """

    def __init__(
        self,
        n: int,
        k: int,
        horizon: int,
        alpha: float = 2.0,
        bound: float = 1.0,
        first: int = 2,
        restart: bool = False,
    ) -> None:
        super().__init__(n, k, first)
        self.alpha = alpha
        self.bound = bound
        self.restart = restart

    def index_of(self, arm: int, time: int) -> float:
        """The index of an arm that was played."""
        pulls = self.pulls[arm]
        return self.reward[arm] / pulls + self.bound * math.sqrt(self.alpha * math.log(self.horizon) / pulls)

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Learn the rewards; begin the next phase where this one ends."""
        super().update(chosen, rewards)
        if self.rounds < self.horizon:
            return
        if self.restart:
            super().__init__(self.n, self.k, 2 * self.horizon)
            return
        self.horizon *= 2
        for arm in range(self.n):
            if self.pulls[arm] > 0:
                self.index[arm] = self.index_of(arm, self.rounds + 1)
