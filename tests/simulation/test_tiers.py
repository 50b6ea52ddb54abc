"""Interpreted and compiled runs are chosen by time where their bits were compared, and by the job alone elsewhere."""

import os
import subprocess
import sys
import time
from typing import Any, NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise import comparisons
from setwise.simulation import background, tiers
from setwise.simulation.checks import check_request
from setwise.simulation.players import CompiledPlayer, Player
from setwise.simulation.simulate import Runs
from waiting import wait_for

CAMERA = sw.paper.camera()
FIELDS = ("regret", "pulls", "rounds")


def request(policy: Any = sw.UCB(), world: Any = CAMERA, horizon: int = 100, runs: int = 1, **options: Any) -> Any:  # noqa: B008
    given = {"compiled": None, "check_bounds": False, "tabulate": False, "first_run": 0} | options
    return check_request(
        policy, world, horizon, runs, 0, 10, "log", None, False, given["first_run"], given["tabulate"],
        given["compiled"], given["check_bounds"],
    )  # fmt: skip


def same(one: sw.Result, other: sw.Result) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in FIELDS)


@pytest.fixture(autouse=True)
def nothing_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """An empty cache on disk, nothing compiled in memory, no time spent."""
    from setwise.compiler import compile

    monkeypatch.setenv("SETWISE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compile, "_compiled", {})
    monkeypatch.setattr(tiers, "_spent", {})
    monkeypatch.setattr(comparisons, "_known", set())


def test_a_small_job_is_interpreted_and_loads_no_compiler() -> None:
    code = (
        "import sys, setwise as sw; sw.simulate(sw.KLUCB(), sw.paper.camera(), 100); "
        "print('llvmlite' in sys.modules, 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    ("options", "compiled"),
    [
        ({}, False),
        ({"horizon": 10**8}, True),
        ({"horizon": 10**6, "runs": 100}, True),
        ({"compiled": True}, True),
        ({"compiled": False, "horizon": 10**8}, False),
    ],
)
def test_large_jobs_are_compiled_at_once_and_what_is_asked_for_is_done(options: Any, compiled: bool) -> None:
    assert Runs(request(**options))._tiers.compiled is compiled


def test_small_jobs_that_are_repeated_are_compiled_in_the_end() -> None:
    tried = 0
    while not Runs(request(horizon=300))._tiers.compiled:
        tried += 1
        assert tried < 1000
    assert tried > 0  # the first one was not


def test_what_is_compiled_in_this_process_is_used_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    Runs(request(compiled=True))
    monkeypatch.setattr(tiers, "interpreted_seconds", None)  # must not be called
    assert Runs(request(horizon=5))._tiers.compiled


def test_what_is_stored_on_disk_is_loaded_sooner_than_it_would_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    from setwise.compiler import compile

    monkeypatch.setattr(tiers, "interpreted_seconds", lambda request, arguments: 0.4)
    assert not Runs(request())._tiers.compiled
    Runs(request(compiled=True))
    monkeypatch.setattr(compile, "_compiled", {})
    monkeypatch.setattr(tiers, "_spent", {})
    assert Runs(request())._tiers.compiled


class Slowly:
    """A compilation in the background that is ready when it was asked that often."""

    left = 2
    closed = 0

    @classmethod
    def start(cls, request: Any) -> "Slowly":
        return cls()

    def is_ready(self) -> bool:
        self.left -= 1
        return self.left <= 0

    def close(self) -> None:
        Slowly.closed += 1


@pytest.mark.parametrize("policy", [sw.UCB(), sw.Thompson(), sw.CUCB(), sw.MNLUCB()], ids=repr)
def test_a_job_whose_runs_were_played_by_both_tiers_equals_one_that_was_not(
    policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "interpreted_seconds", lambda request, arguments: 5.0)
    monkeypatch.setattr(tiers, "Compilation", Slowly)
    monkeypatch.setattr(tiers.Tiers, "_is_stored", lambda self: False)
    monkeypatch.setattr(tiers.Tiers, "_compiles_fast", lambda self: False)
    players: list[str] = []
    for cls in (Player, CompiledPlayer):
        original = cls.play

        def play(self: Any, run: int, original: Any = original) -> Any:
            players.append(type(self).__name__)
            return original(self, run)

        monkeypatch.setattr(cls, "play", play)
    mixed = sw.simulate(policy, CAMERA, 60, runs=6, seed=1)
    assert players == ["Player"] * 2 + ["CompiledPlayer"] * 4
    monkeypatch.undo()
    assert same(mixed, sw.simulate(policy, CAMERA, 60, runs=6, seed=1, compiled=False))
    assert same(mixed, sw.simulate(policy, CAMERA, 60, runs=6, seed=1, compiled=True))


def test_a_compilation_that_is_not_needed_any_longer_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "interpreted_seconds", lambda request, arguments: 5.0)
    monkeypatch.setattr(tiers, "Compilation", Slowly)
    monkeypatch.setattr(Slowly, "left", 10**6)
    monkeypatch.setattr(Slowly, "closed", 0)
    monkeypatch.setattr(tiers.Tiers, "_is_stored", lambda self: False)
    monkeypatch.setattr(tiers.Tiers, "_compiles_fast", lambda self: False)
    sw.simulate(sw.UCB(), CAMERA, 20, runs=3, seed=1)
    assert Slowly.closed == 1


def test_another_process_compiles_into_the_shared_cache() -> None:
    compilation = background.Compilation.start(request(sw.Uniform(), runs=2))
    assert compilation is not None
    wait_for(compilation.is_ready)
    assert len(os.listdir(os.environ["SETWISE_CACHE_DIR"])) == 1
    compilation.close()


def test_a_compilation_that_was_killed_is_ready_and_harms_nobody() -> None:
    compilation = background.Compilation.start(request(runs=2))
    assert compilation is not None
    compilation._process.kill()
    wait_for(compilation.is_ready)
    compilation.close()
    assert sw.simulate(sw.UCB(), CAMERA, 50, compiled=True).regret.shape[0] == 1


def test_classes_of_the_main_module_are_not_compiled_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mine, "__module__", "__main__")
    assert background.Compilation.start(request(Mine(), runs=2)) is None
    monkeypatch.setattr(sys, "executable", "")
    assert background.Compilation.start(request(runs=2)) is None


@sw.policy
class Mine(NamedTuple):
    """The first arms, always."""

    bound: float = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Any) -> Any:
        return MineState(np.arange(k), np.zeros(1))

    def select(self, state: Any, rng: Any) -> Any:
        return state.chosen

    def update(self, state: Any, chosen: Any, rewards: Any, rng: Any) -> None:
        state.total[0] += rewards[0]


class MineState(NamedTuple):
    chosen: np.ndarray
    total: np.ndarray


def test_code_that_was_not_compared_is_chosen_by_the_job_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "interpreted_seconds", None)  # must not be called
    for _ in range(2):
        assert not Runs(request(Mine(), horizon=tiers.SMALL_JOB))._tiers.compiled
    assert Runs(request(Mine(), horizon=tiers.SMALL_JOB + 1))._tiers.compiled
    assert not Runs(request(Mine(), horizon=tiers.SMALL_JOB))._tiers.compiled  # also once it is compiled


def test_a_class_that_passed_its_check_is_chosen_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not comparisons.is_compared(Mine())
    sw.testing.check_policy(Mine())
    assert comparisons.is_compared(Mine())
    monkeypatch.setattr(comparisons, "_known", set())  # as in another process: the folder has it
    assert comparisons.is_compared(Mine(), CAMERA)
    monkeypatch.setattr("setwise.compiled.find_compiled", lambda *given: None)
    monkeypatch.setattr(tiers, "interpreted_seconds", lambda request, arguments: 1e-3)
    assert not Runs(request(Mine(), horizon=tiers.SMALL_JOB + 1))._tiers.compiled


def test_a_class_that_was_changed_has_to_be_checked_again() -> None:
    comparisons.remember_compared(Mine())

    def update(self: Any, state: Any, chosen: Any, rewards: Any, rng: Any) -> None:
        state.total[0] += 2.0 * rewards[0]

    original = Mine.update
    try:
        Mine.update = update
        assert not comparisons.is_compared(Mine())
    finally:
        Mine.update = original
    assert comparisons.is_compared(Mine())


def test_nothing_is_said_in_a_pipe_and_one_line_on_a_terminal(tmp_path: Any) -> None:
    pty = pytest.importorskip("pty", reason="not here: there are no terminals")
    code = "import setwise as sw; sw.simulate(sw.KLUCB(), sw.paper.mnl(), 10, compiled=True)"
    fresh = os.environ | {"SETWISE_CACHE_DIR": str(tmp_path / "one")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=fresh)
    assert (done.stdout, done.stderr) == ("", "")
    said = []
    for folder, patience in (("two", 0.0), ("two", 60.0)):
        quick = f"import setwise.waiting as waiting; waiting.PATIENCE = {patience}; {code}"
        here, there = pty.openpty()
        fresh = os.environ | {"SETWISE_CACHE_DIR": str(tmp_path / folder)}
        subprocess.run([sys.executable, "-c", quick], stderr=there, check=True, env=fresh)
        os.write(there, b"end\n")
        time.sleep(0.05)
        said.append(os.read(here, 10_000).decode().split("\r\n")[0])
        os.close(here)
        os.close(there)
    assert said == ["compiling KLUCB for MNL, once (about 1 s)", "end"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="not here: there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_while_the_compiler_is_loaded_says_so_and_does_not_wait() -> None:
    code = """
import os, threading
import setwise as sw
from setwise import lazy_compiler
world = sw.paper.camera()
sw.simulate(sw.UCB(), world, 5, compiled=False)
held, done = threading.Event(), threading.Event()
def load():
    with lazy_compiler._loading:
        held.set()
        done.wait()
thread = threading.Thread(target=load)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    try:
        sw.simulate(sw.UCB(), world, 5, compiled=True)
    except sw.WorkerLost as error:
        os._exit(7 if "was loading the compiler" in str(error) else 8)
    os._exit(9)
done.set()
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "7", done.stderr
