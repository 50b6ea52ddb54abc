"""Rewards in [0, B]: regret of Algorithm 1 against B, with a gap that grows with B and with a fixed gap."""

import functools
import math
from typing import Any

import numpy as np

from setwise.environments import Independent, Scaled
from setwise.experiments.outcome import Outcome
from setwise.experiments.plays import Play
from setwise.paper.exhibits.exhibit import Scale
from setwise.paper.exhibits.sensitivity_sweep import (
    BAND,
    Sweep,
    exponent,
    final_regret,
    guide,
    last_decade,
    number,
    played,
    with_interval,
)
from setwise.paper.instances import lower_bound_independent
from setwise.policies import POLICIES
from setwise.report.parts import Chart, Grid, Text, TextTable
from setwise.simulation.statistics import interval
from setwise.theory.bounds import bounds_of
from setwise.theory.gaps import gaps
from setwise.types import Floats

BOUNDS = (1.0, 5.0, 20.0)
N, K, EPSILON = 10, 3, 0.3
TITLES = {
    "dearer": "Every reward B times as large",
    "rarer": "B times as large and B times as rare",
}


def dearer(bound: float) -> Any:
    """Return a world whose rewards are worth B: means and gaps grow with B."""
    return Scaled(lower_bound_independent(N, K, EPSILON), np.array(bound))


def rarer(bound: float) -> Any:
    """Return a world whose rewards are worth B and B times as rare: means and gaps stay the same."""
    values = lower_bound_independent(N, K, EPSILON).values / bound
    return Scaled(Independent(values, K), np.array(bound))


WORLDS = {"dearer": dearer, "rarer": rarer}


@functools.cache
def sweeps(scale: Scale) -> dict[str, Sweep]:
    """Return the sweeps of Algorithm 1, which knows B, in both families."""
    horizon, runs = max(2, scale.horizon_of(10**6, 10**7, 10**8)), scale.runs_of(3, 10, 50)
    found = {}
    for name, world in WORLDS.items():
        plays = [
            Play.of(POLICIES["ucb"](bound=bound), world(bound), horizon, scale.seed, last_decade(horizon))
            for bound in BOUNDS
        ]
        found[name] = Sweep("ucb", BOUNDS, tuple(plays), runs)
    return found


def corollary(play: Play) -> tuple[float, float]:
    """Return the corollary's bounds for rewards in [0, B], with constants, with and without the gap."""
    limits = bounds_of(gaps(play.environment), play.horizon)
    return limits.bounded_gap.corrected or math.nan, limits.bounded_free.corrected or math.nan


def parts(scale: Scale, outcome: Outcome) -> list[Grid | Text | TextTable]:
    """Return the charts, their description, and the numbers."""
    own = sweeps(scale)
    regrets = {name: [final_regret(result) for result in sweep.results(outcome)] for name, sweep in own.items()}
    grid = Grid(
        name="sensitivity-bound",
        title="Regret against the largest reward B",
        charts=[_chart(name, sweep, regrets[name]) for name, sweep in own.items()],
        caption=f"Algorithm 1 with B in its bounds, in the lower bound's world with independent feedback, n = {N}, "
        f"k = {K}, epsilon = {EPSILON:g} for B = 1; {played(own['dearer'].results(outcome))}. The guides are B and B^2 "
        "times the regret for B = 1.",
    )
    return [grid, Text(what_one_sees(own, regrets)), _numbers(own, regrets)]


def _chart(name: str, sweep: Sweep, regrets: list[Floats]) -> Chart:
    series = sweep.points(regrets)
    guides = [
        guide(label, BOUNDS, [series.y[0] * bound**power for bound in BOUNDS], style)
        for label, power, style in (("times B", 1, "lower-bound"), ("times B^2", 2, "bound"))
    ]
    return Chart(
        name=f"sensitivity-bound-{name}",
        title=TITLES[name],
        x_label="B",
        y_label="regret",
        series=[series, *guides],
        band=BAND,
        x_log=True,
        y_log=True,
    )


def what_one_sees(own: dict[str, Sweep], regrets: dict[str, list[Floats]]) -> str:
    """Describe the measured power of B, and the corollary's."""
    powers = {name: with_interval(exponent(BOUNDS, samples)) for name, samples in regrets.items()}
    exceeded = sum(
        int((sample > min(corollary(play))).sum())
        for name, sweep in own.items()
        for play, sample in zip(sweep.plays, regrets[name], strict=True)
    )
    last = own["rarer"].plays[-1]
    share = float(regrets["rarer"][-1].mean()) / (last.horizon * last.environment.gaps()[1])
    return (
        "The corollary has B^2 / epsilon. Where every reward is B times as large, epsilon is so too, and what is left "
        f"is B: measured is B^{powers['dearer']}. Where the means stay, and with them epsilon, the bounds of the arms "
        f"are B times as wide for the same gaps: measured is B^{powers['rarer']}, where the corollary has B^2. The "
        f"horizon takes something off: for B = {BOUNDS[-1]:g} regret is {share:.1%} of T x largest gap, which no "
        f"regret exceeds. Regret exceeds the corollary with its constants in {exceeded} runs."
    )


def _numbers(own: dict[str, Sweep], regrets: dict[str, list[Floats]]) -> TextTable:
    rows = []
    for name, sweep in own.items():
        for bound, play, sample in zip(BOUNDS, sweep.plays, regrets[name], strict=True):
            epsilon, largest = play.environment.gaps()
            mean = float(sample.mean())
            rows.append(
                [
                    TITLES[name],
                    f"{bound:g}",
                    f"{epsilon:g}",
                    with_interval(interval(sample)),
                    number(mean / bound),
                    number(mean / bound**2),
                    number(min(corollary(play))),
                    f"{mean / (play.horizon * largest):.1%}",
                ]
            )
    return TextTable(
        name="sensitivity-bound-numbers",
        caption="Regret with rewards in [0, B], with 95 % intervals; the corollary with its constants, the lesser of "
        "its two bounds.",
        head=["rewards", "B", "epsilon", "regret", "regret / B", "regret / B^2", "corollary", "R / (T x largest gap)"],
        rows=rows,
    )
