"""A search for worlds that break a policy, among those that satisfy weak optimal set consistency.

Algorithm 1 is proved to have regret of the order of log T in all of them; KL-UCB, KL-MOSS and Thompson sampling are
not. So worlds of few arms are searched (`consistent_tables`) in which these do badly, by three objectives:

growth: the decimal logarithm of the regret at 10 T over that at T, each with its own horizon; linear regret gives 1
tail: the worst run over the mean of all
loss: the mean regret over that of Algorithm 1

First worlds made by hand and worlds drawn at random are played by all policies. Then, for each policy and objective,
the worst world is changed little by little, and each change kept that makes it worse (hill climbing). What is found
that way is found partly by luck, so the worst worlds are played again from other seeds, more often and for longer: only
these numbers, the rows `verified`, say something about a policy. Rare runs that never find the best set need far more
runs to be seen: the rows `stuck`, for a few worlds.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from setwise.environments import PRESETS, Table
from setwise.evidence.consistent_tables import crafted, mutate, random_world
from setwise.evidence.spread import spread
from setwise.evidence.store import Progress, Row
from setwise.evidence.tried_policies import CANDIDATES
from setwise.policies import POLICIES
from setwise.simulation import simulate
from setwise.types import Floats

SIZES = ((4, 2), (5, 2), (6, 3))
OBJECTIVES = ("growth", "tail", "loss")
YARDSTICK = "ucb"


class Budget(NamedTuple):
    """How much is played for one policy.

    horizon: T in the search, whose long runs have 10 T rounds
    short_runs, long_runs: how many runs of each
    horizons, runs: when a world is verified
    often: when runs that are stuck are counted, pairs of horizon and runs
    """

    horizon: int
    short_runs: int
    long_runs: int
    horizons: tuple[int, ...]
    runs: tuple[int, ...]
    often: tuple[tuple[int, int], ...]


class Plan(NamedTuple):
    """What is played.

    policies: the budget of each
    sizes: n and k
    drawn: how many worlds are drawn at random for each size
    steps: how many changes are tried for each policy and objective
    crafted: n, k and name of the worlds made by hand that are verified too
    """

    policies: dict[str, Budget]
    sizes: tuple[tuple[int, int], ...]
    drawn: int
    steps: int
    crafted: tuple[tuple[int, int, str], ...]


FAST = Budget(
    horizon=10_000,
    short_runs=20,
    long_runs=30,
    horizons=(10_000, 100_000, 1_000_000, 10_000_000),
    runs=(100, 100, 100, 100),
    often=((10_000, 4000), (100_000, 4000)),
)
SLOW = Budget(  # a round of Thompson sampling draws a sample of every arm, and no rounds can be played at once
    horizon=3000,
    short_runs=20,
    long_runs=20,
    horizons=(10_000, 100_000, 1_000_000),
    runs=(100, 100, 30),
    often=((10_000, 4000), (100_000, 500)),
)
FULL = Plan(
    # At 10^4 rounds UCB has not yet learned the best set in any run, so there is nothing to count.
    policies={"ucb": FAST._replace(often=((1_000_000, 1000),)), "kl-ucb": FAST, "kl-moss": FAST, "thompson": SLOW},
    sizes=SIZES,
    drawn=60,
    steps=80,
    crafted=((4, 2, "even"), (6, 3, "even"), (6, 3, "fallen")),
)

LITTLE = Budget(300, 3, 3, (300, 3000), (3, 3), ((300, 10),))
QUICK = Plan(dict.fromkeys(("ucb", "kl-moss"), LITTLE), SIZES[:1], drawn=1, steps=2, crafted=((4, 2, "even"),))


def compute(progress: Progress | None = None, quick: bool = False, seed: int = 0) -> list[Row]:
    """Rows of three kinds: `search`, what each search found; `verified`; and `stuck`."""
    return run(QUICK, progress, seed, processes=1) if quick else run(FULL, progress, seed)


def run(plan: Plan, progress: Progress | None = None, seed: int = 0, processes: int | None = None) -> list[Row]:
    """Search, then verify; what is found does not depend on how many processes there are."""
    worlds = starting_worlds(plan, seed)
    players = list(plan.policies.items())
    # Algorithm 1 at the horizons of all others too, so that the two can be compared.
    yardsticks = {own.horizon: plan.policies[YARDSTICK]._replace(horizon=own.horizon) for _, own in players}
    players += [(YARDSTICK, own) for own in yardsticks.values() if own != plan.policies[YARDSTICK]]
    keys = [(name, own.horizon, place) for name, own in players for place in range(len(worlds))]
    jobs = [(name, own, world["table"], seed) for name, own in players for world in worlds]
    found = dict(zip(keys, spread(first_look, jobs, "playing all worlds", progress, processes), strict=True))
    climbs = []
    for name, own in plan.policies.items():
        for objective in OBJECTIVES[: 2 if name == YARDSTICK else 3]:
            values = [
                value_of(found[name, own.horizon, place], found[YARDSTICK, own.horizon, place], objective)
                for place in range(len(worlds))
            ]
            climbs.append((plan, name, objective, worlds[int(np.argmax(values))], values, seed))
    searches = spread(climb, climbs, "climbing", progress, processes)
    return searches + verify(plan, hard_worlds(searches, plan.crafted), seed, progress, processes)


def starting_worlds(plan: Plan, seed: int) -> list[Row]:
    """The worlds made by hand and those drawn at random, for each size: name, n, k and table."""
    worlds: list[Row] = []
    for n, k in plan.sizes:
        rng = np.random.default_rng([seed, n, k])
        tables = {f"crafted: {name}": rows for name, rows in crafted(n, k).items()}
        tables |= {f"drawn {number}": random_world(n, k, rng) for number in range(plan.drawn)}
        worlds += [{"origin": name, "n": n, "k": k, "table": rows.tolist()} for name, rows in tables.items()]
    return worlds


def table_of(rows: Any) -> Any:
    """The world of a table; n follows from its shape."""
    return Table(np.asarray(rows, dtype=np.float64))


def regret_of(name: str, rows: Any, horizon: int, runs: int, seed: int) -> Floats:
    """Regret of each run at half the horizon and at the horizon, runs x 2."""
    result = simulate(player(name), table_of(rows), horizon, runs, seed, checkpoints=[max(1, horizon // 2)], threads=1)
    return result.regret[:, -2:]


def player(name: str) -> Any:
    """The policy of that name, or a candidate."""
    return POLICIES[name]() if name in POLICIES else CANDIDATES[name]


def first_look(name: str, own: Budget, rows: Any, seed: int) -> dict[str, float]:
    """What the three objectives need of one policy in one world."""
    short = regret_of(name, rows, own.horizon, own.short_runs, seed)[:, -1]
    long = regret_of(name, rows, 10 * own.horizon, own.long_runs, seed)[:, -1]
    return {"short": float(short.mean()), "long": float(long.mean()), "worst": float(long.max())}


def value_of(found: dict[str, float], yardstick: dict[str, float], objective: str) -> float:
    """The objective, from what was found for the policy and for Algorithm 1."""
    if objective == "growth":
        return math.log10(max(found["long"], 1e-9) / max(found["short"], 1e-9))
    return found["worst"] / max(found["long"], 1e-9) if objective == "tail" else found["long"] / yardstick["long"]


def climb(plan: Plan, name: str, objective: str, start: Row, values: list[float], seed: int) -> Row:
    """Change a world little by little, as long as the policy does worse; a row with the way and what was found.

    Every world is judged by the mean of two evaluations before it is taken, from other seeds each time.
    """
    own = plan.policies[name]
    other = plan.policies[YARDSTICK]._replace(horizon=own.horizon)
    rng = np.random.default_rng([seed, *name.encode(), *objective.encode()])
    n, k = start["n"], start["k"]

    def evaluate(rows: Floats) -> float:
        fresh = int(rng.integers(1 << 32))
        yardstick = first_look(YARDSTICK, other, rows, fresh) if objective == "loss" else {}
        return value_of(first_look(name, own, rows, fresh), yardstick, objective)

    rows = np.array(start["table"])
    value = again = (evaluate(rows) + evaluate(rows)) / 2.0
    taken = 0
    for _ in range(plan.steps):
        near = mutate(rows, n, k, rng)
        first = evaluate(near)
        if first > value:
            second = (first + evaluate(near)) / 2.0
            if second > value:
                rows, value, taken = near, second, taken + 1
    return {
        "kind": "search",
        "policy": name,
        "objective": objective,
        "n": n,
        "k": k,
        "horizon": 10 * own.horizon,
        "runs": own.long_runs,
        "worlds": len(values),
        "median": float(np.median(values)),
        "largest": max(values),
        "start": start["origin"],
        "start_again": again,
        "steps": plan.steps,
        "steps_taken": taken,
        "found": value,
        "table": rows.tolist(),
    }


def hard_worlds(searches: list[Row], by_hand: Iterable[tuple[int, int, str]] = FULL.crafted) -> list[Row]:
    """The worlds to verify, with who plays there: all policies, or the one that a search was about and Algorithm 1."""
    worlds: list[Row] = [
        {
            "world": f"searched: {row['objective']} of {row['policy']}",
            "players": list(dict.fromkeys([row["policy"], YARDSTICK])),
            **{name: row[name] for name in ("n", "k", "table")},
        }
        for row in searches
        if row["kind"] == "search"
    ]
    trap = PRESETS["trap"]()
    worlds.append({"world": "trap", "players": [], "n": trap.n, "k": trap.k, "table": trap.probabilities.tolist()})
    for n, k, name in by_hand:
        table = crafted(n, k)[name].tolist()
        worlds.append({"world": f"crafted: {name}", "players": [], "n": n, "k": k, "table": table})
    return worlds


def verify(
    plan: Plan, worlds: list[Row], seed: int, progress: Progress | None = None, processes: int | None = None
) -> list[Row]:
    """Play the worlds from seeds that no search has used, at growing horizons; and count the runs that are stuck."""
    fresh = seed + 1_000_003
    jobs = []
    for world in worlds:
        for name in world["players"] or plan.policies:
            own = plan.policies[name]
            jobs += [("verified", world, name, T, runs, fresh) for T, runs in zip(own.horizons, own.runs, strict=True)]
            if world["world"].startswith("crafted"):
                jobs += [("stuck", world, name, T, runs, fresh + 1) for T, runs in own.often]
    return with_growth(spread(measured, jobs, "verifying", progress, processes))


def with_growth(rows: list[Row]) -> list[Row]:
    """The rows; those that follow a shorter horizon of the same policy in the same world say how regret has grown."""
    last: dict[Any, Row] = {}
    for row in rows:
        key = tuple(row[name] for name in ("kind", "world", "n", "policy"))
        if key in last:
            row["growth"], row["growth_error"] = growth(last[key], row)
        last[key] = row
    return rows


def measured(kind: str, world: Row, name: str, horizon: int, runs: int, seed: int) -> Row:
    """One policy in one world at one horizon.

    stuck: the share of runs that lose, in the second half, at least half the least gap a round: they hardly play s*
    without_stuck: the mean regret of the others
    """
    regret = regret_of(name, world["table"], horizon, runs, seed)
    final = regret[:, -1]
    least_gap = table_of(world["table"]).gaps()[0]
    slope = (final - regret[:, 0]) / (horizon - max(1, horizon // 2))
    stuck = slope >= least_gap / 2.0
    share = float(stuck.mean())
    return {
        "kind": kind,
        "policy": name,
        "world": world["world"],
        "n": world["n"],
        "k": world["k"],
        "horizon": horizon,
        "runs": runs,
        "mean": float(final.mean()),
        "error": float(final.std(ddof=1) / math.sqrt(runs)),
        "median": float(np.median(final)),
        "worst": float(final.max()),
        "worst_over_mean": float(final.max() / max(final.mean(), 1e-9)),
        "stuck": share,
        "stuck_error": math.sqrt(share * (1.0 - share) / runs),
        "without_stuck": float(final[~stuck].mean()) if share < 1.0 else None,
        "least_gap": least_gap,
        "table": world["table"],
    }


def growth(before: Row, after: Row) -> tuple[float, float]:
    """The exponent of regret from one horizon to the next, and its standard error; linear regret gives 1."""
    decades = math.log10(after["horizon"] / before["horizon"])
    exponent = math.log10(max(after["mean"], 1e-9) / max(before["mean"], 1e-9)) / decades
    relative = math.hypot(before["error"] / max(before["mean"], 1e-9), after["error"] / max(after["mean"], 1e-9))
    return exponent, relative / math.log(10.0) / decades
