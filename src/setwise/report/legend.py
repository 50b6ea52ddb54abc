"""How a curve looks, and the legend that says so, below the panels of a figure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from setwise.report.lettering import SMALL, line_height, text_width, wrapped, write
from setwise.report.parts import Series
from setwise.report.scales import raised
from setwise.report.styles import DASHES, style_of

EDGE, GAP = 0.05, 0.05
HANDLE, HANDLE_GAP, COLUMN_GAP = 0.34, 0.06, 0.16
MARKERS = tuple(zip(DASHES.values(), "osD^vP*X<>hpd8", strict=True))


def look(series: Series) -> dict[str, Any]:
    """Matplotlib's words for the line of a series."""
    style = style_of(series.style or series.label)
    if series.kind == "guide":
        return {"color": style.colour, "linestyle": (0, style.dash or (4.0, 2.0)), "linewidth": 0.9, "zorder": 2.2}
    if series.style == "rho":
        return {"color": style.colour, "linewidth": 4.0, "zorder": 1.5, "solid_capstyle": "butt"}
    line = {"color": style.colour, "linestyle": (0, style.dash) if style.dash else "-", "linewidth": 1.2, "zorder": 3}
    if series.kind == "points":
        line |= {
            "linewidth": 0.7,
            "marker": dict(MARKERS).get(style.dash, "o"),
            "markersize": 3.5,
            "markeredgewidth": 0.0,
        }
    return line


class Legend(NamedTuple):
    """Curves with their labels in rows, and what the bands are.

    entries: series, and the lines of their labels
    widths: of the columns, in inches
    note: what the bands are, in lines
    width: of the figure, in inches
    """

    entries: list[tuple[Series, list[str]]]
    widths: list[float]
    note: list[str]
    width: float

    @classmethod
    def of(cls, series: Sequence[Series], bands: Sequence[str], width: float) -> "Legend":
        """Each label once, in as few rows as have room."""
        first: dict[tuple[str, str, str], Series] = {}
        for one in series:
            first.setdefault((one.label, one.style, one.kind), one)
        unique = list(first.values())
        longest = width - 2 * EDGE - HANDLE - HANDLE_GAP
        entries = [(one, wrapped(raised(one.label), SMALL, longest)) for one in unique]
        needs = [HANDLE + HANDLE_GAP + max(text_width(line, SMALL) for line in lines) for _, lines in entries]
        kinds = list(dict.fromkeys(filter(None, bands)))
        what = "Bars" if all(one.kind != "line" for one in unique) else "Shaded"
        note = wrapped(raised(f"{what}: {'; '.join(kinds)}"), SMALL, width - 2 * EDGE) if kinds else []
        return cls(entries, _columns(needs, width - 2 * EDGE), note, width)

    def rows(self) -> list[list[tuple[Series, list[str]]]]:
        columns = len(self.widths)
        return [self.entries[start : start + columns] for start in range(0, len(self.entries), columns)]

    def height(self) -> float:
        """In inches, with the space around it."""
        lines = sum(max(len(lines) for _, lines in row) for row in self.rows()) + len(self.note)
        return GAP + lines * line_height(SMALL) + GAP / 2.0 + EDGE

    def draw(self, figure: Any, top: float) -> None:
        """Draw it below a height given in inches, in the middle of the figure."""
        from matplotlib.lines import Line2D

        left = (self.width - sum(self.widths) - COLUMN_GAP * (len(self.widths) - 1)) / 2.0
        y = top - GAP - line_height(SMALL) / 2.0
        for row in self.rows():
            x = left
            for (series, lines), width in zip(row, self.widths, strict=False):
                points = [x, x + HANDLE / 2.0, x + HANDLE]
                drawn = look(series) | ({"markevery": [1]} if series.kind == "points" else {})
                figure.add_artist(Line2D(points, [y] * 3, transform=figure.dpi_scale_trans, **drawn))
                for number, line in enumerate(lines):
                    base = y - 0.36 * SMALL / 72.0 - number * line_height(SMALL)
                    write(figure, x + HANDLE + HANDLE_GAP, base, line, SMALL, ha="left", va="baseline")
                x += width + COLUMN_GAP
            y -= max(len(lines) for _, lines in row) * line_height(SMALL)
        top = y + line_height(SMALL) / 2.0 - GAP / 2.0
        write(figure, self.width / 2.0, top, "\n".join(self.note), SMALL, ha="center", va="top")


def _columns(needs: Sequence[float], width: float) -> list[float]:
    """The widths of as many columns as have room beside each other, when the rows are filled from the left."""
    for columns in range(len(needs), 1, -1):
        rows = -(-len(needs) // columns)
        if -(-len(needs) // rows) < columns:
            continue
        widths = [max(needs[column::columns]) for column in range(columns)]
        if sum(widths) + COLUMN_GAP * (columns - 1) <= width:
            return widths
    return [max(needs, default=0.0)]
