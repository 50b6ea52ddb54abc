"""The command line: `setwise simulate`, `setwise list`, `setwise reproduce`."""

import csv
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from setwise import __version__
from setwise.declare import number, suggestion, whole_number
from setwise.types import InputError


class Refusing(click.Group):
    """A group whose commands answer a user's mistake with one sentence and exit code 2."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except InputError as error:
            click.echo(f"setwise: {error}", err=True)
            context.exit(2)
        except OSError as error:
            click.echo(f"setwise: {error.strerror}: {error.filename}", err=True)
            context.exit(2)
        except KeyboardInterrupt:
            click.echo("setwise: stopped; nothing was kept", err=True)
            context.exit(130)


class Count(click.ParamType[int]):
    """A whole number, also written as 1e6."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> int:
        try:
            return whole_number(param.name if param and param.name else "number", float(value))
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a whole number such as 1000 or 1e6", param, context)


COUNT = Count()


@click.group(cls=Refusing, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="setwise")
def main() -> None:
    """Choose k of n, see what each chosen item earned, and learn the best set."""


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
    _print_table(["policy", "parameters", "feedback", "assumption", "regret", "reference"], rows)


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
    _print_table(["environment", "n", "k", "feedback", "what it is"], rows)
    rows = [[f"setwise.environments.{cls.__name__}", cls.rewards, cls.total_order, _first_line(cls)] for cls in MODELS]
    _print_table(["reward model (in Python)", "rewards", "total order", "what it is"], rows)


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


def policy_classes() -> Mapping[str, Any]:
    from setwise.policies import POLICIES

    return POLICIES


def environments() -> Mapping[str, Any]:
    from setwise.paper import INSTANCES

    return INSTANCES


def make(text: str, known: Mapping[str, Any], kind: str) -> Any:
    """The object that `name:parameter=value,...` describes; a name with a dot is a class or function of a module."""
    name, _, parameters = text.partition(":")
    if "." in name:
        maker = _imported(name, kind)
    elif name in known:
        maker = known[name]
    else:
        raise InputError(f"there is no {kind} {name!r}; {suggestion(name, known)}")
    values = {}
    for part in filter(None, parameters.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{part!r} in {text!r} is not of the form parameter=value")
        try:
            values[key.strip()] = number(key, float(value))
        except ValueError:
            raise InputError(f"{value!r} in {text!r} is not a number") from None
    accepted = inspect.signature(maker).parameters if not hasattr(maker, "_fields") else maker._fields
    for key in values:
        if key not in accepted:
            raise InputError(f"{name} has no parameter {key!r}; {suggestion(key, accepted)}")
    hints = getattr(maker, "__annotations__", {})
    return maker(**{key: whole_number(key, v) if hints.get(key) is int else v for key, v in values.items()})


def _imported(name: str, kind: str) -> Any:
    module, _, attribute = name.rpartition(".")
    sys.path.insert(0, os.getcwd())
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"the {kind} {name!r} cannot be imported: {error}") from None
    finally:
        sys.path.pop(0)


class Progress:
    """A bar for each piece of work on a terminal; nothing in a pipe."""

    def __enter__(self) -> "Progress":
        self.bars: Any = None
        self.tasks: dict[str, Any] = {}
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bars

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
            )
            self.bars = Bars(*columns, console=Console(stderr=True))
            self.bars.start()
        return self

    def __exit__(self, *reason: object) -> None:
        if self.bars is not None:
            self.bars.stop()

    def task(self, name: str) -> Callable[[float], None]:
        if self.bars is None:
            return lambda done: None
        if name not in self.tasks:
            self.tasks[name] = self.bars.add_task(name, total=1.0)
        return lambda done: self.bars.update(self.tasks[name], completed=done)


def _print_table(head: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    width = None if sys.stdout.isatty() else max(80, 4 * len(head) + max(sum(map(len, row)) for row in [head, *rows]))
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, *column in zip(head, *rows):
        numeric = all(cell[:1].isdigit() or cell[:1] in "+-" for cell in column)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(width=width, highlight=False).print(table)


def _print_summary(environment: str, results: list[tuple[str, str, Any]]) -> None:
    rows = [
        [name, f"{r.mean_regret()[-1]:,.2f}", f"{r.standard_error()[-1]:,.2f}", f"{r.runs}", f"{r.horizon:,}"]
        for name, _, r in results
    ]
    click.echo(environment)
    _print_table(["policy", "final regret", "standard error", "runs", "rounds"], rows)


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


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0].rstrip(".")


if __name__ == "__main__":
    main()
