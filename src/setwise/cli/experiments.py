"""`setwise reproduce` and `setwise run`: run experiments and write reports."""

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
    "--results", default="out/results", show_default=True, help="Folder of stored results; runs resume from it."
)
JOBS = click.option("--jobs", "-j", type=COUNT, default=None, help="Worker processes; by default one per core.")


AT_ONCE = click.option("--jobs", "-j", type=COUNT, default=None, help="Jobs at a time; by default one per core.")


@main.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quick", is_flag=True, help="Few and short runs: under half a minute once compiled.")
@click.option("--full", is_flag=True, help="Every policy, for as many rounds as its speed permits, up to 1e8.")
@click.option("--runs", "-r", type=COUNT, default=None, help="Runs of each policy; by default each figure's own.")
@click.option("--horizon", "-t", type=COUNT, default=None, help="Rounds per run; by default each figure's own.")
@click.option("--seed", "-s", type=COUNT, default=0, show_default=True, help="Equal seeds give equal reports.")
@click.option("--out", "-o", default=None, help="Folder for page, figures and data; out/report, or one in it.")
@RESULTS
@JOBS
@click.option("--list", "listed", is_flag=True, help="List the available figures, tables and lists.")
def reproduce(names: tuple[str, ...], quick: bool, full: bool, listed: bool, out: str | None, **options: Any) -> None:
    """Reproduce the paper: every figure, table and claim on one page.

    \b
    setwise reproduce                         everything, in a few minutes
    setwise reproduce --quick                 a small version
    setwise reproduce figure-3 --runs 100     one figure with more runs, in out/report/figure-3
    setwise reproduce --full                  every policy, long runs

    Stored results are reused; interrupted runs resume.
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
        done = reproduce(names, folder, size=size, progress=steps.show, **options)
    for note in done.notes:
        click.echo(f"setwise: {note}", err=True)
    click.echo(f"{done.played:,} runs played, {done.kept:,} kept from before in {options['results']}", err=True)
    click.echo(done.page)


@main.command()
@click.argument("file", metavar="EXPERIMENT.toml")
@click.option("--runs", "-r", type=COUNT, default=None, help="Override the file's runs.")
@click.option("--seed", "-s", type=COUNT, default=None, help="Override the file's seed.")
@click.option("--out", "-o", default=None, help="Folder for the report; by default out/ and the file's name.")
@RESULTS
@AT_ONCE
@ENGINE
@ADDRESS
def run(
    file: str, out: str | None, results: str, jobs: int | None, engine: str, address: str | None, **changes: Any
) -> None:
    """Run an experiment described in a TOML file, and write a report.

    \b
    setwise run examples/slates.toml
    setwise run examples/slates.toml --runs 200          extend the stored results
    setwise run examples/cluster.toml --engine dask --address tcp://192.0.2.7:8786

    See docs/experiments.md for the file's keys, and docs/scale.md for clusters.
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
    """On Ctrl-C, say where finished results are stored, and exit with code 130."""

    def __init__(self, results: str) -> None:
        self.results = results

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            click.echo(f"setwise: stopped; finished results are in {self.results}; the same command resumes", err=True)
            sys.exit(130)
