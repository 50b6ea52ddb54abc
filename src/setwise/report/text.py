"""Texts of figures and pages: their sizes and widths, line breaks, and raised powers."""

import functools
import re
import textwrap

TITLE, LABEL, SMALL = 8.5, 8.0, 7.0  # in points
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def raised(text: str) -> str:
    """Return the text with integer powers as superscripts.

    >>> raised("B^2 n^1.5 10^-3")
    'B² n^1.5 10⁻³'
    """
    return re.sub(r"\^(-?\d+)\b(?!\.\d)", lambda found: found[1].translate(RAISED), text)


@functools.cache
def families() -> list[str]:
    """Register the package's font with Matplotlib; return the families of all texts.

    The font is the small part of DejaVu Sans that figures need: embedding it in a PDF file takes a tenth of a second
    less. The whole font, a part of Matplotlib, has the other characters.
    """
    from importlib.resources import files

    from matplotlib.font_manager import fontManager

    fontManager.addfont(str(files("setwise.report") / "vendor" / "SetwiseSans.ttf"))
    return ["Setwise Sans", "DejaVu Sans"]


@functools.cache
def text_width(text: str, size: float) -> float:
    """Return the width of a text in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=families(), size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0]) / 72.0


def wrapped(text: str, size: float, width: float) -> str:
    """Raise powers and break the text into lines of at most so many inches; "n = 5" stays together."""
    text = raised(text).replace(" = ", "\u00a0=\u00a0")
    for letters in range(len(text), 0, -1):
        lines = textwrap.wrap(text, letters)
        if all(text_width(line, size) <= width for line in lines):
            break
    return "\n".join(lines) if text else ""
