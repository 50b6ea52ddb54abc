"""The figure of one or more charts: panels in rows, with one legend below.

Everything has its place in inches before it is drawn: texts are measured, so that nothing is cut off, and the legend
hides no curve. Matplotlib's automatic layouts would draw every figure twice.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.report.legend import Legend, look
from setwise.report.lettering import LABEL, SMALL, TITLE, line_height, text_width, wrapped, write
from setwise.report.parts import Chart, Series
from setwise.report.scales import Scale, raised, x_scale, y_scale

EDGE, TICK, GAP = 0.05, 0.03, 0.04
AXIS, LATTICE = "#555555", "#E8E8E8"


class Panel(NamedTuple):
    """A chart with its axes and the lines of its texts; no lines where a neighbour has the same label.

    left, right, above, below: the room in inches that is needed around the axes
    """

    chart: Chart
    x: Scale
    y: Scale
    title: list[str]
    x_label: list[str]
    y_label: list[str]
    left: float
    right: float
    above: float = 0.0
    below: float = 0.0


def compose_charts(charts: Sequence[Chart], width: float) -> Any:
    """The figure, so many inches wide and as high as it needs."""
    from matplotlib.figure import Figure

    columns = columns_of(len(charts), width)
    height = 0.55 + 0.35 * width / columns
    if columns == 1:  # a column of many panels still has to fit on a page
        height = min(height, 4.5 / len(charts))
    panels = [_panel(charts, number, width / columns, height, columns) for number in range(len(charts))]
    lefts = [max(panel.left for panel in panels[column::columns]) for column in range(columns)]
    right = max(panel.right for panel in panels)
    across = (width - sum(lefts)) / columns - right
    panels = [_with_texts(panel, across) for panel in panels]
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    heights = [sum(max(getattr(panel, side) for panel in row) for side in ("above", "below")) + height for row in rows]
    legend = Legend.of([series for chart in charts for series in chart.series], [chart.band for chart in charts], width)
    figure = Figure(figsize=(width, math.ceil(100 * (sum(heights) + legend.height())) / 100))
    top = float(figure.get_figheight())
    for row, full in zip(rows, heights, strict=True):
        for column, panel in enumerate(row):
            x = sum(lefts[: column + 1]) + column * (across + right)
            y = top - max(panel.above for panel in row) - height
            _draw_panel(figure, panel, (x, y, across, height), x - lefts[column])
        top -= full
    legend.draw(figure, top)
    return figure


def columns_of(count: int, width: float) -> int:
    """How many panels stand side by side."""
    if width < 5.0:
        return 1 if count <= 4 else 2
    return min(count, 3 if count == 3 or count > 4 else 2)


def _panel(charts: Sequence[Chart], number: int, width: float, height: float, columns: int) -> Panel:
    """The chart of that number, with the room it needs in a cell so many inches wide."""
    chart = charts[number]
    y = y_scale(chart, room=int(height / 0.27))
    same_y = len({other.y_label for other in charts}) == 1
    same_x = len({other.x_label for other in charts}) == 1
    y_label = [] if same_y and number % columns else wrapped(raised(chart.y_label), LABEL, height)
    ticks = max((text_width(label, SMALL) for label in y.labels), default=0.0)
    left = EDGE + len(y_label) * line_height(LABEL) + ticks + GAP + TICK + GAP
    x = _fitting(chart, width - 0.85)  # the same in every panel, so that panels have the same ticks
    right = max(EDGE + text_width(x.labels[-1], SMALL) / 2.0 if x.labels else 0.0, 0.08)
    x_label = [] if same_x and number + columns < len(charts) else [raised(chart.x_label)]
    return Panel(chart, x, y, [raised(chart.title)], x_label, y_label, left, right)


def _with_texts(panel: Panel, across: float) -> Panel:
    """The panel with title and label in lines that are no wider than its axes."""
    title = [line for text in panel.title for line in wrapped(text, TITLE, across)]
    x_label = [line for text in panel.x_label for line in wrapped(text, LABEL, across)]
    above = EDGE + len(title) * line_height(TITLE) + GAP
    below = TICK + GAP + line_height(SMALL) + len(x_label) * line_height(LABEL) + GAP
    return panel._replace(title=title, x_label=x_label, above=above, below=below)


def _fitting(chart: Chart, width: float) -> Scale:
    """The horizontal axis with as many ticks as have room."""
    for room in range(9, 1, -1):
        scale = x_scale(chart, room)
        middles = width * scale.places(scale.ticks)
        widths = np.array([text_width(label, SMALL) for label in scale.labels])
        if np.all(np.diff(middles) >= (widths[1:] + widths[:-1]) / 2.0 + 0.08):
            break
    return scale


def _draw_panel(figure: Any, panel: Panel, place: tuple[float, float, float, float], edge: float) -> None:
    """Axes, texts and curves in a rectangle given in inches; the label of the vertical axis starts at `edge`."""
    left, bottom, across, height = place
    _draw_axes(figure, panel, place)
    for series in panel.chart.series:
        _draw_series(figure, series, panel, place)
    below = bottom - TICK - GAP - line_height(SMALL)
    write(figure, left + across / 2, below, "\n".join(panel.x_label), LABEL, ha="center", va="top")
    write(figure, left, bottom + height + GAP, "\n".join(panel.title), TITLE, ha="left", va="bottom")
    aside = {"ha": "left", "va": "center", "rotation": 90, "multialignment": "center"}
    write(figure, edge + EDGE, bottom + height / 2, "\n".join(panel.y_label), LABEL, **aside)


def _draw_axes(figure: Any, panel: Panel, place: tuple[float, float, float, float]) -> None:
    from matplotlib.collections import LineCollection

    left, bottom, across, height = place
    x_ticks = left + across * panel.x.places(panel.x.ticks)
    y_ticks = bottom + height * panel.y.places(panel.y.ticks)
    lattice = [[(x, bottom), (x, bottom + height)] for x in x_ticks]
    lattice += [[(left, y), (left + across, y)] for y in y_ticks]
    lines = [[(left, bottom + height), (left, bottom), (left + across, bottom)]]
    lines += [[(x, bottom), (x, bottom - TICK)] for x in x_ticks] + [[(left, y), (left - TICK, y)] for y in y_ticks]
    for paths, colour, width, order in ((lattice, LATTICE, 0.5, 1.0), (lines, AXIS, 0.6, 2.5)):
        inches = {"transform": figure.dpi_scale_trans, "zorder": order}
        figure.add_artist(LineCollection(paths, colors=colour, linewidths=width, **inches))
    for x, label in zip(x_ticks, panel.x.labels, strict=True):
        write(figure, x, bottom - TICK - GAP, label, SMALL, ha="center", va="top")
    for y, label in zip(y_ticks, panel.y.labels, strict=True):
        write(figure, left - TICK - GAP, y, label, SMALL, ha="right", va="center_baseline")


def _draw_series(figure: Any, series: Series, panel: Panel, place: tuple[float, float, float, float]) -> None:
    """A curve with its band or, at points, with bars; what the axes cannot show is left out."""
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Bbox, TransformedBbox

    left, bottom, across, height = place
    inside = {
        "transform": figure.dpi_scale_trans,
        "clip_box": TransformedBbox(Bbox.from_bounds(*place), figure.dpi_scale_trans),
    }
    x, y = left + across * panel.x.places(series.x), bottom + height * panel.y.places(series.y)
    drawn = look(series)
    figure.add_artist(Line2D(x, y, label=series.label, **inside, **drawn))
    if series.low is None or series.high is None or series.kind == "guide":
        return
    low, high = (bottom + height * panel.y.places(end, least=True) for end in (series.low, series.high))
    if series.kind == "points":
        bars = [[(at, start), (at, end)] for at, start, end in zip(x, low, high, strict=True)]
        figure.add_artist(LineCollection(bars, colors=drawn["color"], linewidths=0.7, zorder=3, **inside))
    else:
        areas = [
            np.column_stack([np.r_[x[run], x[run][::-1]], np.r_[low[run], high[run][::-1]]])
            for run in _runs(np.isfinite(x) & np.isfinite(low) & np.isfinite(high))
        ]
        figure.add_artist(
            PolyCollection(areas, facecolors=drawn["color"], alpha=0.16, linewidths=0, zorder=2, **inside)
        )


def _runs(shown: Any) -> list[slice]:
    """Where True stands without a break, at least twice."""
    edges = np.flatnonzero(np.diff(np.r_[False, shown, False].astype(np.int8)))
    return [slice(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if end - start > 1]
