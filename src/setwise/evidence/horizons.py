"""How regret grows with the horizon; a policy that knows its horizon plays each one anew."""

from setwise.evidence.measure import Job, growth, measure_all
from setwise.evidence.store import Progress, Row

WORLDS = ("mnl", "preference-matrix", "random-weak", "camera", "trap")
LAST = {"ucb": 8, "kl-ucb": 8, "kl-moss": 8, "thompson": 6}  # Thompson sampling cannot be fast-forwarded
RUNS = 20


def compute(progress: Progress | None = None, quick: bool = False, seed: int = 0) -> list[Row]:
    """A row for each policy, world and horizon; the last of a series has its `growth`, over 2 decades."""
    worlds, runs = (("camera",), 3) if quick else (WORLDS, RUNS)
    jobs = [
        Job(policy, world, 10**power, runs, seed)
        for world in worlds
        for policy, last in LAST.items()
        for power in range(4, (4 if quick else last) + 1)
    ]
    rows = measure_all(jobs, progress)
    for world in worlds:
        for policy in LAST:
            series = [row for row in rows if (row["world"], row["policy"]) == (world, policy)]
            if len(series) >= 3:
                series[-1]["growth"] = growth(series[-3:])
    return rows
