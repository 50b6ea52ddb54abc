"""Figures for papers: every part as SVG, PDF and PNG, for one column and for two."""

import io
import os
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from setwise.files import write_atomic
from setwise.report.bar_figure import bar_figure
from setwise.report.chart_figure import chart_figure
from setwise.report.parts import Bars, Chart, Grid
from setwise.report.text import families
from setwise.types import InputError

SIZES = MappingProxyType({"1col": ("one column", 3.35), "2col": ("two columns", 6.9)})  # label, and width in inches
FORMATS = ("svg", "pdf", "png")


def write_figures(
    part: Chart | Grid | Bars, folder: str, sizes: Sequence[str] = tuple(SIZES), formats: Sequence[str] = FORMATS
) -> list[tuple[str, str]]:
    """Write `<name>-1col` and `<name>-2col` in each format; return a label for each file, and its name.

    The charts of a grid are the panels of one figure. The same part gives the same bytes. Each file is written
    atomically.
    """
    for ending in formats:
        if ending not in FORMATS:
            raise InputError(f"{ending!r} is not a format of figures; there are {', '.join(FORMATS)}")
    files = []
    for size in sizes:
        label, width = SIZES[size]
        with _settings(part.name):
            figure = make_figure(part, width)
            for ending in formats:
                file = f"{part.name}-{size}.{ending}"
                write_atomic(os.path.join(folder, file), _rendered(figure, ending, part.title))
                files.append((f"{ending.upper()}, {label}", file))
    return files


def make_figure(part: Chart | Grid | Bars, width: float) -> Any:
    """Return the figure of a part, so many inches wide and as high as it needs."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with _settings(part.name):
        if isinstance(part, Bars):
            figure = bar_figure(part, width)
        else:
            figure = chart_figure([part] if isinstance(part, Chart) else part.charts, width)
        # Run the layout once: a figure that keeps its engine is laid out again for every file.
        ConstrainedLayoutEngine(h_pad=0.05, w_pad=0.04, hspace=0.03, wspace=0.03).execute(figure)
    return figure


def _rendered(figure: Any, ending: str, title: str) -> bytes:
    """Return the bytes of a file, without the time of drawing."""
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[ending]
    content = io.BytesIO()
    options = {"pil_kwargs": {"compress_level": 3}} if ending == "png" else {}  # the default 6 takes twice as long
    figure.savefig(content, format=ending, metadata={**undated, "Title": title}, **options)
    return content.getvalue()


def _settings(name: str) -> Any:
    """Apply the style sheet and nothing else, whatever the user's own settings; no random names in SVG files."""
    import matplotlib

    return matplotlib.rc_context({"font.family": families(), "svg.hashsalt": name}, style_sheet())


def style_sheet() -> str:
    """Return the path of Matplotlib's settings for all figures."""
    from importlib.resources import files

    return str(files("setwise.report") / "figure.mplstyle")
