"""Commands in a pipe whose reader stops early, or never reads."""

import errno
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import setwise as sw
from setwise.cli import main
from setwise.experiments.plays import Play
from setwise.experiments.store import Store
from shell import SETWISE

UNREAD = 141
MUCH = 3_000  # decisions of a study: more than a pipe holds


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a study of many decisions, and one result."""
    folder = tmp_path_factory.mktemp("pipes")
    names = [f"arm {number:04d} of those with long names" for number in range(3_000)]
    with sw.Study.create(f"sqlite:///{folder}/shop.db", "many", names, 2, sw.Uniform(), durability="normal") as study:
        for _ in range(MUCH):
            study.ask()
    play = Play.of(sw.Uniform(), sw.paper.camera(), 20, 0, 5)
    Store(folder / "results").keep(play, play.run(2, 0, threads=1))
    return folder, play.digest


def start(words, place, out, code=None, unbuffered=False):
    folder, digest = place
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    environment |= {"PYTHONUNBUFFERED": "1"} if unbuffered else {}
    words = [word.format(shop=f"sqlite:///{folder}/shop.db", folder=folder, digest=digest) for word in words.split()]
    command = [*SETWISE, *words] if code is None else [sys.executable, "-c", code, *words]
    given = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **given, cwd=folder, env=environment)


def unread(words, place, code=None, unbuffered=False):
    """Start a command whose output nobody reads; its exit code, and what it says."""
    reading, writing = os.pipe()
    os.close(reading)
    process = start(words, place, writing, code, unbuffered)
    os.close(writing)
    said = process.communicate(timeout=120)[1].decode()
    return process.returncode, said


LITTLE = [
    "--help",
    "--version",
    "study --help",
    "list policies",
    "list policies kl-ucb ucb",
    "list environments",
    "claims --list",
    "reproduce --list",
    "check camera",
    "simulate -e camera -p uniform -t 10 -r 2 --out {folder}/out",
    "results list --results {folder}/results",
    "results export {digest} {folder}/x.csv --results {folder}/results",
    "doctor",
    "study list {shop}",
    "study show {shop} many --table",
    "study ask {shop} many",
    "study verify {shop} many --quick",
    "study demo --rounds 10",
]


@pytest.mark.parametrize("words", LITTLE)
def test_a_command_whose_output_nobody_reads_ends_without_a_word(words, place):
    assert unread(words, place) == (UNREAD, "")


@pytest.mark.parametrize("words", ["list policies", "list environments", "study --help"])
def test_a_command_that_does_not_buffer_ends_without_a_word_as_well(words, place):
    assert unread(words, place, unbuffered=True) == (UNREAD, "")


def read_a_little(words, place, unbuffered):
    process = start(words, place, subprocess.PIPE, unbuffered=unbuffered)
    assert len(process.stdout.read(10)) == 10
    process.stdout.close()
    said = process.stderr.read().decode()
    process.stderr.close()
    return process.wait(120), said


@pytest.mark.parametrize(
    "words",
    [
        "study export {shop} many - --format csv",
        "study export {shop} many - --format jsonl",
        "study arms {shop} many",
        "study arms {shop} many --table",
        "study ask {shop} many --count 5000 --durability normal",
    ],
)
def test_a_command_whose_reader_has_read_enough_ends_without_a_word(words, place):
    assert read_a_little(words, place, unbuffered=False) == (UNREAD, "")


def test_nothing_is_said_where_python_itself_does_not_notice_that_nobody_reads(place):
    """Unbuffered, Python takes it for done when half of a long text was written."""
    code, said = read_a_little("study arms {shop} many --table", place, unbuffered=True)
    assert code in (0, UNREAD) and said == ""


def test_what_is_left_in_the_buffer_is_noticed_and_not_told(place):
    """Also by a command that prints without sending it off at once."""
    code = "from setwise.cli import main\nmain.command('murmur')(lambda: print('hello', end=''))\nmain()"
    assert unread("murmur", place, code) == (UNREAD, "")


def test_results_are_written_though_nobody_reads_what_is_said_of_them(place, tmp_path):
    assert unread(f"simulate -e camera -p uniform -t 10 -r 2 --out {tmp_path}", place)[0] == UNREAD
    assert sorted(os.listdir(tmp_path)) == ["camera-uniform.npz", "camera.csv", "camera.png"]


def test_head_takes_what_it_wants_and_the_exit_code_is_that_of_other_tools(place):
    line = f"{sys.executable} -m setwise list policies | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120)
    head, code = done.stdout.splitlines()
    assert head.startswith("policy") and code in ("0", str(UNREAD)) and done.stderr == ""


BROKEN = """
import errno, sys
from setwise import simulation
from setwise.cli import main

def fail(*_, **options):
    raise BrokenPipeError(errno.EPIPE, "Broken pipe", "the database")

simulation.simulate = fail
main()
"""
COMMAND = "simulate -e camera -p uniform -t 10 --out {folder}/broken"


def test_a_pipe_that_breaks_elsewhere_is_told(place):
    process = start(COMMAND, place, subprocess.PIPE, BROKEN)
    out, said = process.communicate(timeout=120)
    assert (process.returncode, out, said) == (3, b"", b"setwise: Broken pipe: the database\n")


def test_a_pipe_that_breaks_elsewhere_is_told_also_where_the_output_is_no_file(tmp_path, monkeypatch):
    def fail(*_, **options):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe", "the database")

    monkeypatch.setattr("setwise.simulation.simulate", fail)
    done = CliRunner().invoke(main, ["simulate", "-e", "camera", "-p", "uniform", "--out", str(tmp_path)])
    assert (done.exit_code, done.output) == (3, "setwise: Broken pipe: the database\n")


@pytest.mark.parametrize("words", ["--help", "list policies", "study list {shop}"])
def test_a_command_without_any_output_is_done_all_the_same(words, place):
    folder, _ = place
    words = words.format(shop=f"sqlite:///{folder}/shop.db")
    done = subprocess.run(
        f"{sys.executable} -m setwise {words} >&-", shell=True, cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
