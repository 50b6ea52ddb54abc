"""Measure speed as ratios in one run: Setwise against NumPy loops and a plain C++ loop of the same algorithm.

Every figure is the best of a few repetitions, ours and theirs in turn, on one core unless a row says otherwise. The
table is stored in docs/bench/bench.csv; docs/benchmarks.md shows it.
"""

import time

import bench_cold
import bench_games
import bench_policies
import bench_scale
import bench_start
import bench_theory
import setwise as sw
from measuring import MACHINE, keep, machine, once
from ours import WORLD
from ratios import HEAD, Ratios

SUBJECTS = {
    "Algorithm 1 and other loops": bench_games.bench,
    "horizons, arms, cores, memory": bench_scale.bench,
    "other policies": bench_policies.bench,
    "theory": bench_theory.bench,
    "start, warm": bench_start.bench,
    "start, cold": bench_cold.bench,
}


def main() -> None:
    print(", ".join(f"{name} {cell}" for name, cell in zip(MACHINE[1:], machine())))
    print(f"first simulation, compiled or from the cache: {once(lambda: sw.simulate(sw.UCB(), WORLD, 1000)):.1f} s")
    table = Ratios()
    start = time.perf_counter()
    for number, (subject, bench) in enumerate(SUBJECTS.items(), start=1):
        print(f"{number} of {len(SUBJECTS)}, after {time.perf_counter() - start:.0f} s: {subject}", flush=True)
        bench(table)
    print(f"\n{table.text()}\n\n{time.perf_counter() - start:.0f} s; kept in {keep('bench', HEAD, table.rows)}")


if __name__ == "__main__":
    main()
