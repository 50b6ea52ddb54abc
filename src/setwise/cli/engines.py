"""The options that say who does the work."""

import click

ENGINE = click.option(
    "--engine",
    default="threads",
    show_default=True,
    metavar="NAME",
    help="Who does the work: threads, processes, dask or ray; the same results. See docs/scale.md.",
)
ADDRESS = click.option(
    "--address",
    default=None,
    help="Of a Dask or Ray cluster, such as tcp://192.0.2.7:8786; without, one is started on this machine.",
)
