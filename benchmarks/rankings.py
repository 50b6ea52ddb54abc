"""Where a heap overtakes a nearly sorted order: nanoseconds a round of Algorithm 1 with either, by number of arms."""

import time

import numpy as np

import setwise as sw
from setwise.kernels import ranking

SORTED, HEAP = 10**9, 0  # up to how many arms a sorted order is used: always, never


def nanoseconds(n: int, k: int, few_arms: int, rounds: int = 100_000) -> float:
    """The best of three, all overhead included."""
    ranking.FEW_ARMS = few_arms
    world = sw.environments.MNL(np.linspace(1.0, 0.1, n), k=k)
    sw.simulate(sw.UCB(), world, 10, threads=1)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        sw.simulate(sw.UCB(), world, rounds, threads=1, seed=1)
        times.append(time.perf_counter() - start)
    return min(times) / rounds * 1e9


def main() -> None:
    print(f"{'n':>5} {'k':>4} {'sorted':>8} {'heap':>8}")
    for k in (5, 10):
        for n in (50, 100, 200, 300, 400, 500, 800):
            print(f"{n:5} {k:4} {nanoseconds(n, k, SORTED):8.0f} {nanoseconds(n, k, HEAP):8.0f}")


if __name__ == "__main__":
    main()
