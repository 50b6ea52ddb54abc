"""The command group, with its error handling and exit codes."""

import contextlib
import decimal
import os
import select
import sys
from collections.abc import Iterator
from typing import Any

import click

from setwise import __version__
from setwise.errors import InputError, SetwiseError, is_misnamed

MISTAKE, TROUBLE, STOPPED = 2, 3, 130  # exit codes
UNREAD = 141  # the shell's exit code for a closed pipe: 128 + SIGPIPE


class Refusing(click.Group):
    """A group whose commands report errors in one sentence, with an exit code that tells the cause."""

    def make_context(self, *given: Any, **options: Any) -> click.Context:
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by the caller, as by `>&-`
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        with while_read():  # `setwise --help` prints here
            return super().make_context(*given, **options)

    def invoke(self, context: click.Context) -> Any:
        try:
            with while_read():
                return super().invoke(context)
        except SetwiseError as error:
            click.echo(f"setwise: {error}", err=True)
            context.exit(exit_code(error))
        except OSError as error:
            told = [str(part) for part in (error.strerror, error.filename) if part is not None]
            click.echo(f"setwise: {': '.join(told) or error or type(error).__name__}", err=True)
            context.exit(exit_code(error))
        except KeyboardInterrupt:
            click.echo("setwise: stopped; nothing was kept", err=True)
            context.exit(STOPPED)


@contextlib.contextmanager
def while_read() -> Iterator[None]:
    """Exit quietly if the reader of standard output is gone; another broken pipe is an error."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        if not _is_unread():
            raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # Python flushes the rest of the buffer there at exit
        os.close(nowhere)
        raise click.exceptions.Exit(UNREAD) from None


def _is_unread() -> bool:
    """Whether standard output is a pipe without a reader."""
    try:
        number = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # not a file
        return False
    if not hasattr(select, "poll"):  # unknown on Windows
        return True
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def exit_code(error: SetwiseError | OSError) -> int:
    """Return the exit code: 2 for a user's mistake, 3 if a retry may succeed."""
    mistake = isinstance(error, InputError) or (not isinstance(error, SetwiseError) and is_misnamed(error))
    return MISTAKE if mistake else TROUBLE


DIGITS = 300  # larger numbers overflow a float


class Count(click.ParamType[int]):
    """A whole number, also written as 1e6; exact at any size."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> int:
        try:
            number = decimal.Decimal(str(value))
        except decimal.InvalidOperation:
            number = decimal.Decimal("nan")
        if not number.is_finite() or number.adjusted() > DIGITS or number != int(number):
            self.fail(f"{value!r} is not a whole number such as 1000 or 1e6", param, context)
        return int(number)


COUNT = Count()


@click.group(cls=Refusing, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="setwise")
def main() -> None:
    """Choose k of n, see what each chosen item earned, and learn the best set.

    \b
    Exit codes:
      0    done
      1    done, and the answer is no (audit, doctor, study verify), or you said no
      2    invalid input
      3    a storage, worker or damaged file failed
      130  interrupted with Ctrl-C
      141  the reader of the output is gone, as with `| head`
    """
