"""Machine code on disk: never out of date, never damaged, written by any number of processes at once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import setwise as sw
from setwise.compiled import DEFAULTS
from setwise.compiler import compile, machine, objects
from skips import NOT_HERE

GAME = """
import sys
import setwise as sw
print("ready", flush=True)
sys.stdin.readline()
result = sw.simulate(sw.UCB(), sw.environments.MNL([1.0, 0.9, 0.5, 0.2], k=2), 300, compiled=True)
print(result.regret.tobytes().hex(), "numba" in sys.modules)
"""


def double(x):
    return x * 2.0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache; nothing is compiled in memory."""
    monkeypatch.setenv("SETWISE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compile, "_compiled", {})
    return tmp_path / "cache"


def answer(monkeypatch):
    """What the function answers, compiled or loaded anew."""
    monkeypatch.setattr(compile, "_compiled", {})
    return compile.Compiled(compile.compile_function(double, (1.0,), DEFAULTS), True)(21.0)


def count_compiling(monkeypatch):
    calls = []
    original = machine.machine_code
    monkeypatch.setattr(machine, "machine_code", lambda program: calls.append(program) or original(program))
    return calls


def test_the_second_process_loads_what_the_first_compiled(folder, monkeypatch):
    calls = count_compiling(monkeypatch)
    assert [answer(monkeypatch), answer(monkeypatch)] == [42.0, 42.0]
    assert len(calls) == 1 and len(list(folder.iterdir())) == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:100],
        lambda data: data[:-1],
        lambda data: data[:-40] + bytes([data[-40] ^ 1]) + data[-39:],
        lambda data: b"not code\n" * 50,
        lambda data: data.replace(b"\n", b"", 1),
    ],
    ids=["empty", "head only", "cut off", "a bit flipped", "something else", "no line"],
)
def test_a_damaged_file_is_replaced(folder, monkeypatch, damage):
    assert answer(monkeypatch) == 42.0
    (path,) = folder.iterdir()
    intact = path.read_bytes()
    path.write_bytes(damage(intact))
    calls = count_compiling(monkeypatch)
    assert answer(monkeypatch) == 42.0
    assert len(calls) == 1
    assert path.read_bytes() == intact


def test_a_file_that_is_a_folder_is_in_nobodys_way(folder, monkeypatch):
    assert answer(monkeypatch) == 42.0
    (path,) = folder.iterdir()
    path.unlink()
    path.mkdir()
    assert answer(monkeypatch) == 42.0


def test_nothing_is_stored_where_nothing_can_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SETWISE_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert answer(monkeypatch) == 42.0


def test_without_a_home_nothing_is_stored(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("SETWISE_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert answer(monkeypatch) == 42.0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason=f"{NOT_HERE}root may write anywhere")
def test_a_folder_of_someone_else_is_read(folder, monkeypatch):
    assert answer(monkeypatch) == 42.0
    folder.chmod(0o500)
    try:
        calls = count_compiling(monkeypatch)
        assert answer(monkeypatch) == 42.0
        assert calls == []
    finally:
        folder.chmod(0o700)


def test_other_processors_and_versions_have_files_of_their_own(folder, monkeypatch):
    assert answer(monkeypatch) == 42.0
    platform, processor, features, _ = machine.host()
    monkeypatch.setattr(machine, "host", lambda: (platform, processor, features, "0.0"))
    assert answer(monkeypatch) == 42.0
    assert len(list(folder.iterdir())) == 2


def test_files_that_nobody_used_for_long_are_deleted_when_there_are_many(folder, monkeypatch):
    monkeypatch.setattr(objects, "MOST_FILES", 10)
    for number in range(10):
        objects.write_code(f"k{number}", b"code", {})
        os.utime(folder / f"k{number}{objects.SUFFIX}", (number, number))
    assert objects.read_code("k0") == (b"code", {})  # used now
    objects.write_code("k10", b"code", {})
    left = {path.name.removesuffix(objects.SUFFIX) for path in folder.iterdir()}
    assert left == {"k0", "k6", "k7", "k8", "k9", "k10"}


def game(folder, **options):
    environ = {**os.environ, "SETWISE_CACHE_DIR": str(folder)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", GAME], env=environ, **pipes, **options)


def test_processes_that_compile_the_same_at_once_do_no_harm(folder):
    processes = [game(folder) for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    found = [process.communicate("\n") for process in processes]
    assert {out for out, _ in found} == {found[0][0]}, found
    assert found[0][0].endswith(" False\n")  # without Numba
    assert len(list(folder.iterdir())) == 1


def test_a_killed_compilation_leaves_a_usable_cache(folder):
    """Killed at many moments: before, while and after it writes the file."""
    finished = game(folder).communicate("\n")[0].splitlines()[-1]
    (path,) = folder.iterdir()
    intact = path.read_bytes()
    for delay in np.linspace(0.0, 0.8, 7):
        path.unlink(missing_ok=True)
        process = game(folder)
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("\n")
        process.stdin.flush()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not path.exists() or path.read_bytes() == intact
    assert game(folder).communicate("\n")[0].splitlines()[-1] == finished


def test_a_c_function_that_is_missing_is_left_to_numba(folder, monkeypatch):
    monkeypatch.setattr(machine, "_address", machine._address.__wrapped__)
    monkeypatch.setattr(machine, "_libraries", lambda: [])
    from setwise.compiled import compile_for

    rng = np.random.default_rng(0)
    monkeypatch.setattr(compile, "_compiled", {})
    assert compile_for(draw, rng)(rng) == draw(np.random.default_rng(0))


def draw(rng):
    return rng.beta(2.0, 3.0)


def test_a_language_that_llvm_does_not_know_is_left_to_numba(folder, monkeypatch):
    monkeypatch.setattr(machine, "machine_code", lambda program: original("define nonsense"))
    with pytest.raises(compile.Unsupported, match="LLVM"):
        answer(monkeypatch)


original = machine.machine_code


def test_a_wrong_word_in_the_environment_is_told(monkeypatch):
    monkeypatch.setenv("SETWISE_COMPILER", "gcc")
    with pytest.raises(sw.InputError, match="SETWISE_COMPILER=gcc is neither setwise nor numba"):
        sw.simulate(sw.UCB(), sw.paper.camera(), 10, compiled=True)
