"""The table: one line per library, with its measurements or its failure."""

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from peers.catalogue import OURS, Peer
from peers.environments import Install

HERE = Path(__file__).parent
HEAD = (
    "peer",
    "version",
    "what ran",
    "rounds/s",
    "times slower than ours",
    "install MB",
    "install s",
    "import s",
    "first round s",
    "lines",
    "memory MB",
)


class Played(NamedTuple):
    """Cost of a game: the way it was played, seconds per round, seconds to the first round, and peak bytes."""

    way: str
    seconds: float
    first: float
    memory: float


class Line(NamedTuple):
    """Measurements of a library; `failure` is the error, or empty."""

    peer: Peer
    install: Install
    imported: float | None = None
    played: Played | None = None
    failure: str = ""


def better(old: Played | None, new: Played) -> Played:
    """Return the faster of two; if played the same way, with the first round of the first and the least memory.

    The first time a game is played it may be compiled, which takes time and memory once.
    """
    if old is None:
        return new
    faster = min(old, new, key=lambda played: played.seconds)
    if old.way != new.way:
        return faster
    return Played(faster.way, faster.seconds, old.first, min(old.memory, new.memory))


def table(lines: Sequence[Line]) -> list[list[str]]:
    """Order the rows: ours first, then by speed, then failures."""
    ours = next((line.played for line in lines if line.peer == OURS), None)
    ordered = sorted(lines, key=lambda line: (not line.peer.ours, line.played.seconds if line.played else float("inf")))
    return [_row(line, ours) for line in ordered]


def _row(line: Line, ours: Played | None) -> list[str]:
    known = line.install
    played = line.played
    installed = [number(known.size / 1e6), number(known.seconds)] if not known.failure else ["", ""]
    imported = "" if line.imported is None else f"{line.imported:.2f}"
    start = [line.peer.name, known.version]
    if played is None:
        return [*start, f"nothing: {line.failure}", "", "", *installed, imported, "", "", ""]
    slower = number(played.seconds / ours.seconds) if ours else ""
    speed = [said(line.peer.module, played.way), number(1 / played.seconds), slower]
    lines = str(lines_of(line.peer.module, played.way))
    return [*start, *speed, *installed, imported, f"{played.first:.1f}", lines, number(played.memory / 1e6)]


def number(value: float) -> str:
    """Format a number with three significant digits.

    >>> number(0.123456), number(12.3456), number(1234567.8)
    ('0.123', '12.3', '1,230,000')
    """
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def said(module: str, way: str) -> str:
    """Return the docstring of a way of playing."""
    return (ast.get_docstring(_function(HERE / "games" / f"{module}.py", way)) or "").strip()


def lines_of(module: str, way: str) -> int:
    """Count the lines that a user writes to play this way, with those of the world if the library has none."""
    function = _function(HERE / "games" / f"{module}.py", way)
    own = code_lines(HERE / "games" / f"{module}.py", way)
    bought = any(isinstance(node, ast.Name) and node.id == "buy" for node in ast.walk(function))
    return own + (code_lines(HERE / "world.py", "customers") if bought else 0)


def code_lines(path: Path, name: str) -> int:
    """Count the lines of a function, without its head, docstring, comments and blank lines."""
    body = _function(path, name).body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    text = path.read_text().splitlines()[body[0].lineno - 1 : body[-1].end_lineno]
    return sum(1 for line in text if line.strip() and not line.strip().startswith("#"))


def _function(path: Path, name: str) -> ast.FunctionDef:
    nodes = ast.parse(path.read_text()).body
    return next(node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name)
