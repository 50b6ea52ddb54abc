"""Put the kept rows of the studies into the pages: what stands between <!-- evidence NAME --> and <!-- end -->."""

import re
from pathlib import Path

from setwise.evidence import read
from setwise.evidence.summary import summary

FOLDER = Path(__file__).parent
PLACE = re.compile(r"(<!-- evidence ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(name: str) -> str:
    """The tables of a study in Markdown."""
    tables = summary(name, read(name))
    return "\n".join(_markdown(*table, several=len(tables) > 1) for table in tables)


def _markdown(caption: str, head: list[str], body: list[list[str]], several: bool) -> str:
    lines = [head, ["---"] * len(head), *body]
    above = f"*{caption[:1].upper()}{caption[1:]}*\n\n" if several else ""
    return above + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def filled(text: str) -> str:
    """The text with every table as it is kept now."""
    return PLACE.sub(lambda found: found[1] + markdown(found[2]) + found[3], text)


def main() -> None:
    for page in FOLDER.glob("*.md"):
        page.write_text(filled(page.read_text()))


if __name__ == "__main__":
    main()
