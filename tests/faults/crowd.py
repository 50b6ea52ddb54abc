"""Processes that start at the same instant and can be killed; each runs a function of `worker.py`."""

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
    """Processes that run the same function, each with its own arguments."""

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
        """Wait until all processes wait for the start; return whether they do."""
        return {process.stdout.readline() for process in self.processes} == {"ready\n"}

    def go(self, delay=0.03):
        """Start all processes at the same instant, once they are ready; return whether all were."""
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
        """Let one process play a round; return the line it printed."""
        process = self.processes[number]
        process.stdin.write("0\n")
        process.stdin.flush()
        return process.stdout.readline()

    def wait(self):
        """Wait for all processes to end; return the last error line of each that failed."""
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
        """SIGKILL all processes at once; return the errors of those that had failed before."""
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
    """Read the answers that workers logged, without a last line cut off by a kill."""
    found = []
    for log in logs:
        if os.path.exists(log):
            found += [json.loads(line) for line in Path(log).read_text().split("\n")[:-1]]
    return found


def alone(act, seconds=600, **arguments):
    """Run a function in its own process; return the JSON it printed and None, or None and the error."""
    command = [sys.executable, "-m", "faults.worker", act, json.dumps(arguments)]
    try:
        ended = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"{act} hangs"
    if ended.returncode:
        return None, (ended.stderr.strip().splitlines() or [f"{act} ended with {ended.returncode}"])[-1]
    return json.loads(ended.stdout.splitlines()[-1]), None
