"""Beyond the paper: regret against the margin by which a world breaks weak optimal set consistency."""

import functools
import math

import numpy as np

from setwise.environments.random_table import broken_table
from setwise.experiments.outcome import Order, Outcome
from setwise.experiments.plays import Play
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.paper.exhibits.sensitivity_sweep import BAND, final_regret, number, with_interval
from setwise.policies import POLICIES
from setwise.report.parts import Chart, Section, Series, Text, TextTable
from setwise.simulation.statistics import interval
from setwise.types import Floats

MARGINS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
PLAYED = ("robust-ucb", "kl-ucb", "ucb", "thompson", "set-thompson", "uniform")
LOST = 0.25  # a policy fails at a margin if it has at least this share of uniform play's regret

Plays = dict[tuple[str, float], list[Play]]


@functools.cache
def plays(scale: Scale) -> Plays:
    """Return the plays of every policy in the random tables of every margin."""
    horizon, tables = scale.horizon_of(10**4, 10**5, 10**6), int(scale.of(2, 10, 50))
    found: Plays = {}
    for margin in MARGINS:
        worlds = [broken_table(seed, margin) for seed in range(tables)]
        for name in PLAYED:
            own = POLICIES[name]()
            found[name, margin] = [Play.of(own, world, horizon, scale.seed, np.array([horizon])) for world in worlds]
    return found


def runs_of(scale: Scale) -> int:
    """Return the number of runs in each table."""
    return scale.runs_of(1, 2, 4)


def orders(scale: Scale) -> list[Order]:
    """Return the runs that the section needs."""
    return [Order(play, runs_of(scale)) for own in plays(scale).values() for play in own]


def means(scale: Scale, outcome: Outcome) -> dict[tuple[str, float], Floats]:
    """Return the mean regret in every table."""
    runs = runs_of(scale)
    return {
        key: np.array([float(final_regret(outcome.take(play, runs)).mean()) for play in own])
        for key, own in plays(scale).items()
    }


def section(scale: Scale, outcome: Outcome) -> Section:
    """Return the chart, what one sees in it, and its numbers."""
    found = means(scale, outcome)
    return Section("violations", EXHIBIT.title, [_chart(scale, found), Text(what_one_sees(found)), _numbers(found)])


def _chart(scale: Scale, found: dict[tuple[str, float], Floats]) -> Chart:
    horizon = plays(scale)[PLAYED[0], MARGINS[0]][0].horizon
    return Chart(
        name="violations-margin",
        title=f"Regret after {horizon:,} rounds against the margin of violation",
        x_label="margin: how much less an arm of the best set earns in other sets",
        y_label="regret",
        series=[_series(name, [found[name, margin] for margin in MARGINS]) for name in PLAYED],
        band=BAND,
        x_log=False,
        y_log=True,
    )


def _series(name: str, samples: list[Floats]) -> Series:
    ends = [interval(sample) for sample in samples]
    whole = all(math.isfinite(own.low) and own.low > 0.0 for own in ends)
    return Series(
        label=name,
        x=np.array(MARGINS),
        y=np.array([own.value for own in ends]),
        low=np.array([own.low for own in ends]) if whole else None,
        high=np.array([own.high for own in ends]) if whole else None,
        style=name,
        kind="points",
    )


def failing(found: dict[tuple[str, float], Floats], name: str) -> float | None:
    """Return the least margin from which on a policy has a large share of uniform play's regret, if there is one."""
    least = None
    for margin in reversed(MARGINS):
        if found[name, margin].mean() < LOST * found["uniform", margin].mean():
            break
        least = margin
    return least


def what_one_sees(found: dict[tuple[str, float], Floats]) -> str:
    """Say from which margin on each policy fails, and what it costs to be ready for that."""
    tables = len(found[PLAYED[0], MARGINS[0]])
    fails = {name: failing(found, name) for name in PLAYED if name != "uniform"}
    lost = [f"{name} from {margin:g} on" for name, margin in fails.items() if margin is not None]
    kept = [name for name, margin in fails.items() if margin is None]
    first, last = MARGINS[0], MARGINS[-1]
    cost = found["robust-ucb", first].mean() / found["kl-ucb", first].mean()
    over = found["robust-ucb", last].mean() / found["set-thompson", last].mean()
    return (
        f"In each of {tables} random tables (n = 7, k = 3) the arms of the best set earn less in every other set, by "
        "the margin or all they have. At 0 the assumption holds with equality. "
        + (f"Regret of at least {LOST:.0%} of uniform play's: {'; '.join(lost)}. " if lost else "")
        + (f"Less than that at every margin: {', '.join(kept)}. " if kept else "")
        + f"At margin {first:g}, robust-ucb has {number(cost)} times the regret of kl-ucb; at {last:g}, {number(over)} "
        "times that of set-thompson, which learns about every set by itself."
    )


def _numbers(found: dict[tuple[str, float], Floats]) -> TextTable:
    return TextTable(
        name="violations-numbers",
        caption="Mean regret over the tables, with 95 % intervals, by margin.",
        head=["policy", *(f"{margin:g}" for margin in MARGINS)],
        rows=[[name, *(with_interval(interval(found[name, margin])) for margin in MARGINS)] for name in PLAYED],
    )


EXHIBIT = Exhibit("violations", "Beyond the paper: when the assumption fails", orders, section)
