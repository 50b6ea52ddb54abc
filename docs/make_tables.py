"""Put what was computed into the pages, between a comment that names it and <!-- end -->.

<!-- research NAME -->            the tables of a research question from research/results.json
<!-- list policies -->            all policies, from their classes; also: list environments
<!-- report NAME [ROW]... -->     a table of the report that is kept in docs/report, or these rows of it
<!-- bench NAME [ROW]... -->      a table of the benchmarks that is kept in docs/bench, or these rows of it
<!-- bench NAME by=COLUMN of=COLUMN [COLUMN=VALUE]... -->    the same with a column for every value of one column, and
                                  in it what another column says; where a third has a value

    python docs/make_tables.py                        fills the pages from what is kept
    python docs/make_tables.py --report out/report    keeps the tables and the picture of that report first
"""

import csv
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from setwise.environments import MODELS
from setwise.policies import POLICIES
from setwise.types import InputError

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))
from research.summary import Summary, markdown, read  # noqa: E402

KEPT = FOLDER / "report"
BENCH = FOLDER / "bench"
PAGES = [FOLDER.parent / "README.md", *sorted(FOLDER.glob("*.md"))]
PLACE = re.compile(r"(<!-- (research|list|report|bench) ([\w-]+)([^>]*) -->\n).*?(<!-- end -->)", re.DOTALL)
UNITS = ((1e-3, 1e-6, "us"), (1, 1e-3, "ms"), (120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h"))
DAY, YEAR = 86400, 365.25 * 86400


def listed(kind: str) -> str:
    """A table of all policies or environments: parameters, one line of their documentation, facts."""
    if kind == "policies":
        head = ["policy", "in short", "if the assumption fails", "reference"]
        rows = [
            [
                _signature(cls),
                cls.__doc__.splitlines()[0],
                cls.if_assumption_fails or "not stated",
                cls.reference + ", adapted" * (not cls.original),
            ]
            for cls in POLICIES.values()
        ]
    else:
        head = ["in `sw.environments`", "reward model"]
        rows = [[_signature(cls), sys.modules[cls.__module__].__doc__.splitlines()[0]] for cls in MODELS]
    return markdown([Summary("", head, [[cell.replace("|", r"\|") for cell in row] for row in rows])])


def _signature(cls: Any) -> str:
    hidden = {"feedback", "names", "best_set", *getattr(cls, "derived", ())}
    return f"`{cls.__name__}({', '.join(field for field in cls._fields if field not in hidden)})`"


def reported(name: str, wanted: list[str]) -> str:
    """A table of the report in Markdown."""
    head, *rows = _table(KEPT / f"{name}.csv", "make numbers")
    return markdown([Summary("", head, [row for row in rows if not wanted or row[0] in wanted])])


def benched(name: str, words: list[str], folder: Path = BENCH) -> str:
    """A table of the benchmarks in Markdown: all of it, some rows, or one column against another."""
    path = folder / f"{name}.csv"
    head, *rows = _table(path, "make bench bench-scale bench-peers")
    options = dict(word.split("=", 1) for word in words if "=" in word)
    for column in {options.get("by"), options.get("of"), *options} - {None, "by", "of"}:
        if column not in head:
            raise InputError(f"{path.name} has no column {column!r}; it has {', '.join(head)}")
    wanted = [word for word in words if "=" not in word]
    for word in wanted:
        if word not in [row[0] for row in rows]:
            raise InputError(f"{path.name} has no row {word!r}; it has {', '.join(row[0] for row in rows)}")
    if wanted:
        rows = [row for row in rows if row[0] in wanted]
    by, of = options.pop("by", None), options.pop("of", None)
    rows = [row for row in rows if all(row[head.index(column)] == value for column, value in options.items())]
    if by and of:
        head, rows = across(head, rows, by, of, leave_out=[*options, "how"])
    return markdown([Summary("", head, rows)])


def across(
    head: list[str], rows: list[list[str]], by: str, of: str, leave_out: list[str]
) -> tuple[list[str], list[list[str]]]:
    """A column for every value of `by`, filled from `of`; what was extrapolated is in italics."""
    kept = [column for column in head if column not in (by, of, *leave_out)]
    columns: list[str] = []
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        cells = dict(zip(head, row))
        if cells[by] not in columns:
            columns.append(cells[by])
        value = duration(float(cells[of])) if of == "seconds" else digits(float(cells[of]))
        line = lines.setdefault(tuple(cells[column] for column in kept), {})
        line[cells[by]] = f"*{value}*" if cells.get("how") == "extrapolated" else value
    columns.sort(key=_rank)
    ordered = sorted(lines, key=lambda line: [_rank(cell) for cell in line])
    body = [[*map(_power, line), *(lines[line].get(column, "") for column in columns)] for line in ordered]
    return [*kept, *map(_power, columns)], body


def duration(seconds: float) -> str:
    """Seconds as one would say them.

    >>> duration(0.0312), duration(2.5), duration(4000), duration(2e7), duration(3.2e9)
    ('31.2 ms', '2.5 s', '66.7 min', '231 days', '101 years')
    """
    for most, unit, name in UNITS:
        if seconds < most:
            return f"{digits(seconds / unit)} {name}"
    return f"{digits(seconds / DAY)} days" if seconds < 2 * YEAR else f"{digits(seconds / YEAR)} years"


def digits(value: float) -> str:
    """Three digits that matter.

    >>> digits(0.012345), digits(12.345), digits(12345.6)
    ('0.0123', '12.3', '12,346')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _rank(cell: str) -> float:
    """Numbers by their size, then anything else, as it comes."""
    return float(cell) if re.fullmatch(r"\d+(\.\d+)?", cell) else float("inf")


def _power(cell: str) -> str:
    """A power of ten from a thousand on as one; anything else as it is."""
    return f"10^{len(cell) - 1}" if re.fullmatch(r"1000+", cell) else cell


def _table(path: Path, command: str) -> list[list[str]]:
    if not path.exists():
        raise InputError(f"there is no docs/{path.parent.name}/{path.name}; `{command}` makes it")
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def filled(text: str) -> str:
    """The text with every table as it is kept now."""

    def table(found: re.Match[str]) -> str:
        kind, name, words = found[2], found[3], shlex.split(found[4])
        makers = {"research": lambda name: markdown(read(name)), "list": listed}
        body = makers[kind](name) if kind in makers else {"report": reported, "bench": benched}[kind](name, words)
        return found[1] + body + found[5]

    return PLACE.sub(table, text)


def keep_report(source: Path) -> None:
    """Keep the tables that the pages name, and the picture, of a report."""
    found = [place for page in PAGES for place in PLACE.finditer(page.read_text())]
    for name in sorted({place[3] for place in found if place[2] == "report"}):
        if (source / "data" / f"{name}.csv").exists():
            KEPT.mkdir(exist_ok=True)
            shutil.copyfile(source / "data" / f"{name}.csv", KEPT / f"{name}.csv")
    shutil.copyfile(source / "figures" / "panels-regret-2col.png", FOLDER / "images" / "panels.png")


def main() -> None:
    if "--report" in sys.argv:
        keep_report(Path(sys.argv[sys.argv.index("--report") + 1]))
    for page in PAGES:
        page.write_text(filled(page.read_text()))


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
