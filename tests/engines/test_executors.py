"""The user's own executors: the same results as on our engines, and never shut down by us."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest
from test_engines import bytes_of, lonely, refused

import mortal
import setwise as sw
from setwise.engines import Job, answers, executors, open_engine
from setwise.engines.compatibility import facts
from setwise.errors import InputError, WorkerLost
from setwise.experiments.store import Store
from setwise.simulation import chunks
from skips import NOT_HERE
from waiting import LIMIT, alive, wait_for

POOLS = ("threads", "spawn", "fork")


def open_pool(kind, workers=2):
    if kind == "threads":
        return ThreadPoolExecutor(workers)
    if kind not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{NOT_HERE}no {kind}")
    return ProcessPoolExecutor(workers, multiprocessing.get_context(kind))


# Python 3.12 warns of a fork beside threads, which pytest-xdist has.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@pytest.fixture(params=POOLS)
def pool(request):
    """An executor of two workers, which has to be open after the test."""
    with open_pool(request.param) as own:
        yield own
        assert own.submit(int, "3").result(LIMIT) == 3


@pytest.fixture
def spawned():
    with open_pool("spawn") as own:
        yield own


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "LEAST_SECONDS", 0.0)


class Recorded(Executor):
    """Hands jobs over when it is told to, and counts those it has."""

    def __init__(self, running=False):
        self.waiting, self.most, self.marks_running = [], 0, running

    def submit(self, function, /, *arguments):
        future = Future()
        if self.marks_running:
            future.set_running_or_notify_cancel()
        self.waiting.append((future, function, arguments))
        self.most = max(self.most, len(self.waiting))
        threading.Timer(0.001, self.run_one).start()
        return future

    def run_one(self):
        future, function, arguments = self.waiting.pop(0)
        with contextlib.suppress(Exception):  # a cancelled one
            future.set_result(function(*arguments))


def test_every_job_runs_once_and_the_executor_stays_open(pool):
    jobs = [Job(mortal.square, (n,), f"{n}", seconds=n % 3, group=f"{n % 2}") for n in range(7)]
    told, shares = [], []
    with open_engine(pool, 2) as crew:
        crew.do(jobs, lambda n, answer: told.append((n, answer[0])), lambda what, share: shares.append(share))
    assert sorted(told) == [(n, n * n) for n in range(7)]
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert answers([], 2, engine=pool) == []


def test_simulations_are_the_same_bytes(pool, small_chunks, tmp_path):
    options = {"horizon": 60, "runs": 9, "seed": 4, "first_run": 5, "checkpoints": 7, "compiled": False}
    shares = []
    found = sw.simulate(sw.UCB(), sw.paper.camera(), **options, engine=pool, progress=shares.append)
    assert bytes_of(found, tmp_path) == bytes_of(sw.simulate(sw.UCB(), sw.paper.camera(), **options), tmp_path)
    assert shares[-1] == 1.0 and found.regret.flags.writeable


@pytest.mark.parametrize("kind", ["threads", "spawn"])
def test_experiments_are_stored_as_they_arrive_and_are_the_same_bytes(kind, small_chunks, tmp_path, monkeypatch):
    experiment = sw.Experiment(["camera"], ["uniform"], horizon=200, runs=8)
    keep, kept = Store.keep, []

    def keep_one(store, play, result):
        if kept:
            raise KeyboardInterrupt
        kept.append(keep(store, play, result))

    with open_pool(kind) as own:
        with monkeypatch.context() as patch:
            patch.setattr(Store, "keep", keep_one)
            with pytest.raises(KeyboardInterrupt):
                experiment.run(str(tmp_path / "kept"), jobs=2, engine=own)
        assert [str(path) for path in (tmp_path / "kept").glob("*.npz")] == kept
        finished = experiment.run(str(tmp_path / "kept"), jobs=2, engine=own)
    assert (finished.outcome.played, finished.outcome.kept) == (6, 2)
    expected = sw.simulate(sw.Uniform(), sw.paper.camera(), 200, 8, tabulate=True)
    assert bytes_of(finished["camera", "uniform"], tmp_path) == bytes_of(expected, tmp_path)


def test_an_error_of_a_job_is_raised_here_as_what_it_is(pool):
    jobs = [Job(mortal.refuse, ("this is wrong",), "a"), Job(mortal.square, (2,), "b")]
    with pytest.raises(InputError, match=r"^this is wrong$"):
        answers(jobs, 2, engine=pool)
    with pytest.raises(FileNotFoundError, match="/no/such/file"):
        answers([Job(mortal.read, ("/no/such/file",), "a")], engine=pool)


@pytest.mark.parametrize("engine", ["spawn", "processes"])
def test_an_error_says_where_on_the_worker_it_was_raised_also_if_it_cannot_be_pickled(engine, spawned):
    own = spawned if engine == "spawn" else engine
    for job, kind, words in (
        (Job(mortal.refuse, ("this is wrong",), "a"), InputError, "^this is wrong$"),
        (Job(mortal.fail_badly, (), "a"), RuntimeError, "^Unpicklable: two words$"),
    ):
        with pytest.raises(kind, match=words) as error:
            answers([job] * 2, 2, engine=own)
        assert 'mortal.py", line ' in str(error.value.__cause__)


def test_an_answer_that_cannot_be_pickled_does_not_kill_its_worker():
    with pytest.raises(RuntimeError, match=r"^an answer cannot be pickled: "):
        answers([Job(threading.Lock, (), "a")] * 2, 2)


def test_a_job_that_kills_its_worker_ends_in_a_sentence(spawned, tmp_path):
    jobs = [Job(mortal.die, (), "deadly"), Job(mortal.square, (2,), "b")]
    words = r"^a worker of ProcessPoolExecutor died while running .*, perhaps for lack of memory; its unfinished jobs"
    with pytest.raises(WorkerLost, match=words):
        answers(jobs, engine=spawned)
    with pytest.raises(WorkerLost, match=r"^ProcessPoolExecutor is broken \(.*\); open a new one and try again$"):
        answers(jobs, engine=spawned)


def test_a_killed_worker_loses_no_stored_result(small_chunks, tmp_path, monkeypatch):
    experiment, folder = sw.Experiment(["camera"], ["uniform"], horizon=200, runs=8), str(tmp_path / "kept")
    keep = Store.keep
    with open_pool("spawn") as own:
        pids = {process for _, process in answers([Job(mortal.slow_square, (0,), "")] * 4, engine=own)}

        def keep_and_kill(store, play, result):
            keep(store, play, result)
            while pids:
                os.kill(pids.pop(), signal.SIGKILL)

        with monkeypatch.context() as patch:
            patch.setattr(Store, "keep", keep_and_kill)
            with pytest.raises(
                WorkerLost, match=f"finished results are safe in {folder}, and the same command resumes$"
            ):
                experiment.run(folder, jobs=2, engine=own)
    with open_pool("spawn") as own:
        finished = experiment.run(folder, jobs=2, engine=own)
    assert finished.outcome.kept > 0 and finished.outcome.played > 0
    expected = sw.simulate(sw.Uniform(), sw.paper.camera(), 200, 8, tabulate=True)
    assert bytes_of(finished["camera", "uniform"], tmp_path) == bytes_of(expected, tmp_path)


def test_an_executor_that_is_shut_down_is_refused(tmp_path):
    for kind in ("threads", "spawn"):
        own = open_pool(kind)
        own.shutdown()
        words = rf"^{type(own).__name__} takes no jobs \(cannot schedule new futures after shutdown\); give an executor"
        with pytest.raises(InputError, match=words):
            answers([Job(mortal.square, (2,), "")], engine=own)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError("the network\nis down"), r"could not run a \(OSError: the network is down\); try again"),
        (CancelledError(), "cancelled a; keep it open until the work is done, and try again"),
        (BrokenProcessPool("a rank is gone."), r"a worker of .* died while running a \(a rank is gone\), perhaps for"),
    ],
)
def test_an_error_of_the_executor_is_told_from_one_of_the_job(error, words):
    class Failing(Executor):
        def submit(self, function, /, *arguments):
            future = Future()
            future.set_exception(error)
            return future

    with pytest.raises(WorkerLost, match=words):
        answers([Job(mortal.square, (2,), "a")], engine=Failing())


def test_a_thread_that_cannot_start_is_told():
    with ThreadPoolExecutor(1, initializer=mortal.refuse, initargs=("no",)) as own, pytest.raises(WorkerLost):
        answers([Job(mortal.square, (2,), "a")], engine=own)


@pytest.mark.parametrize("running", [False, True])
def test_few_jobs_are_submitted_at_a_time(running, monkeypatch):
    monkeypatch.setattr(executors, "MOST", 20)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    jobs = [Job(mortal.square, (n,), "") for n in range(100)]
    own = Recorded(running)
    assert [answer for answer, _ in answers(jobs, engine=own)] == [n * n for n in range(100)]
    assert own.most <= (20 if running else 4)
    own = Recorded(running)
    answers(jobs, 3, engine=own)
    assert own.most <= 3


def test_an_executor_may_say_how_many_workers_it_has():
    own = Recorded()
    own.num_workers = 7
    assert open_engine(own).at_once == 7 and open_engine(own, 2).at_once == 2


def test_stopping_cancels_the_jobs_that_have_not_started(spawned, tmp_path):
    def take(number, answer):
        raise KeyboardInterrupt

    told = [tmp_path / f"{number}" for number in range(20)]
    jobs = [Job(mortal.slow_touch, (str(file),), "") for file in told]
    with pytest.raises(KeyboardInterrupt):
        open_engine(spawned, 20).do(jobs, take)
    assert spawned.submit(int, "3").result(LIMIT) == 3  # after all that were in its queue
    assert sum(file.exists() for file in told) < 10


def test_running_jobs_on_the_users_threads_stop_when_they_report_progress(tmp_path):
    def take(number, answer):
        raise KeyboardInterrupt

    told = tmp_path / "told"
    slow = Job(mortal.wait, (300.0, str(told)), "slow", 1.0, "b", True)
    with ThreadPoolExecutor(2) as own, pytest.raises(KeyboardInterrupt):
        open_engine(own, 2).do([Job(mortal.begun, (str(told),), "quick", 2.0, "a"), slow], take)
    assert "to the end" not in told.read_text()


def test_workers_with_other_versions_are_refused(spawned, monkeypatch):
    monkeypatch.setattr(executors, "facts", lambda names: facts(names) | {"numpy": "0"})
    words = rf"^the worker \d+ on .* has numpy {np.__version__}, and here it is 0, so that results could differ; ins"
    with pytest.raises(WorkerLost, match=words):
        answers([Job(mortal.square, (2,), "")], engine=spawned)


def test_common_arguments_are_unpickled_once_per_process(spawned):
    common = (mortal.Heavy(10),)
    found = answers([Job(mortal.times_made, (n,), "", common=common) for n in range(6)], 2, engine=spawned)
    assert [answer for *_, answer in found] == list(range(10, 16)) and {times for _, times, _ in found} == {1}


def test_a_class_of_the_main_script_needs_threads(spawned):
    own = lonely("__main__")()
    with ThreadPoolExecutor(2) as threads:
        found = sw.simulate(own, sw.paper.camera(), 10, 4, compiled=False, engine=threads)
    assert np.array_equal(found.regret, sw.simulate(own, sw.paper.camera(), 10, 4, compiled=False).regret)
    assert refused(own, sw.paper.camera(), engine=spawned).startswith("Lonely is defined in the main script, where")


def test_what_is_no_executor_is_refused(spawned):
    words = "it can be threads, processes, dask, or an open Executor"
    for engine in (ThreadPoolExecutor, None, 3):
        assert refused(engine=engine).endswith(words)
    assert refused(engine=spawned, address="tcp://192.0.2.7:1").endswith("ProcessPoolExecutor needs none; leave it out")


INTERRUPTED = """
import sys
import mortal
from concurrent.futures import ProcessPoolExecutor
from setwise.engines import Job, open_engine
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        try:
            open_engine(pool, 100).do([Job(mortal.wait, (1.0, sys.argv[1]), "wait")] * 100, lambda *_: None)
        except KeyboardInterrupt:
            print("stopped")
"""


@pytest.mark.skipif(sys.platform == "win32", reason=f"{NOT_HERE}no process groups")
def test_an_interruption_from_the_keyboard_stops_the_users_processes(tmp_path):
    script, told = tmp_path / "interrupted.py", tmp_path / "told"
    script.write_text(INTERRUPTED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    process = subprocess.Popen(
        [sys.executable, str(script), str(told)], env=environment, start_new_session=True, **quiet
    )
    wait_for(lambda: told.exists() and len(told.read_text().splitlines()) >= 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes at once
    assert process.communicate(timeout=LIMIT)[0] == "stopped\n"
    begun = told.read_text().replace("to the end", "").split()
    assert len(begun) < 20  # a pool has a few in its queue that can no longer be cancelled
    wait_for(lambda: not any(map(alive, map(int, begun))))


MPI = """
import sys
from mpi4py.futures import MPIPoolExecutor
import mortal
import setwise as sw
from setwise.engines import Job, answers
from setwise.simulation import chunks

if __name__ == "__main__":
    chunks.LEAST_SECONDS = 0.0
    camera, options = sw.paper.camera(), {"horizon": 60, "runs": 9, "seed": 4, "compiled": False}
    with MPIPoolExecutor() as pool:
        found = sw.simulate(sw.UCB(), camera, **options, engine=pool)
        finished = sw.Experiment(["camera"], ["uniform"], horizon=200, runs=8).run(sys.argv[1], engine=pool)
        squares = answers([Job(mortal.square, (n,), "") for n in range(50)], engine=pool)
        try:
            answers([Job(mortal.refuse, ("this is wrong",), "a")], engine=pool)
        except sw.InputError as error:
            print(error)
        print(pool.num_workers, pool.submit(int, "3").result(), [number for number, _ in squares] == [
            n * n for n in range(50)
        ])
    found.save(sys.argv[2])
    finished["camera", "uniform"].save(sys.argv[3])
"""


def test_ranks_of_mpi_give_the_same_bytes(tmp_path):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    script, files = tmp_path / "ranks.py", [tmp_path / "simulated.npz", tmp_path / "experiment.npz"]
    script.write_text(MPI)
    mpiexec = Path(sys.executable).parent / "mpiexec"
    command = [str(mpiexec) if mpiexec.exists() else "mpiexec", "-n", "3", sys.executable, "-m", "mpi4py.futures"]
    command += [str(script), str(tmp_path / "kept"), *map(str, files)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=5 * LIMIT)
    assert (done.returncode, done.stdout) == (0, "this is wrong\n2 3 True\n"), done.stderr
    camera = sw.paper.camera()
    expected = (
        sw.simulate(sw.UCB(), camera, 60, 9, 4, compiled=False),
        sw.simulate(sw.Uniform(), camera, 200, 8, tabulate=True),
    )
    for file, result in zip(files, expected):
        assert file.read_bytes() == bytes_of(result, tmp_path)
    assert len(list((tmp_path / "kept").glob("*.npz"))) > 1
