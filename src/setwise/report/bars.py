"""The figure of groups of bars: a small picture for each group, all on one scale from 0."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from setwise.report.lettering import LABEL, SMALL, TITLE, line_height, shortened, text_width, wrapped, write
from setwise.report.parts import Bars
from setwise.report.styles import style_of

EDGE, GAP, COLUMN_GAP = 0.05, 0.06, 0.22
PITCH, THICK, LEAST = 0.19, 0.13, 0.7
AXIS = "#555555"


class Drawn(NamedTuple):
    """A bar: the texts before and behind it, its length in inches, its colour."""

    label: str
    value: str
    length: float
    colour: str


def compose_bars(part: Bars, width: float) -> Any:
    """The figure, so many inches wide and as high as it needs."""
    from matplotlib.figure import Figure

    names, columns, groups = _measured(part, width)
    cell = _cell(width, columns)
    rows = [groups[start : start + columns] for start in range(0, len(groups), columns)]
    heads = [max(len(title) for title, _ in row) * line_height(TITLE) for row in rows]
    bodies = [max(len(bars) for _, bars in row) * PITCH + 3 * GAP for row in rows]
    label = wrapped(part.value_label, LABEL, width - 2 * EDGE)
    total = 2 * EDGE + sum(heads) + sum(bodies) + len(label) * line_height(LABEL)
    figure = Figure(figsize=(width, math.ceil(100 * total) / 100))
    top = float(figure.get_figheight()) - EDGE
    for row, head, body in zip(rows, heads, bodies, strict=True):
        for column, (title, bars) in enumerate(row):
            x = EDGE + column * (cell + COLUMN_GAP)
            write(figure, x, top, "\n".join(title), TITLE, ha="left", va="top")
            _draw_group(figure, bars, x + names, top - head)
        top -= head + body
    write(figure, width / 2.0, top, "\n".join(label), LABEL, ha="center", va="top")
    return figure


def _measured(part: Bars, width: float) -> tuple[float, int, list[tuple[list[str], list[Drawn]]]]:
    """The room for the labels, how many groups stand side by side, and the groups with their titles in lines."""
    every = [bar for _, bars in part.groups for bar in bars]
    decimals = max(len(f"{bar.value:.3g}".partition(".")[2]) for bar in every)
    names = min(max(text_width(bar.label, SMALL) for bar in every) + GAP, 0.4 * width)
    values = max(text_width(f"{bar.value:.{decimals}f}", SMALL) for bar in every) + GAP
    most = int((width - 2 * EDGE + COLUMN_GAP) / (names + LEAST + values + COLUMN_GAP))
    rows = math.ceil(len(part.groups) / max(1, most))
    columns = math.ceil(len(part.groups) / rows)
    cell = _cell(width, columns)
    inches = (cell - names - values) / (max(bar.value for bar in every) or 1.0)
    groups = []
    for title, bars in part.groups:
        drawn = [
            Drawn(
                shortened(bar.label, SMALL, names - GAP),
                f"{bar.value:.{decimals}f}",
                max(bar.value, 0.0) * inches,
                style_of(bar.style or "other").colour,
            )
            for bar in bars
        ]
        groups.append((wrapped(title, TITLE, cell), drawn))
    return names, columns, groups


def _cell(width: float, columns: int) -> float:
    return (width - 2 * EDGE - COLUMN_GAP * (columns - 1)) / columns


def _draw_group(figure: Any, bars: Sequence[Drawn], x: float, top: float) -> None:
    """Bars that start at x, with the labels before them and the values behind."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    place = {"transform": figure.dpi_scale_trans}
    for row, bar in enumerate(bars):
        y = top - (row + 0.5) * PITCH
        figure.add_artist(Rectangle((x, y - THICK / 2), bar.length, THICK, color=bar.colour, linewidth=0, **place))
        write(figure, x - GAP, y, bar.label, SMALL, ha="right", va="center_baseline")
        write(figure, x + bar.length + GAP, y, bar.value, SMALL, ha="left", va="center_baseline")
    figure.add_artist(Line2D([x, x], [top, top - len(bars) * PITCH], color=AXIS, linewidth=0.6, **place))
