"""A policy and jobs whose process is killed in the middle; in a module, so that other processes can import them."""

import contextlib
import os
import signal
import threading
import time
from typing import NamedTuple

import numpy as np

import setwise as sw


class Counted(NamedTuple):
    rounds: np.ndarray
    chosen: np.ndarray


@sw.policy
class Mortal(NamedTuple):
    """Sets at random; its process is killed in round 20 of the first run that gets there, unless a file exists."""

    file: str

    def init(self, n, k, horizon, rng):
        return Counted(np.zeros(1, np.int64), np.arange(k))

    def select(self, state, rng):
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        state.chosen[:] = rng.permutation(6)[: len(chosen)]
        state.rounds[0] += 1
        if state.rounds[0] == 20 and not os.path.exists(self.file):
            kill(self.file)


def kill(file):
    """Kill this process, unless another was first; the file says that it was done."""
    with contextlib.suppress(FileExistsError):
        open(file, "x").close()
        os.kill(os.getpid(), signal.SIGKILL)


def kill_session(session):
    """Kill all processes of a session, as when their machine is lost."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.getsid(int(process)) == session:
                os.kill(int(process), signal.SIGKILL)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def play_and_die(policy, environment, file, first):
    """Play compiled runs; the first process that gets here is killed in the middle of one that takes minutes."""
    from setwise import simulate  # here, so that its code is not taken for a part of this function's

    options = {"threads": 1, "tabulate": True}
    simulate(policy, environment, 200, **options)  # so that it has compiled
    with contextlib.suppress(FileExistsError):
        open(file, "x").close()
        threading.Timer(0.2, die).start()
        simulate(policy, environment, 10**10, **options, fast_forward=False)
    return simulate(policy, environment, 5000, 3, first_run=first, **options)


def square(number):
    return number * number, os.getpid()


def slow_square(number):
    time.sleep(0.5)
    return square(number)


def refuse(text):
    from setwise.types import InputError

    raise InputError(text)


def read(path):
    return open(path).read()


def halves(progress=None):
    progress(0.5)
    return "done"


def wait(seconds=60.0, file=None, progress=None):
    """Wait as what is played does: progress is told now and then. The file is told who waits, and touched meanwhile."""
    if file:
        with open(file, "a") as told:
            told.write(f"{os.getpid()}\n")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if progress:
            progress(0.1)
        if file:
            os.utime(file)
        time.sleep(0.02)
    if file:
        with open(file, "a") as told:
            told.write("to the end\n")


def total(values, number):
    values[0] = 1.0  # what came from elsewhere can be written as well
    return float(values.sum()) + number


made = []


class Heavy:
    """Something that is sent, and counts how often it is made in a process."""

    def __init__(self, number):
        self.number = number

    def __setstate__(self, state):
        made.append(self)
        self.__dict__ = state


def times_made(heavy, number):
    return os.getpid(), len(made), heavy.number + number


def begun(file):
    """Wait until somebody has told the file."""
    while not os.path.exists(file):
        time.sleep(0.02)


def fail(kind, text):
    """Raise an error of that kind."""
    raise kind(text)


class Unpicklable(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def fail_badly():
    raise Unpicklable("two", "words")


def slow_touch(file):
    """Take half a second, and say in a file that it was done."""
    time.sleep(0.5)
    open(file, "x").close()
