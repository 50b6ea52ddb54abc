"""Start-up, with everything compiled before: imports, fixed costs of `simulate`, and commands."""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import setwise as sw
from measuring import once, seconds
from ours import ALGORITHM_1, WORLD
from ratios import Ratios

SETWISE = str(Path(sys.executable).parent / "setwise")


def bench(table: Ratios) -> None:
    # Cache byte code as a user's Python does, also if it is switched off here.
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    _fixed_costs(table)
    _imports(table, settings)
    folder = tempfile.mkdtemp()
    try:
        _commands(table, settings, folder)
    finally:
        shutil.rmtree(folder)


def _fixed_costs(table: Ratios) -> None:
    def played(runs: int) -> float:
        return seconds(lambda: sw.simulate(ALGORITHM_1, WORLD, 10, runs, threads=1), 30)

    sw.simulate(ALGORITHM_1, WORLD, 10, compiled=True)
    one, many = played(1), played(201)
    table.add("warm `simulate` of 10 rounds, ms", f"{one * 1e3:.2f} ms", "", one * 1e3, 0.5, at_most=True)
    rounds = 10 * seconds(lambda: sw.simulate(ALGORITHM_1, WORLD, 10_000, 20, threads=1), 5) / 200_000
    more = (many - one) / 200 - rounds
    table.add("every further run beyond its rounds, us", f"{more * 1e6:.0f} us", "", more * 1e6, 30, at_most=True)


def _imports(table: Ratios, settings: dict[str, str]) -> None:
    def start(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True, env=settings), 9)

    nothing, numpy = start(""), start("import numpy")
    for what, code in (
        ("import setwise", "import setwise"),
        ("first use of `simulate`", "from setwise import simulate"),
    ):
        taken = start(code) - nothing
        yardstick = numpy - nothing
        ratio = taken / yardstick
        times = f"{taken * 1e3:.0f} ms", f"{yardstick * 1e3:.0f} ms"
        table.add(f"{what} over import numpy", *times, ratio, 1.5, at_most=True)


def _commands(table: Ratios, settings: dict[str, str], folder: str) -> None:
    def warm(*words: str) -> float:
        run = functools.partial(
            subprocess.run, [SETWISE, *words], check=True, capture_output=True, env=settings, cwd=folder
        )
        run()
        return seconds(run, 7)

    shop = "sqlite:///shop.db"
    arms = [word for arm in ("Nikon", "Canon", "Sony", "Shoes") for word in ("-a", arm)]
    warm("study", "create", shop, "home", *arms, "-k", "2", "--exist-ok")
    for words in (("--help",), ("study", "ask", shop, "home")):
        taken = warm(*words)
        what = " ".join(word for word in words if word != shop)
        table.add(f"`setwise {what}`, s", f"{taken:.2f} s", "", taken, 0.25, at_most=True)
    work = seconds(lambda: sw.simulate(ALGORITHM_1, WORLD, 10**6, 4, threads=1), 3)
    game = ("simulate", "-e", "mnl", "-p", "ucb", "-t", "1e6", "--runs", "4", "--threads", "1")
    taken = warm(*game, "--no-figure")
    what = "`setwise simulate` beyond its work, s"
    table.add(f"{what}, no figure", f"{taken:.2f} s", f"{work:.2f} s", taken - work, 0.6, at_most=True)
    taken = warm(*game)
    alone = seconds(lambda: subprocess.run([sys.executable, "-c", FIGURE], check=True, env=settings, cwd=folder), 5)
    table.add(f"{what}, with figure", f"{taken:.2f} s", f"{work:.2f} s", taken - work)
    table.add("of which Matplotlib alone, for any figure, s", f"{alone:.2f} s", "", alone)
    closed = once(lambda: subprocess.run(f"{SETWISE} list policies | head -1", shell=True, check=True, cwd=folder))
    table.add("`setwise list policies` into `head -1`, s", f"{closed:.2f} s", "", closed)


FIGURE = """
from matplotlib.figure import Figure
figure = Figure()
figure.add_subplot().plot([0, 1], label="line")
figure.savefig("figure.png")
"""
