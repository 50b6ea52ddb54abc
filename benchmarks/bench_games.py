"""Algorithm 1 against hand-written loops: NumPy, NumPy on many runs at once, C++."""

import math

import cpp_loop
import numpy_batched
import numpy_loop
from measuring import in_turn
from ours import WORLD, ours
from ratios import Ratios


def numpy_round() -> float:
    """Measure the seconds per round of the NumPy loop."""
    return numpy_loop.run(WORLD.values, 10, 10**6, 20_000, seed=1)[0]


def bench(table: Ratios) -> None:
    mine, yardstick = in_turn(lambda: ours(1e6, 3), numpy_round, 5)
    table.compare_rounds("horizon 1e6 against the NumPy loop", mine, yardstick, 250)
    width, _ = numpy_batched.best_width(WORLD.values, 10)
    mine, yardstick = in_turn(lambda: ours(1e6, 3), lambda: numpy_batched.seconds(WORLD.values, 10, width), 3)
    table.compare_rounds(f"horizon 1e6 against NumPy on {width:,} runs at once", mine, yardstick)
    if cpp_loop.build() is None:
        print("no g++ here: the rows against the C++ loop are left out")
        return
    for horizon, runs, target, repeat in ((1e5, 20, 1, 10), (1e6, 3, 3, 10), (1e7, 1, 10, 10), (1e8, 1, 60, 4)):
        what = f"horizon 1e{round(math.log10(horizon))} against the C++ loop"
        _against_cpp(table, what, horizon, runs, target, repeat, fast_forward=True)
    _against_cpp(table, "round by round against the C++ loop, 1e6", 1e6, 3, 1, 10, fast_forward=False)


def _against_cpp(
    table: Ratios, what: str, horizon: float, runs: int, target: float, repeat: int, fast_forward: bool
) -> None:
    mine, yardstick = in_turn(
        lambda: ours(horizon, runs, fast_forward=fast_forward), lambda: cpp_loop.run(int(horizon), runs)[0], repeat
    )
    table.compare_rounds(what, mine, yardstick, target)
