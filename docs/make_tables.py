"""Put what was computed into the pages, between a comment that names it and <!-- end -->.

<!-- evidence NAME -->            the tables of a study that is kept (`setwise evidence NAME`)
<!-- report NAME [ROW]... -->     a table of the report that is kept in docs/report, or these rows of it

    python docs/make_tables.py                        fills the pages from what is kept
    python docs/make_tables.py --report out/report    keeps the tables and the picture of that report first
"""

import csv
import re
import shutil
import sys
from pathlib import Path

from setwise.evidence import read
from setwise.evidence.summary import summary

FOLDER = Path(__file__).parent
KEPT = FOLDER / "report"
PAGES = [FOLDER.parent / "README.md", *sorted(FOLDER.glob("*.md"))]
PLACE = re.compile(r"(<!-- (evidence|report) ([\w-]+)([^>]*) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(name: str) -> str:
    """The tables of a study in Markdown."""
    tables = summary(name, read(name))
    return "\n".join(_markdown(*table, several=len(tables) > 1) for table in tables)


def _markdown(caption: str, head: list[str], body: list[list[str]], several: bool) -> str:
    lines = [head, ["---"] * len(head), *body]
    above = f"*{caption[:1].upper()}{caption[1:]}*\n\n" if several else ""
    return above + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def reported(name: str, wanted: list[str]) -> str:
    """A table of the report in Markdown."""
    with open(KEPT / f"{name}.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return _markdown("", head, [row for row in rows if not wanted or row[0] in wanted], several=False)


def filled(text: str) -> str:
    """The text with every table as it is kept now."""

    def table(found: re.Match[str]) -> str:
        body = markdown(found[3]) if found[2] == "evidence" else reported(found[3], found[4].split())
        return found[1] + body + found[5]

    return PLACE.sub(table, text)


def main() -> None:
    if "--report" in sys.argv:
        source = Path(sys.argv[sys.argv.index("--report") + 1]) / "data"
        for name in sorted({found[3] for page in PAGES for found in PLACE.finditer(page.read_text())}):
            if (source / f"{name}.csv").exists():
                KEPT.mkdir(exist_ok=True)
                shutil.copyfile(source / f"{name}.csv", KEPT / f"{name}.csv")
        shutil.copyfile(source.parent / "figures" / "panels-regret-2col.png", FOLDER / "images" / "panels.png")
    for page in PAGES:
        page.write_text(filled(page.read_text()))


if __name__ == "__main__":
    main()
