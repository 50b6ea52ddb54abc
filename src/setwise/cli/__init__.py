"""The command line: `setwise simulate`, `list`, `check`, `bounds`, `audit`, `claims` and `reproduce`."""

from setwise.cli import games, theory
from setwise.cli.group import main
from setwise.cli.making import environments, make

__all__ = ["environments", "games", "main", "make", "theory"]
