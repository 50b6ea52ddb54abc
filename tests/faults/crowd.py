"""Processes that begin at the same instant, and can be killed: each runs an act of `worker.py`."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]


class Crowd:
    """Processes that do the same act, each with arguments of its own."""

    def __init__(self, act, jobs, every=None):
        environment = {**os.environ, "SETWISE_FAULTS_EVERY": str(every or "")}
        self._errors = [tempfile.TemporaryFile() for _ in jobs]  # noqa: SIM115
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.processes = []
        for job, errors in zip(jobs, self._errors):
            command = [sys.executable, "-m", "faults.worker", act, json.dumps(job)]
            self.processes.append(subprocess.Popen(command, cwd=TESTS, env=environment, stderr=errors, **pipes))

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.kill()
        for process, errors in zip(self.processes, self._errors):
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()
            errors.close()

    def ready(self):
        """Wait until all of them wait for the start."""
        return {process.stdout.readline() for process in self.processes} == {"ready\n"}

    def go(self, delay=0.03):
        """Start all that are alive at the same instant, once they are ready."""
        ready = self.ready()
        at = time.time() + delay
        for process in self.processes:
            try:
                process.stdin.write(f"{at}\n")
                process.stdin.flush()
            except BrokenPipeError:
                ready = False
        return ready

    def turn(self, number):
        """Let one of them go on, and wait until it has done its turn; return what it said."""
        process = self.processes[number]
        process.stdin.write("0\n")
        process.stdin.flush()
        return process.stdout.readline()

    def wait(self):
        """Wait for the end of all; return what went wrong, a line for each."""
        wrong = []
        for process, errors in zip(self.processes, self._errors):
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.read()
            if process.wait():
                errors.seek(0)
                lines = errors.read().decode(errors="replace").strip().splitlines()
                wrong.append(lines[-1] if lines else f"a worker ended with {process.returncode}")
        return wrong

    def kill(self):
        """kill -9 of all at once; return what went wrong before."""
        before = [process.poll() for process in self.processes]
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        wrong = []
        for code, errors in zip(before, self._errors):
            if code and not errors.closed:
                errors.seek(0)
                wrong += errors.read().decode(errors="replace").strip().splitlines()[-1:] or [f"ended with {code}"]
        return wrong


def answers_in(logs):
    """What workers logged once they had the answer; a line that was not finished was killed with its writer."""
    found = []
    for log in logs:
        if os.path.exists(log):
            found += [json.loads(line) for line in Path(log).read_text().split("\n")[:-1]]
    return found


def alone(act, seconds=600, **arguments):
    """What an act says, in JSON, that a process of its own does; None and what went wrong if it ends badly."""
    command = [sys.executable, "-m", "faults.worker", act, json.dumps(arguments)]
    try:
        ended = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"{act} hangs"
    if ended.returncode:
        return None, (ended.stderr.strip().splitlines() or [f"{act} ended with {ended.returncode}"])[-1]
    return json.loads(ended.stdout.splitlines()[-1]), None
