"""The figure of groups of bars: small axes for each group, all on one scale from 0."""

import math
from typing import Any

from setwise.report.parts import Bars
from setwise.report.styles import style_of
from setwise.report.text import LABEL, SMALL, TITLE, text_width, wrapped

LEAST, PITCH = 0.8, 0.19  # inches: the length of the longest bar, and from bar to bar


def bar_figure(part: Bars, width: float) -> Any:
    """Return the figure, so many inches wide and as high as it needs, before its layout."""
    from matplotlib.figure import Figure

    bars = [bar for _, group in part.groups for bar in group]
    decimals = max(len(f"{bar.value:.3g}".partition(".")[2]) for bar in bars)
    names = min(max(text_width(bar.label, SMALL) for bar in bars), 0.4 * width)
    values = max(text_width(f"{bar.value:.{decimals}f}", SMALL) for bar in bars)
    rows = math.ceil(len(part.groups) / max(1, int(width / (names + LEAST + values + 0.2))))
    columns = math.ceil(len(part.groups) / rows)
    inside = width / columns - names - 0.25
    most = max(len(group) for _, group in part.groups)
    figure = Figure()
    panels = list(figure.subplots(rows, columns, squeeze=False, sharex=True).flat)
    lines = 1
    for axes, (title, group) in zip(panels, part.groups, strict=False):
        places = range(len(group))
        colours = [style_of(bar.style or "other").colour for bar in group]
        drawn = axes.barh(places, [max(bar.value, 0.0) for bar in group], height=0.7, color=colours)
        axes.bar_label(drawn, [f"{bar.value:.{decimals}f}" for bar in group], padding=3, fontsize=SMALL)
        axes.set_yticks(places, [wrapped(bar.label, SMALL, names) for bar in group])
        axes.set_ylim(most - 0.5, -0.5)
        axes.set_title(wrapped(title, TITLE, inside))
        lines = max(lines, axes.get_title().count("\n") + 1)
        axes.tick_params(left=False, bottom=False, labelbottom=False)
        axes.spines["bottom"].set_visible(False)
        axes.grid(False)
    panels[0].set_xlim(0.0, (max(bar.value for bar in bars) or 1.0) * inside / (inside - values - 0.1))
    for axes in panels[len(part.groups) :]:
        axes.remove()
    figure.supxlabel(wrapped(part.value_label, LABEL, width - 0.1), fontsize=LABEL)
    texts = 1.3 * (rows * lines * TITLE + LABEL) / 72.0
    figure.set_size_inches(width, round(rows * (most * PITCH + 0.12) + texts + 0.1, 2))
    return figure
