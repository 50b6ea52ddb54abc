"""The group that all commands belong to, and how it takes mistakes."""

from typing import Any

import click

from setwise import __version__
from setwise.declare import whole_number
from setwise.types import InputError


class Refusing(click.Group):
    """A group whose commands answer a user's mistake with one sentence and exit code 2."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except InputError as error:
            click.echo(f"setwise: {error}", err=True)
            context.exit(2)
        except OSError as error:
            click.echo(f"setwise: {error.strerror}: {error.filename}", err=True)
            context.exit(2)
        except KeyboardInterrupt:
            click.echo("setwise: stopped; nothing was kept", err=True)
            context.exit(130)


class Count(click.ParamType[int]):
    """A whole number, also written as 1e6."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> int:
        try:
            return whole_number(param.name if param and param.name else "number", float(value))
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a whole number such as 1000 or 1e6", param, context)


COUNT = Count()


@click.group(cls=Refusing, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="setwise")
def main() -> None:
    """Choose k of n, see what each chosen item earned, and learn the best set."""
