"""Options that choose an engine."""

import click

ENGINE = click.option(
    "--engine",
    default="threads",
    show_default=True,
    metavar="NAME",
    help="Engine: threads, processes or dask; all give the same results. See docs/scale.md.",
)
ADDRESS = click.option(
    "--address",
    default=None,
    help="Address of a Dask cluster, such as tcp://192.0.2.7:8786; by default a local one is started.",
)
