"""Cost of the theory: an audit of every round, and a check of every set."""

import math

import numpy as np

import setwise as sw
from measuring import in_turn, nanoseconds, once
from ours import WORLD, ours
from ratios import Ratios


def bench(table: Ratios) -> None:
    def audited() -> float:
        return once(lambda: sw.theory.audit(sw.UCB(), WORLD, 10**6, 3, threads=1)) / 3e6

    audited()
    mine, plain = in_turn(audited, lambda: ours(1e6, 3, fast_forward=False), 5)
    table.add("audited rounds over plain ones", nanoseconds(mine), nanoseconds(plain), mine / plain, 3, at_most=True)
    world = sw.environments.NestedLogit(np.linspace(1, 0.1, 28), np.arange(28) % 4, [0.5] * 4, k=10)
    sets = math.comb(28, 10)
    warm = sw.environments.NestedLogit(np.linspace(1, 0.1, 16), np.arange(16) % 4, [0.5] * 4, k=8)
    sw.check(warm)
    taken = once(lambda: sw.check(world))
    table.add(
        "seconds to check 1e7 sets of 10 arms, nested logit",
        f"{taken:.1f} s",
        f"{sets:,} sets",
        taken * 1e7 / sets,
        60,
        at_most=True,
    )
