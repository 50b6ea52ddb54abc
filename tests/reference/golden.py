"""Golden values: final regrets in the paper's worlds, by plain policies in plain worlds, round by round.

    python -m tests.reference.golden [--runs N] [--horizon T] [--keep]

prints them as a table, and with --keep writes them to tests/data/golden.json. Run r of a policy in a world follows from
the names of both, r and the horizon alone.
"""

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .algorithm1 import Algorithm1
from .index_policies import KLUCB
from .mnl_policies import MNLUCB
from .sampling_policies import largest
from .set_policies import StagewiseElimination
from .worlds import PAPER_VALUES, World, camera, mnl, preference_matrix, random_utility

FILE = Path(__file__).parents[1] / "data" / "golden.json"
COMMAND = "python -m tests.reference.golden"
HORIZON = 10_000
RUNS = {"ucb": 100, "mnl-ucb": 100, "stagewise-elimination": 100, "kl-ucb": 40}  # KL-UCB takes ten times as long
SHOWN = 3  # so many single runs are kept beside the means, to be recomputed exactly
LINE = "{:<22} {:<18} {:<10} {:>5} {:>10} {:>8}"


def with_memory(world: World) -> World:
    """The same world, with the probabilities of a set worked out once."""
    remembered = cache(lambda chosen: tuple(float(p) for p in world.exact(chosen)))
    return dataclasses.replace(world, exact=lambda chosen: remembered(tuple(chosen)))


def random_weak() -> World:
    """The random world that the package drew, from its table: a row for every set, in the order of the arms."""
    import setwise

    drawn = setwise.paper.random_weak()
    sets = combinations(range(drawn.n), drawn.k)
    table = {arms: dict(zip(arms, row, strict=True)) for arms, row in zip(sets, drawn.probabilities, strict=True)}

    def exact(chosen: Sequence[int]) -> list[float]:
        row = table[tuple(sorted(chosen))]
        return [float(row[arm]) for arm in chosen]

    return World(drawn.n, drawn.k, exact)


WORLDS: dict[str, Callable[[], World]] = {
    "mnl": mnl,
    "random-utility": lambda: dataclasses.replace(random_utility(), optimal=(0, 1, 2, 3, 4)),
    "preference-matrix": lambda: with_memory(preference_matrix()),
    "random-weak": lambda: with_memory(random_weak()),
    "camera": lambda: with_memory(camera()),
}
UTILITIES = {"random-utility": PAPER_VALUES}
world_of = cache(lambda name: WORLDS[name]())


def select_largest(policy: Any, rng: np.random.Generator) -> Sequence[int]:
    """The k arms of largest index."""
    return largest(np.array(policy.index), policy.k, rng)


def select_epoch(policy: MNLUCB, rng: np.random.Generator) -> Sequence[int]:
    """The set of the epoch, or for a new one the k arms of largest index."""
    return select_largest(policy, rng) if policy.held is None else policy.held


def select_block(policy: StagewiseElimination, rng: np.random.Generator) -> Sequence[int]:
    """The accepted arms and a random block of those not yet counted, filled up with others of the same pass."""
    uncounted = sorted(policy.uncounted)
    block = rng.permutation(uncounted)[: policy.places]
    others = rng.permutation(sorted(policy.active - policy.uncounted))[: policy.places - len(block)]
    return [*sorted(policy.accepted), *map(int, block), *map(int, others)]


class Player(NamedTuple):
    """A plain policy, from n, k and the horizon, and how it selects a set."""

    make: Callable[[int, int, int], Any]
    select: Callable[[Any, np.random.Generator], Sequence[int]]


PLAYERS = {
    "ucb": Player(Algorithm1, Algorithm1.select),
    "mnl-ucb": Player(MNLUCB, select_epoch),
    "stagewise-elimination": Player(StagewiseElimination, select_block),
    "kl-ucb": Player(KLUCB, select_largest),
}


class Final(NamedTuple):
    """Regret of a run from the true means, and that which the paper plots where arms have utilities.

    surrogate: the sum over the rounds of sum of mu over s* - sum of mu over s(t)
    """

    regret: float
    surrogate: float | None


def play(policy: str, name: str, horizon: int, run: int) -> Final:
    """One run."""
    world, player, utilities = world_of(name), PLAYERS[policy], UTILITIES.get(name)
    rng = np.random.default_rng([*f"{policy} {name}".encode(), run])
    state = player.make(world.n, world.k, horizon)
    optimum = sum(world.probabilities(world.best()))
    regret = 0.0
    pulls = [0] * world.n
    for _ in range(horizon):
        chosen = player.select(state, rng)
        regret += optimum - sum(world.probabilities(chosen))
        state.update(chosen, world.draw(chosen, rng, "choice"))
        for arm in chosen:
            pulls[arm] += 1
    if utilities is None:
        return Final(regret, None)
    most = horizon * sum(sorted(utilities)[-world.k :])
    return Final(regret, most - sum(utility * played for utility, played in zip(utilities, pulls, strict=True)))


class Golden(NamedTuple):
    """The mean of final regrets.

    policy, world: by their names on the command line
    measure: "regret", or "surrogate"
    horizon, runs: how it was played
    mean, error: of the runs, with the standard error
    first: the first runs themselves
    """

    policy: str
    world: str
    measure: str
    horizon: int
    runs: int
    mean: float
    error: float
    first: tuple[float, ...]


def goldens_of(policy: str, world: str, horizon: int, runs: int) -> list[Golden]:
    """The means of one policy in one world."""
    finals = [play(policy, world, horizon, run) for run in range(runs)]
    found = []
    for measure, values in zip(Final._fields, zip(*finals)):
        if values[0] is not None:
            error = float(np.std(values, ddof=1)) / math.sqrt(runs)
            mean = float(np.mean(values))
            found.append(Golden(policy, world, measure, horizon, runs, mean, error, tuple(values[:SHOWN])))
    return found


def kept() -> list[Golden]:
    """The values of the file."""
    return [Golden(**{**row, "first": tuple(row["first"])}) for row in json.loads(FILE.read_text())["values"]]


def main() -> None:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Final regrets, plainly.")
    usual = ", ".join(f"{runs} of {policy}" for policy, runs in RUNS.items())
    parser.add_argument("--runs", type=int, help=f"by default {usual}")
    parser.add_argument("--horizon", type=int, default=HORIZON)
    parser.add_argument("--keep", action="store_true", help=f"write them to {FILE.relative_to(FILE.parents[2])}")
    options = parser.parse_args()
    if options.runs is not None and options.runs < 2:
        parser.error(f"--runs is {options.runs}; a standard error takes 2 or more")
    print(f"final regrets after {options.horizon:,} rounds")
    print(LINE.format("policy", "world", "measure", "runs", "mean", "error"))
    values = []
    for world in WORLDS:
        for policy in PLAYERS:
            for golden in goldens_of(policy, world, options.horizon, options.runs or RUNS[policy]):
                mean, error = f"{golden.mean:.3f}", f"{golden.error:.3f}"
                print(LINE.format(policy, world, golden.measure, golden.runs, mean, error), flush=True)
                values.append(golden._asdict())
    if options.keep:
        command = " ".join([COMMAND, *sys.argv[1:]])
        FILE.write_text(json.dumps({"command": command, "values": values}, indent=1) + "\n")


if __name__ == "__main__":
    main()
