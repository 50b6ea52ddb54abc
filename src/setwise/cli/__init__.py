"""The command line: what each command takes, prints and writes."""

from setwise.cli import evidence, experiments, games, results, theory
from setwise.cli.group import main
from setwise.experiments.naming import environments, make

__all__ = ["environments", "evidence", "experiments", "games", "main", "make", "results", "theory"]
