"""Algorithm 1 on a multinomial logit world, as a NumPy loop written in an afternoon.

UCB_i = C_i / N_i + sqrt(alpha log T / N_i) for all arms every round, with ties broken as argpartition happens to.

Reference: Algorithm 1 of Yang, Ren, Dhillon, Sanghavi,
"Combinatorial Bandits without Total Order for Arms", 2021.
"""

import argparse
import time

import numpy as np
from numpy.typing import NDArray


def run(
    values: NDArray[np.float64], k: int, horizon: int, rounds: int, seed: int, alpha: float = 2.0
) -> tuple[float, float]:
    """Return the seconds per round and the total regret of the first rounds of a game with this horizon."""
    n = len(values)
    rng = np.random.default_rng(seed)
    pulls = np.zeros(n)
    reward = np.zeros(n)
    level = alpha * np.log(horizon)
    nothing_at_best = 1 / (1 + np.sort(values)[n - k :].sum())
    regret = 0.0
    start = time.perf_counter()
    for _ in range(rounds):
        played = np.maximum(pulls, 1)
        index = np.where(pulls > 0, reward / played + np.sqrt(level / played), np.inf)
        chosen = np.argpartition(index, n - k)[n - k :]
        cumulative = np.cumsum(values[chosen])
        total = 1 + cumulative[-1]
        winner = np.searchsorted(cumulative, rng.random() * total, side="right")
        if winner < k:
            reward[chosen[winner]] += 1
        pulls[chosen] += 1
        regret += 1 / total - nothing_at_best
    seconds = time.perf_counter() - start
    return seconds / rounds, float(regret)


def main() -> None:
    """Print nanoseconds per round and regret on the paper's values."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--arms", type=int, default=20)
    parser.add_argument("--size", type=int, default=10, help="arms in a set")
    parser.add_argument("--horizon", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, help="rounds to play; default: the horizon")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rounds = options.rounds or options.horizon
    values = 1 - 0.8 * np.arange(1, options.arms + 1) / options.arms
    seconds, regret = run(values, options.size, options.horizon, rounds, options.seed)
    print(f"{seconds * 1e9:.0f} ns/round, regret {regret:.2f} after {rounds} rounds")


if __name__ == "__main__":
    main()
