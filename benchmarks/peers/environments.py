"""Create an environment for every library, and measure it: seconds, bytes, and failures."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from measuring import seconds
from peers.catalogue import Peer

HERE = Path(__file__).parent.parent
FOLDER = HERE / ".build" / "peers"
PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-cache-dir")
PATIENCE = 900.0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Install(NamedTuple):
    """Result of an install.

    asked: the requirements, and the Python they were installed for
    seconds: time of pip, with downloads
    size: bytes beyond an empty environment
    version: version of the library; empty if it is missing
    failure: why it failed, or empty
    """

    asked: list[str]
    seconds: float
    size: int
    version: str
    failure: str


class Failed(Exception):
    """A command failed in an environment; the message is the last line that names the error."""


def python_of(peer: Peer) -> Path:
    return FOLDER / peer.environment / "bin" / "python"


def settings() -> dict[str, str]:
    """Return the variables of a plain shell: none of Python's own, and one thread for numeric libraries."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | dict.fromkeys(THREADS, "1")


def run(command: Sequence[str], patience: float) -> str:
    """Return the output of a command; on a timeout, kill it and its child processes."""
    try:
        process = subprocess.Popen(
            command,
            cwd=HERE,
            env=settings(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as problem:
        raise Failed(f"{type(problem).__name__}: {problem.strerror}") from None
    try:
        output, _ = process.communicate(timeout=patience)
    except BaseException as problem:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(problem, subprocess.TimeoutExpired):
            raise Failed(f"not done after {patience:g} s") from None
        raise
    if process.returncode != 0:
        raise Failed(reason(output) or f"ended with code {process.returncode}")
    return output


def reason(output: str) -> str:
    """Return the last line that names an error, without addresses and paths; for pip, with the requirement.

    >>> reason("Traceback\\n  x\\nImportError: cannot import name 'a' from 'b' (/home/b.py)\\n")
    "ImportError: cannot import name 'a' from 'b'"
    >>> reason("Collecting a<2 (from b)\\n  error: code 1\\n  ValueError: no\\n  [end of output]\\nnote: see above")
    'at a<2: ValueError: no'
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    errors = [line for line in lines if re.match(r"(?i)error\b", line)]
    last = (named or errors or lines or [""])[-1]
    last = re.sub(r"\s*\(/[^)]*\)|\s*\w+://\S+", "", last)
    collected = [line.split()[1] for line in lines if re.match(r"Collecting \S", line)]
    return f"at {collected[-1]}: {last}" if collected else last


def install(peer: Peer, fresh: bool) -> Install:
    """Reuse or create the environment of a library; this checkout is always installed again."""
    folder = FOLDER / peer.environment
    record = folder / "install.json"
    asked = [*peer.requirements, sys.version]
    if record.exists() and not fresh and not peer.ours:
        kept = Install(**json.loads(record.read_text()))
        if kept.asked == asked and not kept.failure:
            return kept
    shutil.rmtree(folder, ignore_errors=True)
    failure, taken = "", 0.0
    try:
        run([sys.executable, "-m", "venv", str(folder)], PATIENCE)
        empty = size_of(folder)
        start = time.perf_counter()
        run([str(python_of(peer)), *PIP, *peer.requirements], PATIENCE)
        taken = time.perf_counter() - start
    except Failed as problem:
        failure = str(problem)
    done = Install(asked, taken, 0 if failure else size_of(folder) - empty, _version(peer), failure)
    folder.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(done._asdict(), indent=1))
    return done


def size_of(folder: Path) -> int:
    """Sum the bytes of the packages in an environment."""
    return sum(
        path.stat().st_size
        for packages in folder.glob("lib/python*/site-packages")
        for path in packages.rglob("*")
        if path.is_file() and not path.is_symlink()
    )


def _version(peer: Peer) -> str:
    code = f"import importlib.metadata as m; print(m.version({peer.package!r}))"
    try:
        return run([str(python_of(peer)), "-c", code], 60).strip()
    except Failed:
        return ""


def import_time(peer: Peer) -> float:
    """Measure the seconds of the import in a new process, beyond bare Python."""
    nothing, everything = (
        seconds(lambda: run([str(python_of(peer)), "-c", code], 120))  # noqa: B023
        for code in ("pass", peer.imports)
    )
    return everything - nothing
