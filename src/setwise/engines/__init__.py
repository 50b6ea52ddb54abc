"""Engines that do independent jobs: threads, processes, or a cluster of Dask or of Ray.

The answers do not depend on the engine. They are handed over as they arrive, so that they can be kept at once.
"""

from collections.abc import Sequence
from typing import Any

from setwise.declare import shown, suggestion, whole_number
from setwise.engines.jobs import Engine, Job, Report
from setwise.types import InputError

ENGINES = ("threads", "processes", "dask", "ray")
CLUSTERS = ("dask", "ray")

__all__ = [
    "CLUSTERS",
    "ENGINES",
    "Engine",
    "Job",
    "Report",
    "answers",
    "check_engine",
    "check_sendable",
    "open_engine",
]


def check_engine(engine: Any, address: Any = None) -> None:
    """Refuse an engine that there is not, and an address with one that takes none."""
    if not isinstance(engine, str):
        raise InputError(f"engine is {shown(engine)}; it can be {', '.join(ENGINES[:-1])} or {ENGINES[-1]}")
    if engine not in ENGINES:
        raise InputError(f"there is no engine {engine!r}; {suggestion(engine.lower(), ENGINES)}")
    if address is None:
        return
    if engine not in CLUSTERS:
        raise InputError(f"the address {shown(address)} was given, but engine {engine!r} takes none; use dask or ray")
    if not isinstance(address, str):
        raise InputError(f"address is {shown(address)}; give a text such as 'tcp://192.0.2.7:8786'")


def check_sendable(engine: str, things: Any) -> None:
    """Refuse things that the workers of the engine would not find, before any is started."""
    if engine != "threads":
        from setwise.engines.sending import pack

        pack(things)


def open_engine(engine: str, at_once: int | None = None, address: str | None = None) -> Engine:
    """The engine of that name, to be used in a `with` statement.

    at_once: how many jobs at a time; by default as many as there are cores, here or in the cluster
    address: of a cluster; without, one is started on this machine, and stopped again
    """
    check_engine(engine, address)
    at_once = None if at_once is None else whole_number("jobs", at_once, 1)
    if engine == "threads":
        from setwise.engines.threads import Threads

        return Threads(at_once)
    if engine == "processes":
        from setwise.engines.processes import Processes

        return Processes(at_once)
    if engine == "dask":
        from setwise.engines.dask import Dask

        return Dask(at_once, address)
    from setwise.engines.ray import Ray

    return Ray(at_once, address)


def answers(
    jobs: Sequence[Job],
    at_once: int | None = None,
    report: Report | None = None,
    engine: str = "processes",
    address: str | None = None,
) -> list[Any]:
    """Do all jobs, and return the answers in their order."""
    found: dict[int, Any] = {}
    with open_engine(engine, at_once, address) as crew:
        crew.do(jobs, found.__setitem__, report)
    return [found[number] for number in range(len(jobs))]
