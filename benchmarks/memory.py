"""Measure the peak memory of a million arms and of a thousand runs, each in its own process: docs/bench/memory.csv.

A process that plays the same policy for 1,000 rounds with 20 arms gives the baseline: Python, NumPy, Numba and the
compiled code. A game's own memory is the difference. A thousand runs of 10^9 rounds take minutes, and are played only
with --full; without it, as many runs with fewer rounds and fewer runs with as many rounds.
"""

import argparse
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from measuring import keep

MEGA = 1e6
HEAD = ("runs", "arms", "rounds a run", "the process itself, MB", "peak, MB", "beyond it, MB", "seconds")


class Game(NamedTuple):
    """Runs of Algorithm 1 with k = 10: on the paper's multinomial logit, or one with more arms."""

    runs: int
    arms: int
    rounds: int

    def title(self) -> str:
        """For example: runs x rounds = 20 x 1e9, 20 arms."""
        runs, arms, rounds = (power(number, "1e") for number in self)
        return f"runs x rounds = {runs} x {rounds}, {arms} arms"


def power(number: int, ten: str) -> str:
    """Format powers of ten from a thousand on as 10^x, and other numbers plainly."""
    written = str(number)
    return f"{ten}{len(written) - 1}" if number >= 1000 and written.rstrip("0") == "1" else f"{number:,}"


SMALL = Game(1, 20, 1000)
QUICK = (Game(1, 10**6, 10**5), Game(1000, 20, 10**5), Game(20, 20, 10**9))
FULL = (Game(1000, 20, 10**9),)


class Peak(NamedTuple):
    """Cost of a game: peak bytes, bytes of a small game, and seconds."""

    whole: float
    base: float
    seconds: float


def measure(game: Game) -> Peak:
    """Play in a new process, after short games that cache the compiled code on disk."""
    for short in (SMALL, Game(1, game.arms, 1000)):
        _in_a_process(short)
    base, _ = _in_a_process(SMALL)
    whole, taken = _in_a_process(game)
    return Peak(whole, base, taken)


def _in_a_process(game: Game) -> tuple[float, float]:
    command = [sys.executable, str(Path(__file__)), "--play", *map(str, game)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    whole, taken = done.stdout.split()
    return float(whole), float(taken)


def play(game: Game) -> None:
    """Play, and print the peak memory of this process in bytes, and the seconds."""
    import numpy as np

    import setwise as sw

    paper = sw.paper.mnl()
    world = paper
    if game.arms != paper.n:
        world = sw.environments.MNL(1.0 / (1.0 + 100 * np.arange(game.arms) / game.arms), k=10)
    start = time.perf_counter()
    sw.simulate(sw.UCB(), world, game.rounds, game.runs, compiled=True)
    print(peak(), time.perf_counter() - start)


def peak() -> float:
    """Return the peak memory of this process in bytes.

    Read it from /proc on Linux, because `getrusage` includes the memory of the parent process before exec there.
    """
    told = Path("/proc/self/status")
    if told.exists():
        found = re.search(r"VmHWM:\s*(\d+) kB", told.read_text())
        if found:
            return float(found[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most) if sys.platform == "darwin" else most * 1024.0


def rows(games: tuple[Game, ...]) -> Iterator[tuple[str, ...]]:
    for game in games:
        whole, base, taken = measure(game)
        megabytes = (f"{amount / MEGA:,.1f}" for amount in (base, whole, whole - base))
        yield *(power(number, "10^") for number in game), *megabytes, f"{taken:,.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--full", action="store_true", help="also 1,000 runs of 10^9 rounds")
    parser.add_argument("--play", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.play:
        play(Game(*options.play))
        return
    kept = []
    for row in rows(QUICK + FULL if options.full else QUICK):
        print("; ".join(f"{name}: {cell}" for name, cell in zip(HEAD, row)), flush=True)
        kept.append(row)
    print(f"kept in {keep('memory', HEAD, kept)}")


if __name__ == "__main__":
    main()
