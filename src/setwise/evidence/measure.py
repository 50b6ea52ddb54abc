"""One policy in one world, measured; and many of these on all cores."""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.environments import PRESETS
from setwise.evidence.players import PLAYERS
from setwise.evidence.spread import spread
from setwise.evidence.store import Progress, Row
from setwise.paper.instances import INSTANCES, random_weak
from setwise.simulation import simulate


class Job(NamedTuple):
    """What to measure.

    policy: by its label in `PLAYERS`
    world: a name on the command line, for example camera or random-weak:seed=3
    curve: how many checkpoints to keep, or 0
    """

    policy: str
    world: str
    horizon: int
    runs: int
    seed: int = 0
    curve: int = 0


def world_of(name: str) -> Any:
    """The world of that name."""
    if name.startswith("random-weak:seed="):
        return random_weak(seed=int(name.partition("=")[2]))
    return {**INSTANCES, **PRESETS}[name]()


def measure(job: Job) -> Row:
    """Play and report the regret at the horizon: its mean, standard error, least and worst run."""
    world = world_of(job.world)
    policy = PLAYERS[job.policy](world)
    checkpoints: Any = job.curve if job.curve else [max(1, job.horizon // 2)]
    result = simulate(policy, world, job.horizon, job.runs, job.seed, checkpoints=checkpoints, threads=1)
    final = result.regret[:, -1]
    row: Row = {
        "policy": job.policy,
        "world": job.world,
        "horizon": job.horizon,
        "runs": job.runs,
        "mean": float(final.mean()),
        "error": float(result.standard_error()[-1]) if job.runs > 1 else None,
        "least": float(final.min()),
        "worst": float(final.max()),
    }
    if job.curve:
        row["rounds"] = result.rounds.tolist()
        row["curve"] = result.mean_regret().tolist()
    else:
        row["second_half"] = float((final - result.regret[:, 0]).mean())
    if result.smaller is not None:
        row["smaller"] = float(result.smaller.mean() / job.horizon)
    return row


def measure_all(jobs: list[Job], progress: Progress | None = None, processes: int | None = None) -> list[Row]:
    """Measure every job, in the order given; what is measured does not depend on how many processes there are."""
    return spread(measure, [(job,) for job in jobs], "measuring", progress, processes)


def ratio(row: Row, yardstick: Row) -> tuple[float, float, float]:
    """Yardstick over row, how many times less regret, with the ends of its 95 % interval.

    The two means are independent, so the relative variance of their ratio is the sum of theirs (delta method on the
    logarithm).

    >>> ratio({"mean": 10.0, "error": 0.0}, {"mean": 50.0, "error": 0.0})
    (5.0, 5.0, 5.0)
    """
    found = yardstick["mean"] / row["mean"]
    spread = 1.96 * math.hypot(row["error"] / row["mean"], yardstick["error"] / yardstick["mean"])
    return found, found * math.exp(-spread), found * math.exp(spread)


def growth(rows: list[Row]) -> float:
    """The slope of log regret over log horizon, by least squares: 1 is linear regret, 1/2 that of a square root."""
    horizons = np.log([row["horizon"] for row in rows])
    return float(np.polyfit(horizons, np.log([row["mean"] for row in rows]), 1)[0])
