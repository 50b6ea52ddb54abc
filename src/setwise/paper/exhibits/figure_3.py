"""Figure 3: regret of Algorithm 1, E-E MNL-bandit and Stagewise Elimination in four worlds, as published."""

import dataclasses

import numpy as np

from setwise.experiments.outcome import Order, Outcome
from setwise.experiments.plays import Play
from setwise.paper.claims.matches import TITLES, WORLDS
from setwise.paper.exhibits import regret_panels
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.report.parts import Chart, Grid, Section, Series, Text, TextTable
from setwise.simulation.checks import check_points
from setwise.simulation.result import Result
from setwise.simulation.statistics import LINEAR, Growth, deviation_band, growth, holm, paired

LABELS = TITLES
RUNS = regret_panels.PUBLISHED_RUNS
NOTHING = 1e-12  # loss per round of the best set, by rounding


def horizon_of(scale: Scale) -> int:
    return scale.horizon_of(10**4, 10**6, 10**6)


def play(label: str, world: str, scale: Scale) -> Play:
    found = regret_panels.play_of(label, world, scale, horizon_of(scale))
    assert found is not None, f"{label} plays in {world}"
    return found


def runs_of(scale: Scale) -> int:
    """Return as many runs as the panels have, for the tests; the figure shows the first five."""
    return max(regret_panels.runs_of(scale), 2)


def orders(scale: Scale) -> list[Order]:
    return [Order(play(label, world, scale), runs_of(scale)) for world in WORLDS for label in LABELS]


def chart(world: str, scale: Scale, outcome: Outcome) -> Chart:
    """Plot mean and standard deviation of the first five runs in one world; random utility by the paper's measure."""
    series = []
    shown = min(RUNS, runs_of(scale))
    for label, title in LABELS.items():
        result = as_published(outcome.take(play(label, world, scale), shown))
        linear = np.isin(result.rounds, check_points(40, result.horizon, "linear"))
        mean, low, high = (values[linear] for values in deviation_band(result))
        series.append(Series(title, result.rounds[linear].astype(float), mean, low, high, style=label))
    environment = regret_panels.world_of(world)
    surrogate = hasattr(environment, "surrogate")
    return Chart(
        f"figure-3-{world}",
        f"{regret_panels.WORLDS[world]}: n = {environment.n}, k = {environment.k}",
        "round",
        "regret, by the sum of the means" if surrogate else "cumulative regret",
        series,
        band="standard deviation of the runs",
        x_log=False,
    )


def as_published(result: Result) -> Result:
    """Replace the regret by the one the paper plots: in random utility the sum of the means of the arms."""
    if result.surrogate_regret is None:
        return result
    return dataclasses.replace(result, regret=result.surrogate_regret)


def ordering(scale: Scale, outcome: Outcome) -> TextTable:
    """Test whether Algorithm 1 has less regret than each rival in each world, by a paired test."""
    found = []
    for world in WORLDS:
        own = outcome.take(play("ucb", world, scale), runs_of(scale)).regret[:, -1]
        for label in list(LABELS)[1:]:
            other = outcome.take(play(label, world, scale), runs_of(scale)).regret[:, -1]
            found.append((world, label, own.mean(), other.mean(), paired(own, other)))
    adjusted = holm([test.p for *_, test in found])
    rows = [
        [
            regret_panels.WORLDS[world],
            LABELS[label],
            f"{own:,.1f}",
            f"{other:,.1f}",
            f"{test.difference:,.1f} ({test.low:,.1f} to {test.high:,.1f})",
            f"{p:.2g}",
            verdict(test.difference, p),
        ]
        for (world, label, own, other, test), p in zip(found, adjusted)
    ]
    head = ["world", "rival", "Algorithm 1", "the rival", "difference, 95 %", "p", "less regret"]
    caption = (
        f"Final regret of {runs_of(scale)} runs of {regret_panels.power(horizon_of(scale))} rounds, paired by the "
        "number of the run: Student's paired test, two-sided, p adjusted for all eight comparisons by Holm's method. "
        "Runs of equal number share no randomness between policies, so that the pairing costs degrees of freedom and "
        "gains nothing; the test is valid."
    )
    return TextTable("figure-3-ordering", caption, head, rows)


def order_in_words(table: TextTable) -> str:
    """Describe how many comparisons Algorithm 1 wins, and which it does not."""
    wins = [row[-1] for row in table.rows]
    text = (
        f"Algorithm 1 has less regret than E-E MNL-bandit and Stagewise Elimination in {wins.count('Algorithm 1')} of "
        f"{len(wins)} comparisons"
    )
    for who, words in (("the rival", "it has more than"), ("not decided", "not decided by these runs is that with")):
        places = [f"{row[1]} in {row[0].lower()}" for row in table.rows if row[-1] == who]
        text += f"; {words} {', '.join(places)}" if places else ""
    return f"{text}."


def verdict(difference: float, p: float) -> str:
    """Name the policy with less regret, at the 5 % level."""
    if not p < 0.05:
        return "not decided"
    return "Algorithm 1" if difference < 0.0 else "the rival"


def growths(scale: Scale, outcome: Outcome) -> dict[tuple[str, str], Growth]:
    """Measure the growth of the plotted regret over the last decade of rounds, by policy and world."""
    return {
        (label, world): growth(as_published(outcome.take(play(label, world, scale), runs_of(scale))))
        for label in LABELS
        for world in WORLDS
    }


def horizon_in_words(horizon: int, found: dict[tuple[str, str], Growth]) -> str:
    """Describe the horizon, and whether the curves of Algorithm 1 have bent by then."""
    straight = [regret_panels.WORLDS[world].lower() for world in WORLDS if found["ucb", world].verdict != "slower"]
    bent = "" if straight else ", at which the curves of Algorithm 1 have bent"
    if straight:
        bent = f", at which the curve of Algorithm 1 has not bent for certain in {', '.join(straight)}"
    return f"The paper does not state its horizon; here it is {regret_panels.power(horizon)} rounds{bent}."


def growth_in_words(found: dict[tuple[str, str], Growth]) -> str:
    """Describe which policies have linear regret in which worlds."""
    sorts = {verdict: _places(found, verdict) for verdict in ("linear", "unclear", "slower")}
    parts = [
        words
        + (sorts[verdict] if any(sorts[other] for other in sorts if other != verdict) else "all three in all worlds")
        for verdict, words in (("linear", "linearly for "), ("unclear", "perhaps linearly for "))
        if sorts[verdict]
    ]
    if sorts["slower"]:
        parts.append("slower for the others" if parts else "slower than linearly for all three in all worlds")
    return (
        f"Over the last decade of rounds regret grows {'; '.join(parts)} (slower: the 95 % interval of the slope of "
        f"log regret over log round is below {LINEAR:g}; linearly: it is above)."
    )


def _places(found: dict[tuple[str, str], Growth], verdict: str) -> str:
    by_label = {
        title: [regret_panels.WORLDS[world].lower() for world in WORLDS if found[label, world].verdict == verdict]
        for label, title in LABELS.items()
    }
    return " and ".join(f"{title} in {', '.join(worlds)}" for title, worlds in by_label.items() if worlds)


def elimination_in_words(scale: Scale, outcome: Outcome) -> str:
    """Describe in how many runs elimination has ended with the best set."""
    stopped = {}
    for world in WORLDS:
        losses = regret_panels.late_losses(outcome.take(play("stagewise-elimination", world, scale), runs_of(scale)))
        stopped[regret_panels.WORLDS[world].lower()] = int((losses <= NOTHING).all(axis=1).sum())
    some = ", ".join(f"in {count} of {runs_of(scale)} runs in {world}" for world, count in stopped.items() if count)
    none = ", ".join(world for world, count in stopped.items() if not count)
    parts = [part for part in (some, f"in no run in {none}" if none else "") if part]
    return f"Stagewise Elimination loses nothing in the last tenth of the rounds {'; '.join(parts)}."


def section(scale: Scale, outcome: Outcome) -> Section:
    """Return the four panels as published, and a test of their order."""
    shown = min(RUNS, runs_of(scale))
    found = growths(scale, outcome)
    grid = Grid(
        "figure-3-panels",
        "Synthetic experiments with different reward models",
        [chart(world, scale, outcome) for world in WORLDS],
        f"Figure 3 of the paper: the mean of {shown} runs, the standard deviation of the runs shaded. Algorithm 1 is "
        'its "UCB w/o arms order". '
        f"{horizon_in_words(horizon_of(scale), found)} "
        "Regret in the panel on random utility is counted by the sum of the means of the arms, as the paper does; the "
        "expected loss is in the next section.",
    )
    table = ordering(scale, outcome)
    ends = f"{growth_in_words(found)} {elimination_in_words(scale, outcome)}"
    parameters = (
        "Parameters are those of the original papers: alpha = 2 for Algorithm 1; E-E MNL-bandit as in Agrawal and "
        "others (2019); Stagewise Elimination as in Simchowitz and others (2016), with fresh counters in each stage "
        "and Hoeffding's radius. Its other versions are among the claims."
    )
    return Section("figure-3", EXHIBIT.title, [grid, Text(parameters), Text(ends), Text(order_in_words(table)), table])


EXHIBIT = Exhibit("figure-3", "Figure 3: regret in four worlds", orders, section)
