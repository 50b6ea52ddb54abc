"""Other policies in the same world, against Algorithm 1, its NumPy loop, and themselves without their shortcuts."""

import functools
import math
from typing import Any

import numpy as np

import numpy_sets
import setwise as sw
from all_means import AllMeans
from bench_games import numpy_round
from measuring import in_turn, nanoseconds
from ours import ours
from ratios import Ratios


def bench(table: Ratios) -> None:
    kl_ucb, kl_moss = sw.KLUCB(), sw.KLMOSS()
    for policy in (kl_ucb, kl_moss):
        ours(1000, policy=policy)
    mine, plain = in_turn(lambda: ours(1e6, 3, policy=kl_ucb), lambda: ours(1e6, 3), 5)
    table.add("KLUCB's time over UCB's, 1e6", nanoseconds(mine), nanoseconds(plain), mine / plain, 4, at_most=True)
    for policy, horizon, target in (
        (kl_moss, 1e6, 60),
        (sw.MNLUCB(), 1e6, 60),
        (sw.MNLThompson(), 1e6, 60),
        (sw.CUCB(), 1e6, 60),
        (sw.CombUCB1(), 1e6, 60),
        (sw.StagewiseElimination(), 1e6, 60),
        (sw.Thompson(), 2e5, 10),
    ):
        ours(1000, policy=policy)
        mine, yardstick = in_turn(lambda: ours(horizon, policy=policy), numpy_round, 3)  # noqa: B023
        table.compare_rounds(f"{type(policy).__name__} against the NumPy loop", mine, yardstick, target)
    for policy in (sw.AnytimeUCB(), sw.CUCB(), sw.CombUCB1(), sw.Doubling(), sw.UCBV()):
        what = f"{type(policy).__name__}, 1e7, against round by round"
        mine, yardstick = in_turn(
            lambda: ours(1e7, policy=policy),  # noqa: B023
            lambda: ours(1e6, policy=policy, fast_forward=False),  # noqa: B023
            3,
        )
        table.compare_rounds(what, mine, yardstick, 7)
    ours(1000, policy=AllMeans())
    for horizon in (1e5, 1e6):
        what = f"Thompson, 1e{round(math.log10(horizon))}, against drawing all means"
        plain = functools.partial(ours, horizon, policy=AllMeans())
        mine, yardstick = in_turn(functools.partial(ours, horizon, policy=sw.Thompson()), plain, 3)
        table.compare_rounds(what, mine, yardstick, 2)
    ours(100, policy=sw.ESCB2())
    mine = min(ours(2e4, policy=sw.ESCB2()) for _ in range(3))
    table.add("ESCB2, rounds in a second", nanoseconds(mine), "1 s", 1.0 / mine, 3000)
    bench_sets(table)
    bench_robust(table)


def bench_sets(table: Ratios) -> None:
    """Policies with an arm for every set, at 35 and at 15,504 sets, against NumPy loops over all sets."""
    for n, k, horizon, target in ((7, 3, 1e6, 30), (20, 5, 1e5, 5)):
        world = sw.environments.MNL(1 - 0.8 * np.arange(1, n + 1) / n, k=k)
        means = numpy_sets.means_of_sets(world.values, k)
        for policy in (sw.SetUCB(), sw.SetKLUCB(), sw.SetThompson()):
            ours(1000, policy=policy, world=world)
            mine, yardstick = in_turn(
                functools.partial(ours, horizon, policy=policy, world=world),
                functools.partial(_numpy_over_sets, policy, means, int(horizon)),
                3,
            )
            what = f"{type(policy).__name__}, {len(means):,} sets, 1e{round(math.log10(horizon))}, against NumPy"
            table.compare_rounds(what, mine, yardstick, target)


def _numpy_over_sets(policy: Any, means: Any, horizon: int) -> float:
    """Measure the seconds per round of a NumPy loop over all sets; for the index of KL-UCB, that of UCB."""
    if isinstance(policy, sw.SetThompson):
        return numpy_sets.thompson(means, 10_000 if len(means) < 1000 else 500)
    return numpy_sets.ucb(means, horizon, 20_000)


def bench_robust(table: Ratios) -> None:
    """The policy that does not have to know: at n = 20, k = 10 against KL-UCB, and over sets against SetThompson."""
    robust, plain = (functools.partial(ours, 2e5, policy=p, fast_forward=False) for p in (sw.RobustUCB(), sw.KLUCB()))
    for play in (robust, plain):
        play()
    mine, yardstick = in_turn(robust, plain, 5)
    what = "RobustUCB's time over KLUCB's, 2e5, round by round"
    table.add(what, nanoseconds(mine), nanoseconds(yardstick), mine / yardstick, 3, at_most=True)
    tables = {"a random table, 35 sets": sw.environments.PRESETS["random-table"](0)}
    tables["190 sets"] = sw.environments.PRESETS["random-table"](0, 20, 2)
    for name, world in tables.items():
        robust, plain = (
            functools.partial(ours, 1e5, policy=p, world=world) for p in (sw.RobustUCB(), sw.SetThompson())
        )
        mine, yardstick = in_turn(robust, plain, 3)
        what = f"RobustUCB's time over SetThompson's, {name}, 1e5"
        table.add(what, nanoseconds(mine), nanoseconds(yardstick), mine / yardstick)
