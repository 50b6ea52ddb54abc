"""A report on disk: the page, its figures for papers, and the numbers behind them."""

import dataclasses
import functools
import json
import os
from collections.abc import Sequence
from typing import Any

from setwise.digests import code_digest, value_digest
from setwise.engines import Job, Report, answers
from setwise.errors import unwritable
from setwise.report.page import write_page
from setwise.report.parts import Grid, Page, Table, parts_of
from setwise.simulation.result import write_whole

DRAWN = "drawn.json"


def write_report(page: Page, out: str, jobs: int | None = None, report: Report | None = None) -> str:
    """Write index.html, figures/ and data/ to a folder; return the path of the page.

    A figure that is there already and shows the same is not drawn again.
    """
    from setwise.report.data import write_data

    check_folder(out)
    parts = list(parts_of(page.sections))
    names = [part.name for part in parts]
    for name in names:
        assert names.count(name) == 1, f"two parts of the report are named {name}"
    data, figures = os.path.join(out, "data"), os.path.join(out, "figures")
    files: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for part, drawn in zip(parts, _draw_all(parts, figures, jobs, report)):
        files[part.name] += [(label, f"figures/{file}") for label, file in drawn]
    for part in parts:
        label, file = write_data(part, data)
        files[part.name].append((label, f"data/{file}"))
    path = os.path.join(out, "index.html")
    write_page(page, path, files)
    return path


def check_folder(out: str) -> None:
    """Make the folder, and refuse one that cannot be written, before anything is computed."""
    import tempfile

    try:
        os.makedirs(out, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        sentence = f"the folder {out!r} cannot be written: {error.strerror}; give another one with --out"
        raise unwritable(error, sentence) from None


def _draw_all(parts: list[Any], folder: str, jobs: int | None, report: Report | None) -> list[list[tuple[str, str]]]:
    """The figures of each part: label and file name. Tables have none; a panel of a grid is there for one column."""
    known = _read(folder)
    digests = [part_digest(part) for part in parts]
    panels = {chart.name for part in parts if isinstance(part, Grid) for chart in part.charts}
    work, owners = [], []
    found: list[list[tuple[str, str]]] = [[] for _ in parts]
    for number, part in enumerate(parts):
        if isinstance(part, Table):
            continue
        kept = known.get(part.name)
        files = [(str(label), str(file)) for label, file in kept["files"]] if kept else []
        if kept and kept["digest"] == digests[number] and all(_is_there(folder, file) for _, file in files):
            found[number] = files
        else:
            sizes = ("1col",) if part.name in panels else ("1col", "2col")
            seconds = 2.0 if isinstance(part, Grid) else 0.5 * len(sizes)
            work.append(Job(draw_part, (part, folder, sizes), part.name, seconds, "drawing"))
            owners.append(number)
    for number, files in zip(owners, answers(work, jobs, report)):
        found[number] = files
        known[parts[number].name] = {"digest": digests[number], "files": files}
    if work:
        write_whole(os.path.join(folder, DRAWN), f"{json.dumps(known, indent=1)}\n".encode())
    return found


def draw_part(part: Any, folder: str, sizes: Sequence[str]) -> list[tuple[str, str]]:
    """Draw one part, in whatever process this is."""
    from setwise.report.drawing import draw

    return draw(part, folder, sizes=sizes)


def part_digest(part: Any) -> str:
    """A name for what a part shows and for the code that draws it."""
    return value_digest([_plain(part), drawing_digest()])


@functools.cache
def drawing_digest() -> str:
    """A name for the code that draws, ours and the library's."""
    from importlib.metadata import version

    from setwise.report.drawing import draw

    return f"{code_digest(draw)} {version('matplotlib')}"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return [type(value).__name__, *(_plain(getattr(value, field.name)) for field in dataclasses.fields(value))]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _is_there(folder: str, file: str) -> bool:
    return os.path.exists(os.path.join(folder, file))


def _read(folder: str) -> dict[str, Any]:
    """What was drawn before; nothing, if that cannot be read."""
    try:
        with open(os.path.join(folder, DRAWN), encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
            return {name: kept for name, kept in found.items() if {"digest", "files"} <= set(kept)}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
