"""Figures and tables as one plain HTML page."""

import html
import os
from collections.abc import Sequence

STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
img { max-width: 100%; height: auto; background: white; border-radius: 4px }
figure { margin: 2rem 0 } figcaption { opacity: .8 }
.wide { overflow-x: auto } table { border-collapse: collapse } th, td { padding: .3rem .8rem; text-align: left }
th { border-bottom: 2px solid } td { border-bottom: 1px solid #8884 }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
"""


def figure(file: str, caption: str) -> str:
    """A picture with its caption."""
    text = html.escape(caption)
    return f'<figure><img src="{html.escape(file)}" alt="{text}"><figcaption>{text}</figcaption></figure>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; cells that look like numbers are set to the right."""

    def cell(text: str) -> str:
        kind = ' class="number"' if text[:1].isdigit() or text[:1] == "±" else ""
        return f"<td{kind}>{html.escape(text)}</td>"

    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def write_page(path: str, title: str, parts: Sequence[str]) -> None:
    """Write the page, whole or not at all."""
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
        f"<body><h1>{html.escape(title)}</h1>{''.join(parts)}</body></html>\n"
    )
    draft = path + ".part"
    with open(draft, "w", encoding="utf-8") as file:
        file.write(page)
    os.replace(draft, path)
