"""Tables and progress bars on a terminal, plain text in a pipe."""

import sys
import time
from collections.abc import Callable
from typing import Any

import click


class Progress:
    """Progress bars on a terminal, one per task, shown after a delay in seconds; nothing in a pipe."""

    def __init__(self, after: float = 0.0) -> None:
        self.after = after

    def __enter__(self) -> "Progress":
        self.bars: Any = None
        self.tasks: dict[str, Any] = {}
        self.begun = time.monotonic()
        return self

    def __exit__(self, *reason: object) -> None:
        if self.bars is not None:
            self.bars.stop()

    def task(self, name: str) -> Callable[[float], None]:
        if not sys.stderr.isatty():
            return lambda done: None
        if self.after == 0.0:
            self.show(name, 0.0)
        return lambda done: self.show(name, done)

    def show(self, name: str, done: float) -> None:
        if self.bars is None and time.monotonic() - self.begun >= self.after:
            self.bars = _bars()
            self.bars.start()
        if self.bars is not None:
            if name not in self.tasks:
                self.tasks[name] = self.bars.add_task(name, total=1.0)
            self.bars.update(self.tasks[name], completed=done)


class Steps:
    """Progress bars on a terminal, one per step; in a pipe a line every 30 s, so that a log shows progress."""

    EVERY = 30.0

    def __enter__(self) -> "Steps":
        self.begun: dict[str, float] = {}
        self.said = time.monotonic()
        self.bars = Progress()
        self.bars.__enter__()
        return self

    def __exit__(self, *reason: object) -> None:
        self.bars.__exit__(*reason)

    def show(self, name: str, done: float) -> None:
        if sys.stderr.isatty():
            self.bars.show(name, done)
            return
        now = time.monotonic()
        begun = self.begun.setdefault(name, now)
        if now - self.said >= self.EVERY:
            self.said = now
            left = f", about {(now - begun) * (1.0 - done) / done:.0f} s left" if done > 0.0 else ""
            click.echo(f"{name}: {done:.0%}{left}", err=True)


def _bars() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True))


def new_console(**options: Any) -> Any:
    """Return a console on standard output that raises `BrokenPipeError` if the reader is gone."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:  # runs in the except block; Rich would exit with its own code
            raise

    return Plain(highlight=False, **options)


def print_table(head: list[str], rows: list[list[str]], markup: bool = False) -> None:
    """Print a table; Rich markup in cells is escaped unless `markup` is set."""
    from rich.markup import escape
    from rich.table import Table

    needed = sum(max(map(len, column)) + 2 for column in zip(head, *rows))
    width = None if sys.stdout.isatty() else max(80, needed)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, *column in zip(head, *rows):
        numeric = all(cell[:1].isdigit() or cell[:1] in "+-" for cell in column)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(row if markup else map(escape, row)))
    new_console(width=width).print(table)


def print_records(head: list[str], rows: list[list[str]]) -> None:
    """Print a table on a wide terminal; elsewhere print cells below each other, as long ones would be cut."""
    if sys.stdout.isatty():
        import shutil

        if shutil.get_terminal_size().columns >= 140:
            print_table(head, rows)
            return
    width = max(len(name) for name in head[1:])
    for row in rows:
        click.echo(row[0])
        for name, cell in zip(head[1:], row[1:], strict=True):
            if cell and cell != "-":
                click.echo(f"    {name:<{width}}  {cell}")
