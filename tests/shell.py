"""Run commands as from a shell or on a terminal."""

import fcntl
import functools
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

from click.testing import CliRunner

from setwise.cli import main

SETWISE = [sys.executable, "-m", "setwise"]


def call(*words, given=None):
    """Run a command, as from a shell."""
    return CliRunner().invoke(main, list(map(str, words)), input=given)


study = functools.partial(call, "study")


def lines_of(answer, exit_code=0):
    assert answer.exit_code == exit_code, answer.output
    return [json.loads(line) for line in answer.stdout.splitlines()]


def on_terminal(*words, typed=b"", columns=80):
    """What a command prints on a terminal, and its exit code."""
    inside, outside = pty.openpty()
    fcntl.ioctl(outside, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "PYTHONUTF8": "1"}
    with subprocess.Popen(
        [*SETWISE, *words], stdin=outside, stdout=outside, stderr=outside, env=environment
    ) as process:
        os.close(outside)
        os.write(inside, typed)
        output = b""
        while True:
            try:
                output += os.read(inside, 65536)
            except OSError:  # how Linux tells that the other side is closed
                break
    os.close(inside)
    return output.decode(), process.returncode


def without_colours(text):
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r\n", "\n")
