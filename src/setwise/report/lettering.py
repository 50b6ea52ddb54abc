"""Texts of figures: measured before they are drawn, and put at places given in inches."""

import functools
import os
from typing import Any

from setwise.simulation.result import write_whole

FONT = "DejaVu Sans"  # comes with Matplotlib, so that texts are as wide on every machine
PART = "Setwise Sans"
CHARACTERS = (*range(0x20, 0x180), *range(0x370, 0x400), *range(0x2010, 0x2040), *range(0x2070, 0x20A0), 0x2212)
TITLE, LABEL, SMALL = 8.5, 8.0, 7.0
INK = "#222222"


def line_height(size: float) -> float:
    """From one line of text to the next, in inches."""
    return 1.3 * size / 72.0


@functools.cache
def families() -> list[str]:
    """The fonts of all texts: the part of `FONT` that figures mostly need, and all of it for other characters.

    A PDF file holds the glyphs it uses. To take them from 6,000, with the rules for setting a dozen scripts, would
    take as long as all else about the file; so the part is kept, where Matplotlib keeps what it found out about fonts.
    """
    import matplotlib
    from matplotlib.font_manager import findfont, fontManager

    path = os.path.join(matplotlib.get_cachedir(), f"setwise-{matplotlib.__version__}-{len(CHARACTERS)}.ttf")
    try:
        if not os.path.exists(path):
            write_whole(path, _part_of(findfont(FONT)))
        fontManager.addfont(path)
    except (OSError, RuntimeError):  # nowhere to keep it, or Matplotlib cannot read it
        return [FONT]
    return [PART, FONT]


def _part_of(path: str) -> bytes:
    """The font file with `CHARACTERS` only, under a name of its own; the same bytes every time."""
    import io

    from fontTools.subset import Options, Subsetter  # type: ignore[import-untyped]
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    font = TTFont(path, recalcTimestamp=False)
    for rules in {"GDEF", "GPOS", "GSUB", "MATH", "FFTM"} & set(font.keys()):
        del font[rules]
    cut = Subsetter(Options(name_IDs=["*"], notdef_outline=True))
    cut.populate(unicodes=CHARACTERS)
    cut.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4, 6, 16):  # the family, the full name, the name in PDF files, the family again
            record.string = PART.replace(" ", "") if record.nameID == 6 else PART
    content = io.BytesIO()
    font.save(content)
    return content.getvalue()


@functools.cache
def text_width(text: str, size: float) -> float:
    """In inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=families(), size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0]) / 72.0


def wrapped(text: str, size: float, width: float) -> list[str]:
    """Lines that are no wider than so many inches; "n = 5" is kept together."""
    lines: list[str] = []
    for word in text.replace(" = ", "\u00a0=\u00a0").split(" ") if text else ():
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
            while text_width(lines[-1], size) > width and len(lines[-1]) > 1:
                kept = len(shortened(lines[-1], size, width, "")) or 1
                lines[-1:] = [lines[-1][:kept], lines[-1][kept:]]
    return lines


def shortened(text: str, size: float, width: float, end: str = "…") -> str:
    """The text, or as much of it as fits in so many inches."""
    if text_width(text, size) <= width:
        return text
    fitting = (text[:length] + end for length in range(len(text) - 1, 0, -1))
    return next((part for part in fitting if text_width(part, size) <= width), end)


def write(figure: Any, x: float, y: float, text: str, size: float, **how: Any) -> None:
    """Put a text at a place in inches from the lower left corner."""
    if text:
        figure.text(x, y, text, fontsize=size, transform=figure.dpi_scale_trans, **how)
