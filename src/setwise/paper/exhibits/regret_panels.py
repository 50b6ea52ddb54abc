"""Figure 3 as it should be: many runs, confidence intervals, logarithmic axes, and the bounds beside the curves."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise.experiments.outcome import Order, Outcome
from setwise.experiments.plays import Play
from setwise.experiments.specs import make_policy
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.paper.instances import INSTANCES
from setwise.policies import NAMES
from setwise.report.parts import Chart, Details, Grid, Section, Series, Text
from setwise.simulation.checks import check_pair, check_points
from setwise.simulation.result import Result
from setwise.simulation.statistics import band
from setwise.theory.bounds import lower_plays, theorem_1, theorem_2
from setwise.theory.validity import azuma_failure
from setwise.types import Floats, InputError, Ints

WORLDS = {
    "mnl": "Multinomial logit",
    "random-utility": "Random utility",
    "preference-matrix": "Preference matrix",
    "random-weak": "Random weak consistency",
    "camera": "Camera example",
}
PLAYED = (
    "robust-ucb",
    "ucb",
    "kl-ucb",
    "kl-moss",
    "ucb-v",
    "comb-ucb1",
    "thompson",
    "mnl-ucb",
    "mnl-thompson",
    "stagewise-elimination",
    "winner-beats-all",
    "epsilon-greedy",
)
VARIANTS = tuple(
    f"stagewise-elimination:{version}"
    for version in ("bernstein=yes", "cumulative=yes", "cumulative=yes,bernstein=yes")
)
LONG = ("ucb", "kl-ucb", "kl-moss", "ucb-v", "doubling", "oracle", "stagewise-elimination", *VARIANTS)
EPOCHS = ("mnl-ucb", "mnl-thompson", "interleaved-filter", "beat-the-mean")
PUBLISHED_RUNS = 5  # of the paper's figure
FAR = 5  # times the median: such a run is stuck with a wrong set, or nearly so
FIRST = 10  # the first round plotted: before it all policies look the same
SLOW = ("self-sparring", "escb1", "escb2", "lsb-greedy", "multi-dueling")  # a microsecond or more per round


def labels_of(scale: Scale) -> tuple[str, ...]:
    """Return the policies of the panels: the main ones, or all in the full report."""
    return tuple(scale.of(PLAYED, PLAYED, (*PLAYED, *(name for name in (*NAMES, *VARIANTS) if name not in PLAYED))))


def horizon_of(label: str, scale: Scale) -> int:
    """Return the horizon of a policy, as long as its speed permits."""
    if scale.horizon is not None:
        return scale.horizon
    if scale.size == "full":
        return 10**8 if label in LONG else 10**7 if label in EPOCHS else 10**5 if label in SLOW else 10**6
    return int(scale.of(10**4, 10**6 if label in (*LONG, "mnl-ucb") else 10**5, 0))


def runs_of(scale: Scale) -> int:
    return scale.runs_of(10, 50, 50)


@functools.cache
def world_of(name: str) -> Any:
    return INSTANCES[name]()


def checkpoints(horizon: int) -> Ints:
    """Return checkpoints for logarithmic and for linear axes."""
    return np.union1d(check_points(60, horizon), check_points(40, horizon, "linear"))


def play_of(label: str, world: str, scale: Scale, horizon: int | None = None) -> Play | None:
    """Return the play of a policy in a world of the paper, or None if the two do not fit."""
    length = horizon or horizon_of(label, scale)
    environment = world_of(world)
    try:
        policy = make_policy(label, environment)
        check_pair(policy, environment)
    except InputError:
        return None
    return Play.of(policy, environment, length, scale.seed, checkpoints(length))


def orders(scale: Scale) -> list[Order]:
    plays = [play_of(label, world, scale) for world in WORLDS for label in labels_of(scale)]
    return [Order(play, runs_of(scale)) for play in plays if play is not None]


def regret_series(label: str, play: Play, outcome: Outcome, runs: int) -> Series:
    result = outcome.take(play, runs)
    late = result.rounds >= FIRST
    mean, low, high = (values[late] for values in band(result))
    return Series(label, result.rounds[late].astype(float), mean, low, high, style=label)


def guides(world: str, horizon: int) -> list[Series]:
    """Return the theorems' bounds for a world as curves, for every horizon up to this one.

    The upper guide is the minimum of Theorems 1 and 2, corrected, for alpha = 2, and T times the largest gap. The lower
    guide has the asymptotic slope of Theorem 3 in the worst world with the same n, k and epsilon; before that it is
    epsilon T.
    """
    environment = world_of(world)
    n, k = int(environment.n), int(environment.k)
    epsilon, largest = environment.gaps()
    best = np.asarray(environment.best())
    means = np.zeros(k)
    environment.means(best, means)
    rounds = np.unique(np.rint(np.geomspace(FIRST, horizon, 40)))
    upper = [upper_bound(n, k, epsilon, largest, float(means.min()), int(length)) for length in rounds]
    series = [Series("min(bound, T x largest gap)", rounds, np.array(upper), style="bound", kind="guide")]
    plays = lower_plays(k, epsilon, choice=True)
    if plays is not None:
        lower: Floats = np.minimum((n - k) * epsilon * plays * np.log(rounds), epsilon * rounds)
        series.append(Series("slope of the lower bound", rounds, lower, style="lower-bound", kind="guide"))
    return series


def upper_bound(n: int, k: int, epsilon: float, largest: float, last: float, horizon: int, alpha: float = 2.0) -> float:
    """Return the minimum of the corrected theorems and T times the largest gap."""
    invalid = azuma_failure(alpha, horizon, n, k).regret
    first = theorem_1(n, k, epsilon, math.log(horizon), alpha)[1]
    second = theorem_2(n, k, horizon, alpha, last)[1]
    return min(math.inf if first is None else first + invalid, second + invalid, horizon * largest)


def panel(world: str, labels: Sequence[str], name: str, scale: Scale, outcome: Outcome) -> Chart:
    """Plot the policies and the guides in one world."""
    plays = {label: play_of(label, world, scale) for label in labels}
    series = [regret_series(label, play, outcome, runs_of(scale)) for label, play in plays.items() if play is not None]
    longest = max(play.horizon for play in plays.values() if play is not None)
    environment = world_of(world)
    return Chart(
        f"{name}-{world}",
        f"{WORLDS[world]}: n = {environment.n}, k = {environment.k}",
        "round",
        "cumulative regret",
        [*series, *guides(world, longest)],
        band="95 % confidence interval of the mean",
        y_log=True,
    )


def power(horizon: int) -> str:
    """Format a horizon.

    >>> power(10**6), power(20_000)
    ('10^6', '20,000')
    """
    exponent = round(math.log10(horizon))
    return f"10^{exponent}" if 10**exponent == horizon and exponent > 3 else f"{horizon:,}"


def lengths(labels: Sequence[str], scale: Scale) -> str:
    """Describe which policies play how long, and why."""
    by_length: dict[int, list[str]] = {}
    for label in labels:
        by_length.setdefault(horizon_of(label, scale), []).append(label)
    parts = [f"{', '.join(names)} play {power(length)} rounds" for length, names in sorted(by_length.items())[::-1]]
    text = f"{'; '.join(parts)}."
    if len(by_length) > 1:
        text += " Policies that play less go round by round, or nearly so: fewer rounds in about the same time."
    return text


def introduction(runs: int) -> str:
    """Describe the additions to the published figure."""
    how_many = f"{runs} runs" if runs > PUBLISHED_RUNS else f"{runs} runs, no more than there,"
    return (
        "A few runs with their standard deviation say how much runs differ, not how well the mean is known. Here are "
        f"{how_many} with a confidence interval for the mean, more policies, and the paper's bounds."
    )


def late_losses(result: Result) -> Floats:
    """Return each run's loss per round between the checkpoints of the last tenth of the rounds."""
    first = min(int(np.searchsorted(result.rounds, 0.9 * result.horizon)), len(result.rounds) - 2)
    losses: Floats = np.diff(result.regret[:, first:], axis=1) / np.diff(result.rounds[first:])
    return losses


def section(scale: Scale, outcome: Outcome) -> Section:
    """Return the panels; the full report adds those with all policies."""
    shown = list(PLAYED)
    caption = (
        f"Mean of {runs_of(scale)} runs with its 95 % confidence interval; both axes logarithmic. "
        f"{lengths(shown, scale)} The upper guide is the least of Theorem 1, Theorem 2 (both corrected, alpha = 2) "
        "and T x the largest gap: it bounds the regret of Algorithm 1 alone, at the end of a run of that length. Where "
        "it is a straight line of slope 1, the theorems say nothing yet. The lower guide is min(epsilon T, c log T) "
        "with the c of Theorem 3: no policy that is good in all worlds can do better than its slope as T grows in "
        "the worst world with the same n, k and epsilon. This world need not be that one, so curves may lie below it."
    )
    parts: list[Any] = [
        Grid("panels-regret", "Regret with intervals", _panels(shown, "panels", scale, outcome), caption),
        Text(far_off(shown, scale, outcome)),
    ]
    if scale.size == "full":
        others = list(labels_of(scale))
        text = f"Every policy that a world allows. {lengths(others, scale)}"
        grid = Grid("all-policies", "All policies", _panels(others, "all-policies", scale, outcome), text)
        parts.append(Details("All policies", [grid]))
    return Section("panels", EXHIBIT.title, [Text(introduction(runs_of(scale))), *parts])


def far_off(labels: Sequence[str], scale: Scale, outcome: Outcome) -> str:
    """List runs that lose far more than the others: an interval of the mean hides them, or is dominated by them."""
    found = []
    for world in WORLDS:
        for label in labels:
            play = play_of(label, world, scale)
            if play is not None:
                final = outcome.take(play, runs_of(scale)).regret[:, -1]
                worse = int((final > FAR * np.median(final)).sum())
                if worse:
                    found.append(f"{label} in {world} ({worse} of {len(final)}, the worst {final.max():,.0f})")
    known = "; ".join(found) if found else "none"
    return f"Runs that end with more than {FAR} times the median regret of their policy in their world: {known}."


def _panels(labels: Sequence[str], name: str, scale: Scale, outcome: Outcome) -> list[Chart]:
    return [panel(world, labels, name, scale, outcome) for world in WORLDS]


EXHIBIT = Exhibit("panels", "Figure 3 as it should be", orders, section)
