"""`setwise study demo`, in a pipe and on a terminal."""

import contextlib
import os
import re
import signal
import sqlite3
import subprocess

from shell import SETWISE, lines_of, on_terminal, without_colours
from shell import study as call
from waiting import wait_for


def test_the_demo_ends_with_its_best_set_and_the_true_one(tmp_path):
    first, second = (call("demo", "--rounds", "60").output for _ in range(2))
    assert first == second, "equal seeds give equal output"
    assert "round 60 of 60" in first
    assert "The truth:             Nikon, Canon, Sony, who earn 0.90 a round" in first
    assert "setwise study create sqlite:///shop.db" in first
    assert max(map(len, first.splitlines())) <= 90
    address = f"sqlite:///{tmp_path}/shop.db"
    kept = call("demo", "--rounds", "60", "--address", address, "--name", "the demo").output
    assert f"setwise study verify {address} 'the demo'" in kept
    assert lines_of(call("verify", address, "the demo"))[0]["told"] == 60
    again = call("demo", "--rounds", "60", "--address", address, "--name", "the demo")
    assert (again.exit_code, "give another name" in again.output) == (2, True)


def test_the_demo_redraws_on_a_terminal():
    output, code = on_terminal("study", "demo", "--rounds", "60", "--delay", "0.001")
    assert code == 0, output
    pictures = output.count("Which 3 of these 6 should a shop show?")
    assert pictures > 1, "the view is redrawn"
    text = without_colours(output)
    assert re.search(r"● +Nikon +\d+ +\d\.\d{3} +\d\.\d{3} +█", text)
    assert re.search(r"round 60 of 60   best set in \d+% of rounds   mean reward 0\.\d{3}", text)
    pictured = [line for line in text.replace("\r", "\n").split("\n") if "setwise study" not in line]
    assert max(map(len, pictured)) <= 80


def rounds_in(path):
    """Return the number of rounds in the database so far."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM setwise_journal WHERE kind = 'ask'").fetchone()[0]
        except sqlite3.OperationalError:  # no tables yet
            return 0


def test_a_stopped_demo_leaves_nothing_behind(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [*SETWISE, "study", "demo", "--rounds", "1e6"], env=environment, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for(lambda: any(map(rounds_in, tmp_path.glob("*/demo.db"))))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "setwise: stopped; the demo study was removed\n")
    assert list(tmp_path.iterdir()) == []
