"""Draw the table as bars: rounds per second on a logarithmic axis, and failures as text."""

from collections.abc import Sequence
from pathlib import Path

from setwise.report.styles import INKS
from setwise.simulation.plot import RAISED, new_figure, save_figure

OURS, THEIRS, FAILED = INKS["blue"][0], INKS["amber"][0], INKS["slate"][0]


def draw(rows: Sequence[Sequence[str]], path: Path) -> None:
    """Draw the stored rows of the table."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    figure, axes = new_figure(8.0, 0.9 + 0.32 * len(rows))
    height = figure.get_size_inches()[1]
    axes.set_position((0.25, 0.55 / height, 0.72, 1 - 1.0 / height))
    rates = [float(row[3].replace(",", "")) if row[3] else 0.0 for row in rows]
    for place, (row, rate) in enumerate(zip(rows, rates)):
        if rate:
            ours = row[0].startswith("Setwise")
            axes.barh(place, rate - 1, left=1, height=0.68, color=OURS if ours else THEIRS)
            axes.text(rate * 1.25, place, row[3], va="center", fontsize="small")
        else:
            axes.text(1.25, place, _short(row[2]), va="center", fontsize="small", color=FAILED, style="italic")
    axes.set_xscale("log")
    axes.set_xlim(1, max(rates) * 30)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _power(value)))
    axes.set_yticks(range(len(rows)), [row[0] for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize="small")
    axes.grid(False, axis="y")
    axes.set_axisbelow(True)
    axes.set_xlabel("rounds in a second on one core")
    axes.set_title("The paper's multinomial logit, 10 of 20 arms: ours, and other libraries", fontsize="medium")
    save_figure(figure, path)


def _power(value: float) -> str:
    """Format powers of ten from a thousand on as 10^x."""
    return f"{value:.0f}" if value < 1000 else f"10{str(len(f'{value:.0f}') - 1).translate(RAISED)}"


def _short(failure: str, most: int = 80) -> str:
    """Shorten a failure to one line of the picture; the table has all of it."""
    text = failure.removeprefix("nothing: ").replace("`", "")
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"
