"""`setwise simulate` and `setwise list`."""

import contextlib
import csv
import inspect
import os
import sys
from typing import Any

import click

from setwise.cli.engines import ADDRESS, ENGINE
from setwise.cli.group import COUNT, main
from setwise.cli.printing import Progress, print_records, print_table
from setwise.experiments.specs import environments, make, make_policy, policy_classes
from setwise.types import InputError
from setwise.validation import suggestion, whole_number


@main.command()
@click.option("--environment", "-e", required=True, metavar="NAME", help="See `setwise list environments`.")
@click.option(
    "--policy", "-p", "policies", multiple=True, required=True, metavar="NAME[:PARAMETER=VALUE,...]",
    help="A policy, see `setwise list policies`; repeat to compare several, for example -p ucb -p ucb:alpha=0.5.",
)  # fmt: skip
@click.option("--horizon", "-t", type=COUNT, default=100_000, show_default=True, help="Rounds per run, up to 1e12.")
@click.option("--runs", "-r", type=COUNT, default=20, show_default=True, help="Independent runs.")
@click.option("--seed", "-s", type=COUNT, default=0, show_default=True, help="Equal seeds give equal results.")
@click.option("--out", "-o", default="out", show_default=True, help="Folder for results, table and figure.")
@click.option("--checkpoints", type=COUNT, default=100, show_default=True, help="Number of rounds to record at.")
@click.option("--spacing", type=click.Choice(["log", "linear"]), default="log", show_default=True)
@click.option(
    "--fast-forward/--no-fast-forward",
    default=None,
    help="Play rounds in blocks, exactly; default: on, without --common.",
)
@click.option("--common", is_flag=True, help="Common random numbers: all policies meet the same world.")
@click.option(
    "--certificate", type=float, default=None, metavar="CONFIDENCE",
    help="Test Assumption 1 (weak optimal set consistency) in every run, at this confidence, such as 0.95.",
)  # fmt: skip
@click.option(
    "--figure/--no-figure", default=True, show_default=True, help="Draw the regret; loading Matplotlib takes a second."
)
@click.option("--check-bounds", is_flag=True, help="Check array bounds in your own classes; slower.")
@click.option(
    "--jobs", "-j", "--threads", "threads", type=COUNT, default=None,
    help="Jobs at a time; by default one per core.",
)  # fmt: skip
@ENGINE
@ADDRESS
def simulate(environment: str, policies: tuple[str, ...], out: str, figure: bool, **options: Any) -> None:
    """Play policies in an environment and compare their regret.

    \b
    setwise simulate --environment camera --policy ucb --horizon 1e5 --runs 20 --seed 0 --out out/
    setwise simulate -e random-weak:seed=3 -p ucb -p ucb:alpha=0.5 -t 1e6
    setwise simulate -e mnl -p ucb -p kl-ucb -t 1e4 --common
    setwise simulate -e nested-logit -p ucb --certificate 0.95
    setwise simulate -e mnl -p kl-ucb -t 1e7 -r 1000 --engine dask --address tcp://192.0.2.7:8786

    Name your own policy or environment by its module: -p mine.MyPolicy:epsilon=0.1
    """
    from setwise import simulation
    from setwise.engines import check_engine
    from setwise.simulation.figure_process import FigureProcess

    check_engine(options["engine"], options["address"])
    if options["threads"] is not None:
        whole_number("jobs", options["threads"], 1)
    world = make(environment, environments(), "environment")
    players = [(name, make_policy(name, world)) for name in policies]
    os.makedirs(out, exist_ok=True)
    label = environment.replace(":", "-")
    results, stopped = [], False
    with FigureProcess() if figure else contextlib.nullcontext() as drawing:
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
            files = [os.path.join(out, f"{label}.csv"), *(path for _, path, _ in results)]
            if drawing is not None:
                files.insert(0, os.path.join(out, f"{label}.png"))
                drawing.start(files[2:], files[0], environment, [name for name, *_ in results])
            _write_summary(os.path.join(out, f"{label}.csv"), results)
            _print_summary(environment, results)
            if options["certificate"] is not None:
                _print_certificates(results)
            if drawing is not None:
                drawing.finish(files[0])
            click.echo("  ".join(files))
    if stopped:
        kept = ", ".join(f"{result.runs} runs of {name}" for name, _, result in results) or "nothing"
        click.echo(f"setwise: stopped; kept {kept}", err=True)
        sys.exit(130)


@main.group("list")
def listing() -> None:
    """List the available policies or environments."""


@listing.command("policies")
@click.argument("names", nargs=-1, metavar="[NAME]...")
def list_policies(names: tuple[str, ...]) -> None:
    """List the policies as in the paper's Table 1, or show all facts about the named ones.

    \b
    setwise list policies
    setwise list policies kl-ucb escb2

    Fixed k: the published policy plays exactly k arms. Set-dep.: rewards may depend on the set. No order: no total
    order of the arms is assumed. These and the regret describe the published guarantee. If the assumption fails: what
    happens where weak optimal set consistency does not hold; `setwise check` tells. Measured is the regret of the
    policy here, which plays exactly k arms.
    """
    classes = policy_classes()
    for name in names:
        if name not in classes:
            raise InputError(f"there is no policy {name!r}; {suggestion(name, classes)}")
    measured = _measured()
    if names:
        rows = [[name, *_about(classes[name], measured.get(name, {}))] for name in names]
        print_records(["policy", *ABOUT], rows)
        return
    rows = [
        [
            name,
            cls.regret_bound or "none known",
            _tick(cls.fixed_size),
            cls.set_dependent or "no",
            _tick(not cls.total_order),
            cls.if_assumption_fails or "not stated",
            "  ".join(measured.get(name, {}).get(world, "-").rjust(5) for world in MEASURED),
        ]
        for name, cls in classes.items()
    ]
    head = ["policy", "regret, as published", "fixed k", "set-dep.", "no order", "if the assumption fails"]
    print_table([*head, "measured*"], rows)
    click.echo(
        f"\n* regret after 10^5 rounds as a share of ucb's in {', '.join(MEASURED)}.\n"
        "  Regret of the policies in the paper's Table 1 is as printed there.\n"
        "  setwise list policies NAME shows the reference, assumptions, adaptations and parameters."
    )


MEASURED = ("mnl", "random-utility", "preference-matrix", "random-weak", "camera", "trap")
ABOUT = (
    "what it is",
    "reference",
    "feedback",
    "assumes",
    "regret, as published",
    "if the assumption fails",
    "sets",
    "adapted",
    "parameters",
    "measured",
)


def _measured() -> dict[str, dict[str, str]]:
    """Return the regret of each policy over that of UCB by environment, as `make research` measured it."""
    with open(os.path.join(os.path.dirname(__file__), "measured.csv"), newline="", encoding="utf-8") as file:
        return {row.pop("policy"): row for row in csv.DictReader(file)}


def _about(cls: Any, measured: dict[str, str]) -> list[str]:
    shares = [f"{share} {world}" for world, share in measured.items() if share != "-"]
    return [
        f"{cls.title}: {_first_line(cls)}",
        cls.reference,
        " or ".join(cls.feedback) + (", with an outside option in every set" if cls.needs_outside_option else ""),
        cls.assumptions,
        cls.regret_bound or "none known",
        cls.if_assumption_fails,
        "exactly k arms" if cls.fixed_size else "the original plays fewer than k arms as well",
        cls.adaptation or ("" if cls.original else "yes"),
        _parameters(cls),
        f"regret over ucb's: {', '.join(shares)}" if shares else "",
    ]


def _tick(true: bool) -> str:
    return "yes" if true else "no"


@listing.command("environments")
def list_environments() -> None:
    """List the environments that `--environment` accepts, and the reward models for building your own."""
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


def _print_summary(environment: str, results: list[tuple[str, str, Any]]) -> None:
    head = ["policy", "final regret", "standard error", "runs", "rounds"]
    rows = [
        [name, f"{r.mean_regret()[-1]:,.2f}", f"{r.standard_error()[-1]:,.2f}", f"{r.runs}", f"{r.horizon:,}"]
        for name, _, r in results
    ]
    if all(r.surrogate_regret is not None for _, _, r in results):  # of duels, the weak regret
        head.append("surrogate regret")
        for row, (_, _, r) in zip(rows, results, strict=True):
            row.append(f"{r.surrogate_regret[:, -1].mean():,.2f}")
    click.echo(environment)
    print_table(head, rows)


def _print_certificates(results: list[tuple[str, str, Any]]) -> None:
    """Print how many runs of each policy refuted Assumption 1, when, and the certificate of the first such run."""
    from setwise.simulation.certificate import refutations

    rows = [[name, refutations(result)] for name, _, result in results]
    print_table(["policy", "runs that refuted Assumption 1"], rows)
    for name, _, result in results:
        run = int((result.refuted > 0).argmax())  # 0 if there is none: then its text says what silence means
        click.echo(f"{name}, run {result.first + run}: {result.certificate_of(run)}")


def _write_summary(path: str, results: list[tuple[str, str, Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["policy", "round", "mean_regret", "standard_error", "runs"])
        for name, _, r in results:
            for row in zip(r.rounds.tolist(), r.mean_regret().tolist(), r.standard_error().tolist(), strict=True):
                writer.writerow([name, *row, r.runs])


def _parameters(maker: Any, before: str = "") -> str:
    if hasattr(maker, "_field_defaults"):
        known = [name for name in maker._fields if name not in maker._field_defaults]
        parts = [f"{name} (from the world)" for name in known]
        return ", ".join(parts + [f"{name}={value}" for name, value in maker._field_defaults.items()])
    else:
        given = [(p.name, p.default) for p in inspect.signature(maker).parameters.values()]
    return (before if given else "") + ", ".join(f"{name}={value}" for name, value in given)


def _fact(cls: Any, name: str) -> str:
    """Return a fact about a class, or say that it depends on the parameters."""
    value = getattr(cls, name)
    return value if isinstance(value, str) else "by its parameters"


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0].rstrip(".")
