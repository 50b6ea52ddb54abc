"""What was measured: `setwise evidence`."""

import sys

import click

from setwise.cli.group import COUNT, main
from setwise.cli.printing import Progress, print_table


@main.command()
@click.argument("studies", nargs=-1, metavar="[STUDY]...")
@click.option("--compute", is_flag=True, help="Compute anew; without, what is kept is shown.")
@click.option("--quick", is_flag=True, help="With --compute: a small version, in seconds.")
@click.option("--seed", "-s", type=COUNT, default=0, show_default=True, help="With --compute: equal seeds, equal rows.")
@click.option("--out", "-o", default="out/evidence", show_default=True, help="With --compute: folder for the rows.")
def evidence(studies: tuple[str, ...], compute: bool, quick: bool, seed: int, out: str) -> None:
    """Show what was measured beyond the paper, or measure it again.

    \b
    setwise evidence                                  the studies there are
    setwise evidence gains weak-worlds                what is kept of two of them
    setwise evidence gains --compute --quick          a small version of one, computed now
    """
    from setwise import evidence as kept
    from setwise.evidence.summary import summary

    if quick and not compute:
        raise click.UsageError("--quick says how to compute, so it needs --compute")
    if not studies and not compute:
        rows = [[name, f"{len(kept.read(name))}", what] for name, what in kept.STUDIES.items()]
        print_table(["study", "rows kept", "what it is"], rows)
        return
    for name in studies:
        kept.read(name)  # a misspelt name is refused before anything is computed
    for name in studies or kept.STUDIES:
        if compute:
            with Progress() as progress:
                rows_of = kept.compute(name, lambda what, done: progress.task(what)(done), quick, seed)
            click.echo(kept.write(name, rows_of, out, quick, seed))
        else:
            rows_of = kept.read(name)
        if not rows_of:
            click.echo(f"{name}: nothing is kept; compute it with: setwise evidence {name} --compute", err=True)
            sys.exit(1)
        click.echo(f"{name}: {kept.STUDIES[name]}")
        for caption, head, body in summary(name, rows_of):
            click.echo(f"\n{caption}")
            print_table(head, body)
