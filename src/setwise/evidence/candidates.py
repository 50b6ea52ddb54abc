"""Attempts to do better than KL-MOSS: the policies that were tried, in the paper's worlds and in hard ones."""

import numpy as np

from setwise.evidence.adversary import hard_worlds, measured, player, with_growth
from setwise.evidence.measure import ratio
from setwise.evidence.spread import spread
from setwise.evidence.store import Progress, Row, read
from setwise.evidence.tried_policies import CANDIDATES, FrozenIndex
from setwise.paper.instances import INSTANCES
from setwise.simulation import simulate

REFERENCES = ("ucb", "kl-ucb", "kl-moss", "thompson")
PROMISING = ("kl-ucb++", "kl, half the level", "kl, smoothed", "bayes, 1/x", "bayes, 1/(x(1+log x))")
HORIZON, RUNS = 200_000, 30
HARD = ((10_000, 1000), (100_000, 300))


def compute(progress: Progress | None = None, quick: bool = False, seed: int = 0) -> list[Row]:
    """Rows of two kinds: `paper`, all candidates in the paper's worlds; `hard`, the promising ones in hard worlds.

    A row of the first kind has `share_of_ucb` and `share_of_kl_moss`, the ratio of its mean regret to theirs with the
    ends of its 95 % interval. Rows of the second kind are as the adversary's; the hard worlds are those made by hand,
    the trap, and what the adversary is known to have found against KL-MOSS.
    """
    horizon, runs, worlds = (5000, 4, ("camera", "mnl")) if quick else (HORIZON, RUNS, tuple(INSTANCES))
    few = ("ucb", "kl-moss", *(name for name, tried in CANDIDATES.items() if isinstance(tried, FrozenIndex)))
    names = few if quick else (*REFERENCES, *CANDIDATES)
    jobs = [(name, world, horizon, runs, seed) for world in worlds for name in names]
    rows = spread(in_paper, jobs, "playing the paper's worlds", progress, 1 if quick else None)
    by_place = {(row["world"], row["policy"]): row for row in rows}
    for row in rows:
        for name in ("ucb", "kl-moss"):
            other = by_place[row["world"], name]
            row[f"share_of_{name.replace('-', '_')}"] = list(ratio(other, row)) if row is not other else [1.0] * 3
    if quick:
        return rows
    hard = [w for w in hard_worlds(read("adversary")) if not w["players"] or w["players"][0] == "kl-moss"]
    fresh = seed + 2_000_003
    trials = [
        ("hard", world, name, length, many, fresh)
        for world in hard
        for name in ("kl-ucb", "kl-moss", *PROMISING)
        for length, many in HARD
    ]
    return rows + with_growth(spread(measured, trials, "playing hard worlds", progress, None))


def in_paper(name: str, world: str, horizon: int, runs: int, seed: int) -> Row:
    """One policy in one of the paper's worlds."""
    result = simulate(player(name), INSTANCES[world](), horizon, runs, seed, checkpoints=[horizon // 2], threads=1)
    final = result.regret[:, -1]
    return {
        "kind": "paper",
        "policy": name,
        "world": world,
        "horizon": horizon,
        "runs": runs,
        "mean": float(final.mean()),
        "error": float(result.standard_error()[-1]),
        "median": float(np.median(final)),
        "worst": float(final.max()),
        "second_half": float((final - result.regret[:, 0]).mean()),
    }
