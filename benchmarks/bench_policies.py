"""Other policies in the same world, against Algorithm 1 and its NumPy loop."""

import setwise as sw
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
    ours(100, policy=sw.ESCB2())
    mine = min(ours(2e4, policy=sw.ESCB2()) for _ in range(3))
    table.add("ESCB2, rounds in a second", nanoseconds(mine), "1 s", 1.0 / mine, 3000)
