"""The command line."""

from setwise.cli import (
    compare,
    doctor,
    experiments,
    games,
    results,
    studies,
    study_certificate,
    study_demo,
    study_lines,
    theory,
    warm,
)
from setwise.cli.group import main
from setwise.experiments.specs import environments, make

__all__ = [
    "compare",
    "doctor",
    "environments",
    "experiments",
    "games",
    "main",
    "make",
    "results",
    "studies",
    "study_certificate",
    "study_demo",
    "study_lines",
    "theory",
    "warm",
]
