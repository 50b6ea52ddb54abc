"""Commands that play: `setwise simulate`, `setwise reproduce`; and `setwise list`."""

import csv
import inspect
import os
import sys
from typing import Any

import click

from setwise.cli.group import COUNT, main
from setwise.cli.making import environments, make, policy_classes
from setwise.cli.printing import Progress, print_table


@main.command()
@click.option("--environment", "-e", required=True, metavar="NAME", help="A world, see `setwise list environments`.")
@click.option(
    "--policy", "-p", "policies", multiple=True, required=True, metavar="NAME[:PARAMETER=VALUE,...]",
    help="A policy, see `setwise list policies`; give several to compare them, for example -p ucb -p ucb:alpha=0.5.",
)  # fmt: skip
@click.option("--horizon", "-t", type=COUNT, default=100_000, show_default=True, help="Rounds of a run, up to 1e12.")
@click.option("--runs", "-r", type=COUNT, default=20, show_default=True, help="Independent runs.")
@click.option("--seed", "-s", type=COUNT, default=0, show_default=True, help="Equal seeds give equal results.")
@click.option("--out", "-o", default="out", show_default=True, help="Folder for results, table and figure.")
@click.option("--checkpoints", type=COUNT, default=100, show_default=True, help="How many rounds to record at.")
@click.option("--spacing", type=click.Choice(["log", "linear"]), default="log", show_default=True)
@click.option("--fast-forward/--no-fast-forward", default=True, show_default=True, help="Exact; off is round by round.")
@click.option("--threads", type=COUNT, default=None, help="Runs at a time; by default as many as there are cores.")
def simulate(environment: str, policies: tuple[str, ...], out: str, **options: Any) -> None:
    """Play policies in a world and compare their regret.

    \b
    setwise simulate --environment camera --policy ucb --horizon 1e5 --runs 20 --seed 0 --out out/
    setwise simulate -e random-weak:seed=3 -p ucb -p ucb:alpha=0.5 -t 1e6

    A policy or environment of your own is named by its module: -p mine.MyPolicy:epsilon=0.1
    """
    from setwise import simulation
    from setwise.simulation.drawing import Drawing

    world = make(environment, environments(), "environment")
    players = [(name, make(name, policy_classes(), "policy")) for name in policies]
    os.makedirs(out, exist_ok=True)
    label = environment.replace(":", "-")
    results, stopped = [], False
    with Drawing() as drawing:
        with Progress() as progress:
            for name, player in players:
                try:
                    result = simulation.simulate(player, world, progress=progress.task(name), **options)
                except simulation.Interrupted as interrupted:
                    stopped = True
                    if interrupted.result is None:
                        break
                    result = interrupted.result
                path = os.path.join(out, f"{label}-{name.replace(':', '-')}.npz")
                result.save(path)
                results.append((name, path, result))
                if stopped:
                    break
        if results:
            picture = os.path.join(out, f"{label}.png")
            drawing.start([path for _, path, _ in results], picture, environment, [name for name, *_ in results])
            _write_summary(os.path.join(out, f"{label}.csv"), results)
            _print_summary(environment, results)
            drawing.finish(picture)
            click.echo(f"{picture}  {os.path.join(out, label + '.csv')}  " + "  ".join(path for _, path, _ in results))
    if stopped:
        kept = ", ".join(f"{result.runs} runs of {name}" for name, _, result in results) or "nothing"
        click.echo(f"setwise: stopped; kept {kept}", err=True)
        sys.exit(130)


@main.group("list")
def listing() -> None:
    """List the policies or the environments there are."""


@listing.command("policies")
def list_policies() -> None:
    """The policies, with what is true of each."""
    rows = [
        [name, _parameters(cls), ", ".join(cls.feedback), cls.assumptions, cls.regret_bound, cls.reference]
        for name, cls in policy_classes().items()
    ]
    print_table(["policy", "parameters", "feedback", "assumption", "regret", "reference"], rows)


@listing.command("environments")
def list_environments() -> None:
    """The worlds that `--environment` takes, and the reward models to make your own from."""
    from setwise.environments import MODELS

    rows = []
    for name, maker in environments().items():
        world = maker()
        rows.append(
            [
                name + _parameters(maker, ":"),
                f"{world.n}",
                f"{world.k}",
                str(world.feedback),
                _first_line(maker),
            ]
        )
    print_table(["environment", "n", "k", "feedback", "what it is"], rows)
    facts = ("rewards", "weak_consistency", "total_order")
    rows = [
        [f"setwise.environments.{cls.__name__}", *(_fact(cls, name) for name in facts), _first_line(cls)]
        for cls in MODELS
    ]
    print_table(["reward model (in Python)", "rewards", "Assumption 1", "total order", "what it is"], rows)


@main.command()
@click.option("--out", "-o", default="out/report", show_default=True, help="Folder for the page and its figures.")
@click.option("--runs", "-r", type=COUNT, default=20, show_default=True)
@click.option("--horizon", "-t", type=COUNT, default=10**6, show_default=True)
@click.option("--seed", "-s", type=COUNT, default=0, show_default=True)
@click.option("--threads", type=COUNT, default=None, help="Runs at a time; by default as many as there are cores.")
def reproduce(**options: Any) -> None:
    """Run Algorithm 1 in the paper's five worlds and write a page with the figures."""
    from setwise.paper.reproduce import reproduce
    from setwise.simulation import Interrupted

    try:
        with Progress() as progress:
            page = reproduce(progress=lambda name, done: progress.task(name)(done), **options)
    except Interrupted:
        click.echo(f"setwise: stopped; the worlds that were finished are in {options['out']}", err=True)
        sys.exit(130)
    click.echo(page)


def _print_summary(environment: str, results: list[tuple[str, str, Any]]) -> None:
    rows = [
        [name, f"{r.mean_regret()[-1]:,.2f}", f"{r.standard_error()[-1]:,.2f}", f"{r.runs}", f"{r.horizon:,}"]
        for name, _, r in results
    ]
    click.echo(environment)
    print_table(["policy", "final regret", "standard error", "runs", "rounds"], rows)


def _write_summary(path: str, results: list[tuple[str, str, Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["policy", "round", "mean_regret", "standard_error", "runs"])
        for name, _, r in results:
            for row in zip(r.rounds.tolist(), r.mean_regret().tolist(), r.standard_error().tolist(), strict=True):
                writer.writerow([name, *row, r.runs])


def _parameters(maker: Any, before: str = "") -> str:
    if hasattr(maker, "_field_defaults"):
        given = maker._field_defaults.items()
    else:
        given = [(p.name, p.default) for p in inspect.signature(maker).parameters.values()]
    return (before if given else "") + ", ".join(f"{name}={value}" for name, value in given)


def _fact(cls: Any, name: str) -> str:
    """A fact about a class; where it follows from the parameters, that."""
    value = getattr(cls, name)
    return value if isinstance(value, str) else "by its parameters"


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0].rstrip(".")
