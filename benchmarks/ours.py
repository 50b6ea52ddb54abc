"""Time per round of Setwise, by default on the paper's multinomial logit, with all overhead of `simulate`."""

from typing import Any

import setwise as sw
from measuring import once

WORLD = sw.paper.mnl()
ALGORITHM_1 = sw.UCB()


def ours(
    horizon: float, runs: int = 1, threads: int = 1, fast_forward: bool = True, policy: Any = ALGORITHM_1,
    world: Any = WORLD, **how: Any,
) -> float:  # fmt: skip
    """Measure the seconds per round; pass other options to `simulate`."""
    taken = once(
        lambda: sw.simulate(policy, world, int(horizon), runs, threads=threads, fast_forward=fast_forward, **how)
    )
    return taken / (horizon * runs)
