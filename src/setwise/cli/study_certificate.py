"""The command `setwise study certificate`."""

import dataclasses
import sys

import click

from setwise.cli.printing import Progress
from setwise.cli.studies import ADDRESS, AS_JSON, NAME, print_line, study, visible, wants_json


@study.command("certificate")
@ADDRESS
@NAME
@click.option("--confidence", "-c", type=float, default=0.95, show_default=True, help="Of the test, such as 0.99.")
@AS_JSON
def certificate_of_study(address: str, name: str, confidence: float, as_json: bool | None) -> None:
    """Test by all feedback whether weak optimal set consistency can hold. Exit code 1 if it is refuted.

    \b
    setwise study certificate sqlite:///shop.db cameras
    setwise study certificate sqlite:///shop.db cameras --confidence 0.99 --json | jq .better
    """
    from setwise.study import Study

    with Study.open(address, name) as opened, Progress(after=1.0) as progress:
        found = opened.certificate(confidence, progress.task(name))
    if wants_json(as_json):
        print_line(dataclasses.asdict(found))
    else:
        click.echo(visible(str(found), keep="\n"))
    if found.refuted is not None:
        sys.exit(1)
