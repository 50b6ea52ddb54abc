"""The commands of `setwise study` except `ask`, `tell`, `certificate` and `demo`; they print JSON lines."""

import io
import json
import math
import os
import sys
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from setwise.cli.group import COUNT, STOPPED, exit_code, main
from setwise.cli.printing import Progress, print_table
from setwise.errors import DamagedFile, InputError
from setwise.experiments.specs import ForWorld, make_policy
from setwise.validation import counted

if TYPE_CHECKING:
    from setwise.study import Arm

MAX_ARMS = 50  # in `show`


class Lasting(click.Group):
    """A group whose commands say on Ctrl-C that their printed answers are stored."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            click.echo("setwise: stopped; all printed answers are stored", err=True)
            context.exit(STOPPED)


@main.group("study", cls=Lasting)
def study() -> None:
    """Ask for a set, tell its rewards, and store both: studies in a file or a database.

    \b
    setwise study demo                                        see one at work
    setwise study create sqlite:///shop.db cameras --arm Nikon --arm Canon --arm Sony -k 2
    setwise study ask sqlite:///shop.db cameras               {"id": "0199...", "arms": ["Nikon", "Sony"], ...}
    setwise study tell sqlite:///shop.db cameras 0199... --winner Sony
    setwise study show sqlite:///shop.db cameras

    ADDRESS is sqlite:///shop.db for a relative path, sqlite:////var/shop.db for an absolute one, or
    postgresql://user@host/database; keep the password in ~/.pgpass or PGPASSWORD, out of sight. An answer is a
    line of JSON, printed once it is durable. Invalid input gives one sentence and exit code 2; other failures, such
    as a storage error, give exit code 3.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # so that the user's own policies can be imported


ADDRESS = click.argument("address")
NAME = click.argument("name")
AS_JSON = click.option(
    "--json/--table", "as_json", default=None,
    help="Print JSON lines or a table; by default a table on a terminal and JSON lines elsewhere.",
)  # fmt: skip
DURABILITY = click.option(
    "--durability", type=click.Choice(["full", "normal"]), default="full", show_default=True,
    help="Full: answers survive a power loss; normal: only a process crash, but faster.",
)  # fmt: skip


@study.command("create")
@ADDRESS
@NAME
@click.option("--arm", "-a", "arms", multiple=True, metavar="NAME", help="The name of an arm; repeat for each.")
@click.option("--arms-from", metavar="FILE", help="A file with one name per line; - for standard input.")
@click.option("-k", "k", type=COUNT, required=True, help="Arms per set.")
@click.option(
    "--policy", "-p", default=None, metavar="NAME[:PARAMETER=VALUE,...]",
    help="See `setwise list policies`; by default robust-ucb.",
)  # fmt: skip
@click.option("--horizon", "-t", type=COUNT, default=None, help="Planned rounds; by default a doubling horizon.")
@click.option("--seed", "-s", type=COUNT, default=None, help="Equal seeds and feedback give equal decisions.")
@click.option("--window", default=None, metavar="TIME", help="Timeout such as 30m; decisions then close with 0.")
@DURABILITY
@click.option("--exist-ok", is_flag=True, help="Do not fail if the study exists.")
def create_study(
    address: str, name: str, arms: tuple[str, ...], arms_from: str | None, k: int, policy: str | None, **options: Any
) -> None:
    """Create a study and print its summary.

    \b
    setwise study create sqlite:///shop.db cameras --arm Nikon --arm Canon --arm Sony --arm Shoes -k 2
    setwise study create sqlite:///shop.db news --arms-from titles.txt -k 5 -p kl-ucb:alpha=1 --window 30m
    cut -f1 items.tsv | setwise study create postgresql://shop@db/shop items --arms-from - -k 10 --exist-ok
    """
    from setwise.study import Study

    if arms and arms_from is not None:
        raise InputError("--arm and --arms-from were both given; give one of them")
    names = list(arms) if arms_from is None else _read_names(arms_from)
    if not names:
        raise InputError("there are no arms; name each with --arm, or give a file of names with --arms-from")
    own = None if policy is None else make_study_policy(policy)
    with Study.create(address, name, names, k, own, **options) as made:
        print_line(made.summary().to_json())


@study.command("show")
@ADDRESS
@NAME
@AS_JSON
def show_study(address: str, name: str, as_json: bool | None) -> None:
    """Show a study's summary and arms; as JSON only the summary (see `setwise study arms`).

    \b
    setwise study show sqlite:///shop.db cameras
    setwise study show sqlite:///shop.db cameras --json | jq .mean
    """
    from setwise.study import Study

    with Study.open(address, name) as opened:
        summary = opened.summary()
        if wants_json(as_json):
            print_line(summary.to_json())
            return
        arms = opened.arms()
    click.echo(visible(str(summary), keep="\n"))
    click.echo()
    most = sorted(arms, key=lambda arm: (-arm.shown, arm.number))[:MAX_ARMS]
    print_arms(sorted(most, key=lambda arm: arm.number), summary.best)
    if len(arms) > MAX_ARMS:
        click.echo(f"... and {len(arms) - MAX_ARMS:,} others, shown less often: `setwise study arms` has all")


@study.command("list")
@ADDRESS
@AS_JSON
def list_studies(address: str, as_json: bool | None) -> None:
    """List the studies at an address with their summaries.

    \b
    setwise study list sqlite:///shop.db
    setwise study list sqlite:///shop.db --json | jq -r .name
    """
    from setwise.study import Study

    lines: list[dict[str, Any]] = []
    worst = 0
    for name in Study.names(address):
        try:
            with Study.open(address, name) as opened:
                lines.append(opened.summary().to_json())
        except (InputError, DamagedFile) as error:
            lines.append({"name": name, "error": str(error)})
            worst = max(worst, exit_code(error))
    if wants_json(as_json):
        for line in lines:
            print_line(line)
    elif lines:
        head = ["study", "k", "arms", "rounds", "told", "open", "reward", "created", "policy"]
        print_table(head, [[visible(text) for text in _study_row(line)] for line in lines])
    else:
        click.echo("there are no studies; `setwise study create` makes one")
    for line in lines:
        if "error" in line:
            click.echo(f"setwise: {visible(line['name'])}: {line['error']}", err=True)
    if worst:
        sys.exit(worst)


@study.command("arms")
@ADDRESS
@NAME
@click.option("--add", multiple=True, metavar="ARM", help="Add an arm, to be tried first.")
@click.option("--pending", multiple=True, metavar="ARM", help="Add an arm that waits for --activate.")
@click.option("--activate", multiple=True, metavar="ARM", help="Activate a pending or retired arm.")
@click.option("--retire", multiple=True, metavar="ARM", help="Stop showing an arm; its rewards are kept.")
@AS_JSON
def arms_of_study(
    address: str,
    name: str,
    add: Sequence[str],
    pending: Sequence[str],
    activate: Sequence[str],
    retire: Sequence[str],
    as_json: bool | None,
) -> None:
    """Print the statistics of each arm, after changing arms if asked to. Options may be repeated.

    \b
    setwise study arms sqlite:///shop.db cameras
    setwise study arms sqlite:///shop.db cameras --add Leica --retire Shoes
    """
    from setwise.study import Study

    with Study.open(address, name) as opened:
        changes: list[tuple[str, str, Callable[[str], Arm]]] = [
            *(("--add", arm, opened.add_arm) for arm in add),
            *(("--pending", arm, lambda arm: opened.add_arm(arm, active=False)) for arm in pending),
            *(("--activate", arm, opened.activate_arm) for arm in activate),
            *(("--retire", arm, opened.retire_arm) for arm in retire),
        ]
        done: list[str] = []
        for option, arm, change in changes:
            try:
                change(arm)
            except InputError as error:
                before = f" (done before that, and kept: {', '.join(done)})" if done else ""
                raise InputError(f"{error}{before}") from None
            done.append(f"{option} {arm}")
        arms, best = opened.arms(), opened.best()
    if wants_json(as_json):
        for each in arms:
            print_line(each.to_json())
    else:
        print_arms(arms, best)


@study.command("export")
@ADDRESS
@NAME
@click.argument("file")
@click.option("--format", "kind", type=click.Choice(["csv", "jsonl"]), default=None, help="Format, if FILE is -.")
def export_study(address: str, name: str, file: str, kind: str | None) -> None:
    """Export all decisions to a .csv file, or the whole journal to a .jsonl file; FILE - is standard output.

    \b
    setwise study export sqlite:///shop.db cameras cameras.csv        one line per arm of each decision
    setwise study export sqlite:///shop.db cameras cameras.jsonl      for `setwise study import`
    setwise study export sqlite:///shop.db cameras - --format csv | head
    """
    from setwise.study import Study
    from setwise.study.transfer import write_csv, write_journal

    if file == "-" and kind is None:
        raise InputError("say what to write to the standard output: --format csv or --format jsonl")
    if file != "-" and kind is not None and not file.lower().endswith(f".{kind}"):
        raise InputError(f"--format is {kind}, and {file!r} does not end in .{kind}; leave --format out")
    with Study.open(address, name) as opened:
        if file != "-":
            opened.export(file)
            click.echo(f"{file}  {counted(opened.summary().rounds, 'decision')}")
            return
        out = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="")
        try:
            (write_csv if kind == "csv" else write_journal)(opened, out)
            out.flush()
        finally:
            out.detach()


@study.command("import")
@ADDRESS
@NAME
@click.argument("file")
def import_study(address: str, name: str, file: str) -> None:
    """Create a study from a journal exported as .jsonl; FILE - is standard input.

    \b
    setwise study import sqlite:///other.db cameras cameras.jsonl
    setwise study export sqlite:///shop.db cameras - --format jsonl \\
        | setwise study import postgresql://shop@db/shop cameras -
    """
    from setwise.study import Study

    with Study.load(address, name, "/dev/stdin" if file == "-" else file) as loaded:
        print_line(loaded.summary().to_json())


@study.command("verify")
@ADDRESS
@NAME
@click.option("--quick", is_flag=True, help="Do not recompute the decisions.")
@AS_JSON
def verify_study(address: str, name: str, quick: bool, as_json: bool | None) -> None:
    """Verify the whole journal: it is intact, and replaying it gives the same decisions. Exit code 1 if not.

    \b
    setwise study verify sqlite:///shop.db cameras
    setwise study verify sqlite:///shop.db cameras --quick --json
    """
    from setwise.study import Study

    try:
        with Study.open(address, name) as opened, Progress(after=1.0) as progress:
            found = opened.verify(not quick, progress.task(name))
        line, text = found.to_json(), str(found)
    except DamagedFile as error:
        line, text = {"problems": [str(error)], "ok": False}, f"PROBLEMS FOUND\n{error}"
    if wants_json(as_json):
        print_line(line)
    else:
        click.echo(visible(text, keep="\n"))
    if not line["ok"]:
        sys.exit(1)


@study.command("delete")
@ADDRESS
@NAME
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
def delete_study(address: str, name: str, yes: bool) -> None:
    """Delete a study with its journal permanently, and print its last summary.

    \b
    setwise study delete sqlite:///shop.db cameras --yes
    """
    from setwise.study import Study

    stood: dict[str, Any] = {"name": name}
    try:
        with Study.open(address, name) as opened:
            stood = opened.summary().to_json()
    except (InputError, DamagedFile):
        if name not in Study.names(address):
            raise
    if not yes and not sys.stdin.isatty():
        raise InputError(f"{name!r} would be deleted permanently, and there is no terminal to confirm on; give --yes")
    if not yes:
        size = f" with {stood['rounds']:,} rounds" if "rounds" in stood else ", which cannot be opened"
        click.confirm(f"Delete {name!r}{size} permanently?", abort=True)
    Study.remove(address, name)
    if wants_json(None):
        print_line(stood)
    else:
        click.echo(f"{visible(name)} is deleted")


def print_line(value: dict[str, Any]) -> None:
    """Print a line of JSON at once, in UTF-8 whatever the terminal's encoding."""
    click.echo(json.dumps(value, ensure_ascii=False).encode())


def wants_json(as_json: bool | None) -> bool:
    """Whether to print JSON lines: as asked for, else if standard output is not a terminal."""
    return not sys.stdout.isatty() if as_json is None else as_json


def make_study_policy(text: str) -> Any:
    """Return the policy that a text describes; raise if it needs an environment."""
    made = make_policy(text, None)
    return made.without_world() if isinstance(made, ForWorld) else made


def _read_names(file: str) -> list[str]:
    """Read names from a file, one per line, skipping empty lines."""
    if file == "-":
        data = sys.stdin.buffer.read()
    else:
        with open(file, "rb") as opened:
            data = opened.read()
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8 text") from None
    return [line.strip() for line in lines if line.strip()]


def _study_row(line: dict[str, Any]) -> list[str]:
    if "error" in line:
        return [line["name"], *[""] * 7, "cannot be opened"]
    counts = [f"{line[key]:,}" for key in ("k", "arms", "rounds", "told", "open")]
    return [line["name"], *counts, f"{line['reward']:g}", line["created"][:16].replace("T", " "), line["policy"]]


def print_arms(arms: "Sequence[Arm]", best: Collection[str]) -> None:
    """Print a table of arms, marking the best set so far."""
    rows = [
        [
            visible(arm.name),
            "best" if arm.name in best else "",
            arm.status,
            f"{arm.shown:,}",
            f"{arm.pulls:,}",
            "-" if arm.mean is None else f"{arm.mean:.4f}",
            _index(arm.index),
        ]
        for arm in arms
    ]
    print_table(["arm", "so far", "status", "shown", "pulls", "mean", "index"], rows)


def _index(index: float | None) -> str:
    """Format an index for a table; an infinite one with its sign, as a number."""
    if index is None:
        return "-"
    return f"{index:+.0f}" if math.isinf(index) else f"{index:.4f}"


def visible(text: str, keep: str = "") -> str:
    r"""Escape characters that cannot be printed, except those in `keep`.

    >>> visible("a\tb\x1b[0m"), visible("a\nb", keep="\n")
    ('a\\tb\\x1b[0m', 'a\nb')
    """
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)
