"""The paper's random worlds, 200 of them: is a policy ever worse than Algorithm 1, or a single run far off?"""

import numpy as np

from research.summary import Run, Summary, regrets
from setwise import Experiment

POLICIES = ["ucb", "kl-ucb", "kl-moss", "thompson", "robust-ucb"]
COLUMNS = ["policy", "worlds", "least, %", "median, %", "largest, %", "worlds above ucb", "largest worst run / mean"]


def compute(run: Run, quick: bool = False) -> list[Summary]:
    """Mean regret in per cent of UCB's over all worlds, and the largest ratio of a world's worst run to its mean."""
    count, horizon, runs = (2, 1000, 2) if quick else (200, 100_000, 10)
    worlds = [f"random-weak:seed={number}" for number in range(count)]
    done = run(Experiment(worlds, POLICIES, horizon, runs, checkpoints=[horizon // 2]))
    regret = {policy: np.array([regrets(done, world, policy) for world in worlds]) for policy in POLICIES}
    means = {policy: values.mean(axis=1) for policy, values in regret.items()}
    rows = []
    for policy in POLICIES:
        shares = 100.0 * means[policy] / means["ucb"]
        tail = float((regret[policy].max(axis=1) / means[policy]).max())
        spread = [float(shares.min()), float(np.median(shares)), float(shares.max())]
        rows.append([policy, count, *spread, int((means[policy] > means["ucb"]).sum()), tail])
    return [Summary("Mean regret in per cent of ucb's over all worlds, and single runs", COLUMNS, rows)]
