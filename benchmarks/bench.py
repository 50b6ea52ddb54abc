"""Speed as ratios in one run: Setwise against a NumPy loop and a plain C++ loop of the same algorithm.

Every figure is the best of a few repetitions, ours and theirs in turn, on one core unless said otherwise.
"""

import functools
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cpp_loop
import numpy_loop
import setwise as sw

WORLD = sw.paper.mnl()
ALGORITHM_1 = sw.UCB()
rows: list[tuple[str, str, str, str, str]] = []


def seconds(work: Callable[[], object], repeat: int = 3) -> float:
    """The least time the work took."""
    return min(once(work) for _ in range(repeat))


def once(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ours(
    horizon: float, runs: int = 1, threads: int = 1, fast_forward: bool = True, policy: Any = ALGORITHM_1
) -> float:
    """Seconds a round of `simulate` takes, all overhead included."""
    work = functools.partial(sw.simulate, policy, WORLD, int(horizon), runs, threads=threads)
    return once(lambda: work(fast_forward=fast_forward)) / (horizon * runs)


def in_turn(mine: Callable[[], float], theirs: Callable[[], float], repeat: int) -> tuple[float, float]:
    """The least of both, measured in turn, so that a noisy minute hits both."""
    pairs = [(mine(), theirs()) for _ in range(repeat)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def nanoseconds(value: float) -> str:
    return f"{value * 1e9:,.1f} ns" if value < 1e-5 else f"{value * 1e6:,.0f} us"


def report(what: str, mine: str, yardstick: str, ratio: float, target: float, at_most: bool = False) -> None:
    met = ratio <= target if at_most else ratio >= target
    wanted = f"{'at most' if at_most else 'at least'} {target:g}"
    rows.append((what, mine, yardstick, f"{ratio:,.2f}", f"{wanted}{'' if met else '  MISSED'}"))
    print("  ".join(rows[-1]), flush=True)


def compare_rounds(what: str, mine: float, yardstick: float, target: float) -> None:
    report(what, nanoseconds(mine), nanoseconds(yardstick), yardstick / mine, target)


def compare_with_cpp(what: str, horizon: float, runs: int, target: float, repeat: int, fast_forward: bool) -> float:
    mine, yardstick = in_turn(
        lambda: ours(horizon, runs, fast_forward=fast_forward), lambda: cpp_loop.run(int(horizon), runs)[0], repeat
    )
    compare_rounds(what, mine, yardstick, target)
    return mine


def bench_long_games() -> float:
    mine, yardstick = in_turn(
        lambda: ours(1e6, 3), lambda: numpy_loop.run(WORLD.values, 10, 10**6, 20_000, seed=1)[0], 5
    )
    compare_rounds("horizon 1e6 against the NumPy loop", mine, yardstick, 250)
    if cpp_loop.build() is None:
        print("no g++ here: the rows against the C++ loop are left out")
        return ours(1e8)
    last = 0.0
    for horizon, runs, target, repeat in ((1e5, 20, 0.8, 10), (1e6, 3, 1.5, 10), (1e7, 1, 4, 5), (1e8, 1, 15, 2)):
        what = f"horizon 1e{round(math.log10(horizon))} against the C++ loop"
        last = compare_with_cpp(what, horizon, runs, target, repeat, fast_forward=True)
    compare_with_cpp("round by round against the C++ loop, 1e6", 1e6, 3, 0.7, 10, fast_forward=False)
    return last


def bench_longest(hundred_million: float) -> None:
    billion = ours(1e9) * 1e9
    report(
        "time of horizon 1e9 over 1e8",
        f"{billion:.2f} s",
        f"{hundred_million * 1e8:.2f} s",
        billion / (hundred_million * 1e8),
        4,
        True,
    )


def bench_threads() -> None:
    two, one = in_turn(lambda: ours(1e7, 16, 2), lambda: ours(1e7, 16, 1), 2)
    report("two threads against one, 16 runs", nanoseconds(two), nanoseconds(one), one / two, 1.8)


def bench_many_arms() -> None:
    values = 1.0 / (1.0 + np.arange(10**6) / 10**4)
    world = sw.environments.MNL(values, k=10)
    sw.simulate(sw.UCB(), world, 10, threads=1)
    horizon = 300_000
    mine = seconds(lambda: sw.simulate(sw.UCB(), world, horizon, threads=1), 2) / horizon
    yardstick = min(numpy_loop.run(values, 10, horizon, 60, seed)[0] for seed in range(2))
    compare_rounds("n = 1e6, k = 10 against NumPy's argpartition", mine, yardstick, 500)


def bench_policies() -> None:
    """The other policies on the same world: against Algorithm 1, and against the NumPy loop of Algorithm 1."""

    def numpy_round() -> float:
        return numpy_loop.run(WORLD.values, 10, 10**6, 20_000, seed=1)[0]

    kl_ucb, kl_moss = sw.KLUCB(), sw.KLMOSS()
    for policy in (kl_ucb, kl_moss):
        ours(1000, policy=policy)
    mine, plain = in_turn(lambda: ours(1e6, 3, policy=kl_ucb), lambda: ours(1e6, 3), 5)
    report("KLUCB's time over UCB's, 1e6", nanoseconds(mine), nanoseconds(plain), mine / plain, 4, True)
    for policy, horizon, target in (
        (kl_moss, 1e6, 60),
        (sw.MNLUCB(), 1e6, 60),
        (sw.MNLThompson(), 1e6, 60),
        (sw.CUCB(), 1e6, 60),
        (sw.CombUCB1(), 1e6, 60),
        (sw.StagewiseElimination(), 1e6, 60),
        (sw.Thompson(), 2e5, 10),
    ):
        ours(1000, policy=policy)
        mine, yardstick = in_turn(lambda: ours(horizon, policy=policy), numpy_round, 3)  # noqa: B023
        compare_rounds(f"{type(policy).__name__} against the NumPy loop", mine, yardstick, target)
    ours(100, policy=sw.ESCB2())
    mine = min(ours(2e4, policy=sw.ESCB2()) for _ in range(3))
    report("ESCB2, rounds in a second", nanoseconds(mine), "1 s", 1.0 / mine, 3000)


def bench_start() -> None:
    # A user's Python keeps the byte code of what it imports, whatever is set where this runs.
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def start(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True, env=settings), 9)

    nothing, numpy, setwise = (start(code) for code in ("", "import numpy", "import setwise"))
    report(
        "import setwise over import numpy",
        f"{(setwise - nothing) * 1e3:.0f} ms",
        f"{(numpy - nothing) * 1e3:.0f} ms",
        (setwise - nothing) / (numpy - nothing),
        1.5,
        True,
    )
    command = [str(Path(sys.executable).parent / "setwise"), "simulate", "-e", "mnl", "-p", "ucb", "-t", "1e6"]
    folder = tempfile.mkdtemp()
    command += ["--runs", "4", "--threads", "1", "--out", folder]
    # As in a plain install: Numba loads SciPy where it is installed, and only the tests of Setwise need it.
    hidden = Path(folder) / "hidden"
    (hidden / "scipy").mkdir(parents=True)
    (hidden / "scipy" / "__init__.py").write_text("raise ImportError")
    settings["PYTHONPATH"] = str(hidden)
    run = functools.partial(subprocess.run, command, check=True, capture_output=True, env=settings)
    run()
    whole = seconds(run, 5)
    work = seconds(lambda: sw.simulate(sw.UCB(), WORLD, 10**6, 4, threads=1), 3)
    shutil.rmtree(folder)
    report("warm `setwise simulate`, beyond the work itself", f"{whole:.2f} s", f"{work:.2f} s", whole - work, 1, True)


def bench_theory() -> None:
    def audited() -> float:
        return once(lambda: sw.theory.audit(sw.UCB(), WORLD, 10**6, 3, threads=1)) / 3e6

    audited()
    mine, plain = in_turn(audited, lambda: ours(1e6, 3, fast_forward=False), 5)
    report("audited rounds over plain ones", nanoseconds(mine), nanoseconds(plain), mine / plain, 3, True)
    world = sw.environments.NestedLogit(np.linspace(1, 0.1, 28), np.arange(28) % 4, [0.5] * 4, k=10)
    sets = math.comb(28, 10)
    warm = sw.environments.NestedLogit(np.linspace(1, 0.1, 16), np.arange(16) % 4, [0.5] * 4, k=8)
    sw.check(warm)
    taken = once(lambda: sw.check(world))
    report(
        "seconds to check 1e7 sets of 10 arms, nested logit",
        f"{taken:.1f} s",
        f"{sets:,} sets",
        taken * 1e7 / sets,
        60,
        True,
    )


def main() -> None:
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, Setwise {sw.__version__}, {platform.machine()}")
    start = time.perf_counter()
    sw.simulate(sw.UCB(), WORLD, 1000)
    print(f"first simulation, compiled or from the cache: {time.perf_counter() - start:.1f} s\n")
    hundred_million = bench_long_games()
    bench_longest(hundred_million)
    bench_threads()
    bench_many_arms()
    bench_policies()
    bench_theory()
    bench_start()
    head = ("what", "ours", "yardstick", "ratio", "target")
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(5)]
    print()
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)))


if __name__ == "__main__":
    main()
