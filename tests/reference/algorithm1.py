"""Algorithm 1 and Lemma 1, line by line as printed.

Reference: Yang, Ren, Dhillon, Sanghavi, "Combinatorial Bandits without Total Order for Arms", 2021.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .worlds import Feedback, World


class Algorithm1:
    """Play the k arms with the largest upper confidence bounds.

    UCB_i = C_i / N_i + B sqrt(alpha log T / N_i) for an arm that was just played; all others keep theirs.

    Reference: Algorithm 1; section 6 for rewards in [0, B].
    """

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 2.0, bound: float = 1.0) -> None:
        self.n = n
        self.k = k
        self.horizon = horizon
        self.alpha = alpha
        self.bound = bound
        self.index: NDArray[np.float64] = np.full(n, np.inf)
        self.pulls: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
        self.reward: NDArray[np.float64] = np.zeros(n)

    def select(self, rng: np.random.Generator) -> list[int]:
        """The k arms with the largest indices, ties broken uniformly at random."""
        order = np.lexsort((rng.random(self.n), -self.index))
        return [int(arm) for arm in order[: self.k]]

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Learn the rewards, which are aligned with the chosen arms."""
        for arm, reward in zip(chosen, rewards, strict=True):
            self.pulls[arm] += 1
            self.reward[arm] += reward
            # N UCB = C + B sqrt(alpha log T N): rounded as in the package, so that ties are the same.
            level = self.bound**2 * self.alpha * math.log(self.horizon)
            self.index[arm] = (self.reward[arm] + math.sqrt(level * self.pulls[arm])) / self.pulls[arm]


def lemma1_bounds(
    index: NDArray[np.float64], pulls: NDArray[np.int64], chosen: Sequence[int], rho: float
) -> tuple[float, NDArray[np.float64]]:
    """The new running minimum rho and the lower bound of each arm, from the state before the update.

    rho'(t) = min over s(t) of UCB_i(t), rho(t) = min(rho(t-1), rho'(t)), and for every arm not in s(t)
    rho(t) >= UCB_i(t) >= rho(t) (1 - 1 / N_i(t)). The lower bound is 0 for an arm played at most once.

    Reference: Lemma 1, with N_i(t) as in its proof where the statement prints N_i(T).
    """
    rho = min(rho, float(min(index[arm] for arm in chosen)))
    lower = [rho * (1 - 1 / count) if count > 1 else 0.0 for count in pulls.tolist()]
    return rho, np.array(lower)


def play(
    world: World,
    horizon: int,
    seed: int,
    alpha: float = 2.0,
    bound: float = 1.0,
    feedback: Feedback = "choice",
) -> tuple[float, NDArray[np.int64]]:
    """Regret from the true means, and how often each arm was played, after one run.

    R(T) = sum over t of Q(s*) - Q(s(t)).

    Reference: section 3.1.
    """
    rng = np.random.default_rng(seed)
    policy = Algorithm1(world.n, world.k, horizon, alpha, bound)
    optimum = sum(world.probabilities(world.best()))
    regret = 0.0
    for _ in range(horizon):
        chosen = policy.select(rng)
        regret += optimum - sum(world.probabilities(chosen))
        policy.update(chosen, world.draw(chosen, rng, feedback))
    return regret, policy.pulls
