"""`setwise compare`."""

import click

from setwise.cli.group import COUNT, main
from setwise.types import InputError


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--baseline", metavar="FILE", help="Compare all others with this one; by default all pairs.")
@click.option("--at", type=COUNT, default=None, help="Round to compare at, a checkpoint; by default the last.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals and verdicts.")
@click.option("--surrogate", is_flag=True, help="Compare the environment's surrogate regret.")
def compare(files: tuple[str, ...], baseline: str | None, at: int | None, confidence: float, surrogate: bool) -> None:
    """Compare saved results of one environment: differences and ratios of regret, tests, growth.

    \b
    setwise simulate -e camera -p ucb -p kl-ucb -t 1e4 --common --out out/
    setwise compare out/camera-ucb.npz out/camera-kl-ucb.npz
    setwise compare out/camera-*.npz --baseline out/camera-ucb.npz --at 1000

    The runs of `--common` are compared run by run, by Student's paired test; others by Welch's test. P-values are
    adjusted for all pairs by Holm's method.
    """
    from setwise.simulation.comparison import compare as compare_results
    from setwise.simulation.result import Result

    for file in files:
        if files.count(file) > 1:
            raise InputError(f"{file} is there more than once; name every file once")
    if baseline is not None and baseline not in files:
        files = (*files, baseline)
    results = [Result.load(file) for file in files]
    policies = [result.policy for result in results]
    labels = policies if len(set(policies)) == len(policies) else list(files)
    against = None if baseline is None else labels[files.index(baseline)]
    found = compare_results(
        dict(zip(labels, results, strict=True)), against, at=at, confidence=confidence, surrogate=surrogate
    )
    click.echo(str(found))
