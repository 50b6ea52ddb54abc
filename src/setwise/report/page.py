"""Render a report as one self-contained page of HTML: no network, no other files."""

import dataclasses
import html
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from setwise.files import write_atomic
from setwise.policies import NAMES
from setwise.report.parts import Bars, Chart, Details, Grid, Link, Page, Section, Series, Text, TextTable, parts_of
from setwise.report.styles import Style, style_of
from setwise.report.text import raised

FOLDER = Path(__file__).parent
POINTS = 150  # at most per curve: a screen cannot resolve more

WIDTHS = {"line": 2, "points": 1, "guide": 1.25}  # line widths by kind of series, in pixels

# A sign (U+2212 is minus), digits, and then nothing, a power (U+00D7 is times), an interval or a tolerance.
NUMBER = re.compile(r"[±<>≤≥≈~+\u2212-]?\s*\.?\d[\d,.\s]*(%|[eE^\u00d7].*|\(.*|±.*|to .*)?")
MISSING = {"", "-", "\u2013", "\u2014"}  # dashes, short and long
LONG, SHORT = 36, 24  # characters: columns with longer cells wrap, columns with shorter ones never do

# Block all requests: the page must work without a network.
SECURITY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'"

Files = Mapping[str, Sequence[tuple[str, str]]]


def write_page(page: Page, path: str, files: Files) -> None:
    """Write the page atomically.

    files: maps the name of a chart, grid, bars or table to pairs of a label and a path relative to the page, which are
        linked below that part
    """
    write_atomic(path, page_html(page, files).encode())


def page_html(page: Page, files: Files) -> str:
    """Return the page as HTML."""
    writer = _Writer(files, frozenset(part.name for part in (*page.sections, *parts_of(page.sections))))
    title = _words(page.title)
    sections = [(section.name, section.title) for section in page.sections]
    if page.about:
        sections.append(("how-this-was-made", "How this was made"))
    contents = "".join(f'<li><a href="#{_id(name)}">{_words(text)}</a></li>' for name, text in sections)
    lead = "".join(f"<p>{_words(text)}</p>" for text in page.lead)
    body = "\n".join(writer.section(section) for section in page.sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{SECURITY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{_read("vendor/uPlot.min.css")}
{_read("style.css")}</style>
</head>
<body>
<header id="top"><h1>{title}</h1><div class="lead">{lead}</div></header>
<noscript><p class="notice">The charts are drawn by JavaScript, which is off here. The same figures are files, linked
where each chart would be.</p></noscript>
<nav class="contents" aria-label="Contents"><h2>Contents</h2><ol>{contents}</ol></nav>
<script type="application/json" id="policies">{_json(_policies(page))}</script>
<main>
{body}
{_about(page.about)}
</main>
<script>
/*
{_read("vendor/LICENSE")}
*/
{_read("vendor/uPlot.iife.min.js")}</script>
<script>
{_read("axes.js")}
{_read("script.js")}</script>
</body>
</html>
"""


@dataclasses.dataclass(frozen=True)
class _Writer:
    """Renders parts as HTML.

    files: links below the parts, by name of the part
    names: of the parts of this page, the only valid link targets
    """

    files: Files
    names: frozenset[str]

    def section(self, section: Section) -> str:
        parts = self.parts(section.parts)
        return f'<section id="{_id(section.name)}"><h2>{_words(section.title)}</h2>\n{parts}</section>'

    def parts(self, parts: Sequence[Any]) -> str:
        return "".join(self.part(part) + "\n" for part in parts)

    def part(self, part: Any) -> str:
        match part:
            case Text():
                return f"<p>{_words(part.text)}</p>"
            case TextTable():
                return self.table(part)
            case Grid():
                return self.grid(part)
            case Chart():
                return self.chart(part, "h3")
            case Bars():
                return self.bars(part)
            case Details():
                return (
                    f"<details><summary>{_words(part.title)}</summary>\n"
                    f'<div class="folded">{self.parts(part.parts)}</div></details>'
                )
        raise TypeError(f"{part!r} is not a part of a report")

    def chart(self, chart: Chart, heading: str, band: bool = True) -> str:
        return (
            f'<figure class="chart" id="{_id(chart.name)}"><{heading}>{_words(chart.title)}</{heading}>'
            f'<script type="application/json">{_json(_chart_data(chart))}</script>'
            f'<div class="drawing"></div>{_band([chart]) if band else ""}{self.links(chart.name)}</figure>'
        )

    def grid(self, grid: Grid) -> str:
        same = len({_band([chart]) for chart in grid.charts}) == 1
        charts = "\n".join(self.chart(chart, "h4", not same) for chart in grid.charts)
        return (
            f'<figure class="panels" id="{_id(grid.name)}"><h3>{_words(grid.title)}</h3>\n'
            f'<div class="grid">{charts}</div>{_band(grid.charts[:1]) if same else ""}{_caption(grid.caption)}'
            f"{self.links(grid.name)}</figure>"
        )

    def bars(self, bars: Bars) -> str:
        top = max((bar.value for _, group in bars.groups for bar in group if math.isfinite(bar.value)), default=0)
        groups = []
        for title, group in bars.groups:
            rows = "".join(
                f'<tr><th scope="row">{_words(bar.label)}</th><td class="track"><div class="bar" '
                f'style="{_colours(style_of(bar.style or "other"))};width:{_share(bar.value, top)}%"></div></td>'
                f'<td class="number">{_amount(bar.value)}</td></tr>'
                for bar in group
            )
            groups.append(f'<table class="bars"><caption>{_words(title)}</caption><tbody>{rows}</tbody></table>')
        label = f'<p class="note">Bars: {_words(bars.value_label)}.</p>' if bars.value_label else ""
        return (
            f'<figure class="panels" id="{_id(bars.name)}"><h3>{_words(bars.title)}</h3>'
            f'<div class="groups">{"".join(groups)}</div>{label}{_caption(bars.caption)}'
            f"{self.links(bars.name)}</figure>"
        )

    def table(self, table: TextTable) -> str:
        columns = [[_text(cell) for cell in column] for column in zip(*table.rows)]
        columns = columns or [[] for _ in table.head]
        kinds = [_column_kind(column) for column in columns]
        head = "".join(f'<th scope="col" class="{kind}">{_words(name)}</th>' for name, kind in zip(table.head, kinds))
        rows = "".join(f"<tr>{self.cells(row, kinds)}</tr>\n" for row in table.rows)
        pinned = " pinned" if len(kinds) > 3 and "short" in kinds[0] else ""
        caption = _words(table.caption)
        return (
            f'<figure class="table" id="{_id(table.name)}"><figcaption>{caption}</figcaption>'
            f'<div class="wide{pinned}" role="region" aria-label="{caption}" tabindex="0"><table><thead><tr>{head}</tr>'
            f"</thead><tbody>\n{rows}</tbody></table></div>{self.links(table.name)}</figure>"
        )

    def cells(self, row: Sequence[Any], kinds: Sequence[str]) -> str:
        return "".join(f'<td class="{kind}">{self.cell(cell)}</td>' for cell, kind in zip(row, kinds))

    def cell(self, cell: Any) -> str:
        text = _words(_text(cell))
        if isinstance(cell, Link) and cell.to in self.names:
            return f'<a href="#{_id(cell.to)}">{text}</a>'
        return text

    def links(self, name: str) -> str:
        links = " ".join(
            f'<a href="{html.escape(quote(path))}">{_words(label)}</a>' for label, path in self.files.get(name, ())
        )
        return f'<p class="files">Files: {links}</p>' if links else ""


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """Return JSON that is safe inside a script element: "<" is escaped, so nothing can close the element."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _words(text: str) -> str:
    """Escape a text as HTML; integer powers become superscripts.

    >>> _words("n < 10^6")
    'n &lt; 10⁶'
    """
    return html.escape(raised(text))


def _id(name: str) -> str:
    """Turn a name into an HTML id, which must not contain spaces."""
    return html.escape(re.sub(r"\s+", "-", name))


def _policies(page: Page) -> list[dict[str, Any]]:
    """Return the policies in more than one chart: each gets a button that hides it everywhere."""
    labels: dict[str, list[str]] = {}
    for chart in parts_of(page.sections):
        if isinstance(chart, Chart):
            for style, label in {series.style: series.label for series in chart.series}.items():
                if style.partition(":")[0] in NAMES:
                    labels.setdefault(style, []).append(label)
    return [
        {"style": style, "label": raised(max(seen, key=seen.count)), **_drawn(style)}
        for style, seen in labels.items()
        if len(seen) > 1
    ]


def _chart_data(chart: Chart) -> dict[str, Any]:
    """Return the data that the script needs to draw a chart; curves with equal x values share them."""
    places: list[list[float | None]] = []
    series = [_series_data(one, places) for one in chart.series]
    return {
        "title": raised(chart.title),
        "x_label": raised(chart.x_label),
        "y_label": raised(chart.y_label),
        "x_log": chart.x_log,
        "y_log": chart.y_log,
        "places": places,
        "series": series,
    }


def _series_data(series: Series, places: list[list[float | None]]) -> dict[str, Any]:
    x = np.asarray(series.x, dtype=float)
    ascending = np.argsort(x, kind="stable")
    kept = ascending[_thinned(len(x))]
    # Keep all digits of rounds, so that no two of them collapse.
    here = [_rounded(value, 12) for value in x[kept]]
    if here not in places:
        places.append(here)
    data = {"label": raised(series.label), "style": series.style, "kind": series.kind, "at": places.index(here)}
    for name in ("y", "low", "high"):
        values = getattr(series, name)
        if values is not None:
            data[name] = [_rounded(value, 6) for value in np.asarray(values, dtype=float)[kept]]
    return data | _drawn(series.style or series.label, series.kind)


def _thinned(count: int) -> Any:
    """Return the indices of the points to keep: evenly spaced, with both ends."""
    return np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(int))


def _rounded(value: float, digits: int) -> float | None:
    """Round a number to significant digits; None if it is not finite."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _drawn(name: str, kind: str = "line") -> dict[str, Any]:
    """Return the style of a line; rho is wide, as other lines run on top of it."""
    style = style_of(name)
    dash = style.dash or ((4.0, 2.0) if kind == "guide" else ())
    return {"colour": style.colour, "dark": style.dark, "dash": dash, "width": 5 if name == "rho" else WIDTHS[kind]}


def _colours(style: Style) -> str:
    return html.escape(f"--light:{style.colour};--dark:{style.dark}")


def _share(value: float, top: float) -> float:
    """Return the length of a bar in percent of the longest."""
    return round(100 * max(value, 0) / top, 3) if top > 0 and math.isfinite(value) else 0


def _amount(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _text(cell: Any) -> str:
    if isinstance(cell, Link):
        return cell.text
    return f"{cell:,.6g}" if isinstance(cell, float) else str(cell)


def _column_kind(column: Sequence[str]) -> str:
    """Classify a column: mostly numbers are right-aligned; long texts may wrap, short ones may not."""
    texts = [text for text in column if text.strip() not in MISSING]
    if 2 * sum(NUMBER.fullmatch(text.strip()) is not None for text in texts) > len(texts):
        return "number"
    longest = max(map(len, texts), default=0)
    return "long" if longest > LONG else "short" if longest <= SHORT else "middle"


def _band(charts: Sequence[Chart]) -> str:
    """Return a note on the meaning of the bands, or of the whiskers if a chart shows only points."""
    for chart in charts:
        if chart.band:
            what = "Whiskers" if all(series.kind != "line" for series in chart.series) else "Bands"
            return f'<p class="note">{what}: {_words(chart.band)}.</p>'
    return ""


def _caption(text: str) -> str:
    return f"<figcaption>{_words(text)}</figcaption>" if text else ""


def _about(about: Sequence[tuple[str, str]]) -> str:
    if not about:
        return ""
    rows = "".join(f'<tr><th scope="row">{_words(what)}</th><td>{_words(value)}</td></tr>\n' for what, value in about)
    return (
        '<section id="how-this-was-made"><h2>How this was made</h2>'
        f'<table class="about"><tbody>\n{rows}</tbody></table></section>'
    )
