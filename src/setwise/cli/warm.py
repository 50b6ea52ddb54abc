"""`setwise warm`: compile ahead of time."""

import time

import click

from setwise.cli.group import COUNT, main
from setwise.cli.printing import Steps
from setwise.errors import InputError


@main.command()
@click.argument("policies", nargs=-1, metavar="[POLICY]...")
@click.option(
    "--environment", "-e", "worlds", multiple=True, metavar="NAME",
    help="A world to compile for, see `setwise list environments`; repeat for several. By default all.",
)  # fmt: skip
@click.option("--jobs", "-j", type=COUNT, default=None, help="Processes; by default one per core.")
def warm(policies: tuple[str, ...], worlds: tuple[str, ...], jobs: int | None) -> None:
    """Compile policies ahead of time, by default all of them for all worlds, so that nobody waits for it later.

    \b
    setwise warm
    setwise warm ucb kl-ucb -e mnl -e camera
    SETWISE_CACHE_DIR=/opt/setwise setwise warm thompson

    The machine code goes to the cache folder, which can be copied to machines with the same processor; set
    SETWISE_CACHE_DIR there, too.
    """
    from setwise.compiler.settings import cache_folder, only_interpreted
    from setwise.validation import counted
    from setwise.warm import warm as compile_all

    if only_interpreted():
        raise InputError("NUMBA_DISABLE_JIT is set, so that nothing is compiled; unset it")
    begun = time.monotonic()
    with Steps() as steps:
        done = compile_all(policies, worlds, jobs, lambda _, share: steps.show("compiling", share))
    for found in done:
        if not found.loops:
            click.echo(f"setwise: {found.policy} was compiled for no world: {found.reason}", err=True)
    loops, taken = sum(found.loops for found in done), time.monotonic() - begun
    pairs = counted(loops, "pair")
    click.echo(f"{pairs} of a policy and a world compiled in {taken:.0f} s, in {cache_folder()}")
