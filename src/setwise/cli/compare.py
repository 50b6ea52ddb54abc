"""`setwise compare`."""

import os
from pathlib import Path

import click

from setwise.cli.group import COUNT, main
from setwise.types import InputError


def results_in(given: str) -> list[str]:
    """Return the saved results of a folder, in the order of their names; or the file itself."""
    folder = Path(given)
    if not folder.is_dir():
        return [os.path.normpath(given)]
    found = sorted(os.path.normpath(file) for file in folder.glob("*.npz"))
    if not found:
        raise InputError(
            f"{given} is a folder without saved results; `setwise simulate --out {given}` saves some there"
        )
    return found


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE|FOLDER...")
@click.option("--baseline", metavar="FILE", help="Compare all others with this one; by default all pairs.")
@click.option("--at", type=COUNT, default=None, help="Round to compare at, a checkpoint; by default the last.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals and verdicts.")
@click.option("--surrogate", is_flag=True, help="Compare the environment's surrogate regret.")
def compare(files: tuple[str, ...], baseline: str | None, at: int | None, confidence: float, surrogate: bool) -> None:
    """Compare saved results of one environment: differences and ratios of regret, tests, growth.

    \b
    setwise simulate -e camera -p ucb -p kl-ucb -t 1e4 --common --out out/
    setwise compare out/camera-ucb.npz out/camera-kl-ucb.npz
    setwise compare out/ --baseline out/camera-ucb.npz --at 1000

    A folder stands for all results saved in it, its .npz files.

    The runs of `--common` are compared run by run, by Student's paired test; others by Welch's test. P-values are
    adjusted for all pairs by Holm's method.
    """
    from setwise.simulation.comparison import compare as compare_results
    from setwise.simulation.result import Result

    files = tuple(file for given in files for file in results_in(given))
    for file in files:
        if files.count(file) > 1:
            raise InputError(f"{file} is there more than once; name every file once")
    if baseline is not None:
        baseline = os.path.normpath(baseline)
        files = files if baseline in files else (*files, baseline)
    results = [Result.load(file) for file in files]
    policies = [result.policy for result in results]
    labels = policies if len(set(policies)) == len(policies) else list(files)
    against = None if baseline is None else labels[files.index(baseline)]
    found = compare_results(
        dict(zip(labels, results, strict=True)), against, at=at, confidence=confidence, surrogate=surrogate
    )
    click.echo(str(found))
