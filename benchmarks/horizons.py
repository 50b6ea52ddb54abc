"""Measure one run on the paper's multinomial logit, with horizons from 10^3 to 10^12: docs/bench/horizons.csv.

With fast-forward every horizon is measured. Loops that play every round are measured up to `PATIENCE` seconds; longer
horizons are extrapolated from the least measured time per round.

Two lines switch off a part of the fast-forward (`simulation/stretch.py`): no stretches, only certain rounds; and
stretches whose pieces are decided by the worst order of their rewards alone.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cpp_loop
import numpy_batched
import numpy_loop
import setwise as sw
from measuring import keep, once
from ours import WORLD

HORIZONS = [10**power for power in range(3, 13)]
PATIENCE = 40.0  # most seconds per measurement
SHORT = 2.0  # seconds; shorter measurements are repeated, and the least counts
MEASURED, EXTRAPOLATED = "measured", "extrapolated"
WITHOUT = {  # constant of the method, and the value that switches a part off
    "UCB, certain rounds": ("WORTH", 1 << 62),
    "UCB, worst order": ("SURE", 1e300),
}


class Line(NamedTuple):
    """A line of the figure.

    what: its name
    play: return the seconds of one run with a horizon
    linear: whether every round is played, so that time is linear in the horizon
    """

    what: str
    play: Callable[[int], float]
    linear: bool


def played(policy: Any, fast_forward: bool = True) -> Callable[[int], float]:
    """Measure the seconds of one run of Setwise, with all overhead."""
    sw.simulate(policy, WORLD, 1000, threads=1, fast_forward=fast_forward)  # compile, or load from the cache

    def play(horizon: int) -> float:
        return once(lambda: sw.simulate(policy, WORLD, horizon, threads=1, fast_forward=fast_forward))

    return play


def played_without(what: str) -> Callable[[int], float]:
    """The same for UCB with a part of the method switched off; in a separate process, because it is compiled in."""

    def play(horizon: int) -> float:
        command = [sys.executable, __file__, "--without", what, str(horizon)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    return play


def print_without(what: str, horizon: int) -> None:
    """Print the seconds of one run with a part of the method switched off."""
    from setwise.simulation import play, stretch

    constant, value = WITHOUT[what]
    for module in (play, stretch):
        if hasattr(module, constant):
            setattr(module, constant, value)
    print(played(sw.UCB())(horizon))


def lines() -> Iterator[Line]:
    """Return our lines, and the yardsticks that this machine can run."""
    k = WORLD.k
    yield Line("UCB", played(sw.UCB()), linear=False)
    yield Line("KLUCB", played(sw.KLUCB()), linear=False)
    for what in WITHOUT:
        yield Line(what, played_without(what), linear=False)
    yield Line("UCB, round by round", played(sw.UCB(), fast_forward=False), linear=True)
    if cpp_loop.build() is None:
        print("no g++ here: the C++ loop is left out")
    else:
        yield Line("C++ loop", lambda horizon: cpp_loop.run(horizon)[0] * horizon, linear=True)
    width, _ = numpy_batched.best_width(WORLD.values, k)
    print(f"NumPy is fastest with {width:,} runs at once")

    def batched(horizon: int) -> float:
        return numpy_batched.run(WORLD.values, k, horizon, horizon, width, seed=1).seconds * horizon

    yield Line("batched NumPy", batched, linear=True)
    yield Line(
        "NumPy loop",
        lambda horizon: numpy_loop.run(WORLD.values, k, horizon, horizon, seed=1)[0] * horizon,
        linear=True,
    )


def measured(play: Callable[[int], float], horizon: int) -> tuple[float, float]:
    """Return the seconds of one run, the least of three if short, and the seconds of one measurement."""
    taken: list[float] = []
    waited = once(lambda: taken.append(play(horizon)))
    if waited < SHORT:
        taken += [play(horizon) for _ in range(2)]
    return min(taken), waited


def along(line: Line, horizons: list[int], patience: float = PATIENCE) -> Iterator[tuple[str, int, float, str]]:
    """Yield name, horizon, seconds, and whether they were measured; horizons in rising order."""
    a_round, waited_a_round = float("inf"), 0.0
    for horizon in horizons:
        if line.linear and waited_a_round * horizon > patience:
            yield line.what, horizon, a_round * horizon, EXTRAPOLATED
            continue
        taken, waited = measured(line.play, horizon)
        a_round, waited_a_round = min(a_round, taken / horizon), waited / horizon
        yield line.what, horizon, taken, MEASURED


def main() -> None:
    if "--without" in sys.argv:
        print_without(sys.argv[2], int(sys.argv[3]))
        return
    rows = []
    for line in lines():
        for what, horizon, taken, how in along(line, HORIZONS):
            print(f"{what:20} {horizon:>17,} {taken:16,.4f} s  {how}", flush=True)
            rows.append((what, horizon, f"{taken:.4g}", how))
    print(f"kept in {keep('horizons', ('what', 'horizon', 'seconds', 'how'), rows)}")


if __name__ == "__main__":
    main()
