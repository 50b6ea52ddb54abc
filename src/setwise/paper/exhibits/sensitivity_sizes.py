"""Regret of Algorithm 1 against k and n: multinomial logit as in the paper, and the lower bound's family.

Multinomial logit has equally spaced weights below 1: 1 - 0.04 i with n = 20, as in the paper, for every k; and
1 - 0.8 i / n for every n, which is the paper's for n = 20. Its least gap falls as k or n grows. In the lower bound's
family with `choice` feedback the least gap is fixed.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.environments import MNL
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
    span,
    with_interval,
)
from setwise.paper.instances import STEPS, lower_bound_choice
from setwise.policies import POLICIES
from setwise.report.parts import Chart, Grid, Text, TextTable
from setwise.simulation.result import Result
from setwise.types import Floats

SET_SIZES = (2, 4, 6, 8, 10, 12, 14, 16, 18)
ARMS = (10, 15, 20, 30, 40, 60)
FEW = 3  # size of a set while n varies: a table can still hold all sets of 60 arms
NARROW, WIDE = 0.05, 0.1  # epsilon of the lower bound's family: less than 1 / (k + 1)
ALPHA = 2.0
LITTLE = 0.1  # share of T x largest gap


class Family(NamedTuple):
    """Worlds of increasing size.

    title: of the chart
    parameter: the one that varies, "k" or "n"
    values: of the parameter
    world: maps a value to the world
    horizons: for the sizes quick, default and full
    """

    title: str
    parameter: str
    values: tuple[int, ...]
    world: Callable[[int], Any]
    horizons: tuple[int, int, int]


def spaced(n: int) -> Any:
    """Return a multinomial logit with weights 1 - 0.8 i / n, i = 1, ..., n."""
    return MNL(1.0 - 0.8 * np.arange(1, n + 1, dtype=np.float64) / n, k=FEW)


FAMILIES = {
    "mnl-k": Family("Multinomial logit, n = 20", "k", SET_SIZES, lambda k: MNL(STEPS, k=k), (10**4, 10**5, 10**6)),
    "mnl-n": Family(f"Multinomial logit, k = {FEW}", "n", ARMS, spaced, (10**4, 10**5, 10**6)),
    "lower-k": Family(
        f"Lower bound's family, n = 20, epsilon = {NARROW:g}", "k", SET_SIZES,
        lambda k: lower_bound_choice(20, k, NARROW), (10**5, 10**6, 10**7),
    ),
    "lower-n": Family(
        f"Lower bound's family, k = {FEW}, epsilon = {WIDE:g}", "n", ARMS,
        lambda n: lower_bound_choice(n, FEW, WIDE), (10**5, 10**6, 10**7),
    ),
}  # fmt: skip


class SweepResult(NamedTuple):
    """Measurements of a family.

    regrets: of the runs, for every value
    n, k, epsilon, largest: of the worlds; the gaps are the least and the largest
    log: of the horizon
    """

    sweep: Sweep
    results: list[Result]
    regrets: list[Floats]
    n: Floats
    k: Floats
    epsilon: Floats
    largest: Floats
    log: float

    @property
    def shape(self) -> Floats:
        """k^2 n log T / epsilon, the order of Theorem 1's bound."""
        return self.k**2 * self.n * self.log / self.epsilon

    @property
    def means(self) -> Floats:
        return np.array([regret.mean() for regret in self.regrets])

    @property
    def arm_constant(self) -> Floats:
        """Regret in units of (n - k) log T / epsilon."""
        return self.means * self.epsilon / ((self.n - self.k) * self.log)

    @property
    def share(self) -> Floats:
        """Regret over T times the largest gap, which it cannot exceed."""
        return self.means / (self.results[0].horizon * self.largest)


@functools.cache
def sweeps(scale: Scale) -> dict[str, Sweep]:
    """Return the sweeps of Algorithm 1 in all families."""
    found = {}
    for name, family in FAMILIES.items():
        horizon = max(2, scale.horizon_of(*family.horizons))
        plays = [
            Play.of(POLICIES["ucb"](alpha=ALPHA), family.world(value), horizon, scale.seed, last_decade(horizon))
            for value in family.values
        ]
        found[name] = Sweep("ucb", family.values, tuple(plays), scale.runs_of(3, 10, 50))
    return found


def measure(sweep: Sweep, outcome: Outcome) -> SweepResult:
    """Collect the regrets of a family, with the quantities in the bounds."""
    worlds = [play.environment for play in sweep.plays]
    results = sweep.results(outcome)
    gaps = np.array([world.gaps() for world in worlds])
    return SweepResult(
        sweep=sweep,
        results=results,
        regrets=[final_regret(result) for result in results],
        n=np.array([float(world.n) for world in worlds]),
        k=np.array([float(world.k) for world in worlds]),
        epsilon=gaps[:, 0],
        largest=gaps[:, 1],
        log=math.log(results[0].horizon),
    )


def parts(scale: Scale, outcome: Outcome) -> list[Grid | Text | TextTable]:
    """Return the charts, their description, and the exponents."""
    found = {name: measure(sweep, outcome) for name, sweep in sweeps(scale).items()}
    grid = Grid(
        name="sensitivity-sizes",
        title="Regret against k and n",
        charts=[_chart(name, own) for name, own in found.items()],
        caption=f"Algorithm 1, alpha = {ALPHA:g}. Multinomial logit has equally spaced weights, 1 - 0.04 i for n = 20 "
        f"and every k, 1 - 0.8 i / n for k = {FEW} and every n; {played(found['mnl-k'].results)}. The lower bound's "
        f"family has choice feedback, and its least gap is fixed; {played(found['lower-k'].results)}. The dashed "
        "guides have the shape of Theorem 1's bound, k^2 n log T / epsilon with the epsilon of each world, through "
        "the first point; in the lower bound's family the guide of dashes and dots is alpha (n - k) log T / epsilon "
        "itself.",
    )
    return [grid, Text(about_spaced(found)), Text(about_fixed(found)), _exponents(found)]


def _chart(name: str, found: SweepResult) -> Chart:
    family = FAMILIES[name]
    series = found.sweep.points(found.regrets)
    anchored = found.shape * float(series.y[0]) / found.shape[0]
    guides = [guide("shape of Theorem 1's bound", family.values, anchored, "bound")]
    if name.startswith("lower"):
        own = ALPHA * (found.n - found.k) * found.log / found.epsilon
        guides.append(guide("alpha (n - k) log T / epsilon", family.values, own, "limit"))
    return Chart(
        name=f"sensitivity-{name}",
        title=family.title,
        x_label=family.parameter,
        y_label="regret",
        series=[series, *guides],
        band=BAND,
        x_log=True,
        y_log=True,
    )


def shape_exponent(values: Sequence[float], heights: Floats) -> float:
    """Fit the slope of log height over log value by least squares."""
    return exponent(values, [np.array([height]) for height in heights]).value


def about_spaced(found: dict[str, SweepResult]) -> str:
    """Describe multinomial logit: regret against the bound's shape, with a varying epsilon."""
    sentences = []
    for name in ("mnl-k", "mnl-n"):
        own, family = found[name], FAMILIES[name]
        sentences.append(
            f"from {family.parameter} = {family.values[0]} to {family.values[-1]} it goes from {number(own.means[0])} "
            f"to {number(own.means[-1])}, as {family.parameter}^{with_interval(exponent(family.values, own.regrets))}; "
            f"epsilon goes from {number(own.epsilon[0])} to {number(own.epsilon[-1])} on the way, so that the bound's "
            f"shape goes as {family.parameter}^{number(shape_exponent(family.values, own.shape))}"
        )
    both = [found[name] for name in ("mnl-k", "mnl-n")]
    share = np.concatenate([own.share for own in both])
    plays = np.concatenate([ALPHA * own.log / own.epsilon**2 for own in both])
    cost = "what is not told apart costs little: " if max(share) < LITTLE else ""
    return (
        f"Multinomial logit, regret beside the bound's shape: {'; '.join(sentences)}. To tell an arm from one that is "
        f"epsilon better takes alpha log T / epsilon^2 plays, here {span(plays)}, where there are "
        f"{both[0].results[0].horizon:,} rounds; {cost}regret is {100 * min(share):.1f} % to "
        f"{100 * max(share):.1f} % of T x largest gap. So the exponents are those of this family and this horizon, "
        "and no test of the bound."
    )


def about_fixed(found: dict[str, SweepResult]) -> str:
    """Describe the lower bound's family: the effect of k and n for fixed epsilon."""
    sentences = []
    for name in ("lower-k", "lower-n"):
        own, family = found[name], FAMILIES[name]
        sentences.append(
            f"along {family.parameter} regret goes as {family.parameter}^"
            f"{with_interval(exponent(family.values, own.regrets))}, but as (n - k)^"
            f"{with_interval(exponent(own.n - own.k, own.regrets))}, and R epsilon / ((n - k) log T) is "
            f"{span(own.arm_constant)}"
        )
    return (
        f"The lower bound's family: {'; '.join(sentences)}. Here an arm has the same mean in every set, so its bound "
        f"falls to that of the optimal arms after alpha log T / epsilon^2 plays, and regret tends to alpha (n - k) "
        f"log T / epsilon with alpha = {ALPHA:g}, without a factor k^2."
    )


def _exponents(found: dict[str, SweepResult]) -> TextTable:
    rows = []
    for name, own in found.items():
        family = FAMILIES[name]
        rows.append(
            [
                family.title,
                f"{family.parameter} = {family.values[0]} to {family.values[-1]}",
                with_interval(exponent(family.values, own.regrets)),
                number(shape_exponent(family.values, own.shape)),
                number(shape_exponent(family.values, 1.0 / own.epsilon)),
                with_interval(exponent(own.n - own.k, own.regrets)),
                span(own.arm_constant),
                f"{100 * min(own.share):.1f} % to {100 * max(own.share):.1f} %",
            ]
        )
    return TextTable(
        name="sensitivity-sizes-exponents",
        caption="Exponents by least squares of logarithms, with 95 % intervals over the runs; the interval says how "
        "well the slope is known, not that a power law holds.",
        head=[
            "family",
            "varied",
            "exponent of regret",
            "of the bound's shape",
            "of 1 / epsilon",
            "of regret in n - k",
            "R epsilon / ((n - k) log T)",
            "R / (T x largest gap)",
        ],
        rows=rows,
    )
