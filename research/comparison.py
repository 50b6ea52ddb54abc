"""Every policy in the paper's five worlds, in a trap and in a world of topics, with one protocol."""

import csv
from pathlib import Path

import setwise.cli
from research.summary import Run, Summary, mean, regrets, scientific
from setwise import Experiment
from setwise.policies import POLICIES

MEASURED = Path(setwise.cli.__file__).with_name("measured.csv")  # for `setwise list policies`
WORLDS = ["mnl", "random-utility", "preference-matrix", "random-weak", "camera", "trap", "coverage"]
VARIANTS = [
    "doubling:restart=yes",
    "cucb:clip=yes",
    "mnl-ucb:cap=no",
    "mnl-thompson:gaussian=yes",
    "stagewise-elimination:bernstein=yes",
    "stagewise-elimination:cumulative=yes",
    "stagewise-elimination:cumulative=yes,bernstein=yes",
    "max-min-ucb:pad=no",
    "winner-beats-all:pad=no",
    "multi-dueling:pad=no",
]


def experiment(quick: bool = False) -> Experiment:
    if quick:
        return Experiment(["camera", "coverage"], ["ucb", "kl-ucb", "lsb-greedy"], 2000, 3, checkpoints=25)
    return Experiment(WORLDS, [*POLICIES, *VARIANTS], 100_000, 20, checkpoints=25)


def compute(run: Run, quick: bool = False) -> list[Summary]:
    """A row for each policy, a column for each world; a dash where the policy cannot play."""
    done = run(experiment(quick))
    played = {(entry.environment, entry.policy) for entry in done.experiment.entries}
    worlds = list(done.experiment.environments)
    rows = [
        [label, *(mean(regrets(done, world, label)) if (world, label) in played else "-" for world in worlds)]
        for label in done.experiment.policies
    ]
    (horizon,) = done.experiment.horizon  # type: ignore[misc]
    return [Summary(f"Regret after {scientific(horizon)} rounds, ± 95 %", ["policy", *worlds], rows)]


def write_measured(summary: Summary, path: Path = MEASURED) -> None:
    """Store the regret of each policy over that of UCB, for the command line."""
    ucb = next(row for row in summary.rows if row[0] == "ucb")
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(summary.columns)
        for label, *cells in summary.rows:
            if label in POLICIES:
                shares = [cell if cell == "-" else f"{cell[0] / own[0]:.2f}" for cell, own in zip(cells, ucb[1:])]
                lines.writerow([label, *shares])
