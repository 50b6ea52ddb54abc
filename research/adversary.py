"""A search for worlds that break a policy, among those that satisfy weak optimal set consistency.

Algorithm 1 is proved to have regret of order log T in all of them; KL-UCB, KL-MOSS and Thompson sampling are not. So
search worlds of few arms (`hard_worlds`) in which these do badly, by three objectives:

growth: the decimal logarithm of the regret at 10 T over that at T, each with its own horizon; linear regret gives 1
tail: the worst run over the mean
loss: the mean regret over that of Algorithm 1

First play worlds made by hand and drawn at random. Then, for each policy and objective, change the worst world little
by little and keep each change that makes it worse (hill climbing). A search also finds luck, so play the worst worlds
again from other seeds, more often and for longer: only these numbers say something about a policy. Count runs that
never find the best set in a few worlds, with far more runs.
"""

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from research.hard_worlds import PARTS, chosen_worlds, crafted, mutate, random_world, stuck
from research.summary import Run, Summary, growth, regrets, scientific
from setwise import Experiment, simulate
from setwise.environments import Table
from setwise.policies import POLICIES
from setwise.types import Floats

SIZES = ((4, 2), (5, 2), (6, 3))
OBJECTIVES = ("growth", "tail", "loss")
SEED = 1_000_003  # of the verification


class Budget(NamedTuple):
    """How much to play of one policy.

    horizon: T in the search, whose long runs have 10 T rounds
    short_runs, long_runs: how many runs of each
    verify: pairs of horizon and runs
    often: the same, to count runs that are stuck
    """

    horizon: int
    short_runs: int
    long_runs: int
    verify: tuple[tuple[int, int], ...]
    often: tuple[tuple[int, int], ...]


POWERS = (10_000, 100_000, 1_000_000, 10_000_000)
FAST = Budget(10_000, 20, 30, tuple((T, 100) for T in POWERS), ((10_000, 4000), (100_000, 4000)))
# A round of Thompson sampling draws a sample of every arm, and no rounds can be played at once.
SLOW = Budget(3000, 20, 20, ((10_000, 100), (100_000, 100), (1_000_000, 30)), ((10_000, 4000), (100_000, 500)))
FULL = {
    "ucb": FAST._replace(often=((1_000_000, 1000),)),  # after 10^4 rounds no run of UCB has learned the best set
    "kl-ucb": FAST,
    "kl-moss": FAST,
    "thompson": SLOW,
}
QUICK = dict.fromkeys(("ucb", "kl-moss"), Budget(300, 3, 3, ((300, 3), (3000, 3)), ((300, 10),)))


class Look(NamedTuple):
    """Mean regret of a policy in a world at T and at 10 T, and the worst run at 10 T."""

    short: float
    long: float
    worst: float

    def value(self, objective: str, ucb: "Look") -> float:
        """Return the objective, given Algorithm 1 in the same world."""
        if objective == "growth":
            return math.log10(max(self.long, 1e-9) / max(self.short, 1e-9))
        return self.worst / max(self.long, 1e-9) if objective == "tail" else self.long / ucb.long


class Found(NamedTuple):
    """The result of a search: the objective in all worlds at the start, and the world after climbing."""

    policy: str
    objective: str
    values: list[float]
    start: float
    value: float
    world: Any

    @property
    def label(self) -> str:
        return f"searched: {self.objective} of {self.policy}, n = {self.world.n}"


def compute(run: Run, quick: bool = False) -> list[Summary]:
    """Search, verify, and count runs that are stuck."""
    plan = QUICK if quick else FULL
    found = search(plan, SIZES[:1], 1, 2) if quick else search(plan, SIZES, 60, 80)
    by_hand = chosen_worlds(quick)
    worlds = {own.label: own.world for own in found} | by_hand
    players = {own.label: {own.policy, "ucb"} for own in found} | {label: {*plan} for label in by_hand}
    return [summary_of(found, plan), verify(run, plan, worlds, players), count_stuck(run, plan, by_hand), tables(found)]


def search(plan: Mapping[str, Budget], sizes: Sequence[tuple[int, int]], drawn: int, steps: int) -> list[Found]:
    """Look at all worlds, then climb from the worst one for each policy and objective."""
    worlds = []
    for n, k in sizes:
        rng = np.random.default_rng([0, n, k])
        worlds += [Table(rows) for rows in crafted(n, k).values()]
        worlds += [Table(random_world(n, k, rng)) for _ in range(drawn)]
    budgets = {(name, own.horizon): own for name, own in plan.items()}
    budgets |= {("ucb", own.horizon): plan["ucb"]._replace(horizon=own.horizon) for own in plan.values()}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        looks = {key: list(pool.map(partial(look, key[0], own, 0), worlds)) for key, own in budgets.items()}
        climbs = []
        for name, own in plan.items():
            pairs = list(zip(looks[name, own.horizon], looks["ucb", own.horizon]))
            for objective in OBJECTIVES[: 2 if name == "ucb" else 3]:
                values = [here.value(objective, ucb) for here, ucb in pairs]
                climbs.append(pool.submit(climb, plan, name, objective, worlds[int(np.argmax(values))], values, steps))
        return [own.result() for own in climbs]


def look(name: str, own: Budget, seed: int, world: Any) -> Look:
    """Play one policy in one world, for a short and a long horizon."""

    def play(horizon: int, runs: int) -> Floats:
        points = [max(1, horizon // 2)]
        return simulate(POLICIES[name](), world, horizon, runs, seed, checkpoints=points, threads=1).regret[:, -1]

    short, long = play(own.horizon, own.short_runs), play(10 * own.horizon, own.long_runs)
    return Look(float(short.mean()), float(long.mean()), float(long.max()))


def climb(plan: Mapping[str, Budget], name: str, objective: str, start: Any, values: list[float], steps: int) -> Found:
    """Change a world little by little as long as the policy does worse, by the mean of two looks from new seeds."""
    own, ucb = plan[name], plan["ucb"]._replace(horizon=plan[name].horizon)
    rng = np.random.default_rng([0, *name.encode(), *objective.encode()])

    def value_of(world: Any) -> float:
        seed = int(rng.integers(1 << 32))
        here = look(name, own, seed, world)
        return here.value(objective, look("ucb", ucb, seed, world) if objective == "loss" else here)

    world = start
    value = first_value = (value_of(world) + value_of(world)) / 2.0
    for _ in range(steps):
        near = Table(mutate(world.probabilities, world.n, world.k, rng))
        first = value_of(near)
        if first > value:
            second = (first + value_of(near)) / 2.0
            if second > value:
                world, value = near, second
    return Found(name, objective, values, first_value, value, world)


def summary_of(found: Sequence[Found], plan: Mapping[str, Budget]) -> Summary:
    rows: list[list[Any]] = []
    for own in found:
        at_start = [float(np.median(own.values)), max(own.values)]
        rows.append([own.policy, own.objective, scientific(10 * plan[own.policy].horizon), *at_start, own.value])
    columns = ["policy", "objective", "rounds", "median of all worlds", "largest", "after climbing"]
    return Summary("What the search found", columns, rows)


def verify(run: Run, plan: Mapping[str, Budget], worlds: Mapping[str, Any], players: Mapping[str, set[str]]) -> Summary:
    """Play the worst worlds from seeds that no search has used, at growing horizons."""
    done = {}
    for name, own in plan.items():
        here = {label: world for label, world in worlds.items() if name in players[label]}
        for T, runs in own.verify:
            done[name, T] = run(Experiment(here, [name], T, runs, SEED, checkpoints=[T // 2]))
    horizons = sorted({T for _, T in done})
    rows = []
    for label in worlds:
        for name in (name for name in plan if name in players[label]):
            found = {T: regrets(done[name, T], label, name) for T in horizons if (name, T) in done}
            before, last = sorted(found)[-2:]
            grown = growth(found[before], found[last], math.log10(last / before))
            means: list[Any] = [float(found[T].mean()) if T in found else "-" for T in horizons]
            rows.append([label, name, *means, grown, float(found[last].max() / max(found[last].mean(), 1e-9))])
    columns = ["world", "policy", *map(scientific, horizons), "growth, last decade", "worst run / mean"]
    return Summary("The worst worlds played again from other seeds: regret at each horizon", columns, rows)


def count_stuck(run: Run, plan: Mapping[str, Budget], worlds: Mapping[str, Any]) -> Summary:
    """Count runs that hardly play the best set in their second half."""
    worlds = {label: world for label, world in worlds.items() if label.startswith("crafted")}
    found = {}
    for name, own in plan.items():
        for T, runs in own.often:
            done = run(Experiment(worlds, [name], T, runs, SEED + 1, checkpoints=[T // 2]))
            for label, world in worlds.items():
                final = regrets(done, label, name)
                share = stuck(done[label, name], world)
                cells = [label, name, scientific(T), runs, share, float(final.mean()), float(final.max())]
                found[label, name, T] = cells
    columns = ["world", "policy", "rounds", "runs", "% of runs stuck", "mean regret", "worst run"]
    rows = [cells for label in worlds for (place, *_), cells in found.items() if place == label]
    return Summary("Runs that hardly play the best set in their second half", columns, rows)


def tables(found: Sequence[Found]) -> Summary:
    """Write the worlds that were found, so that they can be played again."""
    rows: list[list[Any]] = []
    for own in found:
        parts = np.rint(own.world.probabilities * PARTS).astype(int)
        text = ", ".join(" ".join(map(str, row)) for row in parts.tolist())
        rows.append([own.label, f"{own.world.k}", text])
    columns = ["world", "k", "10^4 P(a given s), set by set"]
    return Summary("The worlds that were found", columns, rows)
