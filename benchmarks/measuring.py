"""Shared by the benchmarks: the least of a few times, and the tables in docs/bench.

Import nothing heavy here: processes that measure memory have to start small.
"""

import csv
import datetime
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

KEPT = Path(__file__).parent.parent / "docs" / "bench"
MACHINE = ("table", "processor", "cores", "Python", "NumPy", "Numba", "Setwise", "date")


def once(work: Callable[[], object]) -> float:
    """Return the seconds of the work."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def seconds(work: Callable[[], object], repeat: int = 3) -> float:
    """Return the least seconds of the work."""
    return min(once(work) for _ in range(repeat))


def in_turn(mine: Callable[[], float], theirs: Callable[[], float], repeat: int) -> tuple[float, float]:
    """Return the least seconds of both, measured in turn, so that a noisy minute affects both."""
    pairs = [(mine(), theirs()) for _ in range(repeat)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def nanoseconds(value: float) -> str:
    return f"{value * 1e9:,.1f} ns" if value < 1e-5 else f"{value * 1e6:,.0f} us"


def keep(name: str, head: Sequence[str], rows: Iterable[Sequence[object]], folder: Path = KEPT) -> Path:
    """Write a table to the folder, atomically, with the machine and the date."""
    path = _write(folder / f"{name}.csv", head, rows)
    others = _machines(folder)
    others[name] = [name, *machine()]
    _write(folder / "machine.csv", MACHINE, (others[key] for key in sorted(others)))
    return path


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    with open(fresh, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
    fresh.replace(path)
    return path


def _machines(folder: Path) -> dict[str, list[str]]:
    """Read the machines recorded in the folder, by table."""
    path = folder / "machine.csv"
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {row[0]: row for row in list(csv.reader(file))[1:]}


def machine() -> list[str]:
    """Describe the machine, the installed versions, and the date."""
    packages = [version(name) for name in ("numpy", "numba", "setwise")]
    today = datetime.date.today().isoformat()
    return [processor(), str(os.cpu_count()), platform.python_version(), *packages, today]


def processor() -> str:
    """Return the name of the processor, if the system has it."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
