"""The test server runs wherever the clone and the temporary files are, and never outlives the tests."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import postgresql
from waiting import alive, wait_for

TESTS = Path(__file__).parents[1]
needs_server = pytest.mark.skipif(bool(postgresql.missing()), reason=str(postgresql.missing()))
STARTED = """
import postgresql
server = postgresql.Server()
print(server.process.pid, server.folder, flush=True)
input()
"""
WITHOUT_PSYCOPG = """
import sys
sys.modules["psycopg"] = None
import postgresql
print(postgresql.missing())
try:
    postgresql.Server()
except RuntimeError as error:
    print(error)
"""


def left_behind(folder):
    """Return the servers whose data are in a folder."""
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if f"{folder}/" in line and "postgres" in line]


@needs_server
def test_the_server_ends_with_the_process_that_started_it():
    command = [sys.executable, "-c", STARTED]
    with subprocess.Popen(command, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as starter:
        server, folder = starter.stdout.readline().split()
        assert alive(server)
        starter.kill()
    wait_for(lambda: not alive(server) and not os.path.exists(folder))


@needs_server
@pytest.mark.parametrize("failing", ["_run", "_begin"])
def test_a_server_that_fails_to_start_leaves_nothing_behind(failing, monkeypatch):
    real = getattr(postgresql.Server, failing)

    def fail(server, *arguments):
        real(server, *arguments)
        raise KeyboardInterrupt("stopped while starting")

    monkeypatch.setattr(postgresql.Server, failing, fail)
    with tempfile.TemporaryDirectory(dir=postgresql._open_folder()) as folder:
        os.chmod(folder, 0o755)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        with pytest.raises(KeyboardInterrupt, match="stopped while starting"):
            postgresql.Server()
        assert os.listdir(folder) == [] and left_behind(folder) == []


@needs_server
def test_a_taken_port_is_replaced(server, monkeypatch):
    ports = [server.port]
    real = postgresql._free_port
    monkeypatch.setattr(postgresql, "_free_port", lambda: ports.pop() if ports else real())
    other = postgresql.Server()
    try:
        assert other.port != server.port
    finally:
        other.stop()


@needs_server
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_private_folders_do_not_prevent_the_server_from_running(mask, tmp_path, monkeypatch):
    """As root, another user runs the server, who can enter neither the clone nor these folders."""
    tmp_path.chmod(0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = os.umask(mask)
    try:
        server = postgresql.Server()
    finally:
        os.umask(before)
    try:
        assert postgresql.new_database(server, "one").endswith("/one")
    finally:
        server.stop()
    assert not os.path.exists(server.folder)


def test_without_psycopg_no_server_is_started():
    done = subprocess.run([sys.executable, "-c", WITHOUT_PSYCOPG], cwd=TESTS, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and lines[0] == lines[1] and "not installed" in lines[0], done.stderr
