"""The command line: what each command takes, prints and writes."""

from setwise.cli import doctor, evidence, experiments, games, results, studies, study_demo, study_lines, theory
from setwise.cli.group import main
from setwise.experiments.naming import environments, make

__all__ = [
    "doctor",
    "environments",
    "evidence",
    "experiments",
    "games",
    "main",
    "make",
    "results",
    "studies",
    "study_demo",
    "study_lines",
    "theory",
]
