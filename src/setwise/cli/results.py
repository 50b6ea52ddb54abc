"""`setwise results list`, `remove` and `export`: manage stored results."""

import os
import time
from typing import TYPE_CHECKING

import click

from setwise.cli.group import main
from setwise.cli.printing import print_table
from setwise.experiments.specs import environments
from setwise.types import InputError

if TYPE_CHECKING:
    from setwise.experiments.store import Store, StoredResult

FOLDER = "out/results"
folder_option = click.option("--results", default=FOLDER, show_default=True, metavar="DIR", help="Folder of results.")


@main.group("results")
def results() -> None:
    """List, remove or export stored results, which later runs reuse."""


@results.command("list")
@folder_option
def list_results(results: str) -> None:
    """List stored results: a line for each policy in an environment, with its number of runs.

    \b
    setwise results list
    setwise results list --results elsewhere/results

    Current: whether the installed code and libraries would give the same runs; other results are never used again.
    """
    store = _store(results)
    entries = store.entries()
    if not entries:
        click.echo(_nothing(results))
        return
    head = ["digest", "policy", "environment", "rounds", "points", "seed", "runs", "size", "written", "current"]
    known = _known_worlds()
    print_table(head, [_row(entry, known) for entry in entries])
    click.echo(f"\n{_count(entries)} in {results}")
    _say_damaged(store)


@results.command("remove")
@click.argument("digests", nargs=-1, metavar="[DIGEST]...")
@click.option("--stale", is_flag=True, help="Remove results of other versions of the code or libraries.")
@click.option("--all", "everything", is_flag=True, help="Remove all results.")
@click.option("--yes", "-y", is_flag=True, help="With --all: do not ask for confirmation.")
@folder_option
def remove_results(digests: tuple[str, ...], stale: bool, everything: bool, yes: bool, results: str) -> None:
    """Remove stored results: by the first characters of their digests, the stale ones, or all.

    \b
    setwise results remove 3fa85b21 90c1
    setwise results remove --stale
    setwise results remove --all --yes
    """
    if not (digests or stale or everything):
        raise InputError("nothing is named; give digests as `setwise results list` shows them, --stale or --all")
    store = _store(results)
    if everything and not yes:
        entries = store.entries()
        if entries:
            click.confirm(f"Remove {_count(entries)} in {results}?", abort=True)
    removed = store.remove(digests, stale, everything)
    if everything:
        from setwise.paper.claim_store import CLAIMS, ClaimStore

        claims = ClaimStore(os.path.join(results, CLAIMS)).remove_all()
        if claims:
            click.echo(f"removed {claims} settled claim{'s' * (claims != 1)}")
    if removed:
        known = _known_worlds()
        for entry in removed:
            click.echo("  ".join(_row(entry, known)[:3]))
        click.echo(f"removed {_count(removed)}")
    elif not store.entries():
        click.echo(_nothing(results))
    else:
        click.echo(f"nothing to remove: no result in {results} is known to be out of date")


@results.command("export")
@click.argument("digest")
@click.argument("path")
@folder_option
def export_result(digest: str, path: str, results: str) -> None:
    """Export the runs of one result to a .npz, .csv or .json file.

    \b
    setwise results export 3fa85b21 ucb.csv          run, round and regret, one line per run and checkpoint
    setwise results export 3fa85b21 ucb.npz          for sw.Result.load
    """
    store = _store(results)
    result = store.export(digest, path)
    click.echo(
        f"{path}  {result.runs} runs of {result.horizon:,} rounds, {result.policy} in {_cut(result.environment)}"
    )
    _say_damaged(store)


def _store(folder: str) -> "Store":
    from setwise.experiments.store import Store

    return Store(folder, create=False)


def _known_worlds() -> dict[str, str]:
    """Return the names of the named environments, by identity."""
    from setwise.identity import identity

    return {identity(maker()): name for name, maker in environments().items()}


def _row(entry: "StoredResult", known: dict[str, str]) -> list[str]:
    from setwise.experiments.store import SHORT

    if not entry.policy:
        return [entry.digest[:SHORT], "cannot be read", *["-"] * 4, f"{entry.runs}", _size(entry.size), "-", "-"]
    return [
        entry.digest[:SHORT],
        _cut(entry.policy) + ", recorded" * entry.record + ", common" * entry.common + _tested(entry.certificate),
        known.get(entry.world) or _cut(entry.environment),
        f"{entry.horizon:,}",
        f"{entry.checkpoints}",
        f"{entry.seed}",
        f"{entry.runs}",
        _size(entry.size),
        time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.written)),
        {True: "yes", False: "no", None: "cannot be told"}[entry.current],
    ]


def _count(entries: "list[StoredResult]") -> str:
    return f"{len(entries)} result{'s' * (len(entries) != 1)}, {_size(sum(entry.size for entry in entries))}"


def _size(size: float) -> str:
    """Format a number of bytes.

    >>> _size(999), _size(12_345), _size(123_456_789)
    ('999 bytes', '12.3 kB', '123.5 MB')
    """
    if size < 1000:
        return f"{size} bytes"
    for unit in ("kB", "MB"):
        size /= 1000
        if size < 1000:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} GB"


def _tested(confidence: float | None) -> str:
    return "" if confidence is None else f", certificate {confidence:g}"


def _cut(text: str, longest: int = 48) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _nothing(folder: str) -> str:
    return f"there are no results in {folder}; `setwise reproduce` and `setwise run` keep theirs in {FOLDER}"


def _say_damaged(store: "Store") -> None:
    for sentence in store.damaged:
        click.echo(f"setwise: {sentence}", err=True)
