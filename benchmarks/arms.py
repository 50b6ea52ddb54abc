"""Measure the time per round for 10 to 10^6 arms, docs/bench/arms.csv, and the memory of 10^6 arms.

A cell is the faster of two games, with all overhead of `simulate`, of `ROUNDS` rounds or as many as fit in a second.
Those are early rounds: later ones cost more for Thompson sampling, whose draws are fastest for arms never played.
Memory, in docs/bench/memory-arms.csv, is measured in a separate process for each policy.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from measuring import keep, once, seconds
from memory import MEGA, peak

ROUNDS = 300_000
PATIENCE = 1.0  # seconds per game; fewer rounds are played if ROUNDS take longer
MANY = 10**6
SIZES = {10: (10, 100, 1000, 10**4, 10**5, MANY), 100: (1000, 10**4, 10**5, MANY)}  # n, by k
HEAD = ("what", "k", "n", "microseconds a round")
MEMORY_HEAD = (
    "policy", "world, MB", "state, MB", "state, bytes an arm", "record, MB", "the process itself, MB", "peak, MB",
)  # fmt: skip
MEASURED = ("UCB", "KLUCB", "KLMOSS", "Thompson", "AnytimeUCB")  # policies whose memory is measured


class Line(NamedTuple):
    """A line of the figure: a policy in a world of n arms, or NumPy."""

    what: str
    policy: Any
    world: Any


def lines() -> Iterator[Line]:
    """The policies on a multinomial logit, and Algorithm 1 in other worlds."""
    import setwise as sw

    worlds = sw.environments
    for policy in (sw.UCB(), sw.KLUCB(), sw.KLMOSS(), sw.Thompson(), sw.AnytimeUCB()):
        yield Line(type(policy).__name__, policy, worlds.MNL)
    yield Line("UCB, Independent", sw.UCB(), worlds.Independent)
    yield Line("UCB, RandomUtility Gaussian", sw.UCB(), worlds.RandomUtility)
    yield Line("UCB, RandomUtility Gumbel", sw.UCB(), lambda values, k: worlds.RandomUtility(values, k, noise="gumbel"))


def values_of(n: int) -> Any:
    """Return weights, probabilities or utilities of n arms, from 1 to 1/101, most of them small."""
    import numpy as np

    return 1.0 / (1.0 + 100.0 * np.arange(n) / n)


def ours(line: Line, n: int, k: int) -> float:
    """Measure the seconds per round."""
    import setwise as sw

    world = line.world(values_of(n), k=k)

    def play(rounds: int) -> float:
        return once(lambda: sw.simulate(line.policy, world, rounds, threads=1))

    play(10)  # compile, or load from the cache
    overhead = play(10)
    rounds = played_in_time(lambda rounds: play(rounds) - overhead)
    return min(play(rounds) for _ in range(2)) / rounds


def played_in_time(play: Callable[[int], float]) -> int:
    """Return how many rounds fit in the time, up to `ROUNDS`; `play` returns the seconds of a number of rounds."""
    rounds = 30
    while True:
        taken = min(play(rounds) for _ in range(2))
        if taken >= 0.1 * PATIENCE or rounds >= ROUNDS:
            return int(min(ROUNDS, rounds * max(1.0, PATIENCE / max(taken, 1e-9))))
        rounds *= 10


def numpy(n: int, k: int) -> float:
    """Measure the seconds per round of the NumPy loop."""
    import numpy_loop

    def play(rounds: int) -> float:
        return numpy_loop.run(values_of(n), k, ROUNDS, rounds, seed=1)[0]

    rounds = played_in_time(lambda rounds: rounds * play(rounds))
    return min(play(rounds) for _ in range(2))


def cells() -> Iterator[tuple[str, int, int, str]]:
    """Measure and yield the rows of the table."""
    for k, sizes in SIZES.items():
        for line in lines():
            for n in sizes:
                yield line.what, k, n, f"{ours(line, n, k) * 1e6:.4g}"
        for n in sizes:
            yield "NumPy", k, n, f"{numpy(n, k) * 1e6:.4g}"


def print_table(rows: list[Any]) -> None:
    """Print microseconds per round: a row for each policy and set size, a column for each number of arms."""
    measured = {row[:3]: row[3] for row in rows}
    print(f"{'microseconds a round':28} {'k':>4}" + "".join(f"{f'n = {n:,}':>15}" for n in SIZES[10]))
    for what, k in dict.fromkeys(row[:2] for row in rows):
        print(f"{what:28} {k:4}" + "".join(f"{measured.get((what, k, n), ''):>15}" for n in SIZES[10]))
    print()


def print_overhead() -> None:
    """Measure the overhead per call of `simulate` and per run, beyond the rounds, with a million arms."""
    import setwise as sw

    world = sw.environments.MNL(values_of(MANY), k=10)

    def play(runs: int) -> float:
        return seconds(lambda: sw.simulate(sw.UCB(), world, 1, runs, threads=1), 5)

    one, eleven = play(1), play(11)
    run = (eleven - one) / 10
    print(f"{MANY:,} arms: {(one - run) * 1e3:.0f} ms a call, {run * 1e3:.0f} ms a run, beyond the rounds\n")


def size_of(thing: Any) -> int:
    """Sum the bytes of all arrays in nested tuples."""
    if isinstance(thing, tuple):
        return sum(map(size_of, thing))
    return int(getattr(thing, "nbytes", 0))


def memory(name: str) -> None:
    """Play one run with a million arms, and print the bytes of each part."""
    import numpy as np

    import setwise as sw
    from setwise.simulation.play import new_record

    policy = getattr(sw, name)()
    sw.simulate(policy, sw.environments.MNL(values_of(1000), k=10), 100, threads=1)
    base = peak()
    world = sw.environments.MNL(values_of(MANY), k=10)
    sw.simulate(policy, world, 1000, threads=1)
    whole = peak()
    state = policy.init(MANY, 10, 1000, np.random.default_rng(0))
    record = new_record(MANY, 10, 100, record=False, stretches=True, stop=np.zeros(1, np.int64))
    print(size_of(world), size_of(state), size_of(record), base, whole)


def memory_rows() -> Iterator[tuple[str, ...]]:
    for name in MEASURED:
        command = [sys.executable, str(Path(__file__)), "--memory", name]
        subprocess.run(command, check=True, capture_output=True)  # caches the compiled code on disk
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        world, state, record, base, whole = map(float, done.stdout.split())
        megabytes = [f"{amount / MEGA:,.1f}" for amount in (world, state, record, base, whole)]
        yield name, *megabytes[:2], f"{state / MANY:.1f}", *megabytes[2:]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        memory(options.memory)
        return
    for name, head, rows in (("arms", HEAD, cells()), ("memory-arms", MEMORY_HEAD, memory_rows())):
        kept = []
        for row in rows:
            print("; ".join(f"{title}: {cell}" for title, cell in zip(head, row)), flush=True)
            kept.append(row)
        print(f"kept in {keep(name, head, kept)}\n")
        if name == "arms":
            print_table(kept)
            print_overhead()


if __name__ == "__main__":
    main()
