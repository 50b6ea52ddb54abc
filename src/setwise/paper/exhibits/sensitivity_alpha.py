"""Regret of Algorithm 1 against its parameter alpha, in the four worlds of the paper's experiments."""

import functools
import math

import numpy as np

from setwise.experiments.outcome import Outcome
from setwise.experiments.plays import Play
from setwise.paper.claims.matches import WORLDS
from setwise.paper.exhibits.exhibit import Scale
from setwise.paper.exhibits.sensitivity_sweep import (
    BAND,
    Sweep,
    final_regret,
    guide,
    last_decade,
    number,
    with_interval,
)
from setwise.paper.instances import INSTANCES
from setwise.policies import POLICIES
from setwise.report.parts import Chart, Details, Grid, Text, TextTable
from setwise.simulation.result import Result
from setwise.simulation.statistics import LINEAR, growth, interval, ratio

ALPHAS = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
ENOUGH = 2.0  # the theorems require alpha >= 2
FAR = 2.0  # times the mean with that alpha: such a run has failed, and is not just slow
# Runs in the preference matrix are fast, and it takes many to see how often a small alpha fails there.
RUNS = {"preference-matrix": (20, 200, 500)}
Results = dict[str, list[Result]]


@functools.cache
def sweeps(scale: Scale) -> dict[str, Sweep]:
    """Return the sweep of Algorithm 1 over alpha in each world."""
    horizon = max(2, scale.horizon_of(10**4, 10**5, 10**6))
    found = {}
    for name in WORLDS:
        world = INSTANCES[name]()
        plays = [
            Play.of(POLICIES["ucb"](alpha=alpha), world, horizon, scale.seed, last_decade(horizon)) for alpha in ALPHAS
        ]
        found[name] = Sweep("ucb", ALPHAS, tuple(plays), scale.runs_of(*RUNS.get(name, (5, 20, 50))))
    return found


def title_of(name: str) -> str:
    """Return the title of a world."""
    return str(INSTANCES[name]().title)


def parts(scale: Scale, outcome: Outcome) -> list[Grid | Text | TextTable | Details]:
    """Return the charts, their description, and the numbers."""
    all_sweeps = sweeps(scale)
    results = {name: sweep.results(outcome) for name, sweep in all_sweeps.items()}
    grid = Grid(
        name="sensitivity-alpha",
        title="Regret against alpha",
        charts=[_chart(name, all_sweeps[name], own) for name, own in results.items()],
        caption=f"Algorithm 1 with alpha from {min(ALPHAS):g} to {max(ALPHAS):g}, {results[WORLDS[0]][0].horizon:,} "
        "rounds; the number of runs stands above each chart. The theorems ask for "
        f"alpha >= {ENOUGH:g}: the dashed line starts there, at the regret of alpha = {ENOUGH:g}.",
    )
    numbers = Details("Regret, spread and growth for every alpha", [_numbers(results)])
    return [grid, Text(what_one_sees(results)), _least(results), numbers]


def _chart(name: str, sweep: Sweep, results: list[Result]) -> Chart:
    series = sweep.points([final_regret(result) for result in results])
    level = float(series.y[ALPHAS.index(ENOUGH)])
    return Chart(
        name=f"sensitivity-alpha-{name}",
        title=f"{title_of(name)}, {results[0].runs} runs",
        x_label="alpha",
        y_label="regret",
        series=[series, guide(f"theorems: alpha >= {ENOUGH:g}", (ENOUGH, max(ALPHAS)), (level, level), "bound")],
        band=BAND,
        x_log=True,
        y_log=True,
    )


def best_alpha(results: list[Result]) -> int:
    """Return the index of the alpha with the smallest mean regret."""
    return int(np.argmin([final_regret(result).mean() for result in results]))


def linear_runs(result: Result) -> int:
    """Count the runs whose regret still grows linearly in the last decade."""
    return sum(growth(result, own[None, :]).slope > LINEAR for own in result.regret)


def failed_runs(result: Result, most: float) -> int:
    """Count the runs whose regret grows linearly and exceeds `most`."""
    late = [own for own in result.regret if own[-1] > most]
    return sum(growth(result, own[None, :]).slope > LINEAR for own in late)


def spread(result: Result) -> float:
    """Return the largest regret of a run over the mean."""
    mean = float(final_regret(result).mean())
    return float(final_regret(result).max()) / mean if mean > 0.0 else math.nan


def what_one_sees(results: Results) -> str:
    """Describe which alpha is best, by how much, and the risk of small values."""
    gains, failures, unknown = [], [], []
    for name, own in results.items():
        best, enough = best_alpha(own), final_regret(own[ALPHAS.index(ENOUGH)])
        less = ratio(enough, final_regret(own[best]))
        gains.append(f"{title_of(name).lower()} alpha = {ALPHAS[best]:g}, {with_interval(less)} times less")
        if growth(own[ALPHAS.index(ENOUGH)]).verdict != "slower":
            unknown.append(title_of(name).lower())
            continue
        for alpha, result in zip(ALPHAS, own, strict=True):
            failed = failed_runs(result, FAR * float(enough.mean())) if alpha < ENOUGH else 0
            if failed:
                failures.append(
                    f"{title_of(name).lower()}, alpha = {alpha:g}: {failed} of {result.runs}, the worst with "
                    f"{number(spread(result))} times the mean"
                )
    text = (
        f"Least regret, and how many times less than with alpha = {ENOUGH:g} (95 % interval): {'; '.join(gains)}. "
        "The best alpha is chosen by the same runs, which flatters it somewhat. "
    )
    if all(ALPHAS[best_alpha(own)] < ENOUGH for own in results.values()):
        text += "What the theorems ask for is more than these worlds need at this horizon. "
    where = (
        f"regret that is more than {FAR:g} times the mean with alpha = {ENOUGH:g} and grows like T^{LINEAR:g} or faster"
    )
    if unknown:
        text += (
            f"Whether a small alpha fails cannot be told in {', '.join(unknown)}, where regret may grow as fast with "
            f"alpha = {ENOUGH:g}. "
        )
    if len(unknown) == len(results):
        return text.rstrip()
    if failures:
        return text + (
            "But a small alpha can fail: the bounds are too narrow to hold, and a run may stay with a wrong set. Runs "
            f"with {where} over the last decade: {'; '.join(failures)}."
        )
    return text + (
        f"No run with a smaller alpha has {where} over the last decade{' elsewhere' if unknown else ''}; but so few "
        "runs cannot show rare failures, and "
        "for a smaller alpha nothing is proved."
    )


def _least(results: Results) -> TextTable:
    rows = []
    for name, own in results.items():
        best, enough = best_alpha(own), own[ALPHAS.index(ENOUGH)]
        rows.append(
            [
                title_of(name),
                str(enough.runs),
                f"{ALPHAS[best]:g}",
                with_interval(interval(final_regret(own[best]))),
                number(spread(own[best])),
                with_interval(interval(final_regret(enough))),
                number(spread(enough)),
                with_interval(ratio(final_regret(enough), final_regret(own[best]))),
            ]
        )
    return TextTable(
        name="sensitivity-alpha-least",
        caption=f"The alpha of least mean regret in each world, {results[WORLDS[0]][0].horizon:,} rounds; 95 % "
        "intervals. It is chosen by the same runs, so that what it gains is somewhat flattering.",
        head=[
            "world",
            "runs",
            "alpha",
            "regret",
            "largest run / mean",
            f"regret, alpha = {ENOUGH:g}",
            "largest run / mean",
            "times less",
        ],
        rows=rows,
    )


def _numbers(results: Results) -> TextTable:
    rows = []
    for name, own in results.items():
        for alpha, result in zip(ALPHAS, own, strict=True):
            slope = growth(result)
            rows.append(
                [
                    title_of(name),
                    f"{alpha:g}",
                    with_interval(interval(final_regret(result))),
                    number(spread(result)),
                    with_interval(slope),
                    slope.verdict,
                    f"{linear_runs(result)} of {result.runs}",
                ]
            )
    return TextTable(
        name="sensitivity-alpha-numbers",
        caption="Regret of Algorithm 1 for every alpha; growth is the exponent of T over the last decade of rounds.",
        head=["world", "alpha", "regret", "largest run / mean", "growth", "verdict", "runs that grow linearly"],
        rows=rows,
    )
