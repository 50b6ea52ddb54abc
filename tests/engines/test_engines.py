"""Engines: the same results on each, also if a worker is killed; and one sentence for every error."""

import json
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
import types
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import mortal
import setwise as sw
from setwise.cli import main
from setwise.engines import Engine, Job, answers, connecting, open_engine
from setwise.engines.compatibility import check_alike, facts
from setwise.engines.connecting import connected
from setwise.engines.jobs import Forecast, Queue
from setwise.engines.serialization import pack, unpack, unpack_once
from setwise.errors import InputError, WorkerLost
from setwise.experiments.plays import Play
from setwise.experiments.run_plays import chunks_of
from setwise.experiments.store import Store
from setwise.simulation import chunks
from setwise.simulation.costs import seconds_of_run
from waiting import LIMIT, alive, wait_for

HERE = ("threads", "processes")
CLUSTERS = ("dask",)
SLOW = pytest.mark.slow


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Clusters of a busy machine have a minute to answer; a test in which nobody answers says how long it waits."""
    from setwise.engines import dask

    for module, names in ((connecting, ["SECONDS"]), (dask, ["PATIENCE", "WELCOME"])):
        for name in names:
            monkeypatch.setattr(module, name, LIMIT)


@pytest.fixture(scope="module")
def dask_cluster():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    import dask.config

    from setwise.engines.dask import CONFIGURED

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "memory_limit": None}
    with (
        dask.config.set(CONFIGURED),
        distributed.LocalCluster(host="127.0.0.1", silence_logs=60, **options) as cluster,
    ):
        yield cluster


@pytest.fixture
def dask(dask_cluster):
    """The address of a Dask cluster of two worker processes; those that an earlier test killed are back."""
    wait_for(lambda: len(dask_cluster.scheduler.workers) == 2)
    return dask_cluster.scheduler_address


@pytest.fixture
def address(request):
    """The address for an engine, and its cluster."""
    engine = request.getfixturevalue("engine")
    return request.getfixturevalue(engine) if engine in CLUSTERS else None


@pytest.fixture
def small_pieces(monkeypatch):
    """Every worker gets several pieces, however little there is to do."""
    monkeypatch.setattr(chunks, "LEAST_SECONDS", 0.0)


def bytes_of(result, folder):
    result.save(folder / "result.npz")
    return (folder / "result.npz").read_bytes()


@pytest.mark.parametrize("engine", [*HERE, *CLUSTERS])
def test_every_job_is_done_once_and_told_as_it_arrives(engine, address):
    jobs = [Job(mortal.square, (n,), f"{n}", seconds=n % 3, group=f"{n % 2}") for n in range(7)]
    told, shares = [], []
    with open_engine(engine, 2, address) as crew:
        assert crew.at_once == 2
        crew.do(jobs, lambda n, answer: told.append((n, answer)), lambda what, share: shares.append(share))
    assert sorted(told) == [(n, (n * n, answer[1])) for n, answer in sorted(told)]
    assert [n for n, _ in sorted(told)] == list(range(7))
    own = {process for _, (_, process) in told}
    assert (own == {os.getpid()}) if engine == "threads" else (os.getpid() not in own)
    assert engine != "processes" or len(own) == 2
    assert shares == sorted(shares) and shares[-1] == 1.0


@pytest.mark.parametrize("engine", [*HERE, *CLUSTERS])
def test_no_jobs_are_no_work_and_the_first_error_is_told(engine, address):
    assert answers([], 2, engine=engine, address=address) == []
    jobs = [Job(mortal.refuse, ("this is wrong",), "a"), Job(mortal.square, (2,), "b")]
    with pytest.raises(InputError, match=r"^this is wrong$"):
        answers(jobs, 2, engine=engine, address=address)


@pytest.mark.parametrize("engine", [*HERE, *CLUSTERS])
def test_a_file_that_a_job_does_not_find_is_not_taken_for_a_lost_cluster(engine, address):
    jobs = [Job(mortal.read, ("/no/such/file",), "a"), Job(mortal.square, (2,), "b")]
    with pytest.raises(FileNotFoundError, match="/no/such/file"):
        answers(jobs, 2, engine=engine, address=address)


@pytest.mark.parametrize("engine", ["threads", *CLUSTERS, pytest.param("processes", marks=SLOW)])
def test_who_takes_the_answers_may_stop_the_work(engine, address, tmp_path):
    def take(number, answer):
        raise KeyboardInterrupt

    told = tmp_path / "told"
    slow = Job(mortal.wait, (300.0, str(told)), "slow", 1.0, "b", True)
    with pytest.raises(KeyboardInterrupt), open_engine(engine, 2, address) as crew:
        crew.do([Job(mortal.begun, (str(told),), "quick", 2.0, "a"), slow], take)
    wait_for(lambda: time.time() - told.stat().st_mtime > 1.0)
    assert "to the end" not in told.read_text()


@pytest.mark.parametrize("engine", HERE)
def test_one_at_a_time_is_done_here(engine):
    shares = []
    jobs = [Job(mortal.halves, (), "half", shares=True)] * 2
    assert answers(jobs, 1, lambda what, share: shares.append(share), engine) == ["done", "done"]
    assert shares[0] == 0.0 and shares[-1] == 1.0 and shares == sorted(shares)
    assert answers([Job(mortal.square, (3,), "3")], 1, engine=engine) == [(9, os.getpid())]


def test_threads_work_side_by_side():
    meeting = threading.Barrier(2)
    assert sorted(answers([Job(meeting.wait, (LIMIT,), "")] * 2, 2, engine="threads")) == [0, 1]


@pytest.mark.parametrize("engine", CLUSTERS)
def test_what_jobs_share_is_sent_and_can_be_written(engine, address):
    common = (np.arange(300_000.0),)
    jobs = [Job(mortal.total, (number,), "", common=common) for number in range(4)]
    with open_engine(engine, 2, address) as crew:
        found = {}
        crew.do(jobs, found.__setitem__)
    assert found == {number: 1.0 + common[0].sum() + number for number in range(4)}


@pytest.mark.parametrize("engine", ["processes", *CLUSTERS])
def test_what_jobs_share_is_made_once_in_every_process(engine, address, monkeypatch):
    packed = []
    module = {"processes": "processes", "dask": "executors"}[engine]
    monkeypatch.setattr(f"setwise.engines.{module}.pack", lambda thing: packed.append(thing) or pack(thing))
    common = (mortal.Heavy(10),)
    jobs = [Job(mortal.times_made, (number,), "", common=common) for number in range(6)]
    found = answers(jobs, 2, engine=engine, address=address)
    assert [answer for *_, answer in found] == list(range(10, 16))
    assert {times for _, times, _ in found} == {1} and packed == [common]
    assert os.getpid() not in {process for process, *_ in found}


@pytest.mark.parametrize("engine", ["processes", *CLUSTERS])
def test_simulations_are_the_same_bytes(engine, address, small_pieces, tmp_path):
    options = {"horizon": 60, "runs": 9, "seed": 4, "first_run": 5, "checkpoints": 7, "spacing": "linear"}
    options |= {"compiled": False, "record_indices": True}
    expected = sw.simulate(sw.UCB(), sw.paper.camera(), **options)
    shares = []
    found = sw.simulate(
        sw.UCB(), sw.paper.camera(), **options, engine=engine, address=address, threads=2, progress=shares.append
    )
    assert bytes_of(found, tmp_path) == bytes_of(expected, tmp_path)
    assert len(shares) > 1 and shares[-1] == 1.0
    assert found.regret.flags.writeable


@pytest.mark.parametrize("engine", CLUSTERS)
def test_a_killed_worker_changes_nothing(engine, address, small_pieces, tmp_path):
    policy = mortal.Mortal(str(tmp_path / "killed"))
    options = {"horizon": 50, "runs": 12, "compiled": False, "checkpoints": 5}
    (tmp_path / "killed").touch()
    expected = sw.simulate(policy, sw.paper.camera(), **options)
    (tmp_path / "killed").unlink()
    found = sw.simulate(policy, sw.paper.camera(), **options, engine=engine, address=address, threads=2)
    assert (tmp_path / "killed").exists()
    assert bytes_of(found, tmp_path) == bytes_of(expected, tmp_path)


@pytest.mark.parametrize("engine", CLUSTERS)
def test_a_worker_killed_in_compiled_code_changes_nothing(engine, address, tmp_path):
    pair, file = (sw.Uniform(), sw.paper.camera()), tmp_path / "killed"
    jobs = [Job(mortal.play_and_die, (str(file), first), "", common=pair) for first in (0, 3, 6)]
    found = sw.Result.join(answers(jobs, 2, engine=engine, address=address))
    assert file.exists()
    assert bytes_of(found, tmp_path) == bytes_of(sw.simulate(*pair, 5000, 9, tabulate=True), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("engine", CLUSTERS)
def test_a_worker_killed_while_compiled_runs_are_played_changes_nothing(engine, address, tmp_path, monkeypatch):
    experiment = sw.Experiment(["camera", "mnl"], ["ucb", "kl-ucb"], horizon=30_000, runs=200)
    expected = experiment.run()
    pids = {process for _, process in answers([Job(mortal.square, (0,), "")] * 20, 2, engine=engine, address=address)}
    keep = Store.keep

    def keep_and_kill(store, play, result):
        while pids:
            os.kill(pids.pop(), signal.SIGKILL)  # all of them: what they are at is begun again by others
        return keep(store, play, result)

    monkeypatch.setattr(Store, "keep", keep_and_kill)
    finished = experiment.run(str(tmp_path / "kept"), engine=engine, address=address)
    assert not pids and finished.outcome.played == 800
    for entry in experiment.entries:
        key = entry.environment, entry.policy
        assert bytes_of(finished[key], tmp_path) == bytes_of(expected[key], tmp_path)


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_a_job_that_kills_every_worker_ends_in_a_sentence(engine, address):
    words = {
        "processes": "process that ran deadly was killed",
        "dask": "deadly was tried 4 times on the Dask cluster at tcp://127.0.0.1:.* each time its worker died",
    }
    jobs = [Job(mortal.die, (), "deadly"), Job(mortal.square, (2,), "b")]
    with pytest.raises(WorkerLost, match=words[engine]) as error:
        answers(jobs, 2, engine=engine, address=address)
    assert "finished" not in str(error.value)  # nothing is stored here


class Stopping(Engine):
    """Does the jobs of these numbers, and then fails."""

    at_once = 2

    def __init__(self, numbers, error):
        self.numbers, self.error = numbers, error

    def do(self, jobs, take, progress=None):
        for number in self.numbers:
            take(number, jobs[number].run())
        raise self.error


def test_where_results_were_kept_is_said_and_only_if_they_were(small_pieces, tmp_path, monkeypatch):
    crew = Stopping([1, 0], WorkerLost("the cluster was lost"))
    monkeypatch.setattr("setwise.experiments.run_plays.open_engine", lambda *_: crew)
    monkeypatch.setattr("setwise.simulation.chunks.open_engine", lambda *_: crew)
    experiment, folder = sw.Experiment(["camera"], ["uniform"], horizon=200, runs=8), str(tmp_path / "kept")
    with pytest.raises(WorkerLost) as error:
        experiment.run(folder)
    assert str(error.value) == (
        f"the cluster was lost; finished results are safe in {folder}, and the same command resumes"
    )
    assert len(list((tmp_path / "kept").glob("*.npz"))) == 2
    for play in (experiment.run, lambda: sw.simulate(sw.Uniform(), sw.paper.camera(), 200, 9, engine="processes")):
        with pytest.raises(WorkerLost, match=r"^the cluster was lost$"):
            play()


@pytest.mark.parametrize(("numbers", "runs"), [([2, 0, 1], 9), ([0, 3, 2], 3), ([1, 2, 3], None), ([], None)])
def test_a_stopped_simulation_has_the_runs_from_the_first_on(numbers, runs, small_pieces, tmp_path, monkeypatch):
    options = {"horizon": 60, "first_run": 5, "compiled": False, "checkpoints": 7}
    crew = Stopping(numbers, KeyboardInterrupt())
    monkeypatch.setattr("setwise.simulation.chunks.open_engine", lambda *_: crew)
    with pytest.raises(sw.Interrupted) as stopped:
        sw.simulate(sw.UCB(), sw.paper.camera(), **options, runs=12, engine="dask")
    check_stopped(stopped.value.result, runs, options, tmp_path)


@pytest.mark.parametrize(("numbers", "runs"), [([2, 0, 1], 3), ([0, 3, 2], 1), ([1, 2, 3], None), ([], None)])
def test_stopped_threads_have_the_runs_from_the_first_on(numbers, runs, tmp_path, monkeypatch):
    options = {"horizon": 60, "first_run": 5, "compiled": False, "checkpoints": 7}
    with monkeypatch.context() as patch:
        patch.setitem(sw.simulate.__globals__, "run_all", lambda one_run, *_: len(list(map(one_run, numbers))) < 12)
        with pytest.raises(sw.Interrupted) as stopped:
            sw.simulate(sw.UCB(), sw.paper.camera(), **options, runs=12)
    check_stopped(stopped.value.result, runs, options, tmp_path)


def check_stopped(found, runs, options, folder):
    if runs is None:
        assert found is None
        return
    expected = sw.simulate(sw.UCB(), sw.paper.camera(), **options, runs=runs)
    assert bytes_of(found, folder) == bytes_of(expected, folder)


@pytest.mark.parametrize("engine", ["threads", "dask", pytest.param("processes", marks=SLOW)])
def test_results_are_kept_as_they_arrive_and_are_the_same_bytes(engine, address, small_pieces, tmp_path, monkeypatch):
    experiment = sw.Experiment(["camera"], ["uniform"], horizon=200, runs=8)
    options = {"results": str(tmp_path / "kept"), "jobs": 2, "engine": engine, "address": address}
    keep, kept = Store.keep, []

    def keep_one(store, play, result):
        if kept:
            raise KeyboardInterrupt
        kept.append(keep(store, play, result))

    with monkeypatch.context() as patch:
        patch.setattr(Store, "keep", keep_one)
        with pytest.raises(KeyboardInterrupt):
            experiment.run(**options)
    assert [str(path) for path in (tmp_path / "kept").glob("*.npz")] == kept
    finished = experiment.run(**options)
    assert (finished.outcome.played, finished.outcome.kept) == (6, 2)
    expected = sw.simulate(sw.Uniform(), sw.paper.camera(), 200, 8, tabulate=True)
    assert bytes_of(finished["camera", "uniform"], tmp_path) == bytes_of(expected, tmp_path)
    assert experiment.run(**options).outcome.played == 0


def test_runs_are_cut_into_pieces_without_gaps():
    for runs in (1, 7, 1000):
        found = list(chunks.cut(3, runs, 0.02, 1000, 5.0))
        assert [run for first, count in found for run in range(first, first + count)] == list(range(3, 3 + runs))
        assert all(count * 0.02 <= 5.0 for _, count in found)
    assert list(chunks.cut(0, 3, 60.0, 1000, 5.0)) == [(0, 1), (1, 1), (2, 1)]
    assert len(list(chunks.cut(0, 1000, 1e-9, chunks.BYTES // 10, 5.0))) == 100


def test_little_work_is_shared_and_much_of_it_takes_seconds_a_piece():
    play = Play.of(sw.UCB(), sw.paper.camera(), 10**6)
    for runs, workers in ((4, 2), (1000, 2), (1000, 100)):
        found = chunks_of([(play, 0, runs)], workers)
        assert len(found) >= min(runs, workers)
        longest = max(count for *_, count in found) * seconds_of_run(sw.UCB(), sw.paper.camera(), 10**6, None, False)
        assert longest <= chunks.SECONDS


def test_work_goes_to_who_compiled_for_it_then_to_what_nobody_began_then_to_where_most_is_left():
    def queue(*groups):
        return Queue([Job(mortal.square, (0,), "", seconds, group) for group, seconds in groups])

    fresh = [("a", 1.0), ("b", 1.0), ("b", 3.0), ("c", 1.0)]
    assert queue(*fresh).next({"c"}) == 3
    whole = queue(*fresh)
    assert [whole.next() for _ in range(4)] == [2, 0, 3, 1]
    assert len(whole) == 0
    many = queue(*[("a", 1.0)] * 6, *[("b", 1.0)] * 2)
    begun = [many.next() for _ in range(4)]
    assert begun == [0, 6, 1, 2]  # of a there is more, also for a third worker
    assert [many.next({"b"}), many.next({"b"})] == [7, 3]


def test_the_forecast_learns_from_what_was_done():
    jobs = [Job(mortal.square, (0,), "", 1.0, "slow")] * 2 + [Job(mortal.square, (0,), "", 1.0, "quick")] * 2
    forecast = Forecast(jobs)
    assert forecast.share() == 0.0
    forecast.note(2, 1.0)
    assert forecast.share() == pytest.approx(1 / 4)
    forecast.note(0, 5.0)  # the other slow one will take 5 s as well
    assert forecast.share() == pytest.approx(6 / (6 + 5 + 1))
    forecast.note(1, 5.0)
    forecast.pending[3] = 0.5
    assert forecast.share() == pytest.approx(11.5 / 12)


def refused(*arguments, kind=InputError, **options):
    """The one sentence with which it is refused."""
    with pytest.raises(kind) as error:
        sw.simulate(*(arguments or (sw.UCB(), sw.paper.camera())), 10, **options, compiled=False)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_unknown_engines_and_addresses_without_a_cluster_are_refused():
    assert refused(engine="DASK") == "there is no engine 'DASK'; did you mean 'dask'?"
    assert refused(engine="dusk") == "there is no engine 'dusk'; did you mean 'dask'?"
    assert refused(engine=3) == "engine is 3; it can be threads, processes, dask, or an open Executor"
    for engine in HERE:
        words = f"the address 'tcp://192.0.2.7:1' was given, but engine '{engine}' takes none; use dask"
        assert refused(engine=engine, address="tcp://192.0.2.7:1") == words
    assert refused(engine="dask", address=8786).startswith("address is 8786; give a text such as 'tcp://")
    for options in ({"engine": "thread"}, {"address": "tcp://192.0.2.7:1"}):
        with pytest.raises(InputError, match=r"did you mean 'threads'|takes none"):
            sw.Experiment(["camera"], ["ucb"]).run(**options)
    with pytest.raises(InputError, match="jobs is 0"):
        open_engine("threads", 0)


@pytest.mark.parametrize("engine", CLUSTERS)
def test_an_address_nobody_listens_at_is_named(engine):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        port = taken.getsockname()[1]
        for scheme in ("tcp://", ""):
            place = f"{scheme}127.0.0.1:{port}"
            words = f"no Dask scheduler is reachable at {place} (Connection refused);"
            assert refused(engine=engine, address=place).startswith(words)
    for place in ("", "here", "tcp://here", "http://127.0.0.1:80", "127.0.0.1:99999", "ftp://"):
        assert refused(engine=engine, address=place).startswith(f"the address {place!r} is not that of a Dask sch")


def test_who_does_not_answer_is_not_waited_for():
    end = threading.Event()
    with pytest.raises(InputError, match="the server at x:1 does not answer as a Dask scheduler does; give"):
        connected(end.wait, "x:1", 0.05)
    end.set()

    def fail():
        raise OSError("Timed out\nafter all")

    with pytest.raises(InputError, match=r"does not answer as a Dask scheduler does \(Timed out after all\)"):
        connected(fail, "x:1", LIMIT)
    assert connected(lambda: 3, "x:1", LIMIT) == 3


def test_an_engine_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert refused(engine="dask").endswith("which is not installed: pip install distributed")


def lonely(module, name="Lonely"):
    """A class of policies that is said to stand elsewhere."""

    @sw.policy
    class Lonely(NamedTuple):
        def init(self, n, k, horizon, rng):
            return mortal.Counted(np.zeros(1, np.int64), np.arange(k))

        def select(self, state, rng):
            return state.chosen

        def update(self, state, chosen, rewards, rng):
            pass

    Lonely.__module__, Lonely.__qualname__ = module, name
    return Lonely


@pytest.mark.parametrize("engine", ["processes", *CLUSTERS])
def test_what_other_processes_do_not_find_is_refused_before_any_is_started(engine, monkeypatch):
    monkeypatch.setattr("setwise.simulation.chunks.open_engine", None)
    monkeypatch.setattr("setwise.experiments.run_plays.open_engine", None)
    advice = "put it in a module of its own and import it, or use engine='threads'"
    script = lonely("__main__")()
    sentence = refused(script, sw.paper.camera(), engine=engine)
    assert sentence == f"Lonely is defined in the main script, where other processes do not find it: {advice}"
    with pytest.raises(InputError, match="defined in the main script"):
        sw.Experiment(["camera"], [script], horizon=10).run(engine=engine)
    sentence = refused(lonely("mortal", "inside.<locals>.Lonely")(), sw.paper.camera(), engine=engine)
    assert sentence.endswith(f"Lonely is defined inside a function, so that other processes do not find it: {advice}")
    assert "not to be found in its module mortal" in refused(lonely("mortal")(), sw.paper.camera(), engine=engine)
    with pytest.raises(InputError, match="cannot be sent to another process"):
        pack(threading.Lock())


@pytest.mark.parametrize("engine", [*CLUSTERS, pytest.param("processes", marks=SLOW)])
def test_a_module_that_workers_cannot_import_is_named(engine, address, monkeypatch, small_pieces):
    module = types.ModuleType("only_here")
    module.Lonely = lonely("only_here")
    monkeypatch.setitem(sys.modules, "only_here", module)
    kind = InputError if engine == "processes" else WorkerLost
    options = {"engine": engine, "address": address, "kind": kind}
    sentence = refused(module.Lonely(), sw.paper.camera(), runs=4, threads=2, **options)
    assert "No module named 'only_here'" in sentence
    assert "use engine='threads'" in sentence
    assert engine == "processes" or ("the worker" in sentence and "cannot import Lonely from only_here" in sentence)


@pytest.mark.parametrize("engine", CLUSTERS)
@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"numba": "0.0"}, "has numba .*, and here it is 0.0, so that results could differ; install 0.0 there"),
        ({"code of setwise": "abc"}, "has setwise .* with other code .*, and here abc.; install the same there"),
        ({"setwise": "9.9"}, f"has setwise {sw.__version__}, and here it is 9.9"),
        ({"mortal:square": "abc"}, "has another version of square in its module mortal; copy the module there"),
    ],
)
def test_workers_with_other_versions_are_refused(engine, address, other, words, monkeypatch):
    monkeypatch.setattr("setwise.engines.executors.facts", lambda names: facts(names) | other)
    with pytest.raises(WorkerLost, match=rf"^the worker \d+ on {platform.node()} {words}"):
        answers([Job(mortal.square, (2,), "")], 2, engine=engine, address=address)


def test_a_worker_without_the_package_is_refused(dask):
    from distributed import Client

    def hide():
        import sys

        hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "setwise"}
        sys.modules["setwise"] = None
        sys.hidden_from_test = hidden

    def show():
        import sys

        sys.modules.update(sys.hidden_from_test)

    with Client(dask, set_as_default=False) as client:
        worker = sorted(client.nthreads())[0]
        client.run(mortal.square, 1)  # so that there is a package to hide
        client.run(hide, workers=[worker])
        try:
            sentence = refused(engine="dask", address=dask, kind=WorkerLost)
        finally:
            client.run(show, workers=[worker])
    assert sentence.startswith(f"a worker of the Dask cluster at {dask} cannot run jobs (") and "setwise" in sentence
    assert answers([Job(mortal.square, (3,), "")], 1, engine="dask", address=dask)[0][0] == 9


def test_a_worker_that_comes_later_and_has_other_code_is_refused(dask, tmp_path):
    (tmp_path / "setwise").mkdir()
    (tmp_path / "setwise" / "__init__.py").write_text(f"__version__ = {sw.__version__!r}")
    command = [sys.executable, "-m", "distributed.cli.dask_worker", dask, "--nthreads", "1", "--no-nanny"]
    command += ["--no-dashboard", "--host", "127.0.0.1"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = []

    def take(number, answer):
        if not started:
            started.append(subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(tmp_path)}, **quiet))

    words = (
        r"^a worker of the Dask cluster at tcp://.* cannot run jobs \(No module named 'setwise.engines'.*\); install"
    )
    try:
        with pytest.raises(WorkerLost, match=words), open_engine("dask", None, dask) as crew:
            crew.do([Job(mortal.slow_square, (0,), "")] * 240, take)  # two minutes for one, one for two
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_cluster_without_workers_is_refused(monkeypatch):
    monkeypatch.setattr("setwise.engines.dask.WELCOME", 0.0)
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=60
    ) as cluster:
        place = cluster.scheduler_address
        sentence = refused(engine="dask", address=place, kind=WorkerLost)
        assert sentence.startswith(f"the Dask cluster at {place} has no workers; start")


@pytest.mark.slow
def test_a_lost_scheduler_ends_in_a_sentence_and_a_worker_that_comes_later_is_given_work(tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    quiet["env"] = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started = []

    def start(*words):
        command = [sys.executable, "-m", *words, "--no-dashboard", "--host", "127.0.0.1"]
        started.append(subprocess.Popen(command, **quiet))

    told = tmp_path / "scheduler.json"
    try:
        start("distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", str(told))
        place = wait_for(lambda: address_in(told))
        worker = ("distributed.cli.dask_worker", place, "--nthreads", "1", "--no-nanny")
        start(*worker)
        pids = set()

        def take(number, answer):
            if number == 0:
                start(*worker)  # the second, for which the others are waiting
            pids.add(answer[1])
            if len(pids) == 2:
                started[0].kill()

        jobs = [Job(mortal.square, (0,), "", 9.0), *[Job(mortal.slow_square, (0,), "")] * 240]
        words = f"^the Dask cluster at {place} was lost$"
        with pytest.raises(WorkerLost, match=words), open_engine("dask", None, place) as crew:
            crew.do(jobs, take)
        assert len(pids) == 2
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_facts_of_a_process_that_differs_are_named():
    own = facts(["mortal:square", "mortal:nothing", "no_such:thing"])
    assert own["setwise"] == sw.__version__ and own["numpy"] == np.__version__
    assert len(own["mortal:square"]) == 12 and own["mortal:nothing"] == own["no_such:thing"] == ""
    check_alike(own, own, "w")
    with pytest.raises(WorkerLost, match=f"^the worker w lacks setwise; install setwise {sw.__version__} there$"):
        check_alike(own, {"Python": own["Python"]}, "w")


def test_what_is_sent_comes_back_and_is_made_once():
    packed = pack((mortal.square, (sw.UCB(alpha=3.0),)))
    assert unpack(packed.data) == (mortal.square, (sw.UCB(alpha=3.0),))
    assert packed.names == ("mortal:square",)
    assert unpack_once(packed.data) is unpack_once(bytes(bytearray(packed.data)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--jobs", "0"], "jobs is 0, which is less than 1"),
        (["--engine", "dusk"], "there is no engine 'dusk'; did you mean 'dask'?"),
        (["--address", "tcp://192.0.2.7:8786"], "the address 'tcp://192.0.2.7:8786' was given, but engine 'threads'"),
        (["--engine", "dask", "--address", "127.0.0.1:1"], "no Dask scheduler is reachable at 127.0.0.1:1"),
    ],
)
def test_the_command_line_says_it_in_one_line(options, words, tmp_path):
    (tmp_path / "e.toml").write_text('environments = ["camera"]\npolicies = ["ucb"]\nhorizon = 10\n')
    places = ["--out", str(tmp_path / "out")]
    experiment = ["run", str(tmp_path / "e.toml"), "--results", str(tmp_path / "kept"), *places]
    for command in (["simulate", "-e", "camera", "-p", "ucb", "-t", "10", *places], experiment):
        done = CliRunner().invoke(main, [*command, *options])
        assert done.exit_code == 2, done.output
        assert words in done.output and done.output.count("\n") == 1


def test_an_error_of_the_system_without_a_number_is_told_by_its_words(tmp_path, monkeypatch):
    def fail(*_, **options):
        raise OSError("the path is too long")

    monkeypatch.setattr(sw.simulation, "simulate", fail)
    done = CliRunner().invoke(main, ["simulate", "-e", "camera", "-p", "ucb", "--out", str(tmp_path)])
    assert (done.exit_code, done.output) == (3, "setwise: the path is too long\n")


ORPHAN = """
import sys
import mortal
from setwise.engines import Job, answers
if __name__ == "__main__":
    answers([Job(mortal.wait, (300.0, sys.argv[1]), "wait")] * 2, 2)
"""


def test_workers_end_when_their_parent_is_killed(tmp_path):
    script, told = tmp_path / "orphan.py", tmp_path / "told"
    script.write_text(ORPHAN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, str(script), str(told)], env=environment)
    wait_for(lambda: told.exists() and len(told.read_text().split()) == 2)
    workers = [int(text) for text in told.read_text().split()]
    parent.kill()
    parent.wait()
    wait_for(lambda: not any(map(alive, workers)))


INTERRUPTED = """
import sys
import mortal
from setwise.engines import Job, open_engine
if __name__ == "__main__":
    try:
        with open_engine(sys.argv[1], 2) as crew:
            jobs = [Job(mortal.wait, (300.0, sys.argv[2]), "wait", shares=True)] * 4
            crew.do(jobs, print)
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.mark.parametrize("engine", ["threads", *(pytest.param(e, marks=SLOW) for e in ("processes", *CLUSTERS))])
def test_an_interruption_from_the_keyboard_stops_all_without_noise(engine, tmp_path):
    script, told = tmp_path / "interrupted.py", tmp_path / "told"
    script.write_text(INTERRUPTED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script), engine, str(told)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(command, env=environment, start_new_session=True, **pipes)
    wait_for(lambda: told.exists() and len(told.read_text().split()) == 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes at once
    assert process.communicate(timeout=60)[0] == "stopped\n"
    assert process.returncode == 0
    workers = [int(text) for text in told.read_text().split()]
    wait_for(lambda: not any(map(alive, workers)))


def address_in(file):
    """The address that a scheduler of Dask tells in a file, if it does so far."""
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError):
        return None
