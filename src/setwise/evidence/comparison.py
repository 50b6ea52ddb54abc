"""Every policy in one table with one protocol: the paper's five worlds, the trap, and a world of topics."""

from setwise.evidence.measure import Job, measure_all, world_of
from setwise.evidence.players import PLAYERS
from setwise.evidence.store import Progress, Row
from setwise.simulation.simulate import check_pair
from setwise.types import InputError

WORLDS = ("mnl", "random-utility", "preference-matrix", "random-weak", "camera", "trap", "coverage")
HORIZON, RUNS = 100_000, 20
FEWER_RUNS = {"random-utility": 10}  # integrals for every new set take their time


def plays(label: str, name: str) -> bool:
    """Whether the policy can play in the world; features are given where there are any."""
    world = world_of(name)
    try:
        check_pair(PLAYERS[label](world), world)
    except InputError:
        return False
    return True


def jobs(quick: bool, seed: int) -> list[Job]:
    """What is measured: each policy in each world it can play in."""
    horizon, worlds = (2000, ("camera",)) if quick else (HORIZON, WORLDS)
    return [
        Job(label, name, horizon, 3 if quick else FEWER_RUNS.get(name, RUNS), seed, curve=25)
        for label in PLAYERS
        for name in worlds
        if plays(label, name)
    ]


def compute(progress: Progress | None = None, quick: bool = False, seed: int = 0) -> list[Row]:
    """A row for each policy and world: regret at the horizon, and its curve."""
    return measure_all(jobs(quick, seed), progress)
