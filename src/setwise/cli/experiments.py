"""Commands that run experiments and write reports: `setwise reproduce` and `setwise run`."""

import os
import sys
import time
from typing import Any

import click

from setwise.cli.engines import ADDRESS, ENGINE
from setwise.cli.group import COUNT, main
from setwise.cli.printing import Steps, print_table
from setwise.types import InputError

RESULTS = click.option(
    "--results", default="out/results", show_default=True, help="Folder in which results are kept, to go on from."
)
JOBS = click.option("--jobs", "-j", type=COUNT, default=None, help="Processes; by default as many as there are cores.")


AT_ONCE = click.option(
    "--jobs", "-j", type=COUNT, default=None, help="Pieces played at a time; by default as many as there are cores."
)


@main.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quick", is_flag=True, help="Short runs, few of them: under half a minute once compiled.")
@click.option("--full", is_flag=True, help="Every policy as long as its speed permits, up to 1e8 rounds.")
@click.option("--runs", "-r", type=COUNT, default=None, help="Runs of each policy, instead of each figure's own.")
@click.option("--horizon", "-t", type=COUNT, default=None, help="Rounds of a run, instead of each figure's own.")
@click.option("--seed", "-s", type=COUNT, default=0, show_default=True, help="Equal seeds give equal reports.")
@click.option("--out", "-o", default=None, help="Folder for the page, figures and data; out/report, or one in it.")
@RESULTS
@JOBS
@click.option("--list", "listed", is_flag=True, help="List the figures, tables and lists there are.")
def reproduce(names: tuple[str, ...], quick: bool, full: bool, listed: bool, out: str | None, **options: Any) -> None:
    """Reproduce the paper: every figure, table and claim on one page.

    \b
    setwise reproduce                         all of it, in a few minutes
    setwise reproduce --quick                 a small version
    setwise reproduce figure-3 --runs 100     one figure, with more runs than before: out/report/figure-3
    setwise reproduce --full                  every policy, long runs

    What was played before is kept and not played again; a run that was stopped goes on where it was.
    """
    from setwise.paper.exhibits.catalogue import EXHIBITS
    from setwise.paper.reproduce import reproduce

    if listed:
        print_table(["name", "what it is"], [[name, exhibit.title] for name, exhibit in EXHIBITS.items()])
        return
    if quick and full:
        raise InputError("--quick and --full were both given; give one of them")
    size = "quick" if quick else "full" if full else "default"
    folder = out or os.path.join("out", "report", *(["-".join(names)] if names else []))
    with _stopping(options["results"]), Steps() as steps:
        done = reproduce(names, folder, size=size, report=steps.show, **options)
    for note in done.notes:
        click.echo(f"setwise: {note}", err=True)
    click.echo(f"{done.played:,} runs played, {done.kept:,} kept from before in {options['results']}", err=True)
    click.echo(done.page)


@main.command()
@click.argument("file", metavar="EXPERIMENT.toml")
@click.option("--runs", "-r", type=COUNT, default=None, help="Instead of what the file says.")
@click.option("--seed", "-s", type=COUNT, default=None, help="Instead of what the file says.")
@click.option("--out", "-o", default=None, help="Folder for the report; by default out/ and the name of the file.")
@RESULTS
@AT_ONCE
@ENGINE
@ADDRESS
def run(
    file: str, out: str | None, results: str, jobs: int | None, engine: str, address: str | None, **changes: Any
) -> None:
    """Run an experiment of your own, described in a TOML file, and write a report on it.

    \b
    setwise run examples/slates.toml
    setwise run examples/slates.toml --runs 200          adds runs to those there are
    setwise run examples/cluster.toml --engine dask --address tcp://192.0.2.7:8786

    See docs/experiments.md for what the file may have in it, and docs/scale.md for clusters.
    """
    import dataclasses

    from setwise.engines import CLUSTERS, check_engine
    from setwise.experiments.experiment import Experiment
    from setwise.experiments.experiment_report import report_experiment
    from setwise.report.writing import check_folder

    started = time.time()
    check_engine(engine, address)
    given = {name: value for name, value in changes.items() if value is not None}
    experiment = dataclasses.replace(Experiment.read(file), **given)
    folder = out or os.path.join("out", os.path.splitext(os.path.basename(file))[0])
    check_folder(folder)
    with _stopping(results), Steps() as steps:
        finished = experiment.run(results, jobs, lambda _, share: steps.show("playing", share), engine, address)
        here = None if engine in CLUSTERS else jobs
        page = report_experiment(finished, folder, here, lambda _, share: steps.show("drawing", share), started)
    rows = []
    for entry in experiment.entries:
        result = finished.outcome.take(entry.play, experiment.runs)
        error = "-" if result.runs < 2 else f"{result.standard_error()[-1]:,.2f}"
        mean = f"{result.mean_regret()[-1]:,.2f}"
        rows.append([entry.environment, entry.policy, mean, error, f"{result.runs}", f"{entry.horizon:,}"])
    print_table(["environment", "policy", "final regret", "standard error", "runs", "rounds"], rows)
    for left in experiment.left_out:
        click.echo(f"setwise: left out {left.policy} in {left.environment}: {left.reason}", err=True)
    for note in finished.notes:
        click.echo(f"setwise: {note}", err=True)
    click.echo(page)


class _stopping:
    """What is said when the user interrupts: nothing that was finished is lost."""

    def __init__(self, results: str) -> None:
        self.results = results

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            click.echo(f"setwise: stopped; what was finished is in {self.results}: the same command goes on", err=True)
            sys.exit(130)
