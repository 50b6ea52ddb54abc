"""`setwise check`, `bounds`, `audit` and `claims`: compute the paper's statements."""

import sys
from collections.abc import Callable
from typing import Any

import click

from setwise.cli.group import COUNT, main
from setwise.cli.printing import Progress, print_records, print_table
from setwise.experiments.specs import environments, make, make_policy

SEARCH = [
    click.option("--budget", type=COUNT, default=None, help="Sets to search if there are too many to check all."),
    click.option("--tolerance", type=float, default=None, help="Differences up to this count as ties."),
    click.option("--threads", type=COUNT, default=None, help="Threads; by default one per core."),
]


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of commands that search the sets of an environment."""
    for option in reversed(SEARCH):
        command = option(command)
    return command


@main.command()
@click.argument("environment")
@click.option("--policies", is_flag=True, help="Also show the standing of every policy in this world, and why.")
@search_options
def check(environment: str, policies: bool, **options: Any) -> None:
    """Show which assumptions an environment satisfies, the sets that violate the others, and which policies to use.

    \b
    setwise check camera
    setwise check nested-logit --policies
    setwise check random-weak:seed=3
    setwise check votes.soc:k=2,outside=1          (strict orders from PrefLib)
    setwise check mine.my_world --budget 1e6       (your own environment; searches that many sets)
    """
    from setwise import theory

    world = make(environment, environments(), "environment")
    with Progress(after=2.0) as progress:
        found = theory.check(world, progress=progress.task(environment), **options)
    print_records(["assumption", "holds", "shown by", "needed by", "how sure"], found.rows)
    if found.consistency.proof:
        click.echo(f"proof: {found.consistency.proof}")
    if policies:
        print_records(
            ["policy", "standing", "why"], [[row.name, row.standing, row.why] for row in found.recommendations]
        )
    for line in found.advice:
        click.echo(line)


@main.command()
@click.argument("environment")
@click.option("--horizon", "-t", type=COUNT, required=True, help="The horizon T.")
@click.option("--alpha", type=float, default=2.0, show_default=True, help="Of Algorithm 1; the theorems need 2.")
@search_options
def bounds(environment: str, horizon: int, alpha: float, **options: Any) -> None:
    """Print the paper's bounds for an environment: as printed, corrected, and whether they are vacuous at T.

    \b
    setwise bounds camera --horizon 1e6
    """
    from setwise import theory
    from setwise.theory.wording import amount

    world = make(environment, environments(), "environment")
    with Progress(after=2.0) as progress:
        found = theory.bounds(world, horizon, alpha, progress=progress.task(environment), **options)
    click.echo(str(found.gaps))
    limit = horizon * found.gaps.largest
    click.echo(
        f"T x largest gap = {limit:,.6g}: no regret exceeds it, and an upper bound above it says nothing (vacuous)"
    )
    rows = [
        [b.name, b.formula, amount(b.printed), amount(b.corrected), _says(b), b.correction or "-"] for b in found.rows
    ]
    print_records(["bound", "formula", "as printed", "corrected", "min(bound, T x gap)", "what was corrected"], rows)
    for note in found.notes:
        click.echo(f"note: {note}")


@main.command()
@click.argument("environment")
@click.option("--policy", "-p", default="ucb", show_default=True, metavar="NAME[:PARAMETER=VALUE,...]")
@click.option("--horizon", "-t", type=COUNT, default=100_000, show_default=True, help="Rounds per run.")
@click.option("--runs", "-r", type=COUNT, default=10, show_default=True, help="Independent runs.")
@click.option("--seed", "-s", type=COUNT, default=0, show_default=True, help="Equal seeds give equal results.")
@click.option("--alpha", type=float, default=None, help="Parameter of the confidence bounds; by default the policy's.")
@search_options
def audit(environment: str, policy: str, horizon: int, **options: Any) -> None:
    """Play a policy and check the paper's lemmas in every round. Exit code 1 if one fails.

    \b
    setwise audit camera --policy ucb --horizon 1e5 --runs 10
    """
    from setwise import theory
    from setwise.simulation import Interrupted
    from setwise.theory.wording import arm_name

    world = make(environment, environments(), "environment")
    player = make_policy(policy, world)
    try:
        with Progress(after=2.0) as progress:
            found = theory.audit(player, world, horizon, progress=progress.task(environment), **options)
    except Interrupted:
        raise KeyboardInterrupt from None
    click.echo(f"{policy} in {environment}: {found.runs} runs of {found.horizon:,} rounds, seed {found.seed}")
    print_records(["statement", "holds", "figures"], found.rows)
    rows = [
        [
            f"{j + 1}",
            arm_name(world, found.arms[j]),
            f"{found.last_rounds[:, j].mean():,.0f}",
            f"{found.best_plays[:, j].mean():,.0f}",
            f"{found.plays.left[:, j].max():,.0f}",
            f"{found.plays.right[0, j]:,.4g}",
        ]
        for j in range(found.last_rounds.shape[1])
    ]
    print_table(["l", "arm", "mean t_l", "mean t'_l", "largest t_l - t'_l", "its bound"], rows)
    if not found.holds:
        sys.exit(1)


@main.command()
@click.option("--only", "-k", default="", metavar="TEXT", help="Only claims whose name or text contains TEXT.")
@click.option("--out", "-o", default=None, metavar="FILE", help="Also write them to FILE, a .json or .csv.")
@click.option("--seed", "-s", type=COUNT, default=0, show_default=True, help="Random seed of the simulations.")
@click.option("--list", "listed", is_flag=True, help="List the claims without computing them.")
def claims(only: str, out: str | None, seed: int, listed: bool) -> None:
    """Check each claim of the paper: print its place, the values found, and the verdict.

    \b
    setwise claims
    setwise claims --only lemma --out claims.json
    """
    from setwise.paper.claim_list import VERDICTS, check_path, choose, settle, write

    chosen = choose(only)
    if listed:
        print_records(["claim", "place", "what it says"], [[c.name, c.place, c.says] for c in chosen])
        return
    if out is not None:
        check_path(out)  # fail before the work if the file cannot be written
    settled = []
    with Progress(after=2.0) as progress:
        bar = progress.task("claims")
        for done, claim in enumerate(chosen):
            settled.append(settle(claim, seed))
            click.echo(settled[-1].text())
            bar((done + 1) / len(chosen))
    counts = [f"{verdict}: {sum(c.verdict == verdict for c in settled)}" for verdict in VERDICTS]
    click.echo(f"{len(settled)} claims; {'; '.join(counts)}")
    if out is not None:
        write(out, settled)
        click.echo(out)


def _says(bound: Any) -> str:
    from setwise.theory.wording import amount

    return amount(bound.useful) + (" (vacuous)" if bound.vacuous else "")
