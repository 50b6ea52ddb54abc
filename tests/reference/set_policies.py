"""Policies that rate whole sets, eliminate arms by stages, or build a set arm by arm: plain, by brute force."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .index_policies import TOLERANCE, bernoulli_divergence, is_top
from .sampling_policies import Facts, is_set


class SetIndexPolicy:
    """Play the set of largest index, after rounds that observe every arm once.

    In the first rounds a set has as many arms never observed as fit. f = log t in round t, or if theoretical
    log t + 4 k log log t, with 3 for a smaller t.
    """

    def __init__(self, n: int, k: int, horizon: int, bound: float = 1.0, theoretical: bool = False) -> None:
        self.n = n
        self.k = k
        self.bound = bound
        self.theoretical = theoretical
        self.rounds = 0
        self.pulls = [0] * n
        self.reward = [0.0] * n

    def level(self, time: int) -> float:
        """f(t)."""
        if self.theoretical:
            time = max(3, time)
            return math.log(time) + 4 * self.k * math.log(math.log(time))
        return math.log(time)

    def index_of(self, arms: Sequence[int], level: float) -> float:
        """The index of a set whose arms were all played, for the level f."""
        raise NotImplementedError

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether the set can be selected now."""
        if not is_set(chosen, self.n, self.k):
            return False
        if min(self.pulls) == 0:
            return is_top([float(pulls == 0) for pulls in self.pulls], chosen, self.k)
        level = self.level(self.rounds + 1)
        best = max(self.index_of(arms, level) for arms in combinations(range(self.n), self.k))
        return self.index_of(chosen, level) >= best - TOLERANCE

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


class ESCB2(SetIndexPolicy):
    """c_M = sum of mu_i + B sqrt((f / 2) sum of 1 / N_i), both sums over the arms i of M.

    Reference: Combes, Talebi, Proutiere, Lelarge, "Combinatorial Bandits Revisited", 2015.
    """

    def index_of(self, arms: Sequence[int], level: float) -> float:
        """The index of a set whose arms were all played."""
        means = sum(self.reward[arm] / self.pulls[arm] for arm in arms)
        return means + self.bound * math.sqrt(level / 2 * sum(1 / self.pulls[arm] for arm in arms))


class ESCB1(SetIndexPolicy):
    """b_M = B max of sum of q_i over q in [0, 1]^M with sum of N_i kl(mu_i / B, q_i) <= f.

    At the maximum q_i = (1 - l N_i + sqrt((1 - l N_i)^2 + 4 (mu_i / B) l N_i)) / 2 with one number l > 0 for all arms,
    which is found by bisection: the larger l, the smaller the divergence.

    Reference: Combes, Talebi, Proutiere, Lelarge, "Combinatorial Bandits Revisited", 2015.
    """

    def index_of(self, arms: Sequence[int], level: float) -> float:
        """The index of a set whose arms were all played."""
        pulls = [self.pulls[arm] for arm in arms]
        means = [min(1.0, self.reward[arm] / (self.bound * self.pulls[arm])) for arm in arms]

        def optimum(price: float) -> list[float]:
            return [stationary_point(mean, price * count) for mean, count in zip(means, pulls, strict=True)]

        def spent(price: float) -> float:
            return sum(
                count * bernoulli_divergence(mean, q)
                for mean, count, q in zip(means, pulls, optimum(price), strict=True)
            )

        low, high = -50.0, 50.0  # of log l
        for _ in range(100):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            if spent(math.exp(middle)) > level:
                low = middle
            else:
                high = middle
        return self.bound * sum(optimum(math.exp(high)))


def stationary_point(mean: float, x: float) -> float:
    """(1 - x + sqrt((1 - x)^2 + 4 mean x)) / 2, at most 1."""
    root = math.sqrt((1 - x) ** 2 + 4 * mean * x)
    if x <= 1:
        return min(1.0, (1 - x + root) / 2)
    return min(1.0, 2 * mean * x / (x - 1 + root))


class StagewiseElimination:
    """Play balanced random sets of the active arms; accept and reject arms after stages of 2, 4, 8... passes.

    In a pass every active arm is counted once: in blocks of m = k - |accepted| active arms, played together with the
    accepted ones. The last block of a pass is filled up with other arms, whose rewards do not count. At the end of
    stage r an arm is accepted if its mean less its radius is above the (m + 1)-th largest sum of a mean and its radius
    among the active arms, and rejected if its mean plus its radius is below the m-th largest difference. When no more
    arms are active than places are left, they are played in all later rounds.

    Radius, with N samples of rewards up to B: Hoeffding B sqrt(log(4 n r^2 / delta) / (2 N)); Bernstein
    sqrt(2 V log(8 n r^2 / delta) / N) + 8 B log(8 n r^2 / delta) / (3 (N - 1)), V being the unbiased variance.
    A delta of 0 stands for 1 / T. Samples are those of the stage, or if cumulative those of all stages.

    Reference: in the style of Simchowitz, Jamieson, Recht, "Best-of-K Bandits", 2016.
    """

    def __init__(
        self,
        n: int,
        k: int,
        horizon: int,
        cumulative: bool = False,
        bernstein: bool = False,
        delta: float = 0.0,
        bound: float = 1.0,
    ) -> None:
        self.n = n
        self.k = k
        self.delta = delta or 1 / horizon
        self.bound = bound
        self.cumulative = cumulative
        self.bernstein = bernstein
        self.accepted: set[int] = set()
        self.active = set(range(n))
        self.rejected: set[int] = set()
        self.stage = 1
        self.passes = 0
        self.rounds = 0
        self.pulls = [0] * n
        self.samples: list[list[float]] = [[] for _ in range(n)]
        self.uncounted: set[int] = set()
        self.begin_pass()

    @property
    def places(self) -> int:
        """m, how many arms of a set are not accepted ones."""
        return self.k - len(self.accepted)

    @property
    def committed(self) -> bool:
        """Whether the set is fixed for the rest of time."""
        return self.places == 0

    def begin_pass(self) -> None:
        """All active arms are to be counted; if there are no more than places, they are accepted for good."""
        if len(self.active) <= self.places:
            self.accepted |= self.active
            self.active = set()
        self.uncounted = set() if self.committed else set(self.active)

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether the set can be selected now."""
        arms = set(chosen)
        if not is_set(chosen, self.n, self.k) or not self.accepted <= arms:
            return False
        return len(arms & self.uncounted) == min(self.places, len(self.uncounted))

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Learn the rewards of the arms not yet counted in this pass."""
        self.rounds += 1
        for arm, reward in zip(chosen, rewards, strict=True):
            self.pulls[arm] += 1
            if arm in self.uncounted:
                self.samples[arm].append(reward)
                self.uncounted.remove(arm)
        if not self.committed and not self.uncounted:
            self.passes += 1
            if self.passes == 2**self.stage:
                self.end_stage()
            self.begin_pass()

    def radius(self, arm: int) -> float:
        """How far off the arm's mean may be."""
        samples = self.samples[arm]
        count = len(samples)
        if not self.bernstein:
            return self.bound * math.sqrt(math.log(4 * self.n * self.stage**2 / self.delta) / (2 * count))
        level = math.log(8 * self.n * self.stage**2 / self.delta)
        mean = sum(samples) / count
        variance = sum((x - mean) ** 2 for x in samples) / (count - 1)
        return math.sqrt(2 * variance * level / count) + 8 * self.bound * level / (3 * (count - 1))

    def end_stage(self) -> None:
        """Accept and reject, and begin the next stage."""
        mean = {arm: sum(self.samples[arm]) / len(self.samples[arm]) for arm in self.active}
        lower = {arm: mean[arm] - self.radius(arm) for arm in self.active}
        upper = {arm: mean[arm] + self.radius(arm) for arm in self.active}
        first_out = sorted(upper.values(), reverse=True)[self.places]
        last_in = sorted(lower.values(), reverse=True)[self.places - 1]
        accepted = {arm for arm in self.active if lower[arm] > first_out}
        rejected = {arm for arm in self.active if upper[arm] < last_in}
        self.accepted |= accepted
        self.rejected |= rejected
        self.active -= accepted | rejected
        self.stage += 1
        self.passes = 0
        if not self.cumulative:
            self.samples = [[] for _ in range(self.n)]

    def facts(self) -> Facts:
        """What is known, by name."""
        return {
            "rounds": np.array([self.rounds]),
            "pulls": np.array(self.pulls),
            "samples": np.array([len(samples) for samples in self.samples]),
            "sums": np.array([sum(samples) for samples in self.samples]),
            "squares": np.array([sum(x * x for x in samples) for samples in self.samples]),
            "accepted": np.array([len(self.accepted)]),
            "active": np.array([len(self.active)]),
            "due": np.array([len(self.uncounted)]),
            "stage": np.array([self.stage]),
            "passes": np.array([self.passes]),
        }


class LSBGreedy:
    """Build a set arm by arm, each of largest w . D + alpha sqrt(D M^-1 D), D being what it adds to the coverage.

    Arm a covers topic j with probability p_aj; after the set A it adds D_j = p_aj prod over b in A of (1 - p_bj). The
    reward at each place is w . D with noise, M = lam I + sum of D D', b = sum of reward times D, w = M^-1 b. If
    theoretical, alpha is sqrt(2 log(2 sqrt(det M / lam^d) / delta)) + size sqrt(lam) with d topics.

    Reference: Yue, Guestrin, "Linear Submodular Bandits and their Application to Diversified Retrieval", 2011.
    """

    def __init__(
        self,
        n: int,
        k: int,
        horizon: int,
        covers: NDArray[np.float64],
        lam: float = 1.0,
        alpha: float = 1.0,
        theoretical: bool = False,
        delta: float = 0.05,
        size: float = 1.0,
    ) -> None:
        self.n = n
        self.k = k
        self.covers = np.array(covers, dtype=float)
        self.lam = lam
        self.alpha = alpha
        self.theoretical = theoretical
        self.delta = delta
        self.size = size
        self.matrix = lam * np.eye(self.covers.shape[1])
        self.vector = np.zeros(self.covers.shape[1])

    def added(self, arm: int, before: Sequence[int]) -> NDArray[np.float64]:
        """What the arm adds to the coverage of the arms before it."""
        before = list(before)
        with_it = 1 - np.prod(1 - self.covers[[*before, arm]], axis=0)
        without = 1 - np.prod(1 - self.covers[before], axis=0)
        gain: NDArray[np.float64] = with_it - without
        return gain

    def weights(self) -> NDArray[np.float64]:
        """The estimate of the weights of the topics."""
        return np.array(np.linalg.solve(self.matrix, self.vector), dtype=np.float64)

    def exploration(self) -> float:
        """What the width of an arm's hope is multiplied by."""
        if not self.theoretical:
            return self.alpha
        volume = float(np.linalg.det(self.matrix)) / self.lam ** len(self.vector)
        return math.sqrt(2 * math.log(2 * math.sqrt(volume) / self.delta)) + self.size * math.sqrt(self.lam)

    def score(self, arm: int, before: Sequence[int]) -> float:
        """What the arm is hoped to earn after the arms before it."""
        gain = self.added(arm, before)
        width = math.sqrt(max(0.0, float(gain @ np.linalg.solve(self.matrix, gain))))
        return float(self.weights() @ gain) + self.exploration() * width

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether the set can be selected now, in this order."""
        if not is_set(chosen, self.n, self.k):
            return False
        for place, arm in enumerate(chosen):
            before = chosen[:place]
            best = max(self.score(other, before) for other in range(self.n) if other not in before)
            if self.score(arm, before) < best - TOLERANCE:
                return False
        return True

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Learn the rewards of the places, which are aligned with the chosen arms."""
        for place, (arm, reward) in enumerate(zip(chosen, rewards, strict=True)):
            gain = self.added(arm, chosen[:place])
            self.matrix += np.outer(gain, gain)
            self.vector += reward * gain

    def facts(self) -> Facts:
        """What is known, by name."""
        return {
            "matrix": self.matrix.copy(),
            "inverse": np.array(np.linalg.inv(self.matrix), dtype=np.float64),
            "vector": self.vector.copy(),
            "weights": self.weights(),
        }
