"""Provenance of a report: versions, machine, code and time."""

import os
import platform
import time

from setwise.digests import package_digest
from setwise.experiments.outcome import Outcome


def facts(seed: int, started: float, outcome: Outcome) -> list[tuple[str, str]]:
    """Return the provenance as pairs of name and value."""
    from importlib.metadata import version

    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "matplotlib"))
    return [
        ("Setwise", f"{version('setwise')}, code {package_digest()[:16]}"),
        ("Python and libraries", f"{platform.python_version()}, {libraries}"),
        ("machine", f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"),
        ("seed", f"{seed}"),
        ("runs", f"{outcome.played:,} played for this page, {outcome.kept:,} kept from before"),
        ("time taken", f"{time.time() - started:.0f} s"),
        ("written", time.strftime("%Y-%m-%d %H:%M %Z")),
    ]


def processor() -> str:
    """Return the processor's model name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown processor"
