"""Longer horizons, more arms, threads and processes, and their memory."""

import numpy as np

import memory
import numpy_loop
import setwise as sw
from measuring import in_turn, nanoseconds, seconds
from ours import ours
from ratios import Ratios


def bench(table: Ratios) -> None:
    _horizons(table)
    _threads(table)
    _processes(table)
    _arms(table)
    _memory(table)


def _horizons(table: Ratios) -> None:
    hundred_million = min(ours(1e8) for _ in range(3)) * 1e8
    for power, target, repeat in ((9, 4, 2), (12, 5, 2)):
        taken = min(ours(10.0**power) for _ in range(repeat)) * 10.0**power
        table.add(
            f"time of horizon 1e{power} over 1e8",
            f"{taken:.2f} s",
            f"{hundred_million:.2f} s",
            taken / hundred_million,
            target,
            at_most=True,
        )


def _threads(table: Ratios) -> None:
    two, one = in_turn(lambda: ours(1e7, 60, 2), lambda: ours(1e7, 60, 1), 2)
    table.add("two threads against one, 60 runs", nanoseconds(two), nanoseconds(one), one / two, 1.8)


def _processes(table: Ratios) -> None:
    """Measure with the time to start them."""
    runs, horizon = 40, 1e12
    two, one = (ours(horizon, runs, processes, engine="processes") * runs * horizon for processes in (2, 1))
    table.add("two processes against one, 40 runs of 1e12", f"{two:.1f} s", f"{one:.1f} s", one / two, 1.8)


def _arms(table: Ratios) -> None:
    values = 1.0 / (1.0 + np.arange(10**6) / 10**4)
    world = sw.environments.MNL(values, k=10)
    sw.simulate(sw.UCB(), world, 10, threads=1)
    horizon = 300_000
    mine = seconds(lambda: sw.simulate(sw.UCB(), world, horizon, threads=1), 2) / horizon
    yardstick = min(numpy_loop.run(values, 10, horizon, 60, seed)[0] for seed in range(2))
    table.compare_rounds("n = 1e6, k = 10 against NumPy's argpartition", mine, yardstick, 500)
    table.add("n = 1e6, k = 10, us a round", nanoseconds(mine), "", mine * 1e6, 10, at_most=True)


def _memory(table: Ratios) -> None:
    for game in memory.QUICK:
        whole, base, _ = memory.measure(game)
        table.add(
            f"MB beyond a small game: {game.title()}",
            f"{whole / memory.MEGA:,.0f} MB",
            f"{base / memory.MEGA:,.0f} MB",
            (whole - base) / memory.MEGA,
        )
