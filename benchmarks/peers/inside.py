"""Play one game in the environment of a library, and print the cost.

    python -m peers.inside river ucb 20 10 1000000 3

It needs only the library itself. Libraries may print anything; the answer is the line that starts with MARK.
"""

import importlib
import json
import os
import sys
import time

from memory import peak
from peers.rounds import Rounds
from peers.world import customers

MARK = "ANSWER "


def one_core() -> None:
    """Pin this process to the last available core, if the system supports it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def play(module: str, way: str, n: int, k: int, horizon: int, seconds: float) -> dict[str, float]:
    """Return the best seconds per round, the time when the first round was over, and the peak memory in bytes.

    A short game comes first: it loads the library, and shows whether this way loops over the rounds or plays a whole
    game in one call. Such a call is made once with few rounds before it is timed, so that it can compile.
    """
    game = getattr(importlib.import_module(f"peers.games.{module}"), way)
    trial = Rounds(0.0)
    game(20, 10, 1000, trial, customers(20))
    first_over = trial.first_over or time.time()
    if trial.played:
        rounds = Rounds(seconds, least=-(-n // k))
        game(n, k, horizon, rounds, customers(n))
        best = rounds.best
    else:
        game(n, k, 1000, trial, customers)
        best, start = float("inf"), time.perf_counter()
        while time.perf_counter() - start < seconds or best == float("inf"):
            began = time.perf_counter()
            game(n, k, horizon, trial, customers)
            best = min(best, (time.perf_counter() - began) / horizon)
    return {"seconds": best, "first_over": first_over, "bytes": peak()}


def main() -> None:
    one_core()
    module, way, n, k, horizon, seconds = sys.argv[1:]
    print(f"\n{MARK}{json.dumps(play(module, way, int(n), int(k), int(horizon), float(seconds)))}", flush=True)


if __name__ == "__main__":
    main()
