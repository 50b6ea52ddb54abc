"""The first second: nothing is compiled yet. What is measured here starts with an empty cache every time."""

import os
import subprocess
import sys
import tempfile
import time

import setwise as sw
from measuring import keep, seconds
from ratios import Ratios
from setwise.compiled import DEFAULTS
from setwise.compiler import machine
from setwise.compiler.arguments import kind_of
from setwise.compiler.program import Program
from setwise.experiments.specs import make_policy, policy_classes
from setwise.simulation.checks import check_request, task_of
from setwise.simulation.costs import cost_of_run, interpreted_seconds
from setwise.simulation.play import play
from setwise.simulation.players import Game
from setwise.types import InputError

WORLDS = {"MNL": sw.paper.mnl(), "Coverage": sw.environments.PRESETS["coverage"]()}
COLD = ("policy", "world", "seconds", "functions", "lines of LLVM", "kB")
TIERS = ("game", "interpreted, estimated s", "interpreted, s", "compiled, estimated s", "compiled, s", "compiling, s")
FIRST = """
import setwise as sw
print(sw.simulate(sw.{policy}(), sw.paper.{world}(), {horizon}, runs={runs}, seed=0).mean_regret()[-1])
"""
GAMES = ((sw.UCB(), 1000, 1), (sw.UCB(), 10_000, 1), (sw.KLUCB(), 1000, 10), (sw.Thompson(), 3000, 2))


def bench(table: Ratios) -> None:
    _first_results(table)
    _tiers()
    _policies(table)


def _first_results(table: Ratios) -> None:
    """A fresh process with an empty cache, from its start to its end."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(compiler: str, **game: object) -> float:
        with tempfile.TemporaryDirectory() as folder:
            cold = settings | {"SETWISE_CACHE_DIR": folder, "NUMBA_CACHE_DIR": folder, "SETWISE_COMPILER": compiler}
            begun = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", FIRST.format(**game)], check=True, env=cold, stdout=subprocess.DEVNULL
            )
            return time.perf_counter() - begun

    for what, policy, world, horizon, runs in (
        ("README's first example", "KLUCB", "mnl", 10**6, 20),
        ("1,000 rounds of KLUCB", "KLUCB", "mnl", 1000, 1),
        ("1e7 rounds of KLUCB", "KLUCB", "mnl", 10**7, 1),
    ):
        game = {"policy": policy, "world": world, "horizon": horizon, "runs": runs}
        mine = min(run("setwise", **game) for _ in range(3))
        if horizon * runs < 10**5:  # interpreted in any case
            table.add(f"cold: {what}, s", f"{mine:.2f} s", "", mine)
            continue
        numba = run("numba", **game)
        table.add(f"cold: {what}, with Numba alone over ours", f"{mine:.2f} s", f"{numba:.1f} s", numba / mine)


def _game(policy: sw.Policy, world: sw.Environment, horizon: int, runs: int) -> Game:
    request = check_request(policy, world, horizon, runs, 0, 10, "log", None, False, 0, False, None, False)
    return Game(request, world, task_of(policy, world, request.n, request.k, request.fast, False))


def _tiers() -> None:
    """Print the estimated and the real time of both tiers, by which the faster one is chosen."""
    rows = []
    for policy, horizon, runs in GAMES:
        game = _game(policy, WORLDS["MNL"], horizon, runs)
        guess = runs * interpreted_seconds(game.request, game.take_first())
        sw.simulate(policy, WORLDS["MNL"], 10, compiled=True)
        real = [_seconds(policy, horizon, runs, compiled) for compiled in (False, True)]
        name = f"{type(policy).__name__}, {runs} x {horizon:,}"
        times = (guess, real[0], runs * cost_of_run(game.request)[0], real[1], _compile(game)[0])
        rows.append((name, *(f"{value:.4f}" for value in times)))
        print("  " + "  ".join(map("{} {}".format, TIERS, rows[-1])), flush=True)
    keep("tiers", TIERS, rows)


def _seconds(policy: sw.Policy, horizon: int, runs: int, compiled: bool) -> float:
    return seconds(lambda: sw.simulate(policy, WORLDS["MNL"], horizon, runs, compiled=compiled, threads=1), 2)


def _compile(game: Game) -> tuple[float, int, int, int]:
    """Compile a loop, with nothing cached; return the seconds, the functions, the lines of LLVM, and the bytes."""
    begun = time.perf_counter()
    program = Program(DEFAULTS)
    text = program.translate(play, [kind_of(argument) for argument in game.example()])
    code = machine.machine_code(text)
    return time.perf_counter() - begun, program.functions, text.count("\n"), len(code)


def _policies(table: Ratios) -> None:
    """Seconds, functions, lines and size of every policy's loop."""
    rows = []
    for name in policy_classes():
        for title, world in WORLDS.items():
            try:
                policy = make_policy(name, world)
                game = _game(policy, world, 1000, 1)
            except InputError:
                continue
            taken, functions, lines, size = min(_compile(game) for _ in range(2))
            rows.append((name, title, f"{taken:.2f}", functions, lines, f"{size / 1e3:.0f}"))
            print("  " + "  ".join(map(str, rows[-1])), flush=True)
            break
    keep("cold", COLD, rows)
    slowest = max(rows, key=lambda row: float(row[2]))
    mean = sum(float(row[2]) for row in rows) / len(rows)
    table.add(f"cold: compiling a loop, mean of {len(rows)} policies, s", f"{mean:.2f} s", "", mean)
    table.add(f"cold: compiling the slowest, {slowest[0]}, s", f"{slowest[2]} s", "", float(slowest[2]))
