"""Figures of results: regret with confidence bands, and the arms' indices over time."""

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise.simulation.result import Result
from setwise.simulation.statistics import band, student_95
from setwise.types import InputError

__all__ = ["new_figure", "plot_indices", "plot_regret", "save_figure", "student_95"]

# Okabe and Ito's colours, which colour-blind readers can tell apart; line styles help in black-and-white print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
STYLES = ("-", "--", "-.", ":")
DASHES = ((0, ()), (0, (5, 1)), (0, (5, 2, 1, 2)), (0, (1, 1.5)), (0, (8, 4)), (4, (3, 9)))


def new_figure(width: float = 6.0, height: float = 3.8) -> tuple[Any, Any]:
    """Create a figure with one pair of axes, without a display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0.12, 0.14, 0.85, 0.78))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    return figure, axes


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of the path."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in (".png", ".svg", ".pdf"):
        raise InputError(f"{os.fspath(path)!r} does not end in .png, .svg or .pdf")
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    figure.savefig(path, dpi=150)


def plot_regret(
    results: Sequence[Result],
    path: str | os.PathLike[str],
    title: str | None = None,
    labels: Sequence[str] = (),
) -> None:
    """Plot regret against rounds for each result: the mean of the runs, with a 95 % confidence band.

    The band is the mean +- t s / sqrt(runs), with Student's t.
    """
    figure, axes = new_figure()
    for number, result in enumerate(results):
        colour = COLOURS[number % len(COLOURS)]
        style = STYLES[number // len(COLOURS) % len(STYLES)]
        mean, low, high = band(result)
        label = labels[number] if labels else result.policy
        axes.plot(result.rounds, mean, color=colour, linestyle=style, label=label, linewidth=1.6)
        if result.runs > 1:
            axes.fill_between(result.rounds, low, high, color=colour, alpha=0.2, linewidth=0)
    _scale_rounds(axes, results[0].rounds)
    axes.set_ylabel("cumulative regret")
    runs = {result.runs for result in results}
    axes.set_title(title or results[0].environment.split("(")[0], fontsize="medium")
    legend_title = f"mean of {runs.pop()} runs, 95 % band" if len(runs) == 1 and results[0].runs > 1 else None
    axes.legend(frameon=False, fontsize="small", title=legend_title, title_fontsize="small", loc="upper left")
    axes.set_xlim(right=max(int(result.rounds[-1]) for result in results))
    axes.set_ylim(bottom=0)
    save_figure(figure, path)


def plot_indices(result: Result, path: str | os.PathLike[str], run: int = 0, title: str | None = None) -> None:
    """Plot the index of every arm against rounds in one run, with rho(t), as in Figure 1 of the paper."""
    if result.indices is None or result.rho is None:
        raise InputError("this result has no indices; simulate with record_indices=True")
    figure, axes = new_figure()
    names = result.names or tuple(f"arm {arm}" for arm in range(result.indices.shape[2]))
    rounds, rho = result.rounds, result.rho[run]
    shown = np.isfinite(rho)
    axes.plot(rounds[shown], rho[shown], color="#BBBBBB", linewidth=6, solid_capstyle="butt", label="rho(t)")
    for arm, name in enumerate(names):
        values = result.indices[run, :, arm]
        shown = np.isfinite(values)
        axes.plot(
            rounds[shown],
            values[shown],
            color=COLOURS[arm % len(COLOURS)],
            linestyle=DASHES[arm % len(DASHES)],
            label=name,
            linewidth=1.4,
        )
    _scale_rounds(axes, rounds)
    axes.set_ylabel("upper confidence bound (logarithmic)")
    _plain_log_scale(axes, float(result.indices[run, -1].min()), float(rho[np.isfinite(rho)].max()))
    axes.set_title(title or f"Indices of the arms, {result.policy}", fontsize="medium")
    axes.legend(frameon=False, fontsize="small", ncols=2)
    save_figure(figure, path)


def _scale_rounds(axes: Any, rounds: Any) -> None:
    """Use a logarithmic axis of rounds if the checkpoints are spaced that way."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xlabel("round")
    if _is_logarithmic(rounds):
        axes.set_xscale("log")
        powers = [10.0**power for power in range(13) if rounds[0] <= 10.0**power <= rounds[-1]]
        axes.xaxis.set_major_locator(FixedLocator(powers))
        axes.xaxis.set_minor_locator(NullLocator())  # minor ticks would take half the drawing time
        axes.xaxis.set_major_formatter(FuncFormatter(_power_of_ten))
    else:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _power_of_ten(value: float, position: int) -> str:
    """Return the label 10^x in plain characters: Matplotlib's typesetting takes longer than the rest of the figure."""
    return "10" + str(round(math.log10(value))).translate(RAISED)


def _plain_log_scale(axes: Any, low: float, high: float) -> None:
    """Use a logarithmic y-axis with ticks at round numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    steps = [digit * 10.0**power for power in range(-6, 7) for digit in (1, 1.5, 2, 3, 4, 5, 7)]
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(FixedLocator([step for step in steps if low * 0.9 <= step <= high * 1.1]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def _is_logarithmic(rounds: Any) -> bool:
    """Whether the checkpoints are more evenly spaced on a logarithmic axis than on a linear one."""
    if len(rounds) < 4:
        return False
    return bool(rounds[len(rounds) // 2] < rounds[-1] / 4)
