"""The parts of a report as data, rendered as a page, as figures for a paper, and as CSV files."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from setwise.types import Floats


@dataclasses.dataclass(frozen=True, eq=False)
class Series:
    """A curve.

    label: in the legend
    x, y: its points
    low, high: the ends of its band, or None
    style: key of its colour and dashes, the same in every figure: the name of a policy on the command line, or one of
        `report.styles.OTHERS`
    kind: "line"; "points", joined by a thin line; or "guide", a bound or slope to compare with, without a band
    """

    label: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    style: str = ""
    kind: str = "line"


@dataclasses.dataclass(frozen=True, eq=False)
class Chart:
    """Curves on one pair of axes.

    name: of its files, and the target of links; unique in the report
    title: above it
    x_label, y_label: of the axes
    series: in the order of the legend
    band: the meaning of the bands, for example "95 % confidence interval of the mean"; "" without bands
    x_log, y_log: whether an axis is logarithmic initially
    """

    name: str
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    band: str = ""
    x_log: bool = True
    y_log: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class Grid:
    """Charts side by side with one caption; as a figure for a paper, the panels of one picture.

    name: of the picture's files, and the target of links
    title, caption: above and below
    """

    name: str
    title: str
    charts: Sequence[Chart]
    caption: str = ""


@dataclasses.dataclass(frozen=True)
class Bar:
    """One bar: its label, its value and its style."""

    label: str
    value: float
    style: str = ""


@dataclasses.dataclass(frozen=True)
class Bars:
    """Groups of labelled bars side by side, on one scale from 0.

    groups: pairs of a title and its bars
    """

    name: str
    title: str
    groups: Sequence[tuple[str, Sequence[Bar]]]
    caption: str = ""
    value_label: str = ""


@dataclasses.dataclass(frozen=True)
class TextTable:
    """A table of texts.

    name: of its CSV file, and the target of links
    rows: cells; a cell may be a `Link`
    """

    name: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclasses.dataclass(frozen=True)
class Link:
    """A link to a part of the same page, by name."""

    text: str
    to: str


@dataclasses.dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclasses.dataclass(frozen=True)
class Details:
    """Parts under a heading, collapsed until the reader opens it."""

    title: str
    parts: Sequence[Any]


@dataclasses.dataclass(frozen=True)
class Section:
    """A heading with its parts, listed in the table of contents.

    name: the target of links
    """

    name: str
    title: str
    parts: Sequence[Any]


@dataclasses.dataclass(frozen=True)
class Page:
    """A whole report.

    lead: opening paragraphs
    about: provenance as pairs of name and value (versions, seed, machine, code digest, time taken)
    """

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]
    about: Sequence[tuple[str, str]] = ()


def parts_of(parts: Sequence[Any]) -> Iterator[Any]:
    """Yield all parts with files of their own: charts, grids and their charts, bars and tables."""
    for part in parts:
        if isinstance(part, Section | Details):
            yield from parts_of(part.parts)
        elif isinstance(part, Grid):
            yield part
            yield from part.charts
        elif isinstance(part, Chart | Bars | TextTable):
            yield part
