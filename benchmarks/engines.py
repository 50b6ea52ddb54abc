"""Measure the cost of a task and an answer on each engine, and estimate examples/cluster.toml on many machines.

    python benchmarks/engines.py             about two minutes, on an idle machine
    python benchmarks/engines.py --quick     a minute, a smoke test; nothing is stored

The tables are stored in docs/bench: engines.csv is measured; machines.csv is computed from the measurements, by
simulating the engine's own queue with that many workers. docs/scale.md shows both.
"""

import argparse
import heapq
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import engine_jobs
import setwise as sw
from measuring import keep, seconds
from setwise.engines import ENGINES, Engine, Job, open_engine
from setwise.engines.jobs import Queue
from setwise.experiments.plays import Play
from setwise.experiments.run_plays import chunks_of
from setwise.experiments.store import Store
from setwise.simulation.chunks import SECONDS, chunk_job
from setwise.simulation.costs import seconds_of_run

EXAMPLE = Path(__file__).parent.parent / "examples" / "cluster.toml"
WORLD, POLICY = sw.paper.mnl(), sw.UCB()
HEAD = (
    "engine", "start, s", "a task, ms", "an answer, kB", "client, ms an answer", "one worker, runs/s",
    "two workers, runs/s", "ratio",
)  # fmt: skip
MACHINES = (
    "machines", "cores", "tasks", "hours of work", "compiling, s a core", "client busy", "time, min", "times one core",
)  # fmt: skip
TASKS, ANSWERS, ROUNDS, RUNS = 300, 40, 10**5, 40
CORES = 2  # per machine of the cluster, as here


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smoke test; nothing is stored")
    quick = parser.parse_args().quick
    if quick:
        globals().update(TASKS=20, ANSWERS=8, RUNS=2)
    begun = time.perf_counter()
    sw.simulate(POLICY, WORLD, ROUNDS, 2)
    rows, services = [], {}
    for engine in ENGINES:
        row, services[engine] = measured(engine)
        rows.append(row)
        print(f"{time.perf_counter() - begun:.0f} s:", told(HEAD, row), flush=True)
    if not quick:
        print("kept in", keep("engines", HEAD, rows))
    start, writing = seconds_of_joining(), seconds_of_writing()
    compiling = 10.0 if quick else seconds_of_compiling()
    print(f"joining takes {start:.2f} s, keeping an answer {1e3 * writing:.1f} ms, compiling for one policy", end=" ")
    print(f"{compiling:.1f} s", flush=True)
    cost = forecast if quick else cost_of
    service = services["dask"] + writing
    rows = [predicted(machines, start, service, compiling, cost) for machines in (1, 10, 100, 1000)]
    for row in rows:
        print(told(MACHINES, row))
    if not quick:
        print("kept in", keep("machines", MACHINES, rows))
    print(f"{time.perf_counter() - begun:.0f} s")


def told(head: Sequence[str], row: Sequence[str]) -> str:
    return "; ".join(f"{name}: {cell}" for name, cell in zip(head, row))


def measured(engine: str) -> tuple[list[str], float]:
    """Measure a row of the table, and the least seconds between two answers.

    Those are the seconds per task, or the CPU time of this process per answer, whichever is more.
    """
    speeds = {}
    size = runs_of_piece(), 100, WORLD.n
    for workers in (1, 2):
        started = time.perf_counter()
        with open_engine(engine, workers) as crew:
            crew.do([Job(engine_jobs.nothing, (), "")] * workers, lambda *_: None)
            start = time.perf_counter() - started
            if workers == 2:
                task, _ = each(crew, [Job(engine_jobs.nothing, (), "")] * TASKS)
                _, client = each(crew, [Job(engine_jobs.answer, size, "")] * ANSWERS)
            speeds[workers] = speed(crew, workers)
    kilobytes = len(pickle.dumps(engine_jobs.answer(*size))) / 1e3
    cells = (start, 1e3 * task, kilobytes, 1e3 * client, speeds[1], speeds[2])
    return [engine, *(f"{cell:.1f}" for cell in cells), f"{speeds[2] / speeds[1]:.2f}"], max(task, client)


def each(crew: Engine, jobs: list[Job]) -> tuple[float, float]:
    """Measure the seconds per answer of jobs that only send and fetch, and the CPU time of this process for each.

    With a local Dask cluster, the CPU time includes the scheduler.
    """
    times, used = [], []

    def take(number: int, answer: object) -> None:
        times.append(time.perf_counter())
        used.append(time.process_time())

    crew.do(jobs, take)
    first = 4  # these wait for the workers to start
    return tuple((values[-1] - values[first]) / (len(values) - first - 1) for values in (times, used))


def speed(crew: Engine, workers: int) -> float:
    """Measure runs per second, after every worker has compiled and played its first chunk."""
    common = (Play.of(POLICY, WORLD, ROUNDS, checkpoints=[ROUNDS]).request,)
    pieces = 6 * workers
    jobs = [chunk_job(common, number * RUNS, RUNS, 1.0) for number in range(pieces)]
    times = []
    crew.do(jobs, lambda *_: times.append(time.perf_counter()))
    return (pieces - workers) * RUNS / (times[-1] - times[workers - 1])


def runs_of_piece() -> int:
    """Return the runs of Algorithm 1 per chunk."""
    return int(SECONDS / seconds_of_run(POLICY, WORLD, ROUNDS, None, False))


def seconds_of_joining() -> float:
    """Measure the seconds to connect to a running Dask cluster, check its workers, and get the first answers."""
    from distributed import LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "memory_limit": None, "silence_logs": 60}
    with LocalCluster(n_workers=CORES, host="127.0.0.1", **options) as cluster:
        started = time.perf_counter()
        with open_engine("dask", None, cluster.scheduler_address) as crew:
            crew.do([Job(engine_jobs.nothing, (), "")] * CORES, lambda *_: None)
            return time.perf_counter() - started


def seconds_of_writing() -> float:
    """Measure the seconds to store an answer of that size."""
    play = Play.of(POLICY, WORLD, ROUNDS)
    with tempfile.TemporaryDirectory(dir=EXAMPLE.parent) as folder:
        store, result = Store(folder), play.run(runs_of_piece(), threads=2)
        return seconds(lambda: store.keep(play, result), repeat=10)


COMPILING = """
import time, setwise as sw
def play():
    started = time.process_time()
    sw.simulate(sw.KLUCB(), sw.paper.mnl(), 10)
    return time.process_time() - started
print(play() - play())
"""


def seconds_of_compiling() -> float:
    """Measure the CPU time of the first run without a cache, minus that of the second."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        return float(subprocess.check_output([sys.executable, "-c", COMPILING], env=environment))


def predicted(
    machines: int, start: float, service: float, compiling: float, cost_of: Callable[[Play], float]
) -> list[str]:
    """Estimate the time of the example on that many machines.

    start: seconds until the first worker begins
    service: seconds of the client per task: send it, receive the answer and store it
    compiling: seconds per policy and core
    cost_of: seconds per run

    Every core is a worker that compiles the policies it plays, and the client serves tasks one by one. Cores do not
    slow each other down.
    """
    experiment = sw.Experiment.read(str(EXAMPLE))
    plays = [entry.play for entry in experiment.entries]
    cost = {id(play): cost_of(play) for play in plays}
    pieces = chunks_of([(play, 0, experiment.runs) for play in plays], CORES * machines)
    jobs = [Job(engine_jobs.nothing, (), "", runs * cost[id(play)], play.group) for play, _, runs in pieces]
    queue = Queue(jobs)
    compiled: list[set[str]] = [set() for _ in range(CORES * machines)]
    free = [(start, worker) for worker in range(len(compiled))]
    arrivals, spent = [], 0.0
    while queue:
        now, worker = heapq.heappop(free)
        number = queue.next(compiled[worker])
        extra = 0.0 if jobs[number].group in compiled[worker] else compiling
        compiled[worker].add(jobs[number].group)
        spent += extra
        done = now + extra + jobs[number].seconds
        arrivals.append(done)
        heapq.heappush(free, (done, worker))
    end = 0.0
    for arrival in sorted(arrivals):
        end = max(end, arrival) + service
    work = sum(job.seconds for job in jobs)
    cells = (f"{work / 3600.0:.2f}", f"{spent / len(compiled):.1f}", f"{len(jobs) * service / end:.1%}")
    return [f"{machines}", f"{len(compiled)}", f"{len(jobs):,}", *cells, f"{end / 60.0:.1f}", f"{work / end:,.0f}"]


def forecast(play: Play) -> float:
    """Estimate the seconds per run, without playing."""
    return seconds_of_run(play.policy, play.environment, play.horizon, play.fast_forward, play.record)


_costs: dict[str, float] = {}


def cost_of(play: Play) -> float:
    """Measure the CPU time per run."""
    if play.digest not in _costs:
        play.run(1, threads=1)
        started = time.process_time()
        play.run(5, threads=1)
        _costs[play.digest] = (time.process_time() - started) / 5.0
    return _costs[play.digest]


if __name__ == "__main__":
    main()
