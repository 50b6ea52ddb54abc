"""Compare a tournament with a nearly sorted order: nanoseconds per round of Algorithm 1, by number of arms."""

import time

import numpy as np

import setwise as sw
from setwise.kernels import ranking

SORTED, TOURNAMENT = 10**9, 0  # most arms for a sorted order: always, never


def nanoseconds(n: int, k: int, few_arms: int, rounds: int = 100_000) -> float:
    """Measure nanoseconds per round of one game, with all overhead."""
    ranking.FEW_ARMS = few_arms
    world = sw.environments.MNL(np.linspace(1.0, 0.1, n), k=k)
    start = time.perf_counter()
    sw.simulate(sw.UCB(), world, rounds, threads=1, seed=1)
    return (time.perf_counter() - start) / rounds * 1e9


def main() -> None:
    for few_arms in (SORTED, TOURNAMENT):
        nanoseconds(20, 5, few_arms, 10)  # compile, or load from the cache
    print(f"{'n':>5} {'k':>4} {'sorted':>8} {'tournament':>11}")
    for k in (5, 10, 30):
        for n in (50, 100, 150, 200, 300, 500):
            pairs = [(nanoseconds(n, k, SORTED), nanoseconds(n, k, TOURNAMENT)) for _ in range(3)]
            print(f"{n:5} {k:4} {min(pair[0] for pair in pairs):8.0f} {min(pair[1] for pair in pairs):11.0f}")


if __name__ == "__main__":
    main()
