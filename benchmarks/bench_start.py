"""Start-up time: imports, and a warm command."""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import setwise as sw
from measuring import seconds
from ours import WORLD
from ratios import Ratios


def bench(table: Ratios) -> None:
    # Cache byte code as a user's Python does, also if it is switched off here.
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    _imports(table, settings)
    _command(table, settings)


def _imports(table: Ratios, settings: dict[str, str]) -> None:
    def start(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True, env=settings), 9)

    nothing, numpy, setwise = (start(code) for code in ("", "import numpy", "import setwise"))
    table.add(
        "import setwise over import numpy",
        f"{(setwise - nothing) * 1e3:.0f} ms",
        f"{(numpy - nothing) * 1e3:.0f} ms",
        (setwise - nothing) / (numpy - nothing),
        1.5,
        at_most=True,
    )


def _command(table: Ratios, settings: dict[str, str]) -> None:
    command = [str(Path(sys.executable).parent / "setwise"), "simulate", "-e", "mnl", "-p", "ucb", "-t", "1e6"]
    folder = tempfile.mkdtemp()
    command += ["--runs", "4", "--threads", "1", "--out", folder]
    # Hide SciPy, as in a plain install: Numba imports it if it is installed, and only the tests need it.
    hidden = Path(folder) / "hidden"
    (hidden / "scipy").mkdir(parents=True)
    (hidden / "scipy" / "__init__.py").write_text("raise ImportError")
    settings = settings | {"PYTHONPATH": str(hidden)}
    run = functools.partial(subprocess.run, command, check=True, capture_output=True, env=settings)
    run()
    whole = seconds(run, 5)
    work = seconds(lambda: sw.simulate(sw.UCB(), WORLD, 10**6, 4, threads=1), 3)
    shutil.rmtree(folder)
    what = "warm `setwise simulate`, beyond the work itself"
    table.add(what, f"{whole:.2f} s", f"{work:.2f} s", whole - work, 1, at_most=True)
