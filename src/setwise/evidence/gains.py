"""How much less regret than Algorithm 1: the KL index, its falling level, the Bernstein index, Thompson sampling."""

from setwise.evidence.measure import Job, measure_all, ratio
from setwise.evidence.store import Progress, Row

POLICIES = ("ucb", "kl-ucb", "ucb-v", "kl-moss", "thompson")
WORLDS = ("mnl", "random-utility", "preference-matrix", "random-weak", "camera")
HORIZON, RUNS = 200_000, 40


def compute(progress: Progress | None = None, quick: bool = False, seed: int = 0) -> list[Row]:
    """A row for each policy and world, with `times_less`: UCB's regret over the policy's, and its 95 % interval."""
    horizon, runs, worlds = (2000, 5, WORLDS[-1:]) if quick else (HORIZON, RUNS, WORLDS)
    rows = measure_all([Job(policy, world, horizon, runs, seed) for world in worlds for policy in POLICIES], progress)
    yardsticks = {row["world"]: row for row in rows if row["policy"] == "ucb"}
    return [{**row, "times_less": list(ratio(row, yardsticks[row["world"]]))} for row in rows]
