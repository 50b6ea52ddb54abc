"""Work on all cores: the same answers in the same order, nothing left behind, and a forecast that is set right."""

import os
import signal
import subprocess
import sys
import time

import pytest

from setwise.spread import Forecast, Job, Worker, _choose, spread
from setwise.types import InputError


def square(number):
    return number * number, os.getpid()


def refuse(text):
    raise InputError(text)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def halves(progress=None):
    progress(0.5)
    return "done"


def test_answers_come_in_the_order_of_the_jobs_from_other_processes():
    jobs = [Job(square, (number,), f"{number}", seconds=number % 3, group=f"{number % 2}") for number in range(7)]
    answers = spread(jobs, processes=2)
    assert [answer for answer, _ in answers] == [number * number for number in range(7)]
    assert os.getpid() not in {process for _, process in answers}
    assert len({process for _, process in answers}) == 2


def test_one_process_is_this_one():
    shares = []
    answers = spread([Job(halves, (), "half", shares=True)] * 2, 1, lambda what, share: shares.append(share))
    assert answers == ["done", "done"]
    assert shares[0] == 0.0 and shares[-1] == 1.0
    assert shares == sorted(shares)
    assert spread([Job(square, (3,), "3")], 1) == [(9, os.getpid())]


def test_no_jobs_are_no_work():
    assert spread([], 2) == []


def test_the_first_error_is_told_and_a_killed_worker_too():
    with pytest.raises(InputError, match="this is wrong"):
        spread([Job(refuse, ("this is wrong",), "a"), Job(square, (2,), "b")], 2)
    with pytest.raises(InputError, match="worked on deadly was killed"):
        spread([Job(die, (), "deadly"), Job(square, (2,), "b")], 2)


def test_work_goes_to_the_worker_that_compiled_for_it_then_to_what_nobody_began():
    jobs = [Job(square, (0,), "", 1.0, group) for group in ("a", "b", "b", "c")]
    weight = {"a": 1.0, "b": 2.0, "c": 1.0}
    worker = Worker.__new__(Worker)
    worker.groups = {"c"}
    assert _choose([0, 1, 2, 3], jobs, worker, set(), weight) == 3
    worker.groups = set()
    assert _choose([0, 1, 2, 3], jobs, worker, set(), weight) == 1
    assert _choose([0, 1, 2], jobs, worker, {"b"}, weight) == 0
    assert _choose([2], jobs, worker, {"b"}, weight) == 2


def test_the_forecast_learns_from_what_was_done():
    jobs = [Job(square, (0,), "", 1.0, "slow")] * 2 + [Job(square, (0,), "", 1.0, "quick")] * 2
    forecast = Forecast(jobs)
    assert forecast.share() == 0.0
    forecast.note(2, 1.0)
    assert forecast.share() == pytest.approx(1 / 4)
    forecast.note(0, 5.0)  # the other slow one will take 5 s as well
    assert forecast.share() == pytest.approx(6 / (6 + 5 + 1))
    forecast.note(1, 5.0)
    forecast.pending[3] = 0.5
    assert forecast.share() == pytest.approx(11.5 / 12)


ORPHAN = """
import os, sys, time
from setwise.spread import Job, spread
def wait(path):
    open(path, "a").write(f"{os.getpid()}\\n")
    time.sleep(60)
if __name__ == "__main__":
    spread([Job(wait, (sys.argv[1],), "wait")] * 2, 2)
"""


def test_workers_end_when_their_parent_is_killed(tmp_path):
    script, told = tmp_path / "orphan.py", tmp_path / "told"
    script.write_text(ORPHAN)
    parent = subprocess.Popen([sys.executable, str(script), str(told)])
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and (not told.exists() or len(told.read_text().split()) < 2):
        time.sleep(0.05)
    workers = [int(text) for text in told.read_text().split()]
    assert len(workers) == 2
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(map(alive, workers)):
        time.sleep(0.05)
    assert not any(map(alive, workers))


def alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
