"""Figures for papers: every part as SVG, PDF and PNG, for one column and for two."""

import io
import os
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from setwise.report.bars import compose_bars
from setwise.report.lettering import INK, families
from setwise.report.panels import compose_charts
from setwise.report.parts import Bars, Chart, Grid
from setwise.simulation.result import write_whole
from setwise.types import InputError

SIZES = MappingProxyType({"1col": ("one column", 3.35), "2col": ("two columns", 6.9)})  # what for, and inches
FORMATS = ("svg", "pdf", "png")
RESOLUTION = 300


def draw(
    part: Chart | Grid | Bars, folder: str, formats: Sequence[str] = FORMATS, sizes: Sequence[str] = tuple(SIZES)
) -> list[tuple[str, str]]:
    """Write `<name>-1col` and `<name>-2col` in each format; return what to call each file, and its name.

    The charts of a grid are the panels of one picture. The same part gives the same bytes, and each file is written
    whole or not at all.
    """
    for ending in formats:
        if ending not in FORMATS:
            raise InputError(f"{ending!r} is not a format of figures; there are {', '.join(FORMATS)}")
    files = []
    for size in sizes:
        words, width = SIZES[size]
        figure = compose(part, width)
        for ending in formats:
            file = f"{part.name}-{size}.{ending}"
            write_whole(os.path.join(folder, file), _rendered(figure, ending, part))
            files.append((f"{ending.upper()}, {words}", file))
    return files


def compose(part: Chart | Grid | Bars, width: float) -> Any:
    """The figure of a part, so many inches wide and as high as it needs."""
    import matplotlib

    with matplotlib.rc_context(_settings(part.name)):
        if isinstance(part, Bars):
            return compose_bars(part, width)
        return compose_charts([part] if isinstance(part, Chart) else part.charts, width)


def _rendered(figure: Any, ending: str, part: Chart | Grid | Bars) -> bytes:
    """The bytes of a file, without the time at which they were made."""
    import matplotlib

    undated: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Title": part.title},
        "pdf": {"CreationDate": None, "Title": part.title},
        "png": {"Software": None, "Title": part.title},
    }
    content = io.BytesIO()
    with matplotlib.rc_context(_settings(part.name)):
        how = {"pil_kwargs": {"compress_level": 3}} if ending == "png" else {}  # the usual 6 takes twice as long
        figure.savefig(content, format=ending, dpi=RESOLUTION, metadata=undated[ending], **how)
    return content.getvalue()


def _settings(name: str) -> Any:
    """Matplotlib's settings: fonts stand in the file, and the names of an SVG file's parts are not random.

    Texts of an SVG file are outlines: it looks the same where the font is not installed.
    """
    return {
        "font.family": families(),
        "text.color": INK,
        "text.parse_math": False,
        "text.usetex": False,
        "savefig.bbox": None,
        "savefig.facecolor": "white",
        "savefig.transparent": False,
        "pdf.fonttype": 42,
        "svg.fonttype": "path",
        "svg.hashsalt": name,
    }
