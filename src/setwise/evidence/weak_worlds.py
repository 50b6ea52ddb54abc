"""The paper's random worlds, 200 of them: is a policy ever worse than Algorithm 1, or a single run far off?"""

from setwise.evidence.measure import Job, measure_all
from setwise.evidence.store import Progress, Row

POLICIES = ("ucb", "kl-ucb", "kl-moss", "thompson")
COUNT, HORIZON, RUNS = 200, 100_000, 10


def compute(progress: Progress | None = None, quick: bool = False, seed: int = 0) -> list[Row]:
    """A row for each world and policy."""
    count, horizon, runs = (2, 1000, 2) if quick else (COUNT, HORIZON, RUNS)
    jobs = [
        Job(policy, f"random-weak:seed={number}", horizon, runs, seed) for number in range(count) for policy in POLICIES
    ]
    return measure_all(jobs, progress)
