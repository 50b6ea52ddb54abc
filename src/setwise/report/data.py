"""Write the numbers behind every figure and table as CSV files."""

import csv
import io
import os
from collections.abc import Iterable, Iterator
from typing import Any

from setwise.files import write_atomic
from setwise.report.parts import Bars, Chart, Grid, Link, TextTable


def write_data(part: Chart | Grid | Bars | TextTable, folder: str) -> tuple[str, str]:
    """Write the numbers of a part to `<name>.csv`; return a label for the file, and its name.

    A chart has one row per point: series, x, y and the ends of the band. A grid puts the name of the chart before
    these, bars have one row per bar, and a table has the texts of its cells.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(_rows(part))
    file = f"{part.name}.csv"
    write_atomic(os.path.join(folder, file), text.getvalue().encode())
    return "CSV", file


def _rows(part: Chart | Grid | Bars | TextTable) -> Iterator[list[str]]:
    if isinstance(part, Chart):
        yield ["series", part.x_label, part.y_label, "low", "high"]
        yield from _points(part)
    elif isinstance(part, Grid):
        yield ["chart", "series", _common("x", part.charts), _common("y", part.charts), "low", "high"]
        for chart in part.charts:
            yield from ([chart.name, *row] for row in _points(chart))
    elif isinstance(part, Bars):
        yield ["group", "label", part.value_label or "value"]
        yield from ([group, bar.label, exact(bar.value)] for group, bars in part.groups for bar in bars)
    else:
        yield list(part.head)
        yield from ([cell.text if isinstance(cell, Link) else str(cell) for cell in row] for row in part.rows)


def _points(chart: Chart) -> Iterator[list[str]]:
    for series in chart.series:
        ends = [[""] * len(series.x) if end is None else map(exact, end) for end in (series.low, series.high)]
        for row in zip(map(exact, series.x), map(exact, series.y), *ends, strict=True):
            yield [series.label, *row]


def _common(axis: str, charts: Iterable[Chart]) -> str:
    """Return the label of the axis if all charts share it, else the name of the axis."""
    labels = {getattr(chart, f"{axis}_label") for chart in charts}
    return labels.pop() if len(labels) == 1 else axis


def exact(value: Any) -> str:
    """Return the shortest text that parses back to the same number.

    >>> exact(1000.0), exact(0.1), exact(float("nan"))
    ('1000', '0.1', 'nan')
    """
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
