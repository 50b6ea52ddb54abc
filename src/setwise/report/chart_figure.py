"""The figure of one or more charts: panels in rows, with one legend below."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from setwise.report.axis import fitting_ticks, x_limits, y_limits
from setwise.report.parts import Chart, Series
from setwise.report.styles import DASHES, style_of
from setwise.report.text import LABEL, SMALL, TITLE, text_width, wrapped

SIDE, HANDLE = 0.65, 0.55  # inches: beside the axes of a panel, and around a label of the legend
MARKERS: Mapping[tuple[float, ...], str] = MappingProxyType(dict(zip(DASHES.values(), "osD^vP*X<>hpd8", strict=True)))


def chart_figure(charts: Sequence[Chart], width: float) -> Any:
    """Return the figure, so many inches wide and as high as it needs, before its layout."""
    from matplotlib.figure import Figure

    columns = columns_of(len(charts), width)
    rows = -(-len(charts) // columns)
    across, height = width / columns - SIDE, 0.55 + 0.35 * width / columns
    if columns == 1:  # a column of many panels still has to fit on a page
        height = min(height, 4.5 / len(charts))
    figure = Figure()
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    same_x, same_y = (len({getattr(chart, f"{axis}_label") for chart in charts}) == 1 for axis in "xy")
    above = [1] * rows
    for number, (axes, chart) in enumerate(zip(panels, charts, strict=False)):
        _draw_chart(axes, chart, across, height)
        title = wrapped(chart.title, TITLE, across)
        above[number // columns] = max(above[number // columns], title.count("\n") + 1)
        axes.set_title(title)
        if not same_x or number + columns >= len(charts):
            axes.set_xlabel(wrapped(chart.x_label, LABEL, across))
        if not same_y or number % columns == 0:
            axes.set_ylabel(wrapped(chart.y_label, LABEL, height))
    for axes in panels[len(charts) :]:
        axes.remove()
    lines = _add_legend(figure, charts, width)
    texts = 1.3 * (sum(above) * TITLE + (1 if same_x else rows) * LABEL + (rows + lines) * SMALL) / 72.0
    figure.set_size_inches(width, round(rows * (height + 0.2) + texts + 0.05, 2))
    return figure


def columns_of(count: int, width: float) -> int:
    """Return how many panels are side by side."""
    if width < 5.0:
        return 1 if count <= 4 else 2
    return min(count, 3 if count == 3 or count > 4 else 2)


def line_style(series: Series) -> dict[str, Any]:
    """Return Matplotlib's keywords for the line of a series."""
    style = style_of(series.style or series.label)
    if series.kind == "guide":
        return {"color": style.colour, "linestyle": (0, style.dash or (4.0, 2.0)), "linewidth": 0.9, "zorder": 2.2}
    if series.style == "rho":
        return {"color": style.colour, "linewidth": 4.0, "zorder": 1.5, "solid_capstyle": "butt"}
    line = {"color": style.colour, "linestyle": (0, style.dash) if style.dash else "-", "linewidth": 1.2, "zorder": 3}
    if series.kind == "points":
        marker = MARKERS.get(style.dash, "o")
        line |= {"linewidth": 0.7, "marker": marker, "markersize": 3.5, "markeredgewidth": 0.0}
    return line


def _draw_chart(axes: Any, chart: Chart, across: float, height: float) -> None:
    """Draw the curves on axes of about this size in inches."""
    for axis, limits, log, length in (("x", x_limits, chart.x_log, across), ("y", y_limits, chart.y_log, height)):
        low, high = limits(chart)
        axes.set(**{f"{axis}scale": "log" if log else "linear", f"{axis}lim": (low, high)})
        values, labels = fitting_ticks(low, high, log, length, axis == "x")
        axes.set(**{f"{axis}ticks": values, f"{axis}ticklabels": labels})
    axes.minorticks_off()
    for series in chart.series:
        _draw_series(axes, series, chart)


def _draw_series(axes: Any, series: Series, chart: Chart) -> None:
    """Draw a curve with its band or, at points, with whiskers; values that the axes cannot show are left out."""
    x, y = (np.array(values, dtype=np.float64) for values in (series.x, series.y))
    for values, log in ((x, chart.x_log), (y, chart.y_log)):
        values[~np.isfinite(values) | (log & (values <= 0.0))] = np.nan
    style = line_style(series)
    axes.plot(x, y, label=series.label, **style)
    if series.low is None or series.high is None or series.kind == "guide":
        return
    low, high = (np.maximum(end, axes.get_ylim()[0]) for end in (series.low, series.high))
    if series.kind == "points":
        axes.vlines(x, low, high, color=style["color"], linewidth=0.7, zorder=3)
    else:
        axes.fill_between(x, low, high, color=style["color"], alpha=0.16, linewidth=0, zorder=2)


def _add_legend(figure: Any, charts: Sequence[Chart], width: float) -> int:
    """Put a legend with each series once below the panels, with the meaning of the bands; return its lines."""
    entries: dict[tuple[str, str, str], Any] = {}
    for axes, chart in zip(figure.axes, charts, strict=True):
        for series, line in zip(chart.series, axes.lines, strict=True):
            entries.setdefault((series.label, series.style, series.kind), line)
    labels = [wrapped(label, SMALL, width - HANDLE) for label, _, _ in entries]
    widths = [HANDLE + max(text_width(line, SMALL) for line in label.split("\n")) for label in labels]
    for columns in range(len(labels), 0, -1):  # as many as fit; Matplotlib fills one after the other
        if sum(map(max, np.array_split(widths, columns))) <= width:
            break
    bands = "; ".join(dict.fromkeys(filter(None, (chart.band for chart in charts))))
    what = "Shaded" if any(kind == "line" for _, _, kind in entries) else "Bars"
    note = wrapped(f"{what}: {bands}", SMALL, width - 0.1) if bands else ""
    figure.legend(entries.values(), labels, loc="outside lower center", ncols=columns, title=note or None)
    rows = -(-len(labels) // columns)
    return rows + sum(text.count("\n") for text in labels) + (note.count("\n") + 1 if note else 0)
