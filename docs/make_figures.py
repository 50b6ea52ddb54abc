"""Make the pictures that the pages show.

    python docs/make_figures.py [NAME]...     all of them, or mnl, arms, horizons, study, violations

Those of the benchmarks are drawn from docs/bench, as it is kept, and violations from research/results.json.
"""

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import setwise as sw
from setwise.simulation.plot import new_figure, plot_regret, save_figure
from setwise.types import InputError

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))
IMAGES = FOLDER / "images"
BENCH = FOLDER / "bench"
SIZE = 8.0  # of the names, in points
POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
TIMES = {
    1e-9: "1 ns",
    1e-8: "10 ns",
    1e-7: "100 ns",
    1e-6: "1 µs",
    1e-5: "10 µs",
    1e-4: "100 µs",
    1e-3: "1 ms",
    1e-2: "10 ms",
    1e-1: "100 ms",
    1.0: "1 s",
    10.0: "10 s",
}
LONG_TIMES = {1e-3: "1 ms", 1.0: "1 s", 60.0: "1 min", 3600.0: "1 h", 86400.0: "1 day", 365.25 * 86400: "1 year"}


class Style(NamedTuple):
    """How a line is drawn: Okabe and Ito's colours, which colour-blind readers can tell apart, and a marker."""

    colour: str
    marker: str
    width: float = 1.4


OTHER_MARKERS = "v^<>DPXph*d8"
GREY = "#767676"
ARMS = {
    "UCB": Style("#0072B2", "o", 2.2),
    "KLUCB": Style("#009E73", "s", 2.2),
    "KLMOSS": Style("#CC79A7", "D", 2.2),
    "Thompson": Style("#BE8400", "^", 1.8),
    "AnytimeUCB": Style("#2F9BD8", "P", 1.8),
    "NumPy": Style("#D55E00", "v", 1.8),
}
HORIZONS = {
    "UCB": Style("#0072B2", "o", 2.2),
    "KLUCB": Style("#009E73", "s", 2.2),
    "UCB, certain rounds": Style("#56B4E9", "X"),
    "UCB, worst order": Style("#CC79A7", "p"),
    "UCB, round by round": Style("#7B2458", "D"),
    "C++ loop": Style("#000000", "^"),
    "batched NumPy": Style("#BE8400", "P"),
    "NumPy loop": Style("#D55E00", "v"),
}


class Line(NamedTuple):
    """A line with its name at its end.

    x, y: the points
    solid: how many of them, from the left, were measured; the others are dotted
    """

    name: str
    x: list[float]
    y: list[float]
    style: Style
    solid: int


def mnl() -> None:
    """Regret of Algorithm 1."""
    policies = [sw.UCB(alpha=2.0), sw.UCB(alpha=1.0), sw.UCB(alpha=0.5)]
    results = [sw.simulate(policy, sw.paper.mnl(), horizon=1_000_000, runs=20, seed=0) for policy in policies]
    title = "Algorithm 1 on the paper's multinomial logit (n = 20, k = 10)"
    plot_regret(results, IMAGES / "mnl.png", title, [f"alpha = {policy.alpha:g}" for policy in policies])


def arms() -> None:
    """Time a round against the number of arms: ours, NumPy, and other libraries in grey."""
    kept = [row for row in rows_of("arms", "make bench-scale") if row["k"] == "10" and row["what"] in ARMS]
    peers = [row | {"what": row["what"].split(",")[0]} for row in rows_of("peers-arms", "make bench-peers")]
    lines = lines_of(kept, "n", "microseconds a round", ARMS, 1e-6)
    lines += lines_of(peers, "n", "microseconds a round", {}, 1e-6)
    draw(lines, IMAGES / "arms.png", "number of arms n (k = 10)", "time of a round", TIMES, 5.4)


def horizons() -> None:
    """Time of a run against its horizon."""
    lines = lines_of(rows_of("horizons", "make bench-scale"), "horizon", "seconds", HORIZONS)
    note = "dotted: extrapolated from the time of a round"
    draw(lines, IMAGES / "horizons.png", "horizon, in rounds", "time of one run", LONG_TIMES, 4.6, note)


def study() -> None:
    """A study of the camera example: visitors who choose as the paper says."""
    world = sw.paper.camera()
    visitors = np.random.default_rng(0)
    with sw.Study.memory(world.names, world.k, sw.KLUCB(), horizon=20_000, seed=0, name="homepage") as homepage:
        for _ in range(20_000):
            decision = homepage.ask()
            rewards = np.zeros(world.k)
            world.draw(np.array([world.names.index(name) for name in decision.arms]), visitors, rewards)
            homepage.tell(decision, rewards)
        homepage.plot(IMAGES / "study.png")


def violations() -> None:
    """Regret against the margin by which a world breaks the assumption."""
    from research.summary import read
    from setwise.report.figures import write_figures
    from setwise.report.parts import Chart, Series

    table = read("violations")[2]
    margins = np.array([float(column) for column in table.columns[1:]])
    series = []
    for name, *cells in table.rows:
        means, halves = np.array(cells).T
        series.append(Series(name, margins, means, means - halves, means + halves, name, "points"))
    label = "margin: how much less an arm of the best set earns in other sets"
    chart = Chart("violations", table.caption, label, "regret", series, "95 % confidence interval", False, True)
    write_figures(chart, str(IMAGES), ["2col"], ["png"])


FIGURES = {"mnl": mnl, "arms": arms, "horizons": horizons, "study": study, "violations": violations}


def rows_of(name: str, command: str, folder: Path = BENCH) -> list[dict[str, str]]:
    """The rows of a table of the benchmarks."""
    path = folder / f"{name}.csv"
    if not path.exists():
        raise InputError(f"there is no docs/{folder.name}/{path.name} to draw; `{command}` makes it")
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lines_of(
    rows: Sequence[Mapping[str, str]], x: str, y: str, styles: Mapping[str, Style], unit: float = 1.0
) -> list[Line]:
    """A line for every name in the column `what`; those without a style are grey, each with a marker of its own."""
    names = list(dict.fromkeys(row["what"] for row in rows))
    others = [name for name in names if name not in styles]
    lines = []
    for name in names:
        style = styles.get(name) or Style(GREY, OTHER_MARKERS[others.index(name) % len(OTHER_MARKERS)], 1.0)
        own = [row for row in rows if row["what"] == name]
        points = sorted((float(row[x]), float(row[y]) * unit, row.get("how", "")) for row in own)
        solid = sum(how != "extrapolated" for _, _, how in points)
        lines.append(Line(name, [point[0] for point in points], [point[1] for point in points], style, solid))
    return lines


def draw(
    lines: Sequence[Line], path: Path, x: str, y: str, times: Mapping[float, str], height: float, note: str = ""
) -> None:
    """Lines on logarithmic axes, with their names at their ends."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    figure, axes = new_figure(7.6, height)
    axes.set_position((0.125, 0.12, 0.68, 0.85))
    axes.set_xscale("log")
    axes.set_yscale("log")
    for line in lines:
        colour, marker, width = line.style
        axes.plot(
            line.x[: line.solid],
            line.y[: line.solid],
            color=colour,
            marker=marker,
            linewidth=width,
            markersize=4.5,
            zorder=2 + width,
        )
        if line.solid < len(line.x):
            first = max(line.solid - 1, 0)
            axes.plot(line.x[first:], line.y[first:], color=colour, linestyle=":", linewidth=width, zorder=2)
    low, high = min(min(line.y) for line in lines), max(max(line.y) for line in lines)
    axes.set_ylim(low / 2, high * 2)
    right = max(line.x[-1] for line in lines)
    axes.set_xlim(min(line.x[0] for line in lines) / 1.3, right * 1.15)
    powers = [10.0**power for power in range(13) if axes.get_xlim()[0] <= 10.0**power <= right]
    axes.xaxis.set_major_locator(FixedLocator(powers))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value < 1000 else raised(value)))
    axes.yaxis.set_major_locator(FixedLocator([time for time in times if low / 2 <= time <= high * 2]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: times[value]))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if note:
        clear = {"facecolor": "white", "edgecolor": "none", "pad": 2}
        axes.text(0.02, 0.98, note, transform=axes.transAxes, va="top", fontsize=SIZE, color="#444444", bbox=clear)
    write_names(axes, lines)
    save_figure(figure, path)


def write_names(axes: Any, lines: Sequence[Line]) -> None:
    """Each name at the end of its line; those of lines that end at the same x one below the other."""
    from matplotlib.patheffects import withStroke

    dots = axes.figure.dpi / 72
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for end in {line.x[-1] for line in lines}:
        group = [line for line in lines if line.x[-1] == end]
        places = [float(axes.transData.transform((line.x[-1], line.y[-1]))[1]) / dots for line in group]
        for line, place, moved in zip(group, places, spread(places, 1.3 * SIZE)):
            axes.annotate(
                line.name,
                (line.x[-1], line.y[-1]),
                (12, moved - place),
                textcoords="offset points",
                color=line.style.colour if line.style.colour != GREY else "#505050",
                fontsize=SIZE,
                fontweight="bold" if line.style.width > 2 else "normal",
                va="center",
                arrowprops={"arrowstyle": "-", "color": line.style.colour, "linewidth": 0.6, "shrinkA": 0},
                path_effects=halo,
                annotation_clip=False,
                zorder=9,
            )


def spread(places: Sequence[float], least: float) -> list[float]:
    """The places, moved as little as keeps them that far apart and in their order.

    Neighbours that are too close become a group around the mean of their places, and groups may meet in turn.
    """
    order = sorted(range(len(places)), key=lambda number: places[number])
    groups: list[list[int]] = []
    for number in order:
        groups.append([number])
        while len(groups) > 1 and _lowest(groups[-1], places, least) < _highest(groups[-2], places, least) + least:
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = [0.0] * len(places)
    for group in groups:
        for step, number in enumerate(group):
            moved[number] = _lowest(group, places, least) + step * least
    return moved


def _lowest(group: Sequence[int], places: Sequence[float], least: float) -> float:
    return sum(places[number] for number in group) / len(group) - (len(group) - 1) * least / 2


def _highest(group: Sequence[int], places: Sequence[float], least: float) -> float:
    return _lowest(group, places, least) + (len(group) - 1) * least


def raised(value: float) -> str:
    """A power of ten in plain characters."""
    return "10" + str(len(f"{value:.0f}") - 1).translate(POWERS)


def main() -> int:
    """Draw what was asked for, as far as there is something to draw; return how many could not be drawn."""
    failed = 0
    for name in sys.argv[1:] or FIGURES:
        try:
            if name not in FIGURES:
                raise InputError(f"there is no figure {name!r}; there are {', '.join(FIGURES)}")
            FIGURES[name]()
        except InputError as error:
            print(error, file=sys.stderr)
            failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(2 if main() else 0)
