"""`setwise doctor`: check the installation and, if given, a storage."""

import shutil
import sys

import click

from setwise.cli.group import main
from setwise.cli.printing import print_table
from setwise.cli.studies import visible

COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}


@main.command()
@click.argument("address", required=False)
def doctor(address: str | None) -> None:
    """Check the installation and, with ADDRESS, a storage. Exit code 1 if there is a problem.

    \b
    setwise doctor
    setwise doctor sqlite:///shop.db
    setwise doctor postgresql://shop@db/shop
    """
    from rich.markup import escape

    from setwise.doctor import PROBLEM, examine

    checks = examine(address)
    print_table(
        ["check", "verdict", "found"],
        [
            [check.name, f"[{COLOURS[check.verdict]}]{check.verdict}[/]", escape(visible(check.found))]
            for check in checks
        ],
        markup=True,
    )
    width = min(100, shutil.get_terminal_size().columns) if sys.stdout.isatty() else 100
    for check in checks:
        if check.advice:
            text = f"{check.name}: {visible(check.advice)}"
            click.echo("\n" + click.wrap_text(text, width, subsequent_indent="  "))
    if any(check.verdict == PROBLEM for check in checks):
        sys.exit(1)
