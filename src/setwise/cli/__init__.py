"""The command line: `setwise simulate`, `list`, `check`, `bounds`, `audit`, `claims`, `evidence` and `reproduce`."""

from setwise.cli import evidence, games, theory
from setwise.cli.group import main
from setwise.cli.making import environments, make

__all__ = ["environments", "evidence", "games", "main", "make", "theory"]
