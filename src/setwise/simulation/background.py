"""Compile with Numba in another process, which leaves the code in Numba's cache on disk, while runs are interpreted."""

import sys
from typing import TYPE_CHECKING, Any

from setwise.simulation.checks import Request

if TYPE_CHECKING:
    import subprocess

CHILD = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from setwise.simulation.background import compile_request
compile_request(pickle.load(sys.stdin.buffer))
"""


class Compilation:
    """A process that compiles."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    @classmethod
    def start(cls, request: Request) -> "Compilation | None":
        """Start the process; return None if there is no Python to start, or it could not find the classes."""
        import pickle
        import subprocess

        if not sys.executable or getattr(sys, "frozen", False) or "__main__" in _modules(request):
            return None
        try:
            data = pickle.dumps(sys.path) + pickle.dumps(request)
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL}
            process = subprocess.Popen([sys.executable, "-c", CHILD], stderr=subprocess.DEVNULL, **pipes)
        except (OSError, pickle.PicklingError, AttributeError, TypeError):
            return None
        try:
            process.stdin.write(data)  # type: ignore[union-attr]
            process.stdin.close()  # type: ignore[union-attr]
        except OSError:  # the process has ended
            pass
        return cls(process)

    def is_ready(self) -> bool:
        """Whether the process has ended; if it failed, compiling here tells why."""
        return self._process.poll() is not None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def _modules(request: Request) -> set[str]:
    from setwise.digests import classes_of

    return {cls.__module__ for thing in (request.policy, request.environment) for cls in classes_of(thing)}


def compile_request(request: Request) -> None:
    """Compile the loop of a request, for the cache on disk."""
    import dataclasses

    from setwise.simulation.simulate import Runs

    Runs(dataclasses.replace(request, compiled=True))
