"""What a report is made of, as data: drawn as a page, as figures for a paper, and as files of numbers."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from setwise.types import Floats


@dataclasses.dataclass(frozen=True, eq=False)
class Series:
    """A curve.

    label: in the legend
    x, y: its points
    low, high: the ends of its band, if it has one
    style: what it stands for, which gives it the same colour and dashes everywhere: the name of a policy on the
        command line, or one of `report.styles.OTHERS`
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

    name: of its files, and what links to it; unique in the report
    title: above it
    x_label, y_label: of the axes
    series: in the order of the legend
    band: what the bands are, for example "95 % confidence interval of the mean"; "" without any
    x_log, y_log: which axes are logarithmic at first
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
    """Charts side by side, with one caption; as a figure for a paper they are the panels of one picture.

    name: of the picture's files, and what links to it
    title, caption: above and below
    """

    name: str
    title: str
    charts: Sequence[Chart]
    caption: str = ""


@dataclasses.dataclass(frozen=True)
class Bar:
    """One bar: its label, its value, and whether it stands out."""

    label: str
    value: float
    style: str = ""


@dataclasses.dataclass(frozen=True)
class Bars:
    """Groups of labelled bars on one scale from 0, as pictures side by side.

    groups: pairs of a title and its bars
    """

    name: str
    title: str
    groups: Sequence[tuple[str, Sequence[Bar]]]
    caption: str = ""
    value_label: str = ""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of texts.

    name: of its file of numbers, and what links to it
    rows: cells; a cell may be a `Link`
    """

    name: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclasses.dataclass(frozen=True)
class Link:
    """A text that leads to a part of the same page, by its name."""

    text: str
    to: str


@dataclasses.dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclasses.dataclass(frozen=True)
class Fold:
    """Parts behind a heading that the reader opens."""

    title: str
    parts: Sequence[Any]


@dataclasses.dataclass(frozen=True)
class Section:
    """A heading with what belongs to it; the page has a table of contents of these.

    name: what links to it
    """

    name: str
    title: str
    parts: Sequence[Any]


@dataclasses.dataclass(frozen=True)
class Page:
    """A whole report.

    lead: what the reader should know first, as paragraphs
    about: how it was made: pairs of what and value (versions, seed, machine, code digest, time taken)
    """

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]
    about: Sequence[tuple[str, str]] = ()


def parts_of(parts: Sequence[Any]) -> Iterator[Any]:
    """Everything that has files of its own: charts, grids and their charts, bars and tables."""
    for part in parts:
        if isinstance(part, Section | Fold):
            yield from parts_of(part.parts)
        elif isinstance(part, Grid):
            yield part
            yield from part.charts
        elif isinstance(part, Chart | Bars | Table):
            yield part
