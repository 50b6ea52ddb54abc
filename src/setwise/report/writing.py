"""Write a report to disk: the page, its figures for papers, and the numbers behind them."""

import dataclasses
import functools
import json
import os
from pathlib import Path
from typing import Any

from setwise.digests import code_digest, value_digest
from setwise.engines import Job, Progress, answers
from setwise.errors import unwritable
from setwise.files import write_atomic
from setwise.report.data import write_data
from setwise.report.figures import SIZES, style_sheet, write_figures
from setwise.report.page import write_page
from setwise.report.parts import Grid, Page, TextTable, parts_of

DRAWN = "drawn.json"


def write_report(page: Page, out: str, jobs: int | None = None, progress: Progress | None = None) -> str:
    """Write index.html, figures/ and data/ to a folder; return the path of the page.

    Figures are cached: an unchanged one is not drawn again.
    """
    check_folder(out)
    parts = list(parts_of(page.sections))
    names = [part.name for part in parts]
    for name in names:
        assert names.count(name) == 1, f"two parts of the report are named {name}"
    data, figures = os.path.join(out, "data"), os.path.join(out, "figures")
    files: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for part, drawn in zip(parts, _draw_all(parts, figures, jobs, progress)):
        files[part.name] += [(label, f"figures/{file}") for label, file in drawn]
    for part in parts:
        label, file = write_data(part, data)
        files[part.name].append((label, f"data/{file}"))
    path = os.path.join(out, "index.html")
    write_page(page, path, files)
    return path


def check_folder(out: str) -> None:
    """Create the folder, and fail fast if it is not writable."""
    import tempfile

    try:
        os.makedirs(out, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        sentence = f"the folder {out!r} cannot be written: {error.strerror}; give another one with --out"
        raise unwritable(error, sentence) from None


def _draw_all(
    parts: list[Any], folder: str, jobs: int | None, progress: Progress | None
) -> list[list[tuple[str, str]]]:
    """Return label and file name of each part's figures. Tables have none; panels of a grid only have the 1col size."""
    known = _read(folder)
    digests = [part_digest(part) for part in parts]
    panels = {chart.name for part in parts if isinstance(part, Grid) for chart in part.charts}
    work, owners = [], []
    found: list[list[tuple[str, str]]] = [[] for _ in parts]
    for number, part in enumerate(parts):
        if isinstance(part, TextTable):
            continue
        kept = known.get(part.name)
        files = [(str(label), str(file)) for label, file in kept["files"]] if kept else []
        if kept and kept["digest"] == digests[number] and all(_is_there(folder, file) for _, file in files):
            found[number] = files
        else:
            sizes = ("1col",) if part.name in panels else tuple(SIZES)
            seconds = 2.0 if isinstance(part, Grid) else 0.5 * len(sizes)
            work.append(Job(write_figures, (part, folder, sizes), part.name, seconds, "drawing"))
            owners.append(number)
    for number, files in zip(owners, answers(work, jobs, progress)):
        found[number] = files
        known[parts[number].name] = {"digest": digests[number], "files": files}
    if work:
        write_atomic(os.path.join(folder, DRAWN), f"{json.dumps(known, indent=1)}\n".encode())
    return found


def part_digest(part: Any) -> str:
    """Return a digest of a part's content and of the drawing code."""
    return value_digest([_plain(part), drawing_digest()])


@functools.cache
def drawing_digest() -> str:
    """Return a digest of the drawing code, ours and Matplotlib's."""
    from importlib.metadata import version

    return (
        f"{code_digest(write_figures)} {value_digest(Path(style_sheet()).read_text('utf-8'))} {version('matplotlib')}"
    )


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return [type(value).__name__, *(_plain(getattr(value, field.name)) for field in dataclasses.fields(value))]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _is_there(folder: str, file: str) -> bool:
    return os.path.exists(os.path.join(folder, file))


def _read(folder: str) -> dict[str, Any]:
    """Return the index of figures drawn before; empty if it cannot be read."""
    try:
        with open(os.path.join(folder, DRAWN), encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
            return {name: kept for name, kept in found.items() if {"digest", "files"} <= set(kept)}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
