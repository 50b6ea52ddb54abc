"""Algorithm 1 on a multinomial logit world, in NumPy, with many runs at once.

UCB_i = C_i / N_i + sqrt(alpha log T / N_i) for all arms of all runs every round, in arrays with a row for every arm and
a column for every run. The set has the arms at or above the k-th largest index of their column: NumPy's partition finds
that value much faster than its argpartition finds the arms. To avoid ties, the log T of every arm is increased by a
random part of 1e-9. Counts start at 1e-300, which gives arms never played an enormous index.

Reference: Algorithm 1 of Yang, Ren, Dhillon, Sanghavi,
"Combinatorial Bandits without Total Order for Arms", 2021.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WIDTHS = (1, 3, 10, 30, 100, 300, 1000)


class Batch(NamedTuple):
    """Result of a batch of runs.

    seconds: per round and run
    regret: of each run
    pulls, reward: of each arm in each run
    """

    seconds: float
    regret: NDArray[np.float64]
    pulls: NDArray[np.float64]
    reward: NDArray[np.float64]


def run(
    values: NDArray[np.float64], k: int, horizon: int, rounds: int, runs: int, seed: int, alpha: float = 2.0
) -> Batch:
    """Play the first rounds of many games with this horizon."""
    n = len(values)
    rng = np.random.default_rng(seed)
    level = alpha * np.log(horizon) * (1 + 1e-9 * rng.random((n, runs)))
    pulls = np.full((n, runs), 1e-300)
    reward = np.zeros((n + 1, runs))  # the last row is for no purchase
    earned = reward[:n]
    index, mean, cumulative = np.empty((n, runs)), np.empty((n, runs)), np.empty((n, runs))
    weights, columns = values[:, np.newaxis], np.arange(runs)
    nothing_at_best = 1 / (1 + np.sort(values)[n - k :].sum())
    regret = np.zeros(runs)
    start = time.perf_counter()
    for _ in range(rounds):
        np.divide(level, pulls, out=index)
        np.sqrt(index, out=index)
        np.divide(earned, pulls, out=mean)
        index += mean
        chosen = index >= np.partition(index, n - k, axis=0)[n - k]
        np.multiply(chosen, weights, out=cumulative)
        np.cumsum(cumulative, axis=0, out=cumulative)
        total = 1 + cumulative[-1]
        winner = (cumulative <= rng.random(runs) * total).sum(axis=0)
        reward[winner, columns] += 1
        pulls += chosen
        regret += 1 / total - nothing_at_best
    taken = time.perf_counter() - start
    return Batch(taken / (rounds * runs), regret, pulls, earned)


def seconds(values: NDArray[np.float64], k: int, runs: int) -> float:
    """Measure the seconds per round and run with this many runs at once, the least of three."""
    rounds = max(20_000 // runs, 200)
    return min(run(values, k, 10**6, rounds, runs, seed).seconds for seed in range(3))


def best_width(values: NDArray[np.float64], k: int) -> tuple[int, float]:
    """Return the fastest number of runs at once, and its seconds per round and run."""
    return min(((runs, seconds(values, k, runs)) for runs in WIDTHS), key=lambda pair: pair[1])


def main() -> None:
    """Print nanoseconds per round and run by the number of runs at once, and compare the regret with Setwise."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--horizon", type=int, default=10_000, help="horizon of the games whose regret is compared")
    parser.add_argument("--runs", type=int, default=1000)
    options = parser.parse_args()

    import setwise as sw

    world = sw.paper.mnl()
    for runs in WIDTHS:
        print(f"{runs:5} runs at once: {seconds(world.values, 10, runs) * 1e9:8,.0f} ns a round and run", flush=True)
    theirs = run(world.values, 10, options.horizon, options.horizon, options.runs, seed=1).regret
    ours = sw.simulate(sw.UCB(), world, options.horizon, options.runs).regret[:, -1]
    (mine, error), (other, its_error) = (
        (sample.mean(), sample.std(ddof=1) / np.sqrt(len(sample))) for sample in (ours, theirs)
    )
    apart = abs(mine - other) / np.hypot(error, its_error)
    print(
        f"mean regret at {options.horizon:,} in {options.runs:,} runs: {other:.2f} +- {its_error:.2f}, "
        f"Setwise {mine:.2f} +- {error:.2f}, {apart:.1f} joint standard errors apart"
    )


if __name__ == "__main__":
    main()
