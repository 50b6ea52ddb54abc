"""Measure the speed of a study as ratios in one run: docs/bench/study.csv.

    make bench-study
    .venv/bin/python benchmarks/study.py --quick    a small version, printed but not stored

Rounds on SQLite are compared with ask-and-tell of Optuna, which has its own environment in benchmarks/.build. Both sync
to disk at every commit, unless a row says otherwise. The yardstick is Optuna with its default journal mode or WAL,
whichever is faster. Every figure is the best of a few repetitions, ours and theirs in turn. Computing is measured in
memory, where a commit is nearly free.
"""

import argparse
import contextlib
import gc
import json
import math
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import setwise as sw
import study_reopen
from measuring import MACHINE, keep, machine, nanoseconds
from peers.catalogue import Peer
from peers.environments import FOLDER, Failed, install, python_of, run
from ratios import HEAD, Ratios
from setwise.compiled import compile_for
from setwise.study import policy_runner
from setwise.study.policy_runner import learn_rounds
from study_compiling import compiled_in_a_process
from study_optuna import ARMS, MARK, SIZE

OPTUNA = Peer("Optuna", "optuna", ("optuna",), "optuna", "import optuna", "", ())
SYNCHRONOUS = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}
PATIENCE = 300.0
HORIZON = 10**6
COMPILED = 10**5  # arms, from which on compiling pays even if each is played once


class Counts(NamedTuple):
    """Sizes of the measurements.

    repeat: repetitions
    clients: clients at once
    ours, theirs: rounds on SQLite of one client, and of many
    batch: rounds whose mean time counts as one measurement
    settle: rounds to a steady state, after every arm was played once
    many: arms of the large studies
    journal: rounds of the study to reopen
    """

    repeat: int
    clients: int
    ours: tuple[int, int]
    theirs: tuple[int, int]
    batch: int
    settle: int
    many: int
    journal: int


WHOLE = Counts(3, 64, (1000, 6400), (100, 256), 100, 2000, 10**6, 10**6)
QUICK = Counts(1, 8, (50, 160), (5, 16), 20, 40, 4000, 2000)


class Rate(NamedTuple):
    """Rounds per second, and the settings."""

    rate: float
    how: str = ""

    def __str__(self) -> str:
        return f"{self.rate:,.0f} rounds/s{self.how and ': '}{self.how}"


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


def names_of(n: int) -> list[str]:
    return [f"arm {number}" for number in range(n)]


def play(study: Any, rounds: int) -> None:
    """Ask and tell; the first arm of every set earns 1, the others 0."""
    for _ in range(rounds):
        decision = study.ask()
        study.tell(decision, {decision.arms[0]: 1})


def play_all(study: Any, clients: int, rounds: int) -> None:
    """Play this many rounds per client, each in its own thread."""
    threads = [threading.Thread(target=play, args=(study, rounds)) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def ours(durability: str, clients: int, rounds: int) -> Rate:
    """Measure our rounds on a new file."""
    each = rounds // clients
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        address = f"sqlite:///{folder}/study.db"
        with sw.Study.create(
            address, "study", names_of(ARMS), SIZE, sw.KLUCB(), HORIZON, seed=1, durability=durability
        ) as study:
            play_all(study, clients, 20 if clients == 1 else 1)
            start = time.perf_counter()
            play_all(study, clients, each)
            return Rate(each * clients / (time.perf_counter() - start))


def theirs(journal: str, synchronous: str, clients: int, rounds: int) -> Rate:
    """Measure rounds of Optuna on a new file, in a separate process."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        words = (folder, journal, synchronous, str(clients), str(rounds))
        output = run([str(python_of(OPTUNA)), "study_optuna.py", *words], PATIENCE)
    answer = json.loads([line for line in output.splitlines() if line.startswith(MARK)][-1].removeprefix(MARK))
    how = f"Optuna {answer['version']}, journal {answer['journal_mode']}, {SYNCHRONOUS[answer['synchronous']]}"
    failed = sum(answer["failed"].values())
    if failed:
        how += f"; {failed} of {failed + answer['played']} failed: {max(answer['failed'], key=answer['failed'].get)}"
    return Rate(answer["played"] / answer["seconds"], how)


def has_optuna(quick: bool) -> bool:
    """Whether Optuna is available; unless quick, create its environment if it is missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if quick and not python_of(OPTUNA).exists():
        say("there is no environment with Optuna; `make bench-study` makes it")
        return False
    failure = install(OPTUNA, fresh=False).failure
    if failure:
        say(f"Optuna cannot be installed, and is left out: {failure}")
    return not failure


def bench_storage(table: Ratios, counts: Counts, optuna: bool) -> None:
    """Measure rounds on SQLite, of one client and of many, with and without syncing commits."""
    for durability, synchronous, place in (("full", "FULL", "on disk"), ("normal", "NORMAL", "not waited for")):
        journals = ("default", "wal") if durability == "full" else ("wal",)
        for many, clients in enumerate((1, counts.clients)):
            players: list[Callable[[], Rate]] = [lambda: ours(durability, clients, counts.ours[many])]  # noqa: B023
            if optuna:
                players += [
                    lambda journal=journal: theirs(journal, synchronous, clients, counts.theirs[many])  # noqa: B023
                    for journal in journals
                ]
            try:
                repeated = []
                for turn in range(counts.repeat):
                    say(f"SQLite, {durability}, {clients} clients, {turn + 1} of {counts.repeat}")
                    repeated.append([player() for player in players])
            except Failed as problem:
                say(f"Optuna failed: {problem}")
                continue
            mine, *others = (max(rates) for rates in zip(*repeated))
            what = f"rounds on SQLite, commits {place}, {clients} client{'s' * (clients > 1)}"
            if not others:
                table.add(what, str(mine), "", float("nan"))
            for number, other in enumerate(sorted(others, reverse=True)):
                target = (10, 40)[many] if durability == "full" and number == 0 else None
                again = ", Optuna's slower setting" * (number > 0)
                table.add(what + again, str(mine), str(other), mine.rate / other.rate, target)


def try_all(study: Any) -> None:
    """Let the policy learn one round of every arm, without the journal."""
    replica = study._read(lambda replica: replica)
    sizes = np.full(-(-replica.n // study.k), study.k)
    sizes[-1] -= sizes.sum() - replica.n
    rewards = (np.random.default_rng(1).random(replica.n) < 1.0 / study.k).astype(float)
    given = (replica.policy, replica.state, sizes, np.arange(replica.n), rewards, replica.learning)
    learn = learn_rounds if replica.n < COMPILED else compile_for(learn_rounds, *given)
    learn(*given)


class Times(NamedTuple):
    """Mean seconds per round: selecting the set alone, all of `ask`, and `tell`."""

    select: float
    ask: float
    tell: float


def timed(study: Any, rounds: int, rng: Any) -> Times:
    """Play some rounds, in which one arm or none earns 1."""
    replica = study._read(lambda replica: replica)
    select, clock = replica.select, time.perf_counter
    chosen = asked = told = 0.0

    def watched(*given: Any) -> Any:
        nonlocal chosen
        start = clock()
        found = select(*given)
        chosen += clock() - start
        return found

    replica.select = watched
    gc.collect()
    for _ in range(rounds):
        start = clock()
        decision = study.ask()
        between = clock()
        asked += between - start
        earned = {decision.arms[0]: 1} if rng.random() < 0.3 else {}
        start = clock()
        study.tell(decision, earned)
        told += clock() - start
    del replica.select
    return Times(chosen / rounds, asked / rounds, told / rounds)


def least(times: list[Times]) -> Times:
    return Times(*map(min, zip(*times)))


@contextlib.contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Compile policies once interpreting has cost this many seconds; at once if negative."""
    usual = policy_runner.COMPILE_AFTER_SECONDS, policy_runner.MIN_CALL_SECONDS
    policy_runner.COMPILE_AFTER_SECONDS, policy_runner.MIN_CALL_SECONDS = (
        seconds,
        min(policy_runner.MIN_CALL_SECONDS, seconds),
    )
    try:
        yield
    finally:
        policy_runner.COMPILE_AFTER_SECONDS, policy_runner.MIN_CALL_SECONDS = usual


def wait_until_compiled(study: Any) -> None:
    """Play until every method in use is compiled, one after the other."""
    for _ in range(3):
        study.tell(study.ask(), {})
        ready = study._read(lambda replica: replica.runner.wait())
    if ready != ["select", "update"]:
        raise AssertionError("not compiled")


def asking(n: int, k: int, policy: Any, counts: Counts, compiled: bool) -> Times:
    """Measure a round, before or after every arm was played, whichever takes longer."""
    rng = np.random.default_rng(1)
    timed(sw.Study.memory(names_of(100), k, policy, HORIZON, seed=1), 200, rng)  # warm up
    first = []
    with patience(-1.0 if compiled else math.inf):
        for _ in range(5 if n <= 1000 else 1):
            study = sw.Study.memory(names_of(n), k, policy, HORIZON, seed=1)
            if compiled:
                wait_until_compiled(study)
            first.append(timed(study, min(30, n // k - 1), rng))
        try_all(study)
        timed(study, counts.settle, rng)
        later = [timed(study, counts.batch, rng) for _ in range(5)]
    return Times(*map(max, zip(least(first), least(later))))


def bench_asking(table: Ratios, counts: Counts) -> None:
    """Measure answering and selecting, interpreted and compiled: the least of turns minutes apart."""
    cases = [
        (n, most, policy, k, compiled)
        for n, most in ((100, 1e-4), (1000, 1e-4), (counts.many, 1e-3))
        for policy in (sw.UCB(), sw.KLUCB())
        for k in (3, 10)
        for compiled in (False, True)
    ]
    turns = []
    for turn in range(counts.repeat):
        say(f"asking, {turn + 1} of {counts.repeat}")
        turns.append([asking(n, k, policy, counts, compiled) for n, _, policy, k, compiled in cases])
    for (n, most, policy, k, compiled), *found in zip(cases, *turns):
        times = least(found)
        what = f"ask, {type(policy).__name__}, {k} of {n:,} arms, {'compiled' if compiled else 'interpreted'}"
        mine = f"{nanoseconds(times.ask)}, {nanoseconds(times.select)} of it for the choice"
        table.add(what, mine, nanoseconds(most), times.ask / most, 1 if n >= 1000 else None, True)


def bench_compiling(table: Ratios) -> None:
    """Measure compiling in the background: memory, and seconds in the first process and in the next."""
    say("compiling")
    with tempfile.TemporaryDirectory(dir=FOLDER) as cache:
        first, later = compiled_in_a_process(cache), compiled_in_a_process(cache)
    what = "compile beside the work, "
    interpreted = f"{later['before'] / 1e6:.0f} MB: interpreted"
    for who, found in (("first process", first), ("next process", later)):
        more = found["after"] / later["before"]
        table.add(f"{what}memory, {who}", f"{found['after'] / 1e6:.0f} MB", interpreted, more)
    once = f"{first['seconds']:.1f} s: first process"
    table.add(f"{what}time, next process", f"{later['seconds']:.1f} s", once, later["seconds"] / first["seconds"])


def bench_telling(table: Ratios, counts: Counts) -> None:
    """Measure `tell`, by the number of arms."""
    rng = np.random.default_rng(1)
    sizes = [n for n in (10**2, 10**3, 10**4, 10**5, 10**6) if n <= counts.many]
    studies = []
    for n in sizes:
        say(f"telling: {n:,} arms")
        studies.append(sw.Study.memory(names_of(n), 10, sw.UCB(), HORIZON, seed=1))
        try_all(studies[-1])
        timed(studies[-1], counts.settle // 10, rng)
    rounds = [[timed(study, counts.batch, rng) for study in studies] for _ in range(5)]
    told = dict(zip(sizes, (least(list(times)).tell for times in zip(*rounds))))
    for n, taken in told.items():
        target = 3 if n == counts.many else None
        yardstick = f"{nanoseconds(told[1000])}: 1,000 arms"
        table.add(f"tell, UCB, 10 of {n:,} arms", nanoseconds(taken), yardstick, taken / told[1000], target, True)


def bench_reopening(table: Ratios, counts: Counts) -> None:
    """Open a study with many rounds in a new process, and ask: with its snapshot, without, and with a damaged one."""
    rounds = counts.journal
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        path = Path(folder) / "study.db"
        address = f"sqlite:///{path}"
        study_reopen.build(address, "study", rounds, lambda done: say(f"written: {done:,} of {rounds:,} rounds"))
        with sw.Study.open(address, "study") as study:
            say("verifying")
            start = time.perf_counter()
            found = study.verify(decisions=False)
            say(f"verified in {time.perf_counter() - start:.1f} s")
            if not found.ok or found.told != rounds:
                raise AssertionError(f"not the journal that was to be made: {found}")
            study.tell(study.ask(), [0] * SIZE)  # after this many rows a snapshot is stored
        cases: tuple[tuple[str, Callable[[bytes], bytes | None], int], ...] = (
            ("with a snapshot", lambda data: data, counts.repeat),
            ("without a snapshot", lambda data: None, 1),
            ("with a byte of the snapshot flipped", study_reopen.flipped, 1),
        )
        best: list[tuple[str, float, float]] = []
        for case, change, repeat in cases:
            say(f"opening {case}")
            opened = []
            for _ in range(repeat):
                study_reopen.change_snapshot(path, change)
                opened.append(study_reopen.reopened(address, "study"))
            if {one["told"] for one in opened} != {rounds + 1}:
                raise AssertionError(f"{rounds + 1} rounds were told, and found were {opened}")
            best.append((case, *(min(one[part] for one in opened) for part in ("seconds", "process"))))
    what = f"open {rounds:,} rounds in a new process and ask, "
    (case, usual, whole), *others = best
    table.add(what + case, f"{usual:.2f} s", "2 s", usual / 2.0, 1, at_most=True)
    table.add(f"{what}{case}; Python and imports, too", f"{whole:.2f} s", "2 s", whole / 2.0)
    for case, taken, _ in others:
        table.add(what + case, f"{taken:.2f} s", f"{usual:.2f} s: with it", taken / usual)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small version, printed but not stored")
    quick = parser.parse_args().quick
    counts = QUICK if quick else WHOLE
    say(", ".join(f"{name} {cell}" for name, cell in zip(MACHINE[1:], machine())))
    table = Ratios()
    start = time.perf_counter()
    bench_storage(table, counts, has_optuna(quick))
    bench_asking(table, counts)
    bench_compiling(table)
    bench_telling(table, counts)
    bench_reopening(table, counts)
    kept = "a small version, not kept" if quick else f"kept in {keep('study', HEAD, table.rows)}"
    print(f"\n{table.text()}\n\n{time.perf_counter() - start:.0f} s; {kept}")


if __name__ == "__main__":
    main()
