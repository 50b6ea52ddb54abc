"""Engines that run independent jobs: threads, processes, a Dask cluster, or any executor of `concurrent.futures`.

The answers do not depend on the engine. They are delivered as they arrive, so that they can be stored at once.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from setwise.engines.jobs import Engine, Job, Progress
from setwise.types import InputError
from setwise.validation import shown, suggestion, whole_number

if TYPE_CHECKING:
    from concurrent.futures import Executor

EngineLike: TypeAlias = Union[str, "Executor"]  # a name of ENGINES, or the user's executor
ENGINES = ("threads", "processes", "dask")
CLUSTERS = ("dask",)

__all__ = [
    "CLUSTERS",
    "ENGINES",
    "Engine",
    "EngineLike",
    "Job",
    "Progress",
    "answers",
    "check_engine",
    "check_sendable",
    "open_engine",
]


def check_engine(engine: Any, address: Any = None) -> None:
    """Raise for an unknown engine, and for an address with an engine that takes none."""
    if not isinstance(engine, str):
        from concurrent.futures import Executor

        if not isinstance(engine, Executor):
            raise InputError(f"engine is {shown(engine)}; it can be {', '.join(ENGINES)}, or an open Executor")
        if address is not None:
            name = type(engine).__name__
            raise InputError(f"the address {shown(address)} was given, but {name} needs none; leave it out")
        return
    if engine not in ENGINES:
        raise InputError(f"there is no engine {engine!r}; {suggestion(engine.lower(), ENGINES)}")
    if address is None:
        return
    if engine not in CLUSTERS:
        raise InputError(f"the address {shown(address)} was given, but engine {engine!r} takes none; use dask")
    if not isinstance(address, str):
        raise InputError(f"address is {shown(address)}; give a text such as 'tcp://192.0.2.7:8786'")


def check_sendable(engine: EngineLike, things: Any) -> None:
    """Raise if the engine's workers could not import the objects, before starting any."""
    if engine == "threads":
        return
    from concurrent.futures import ThreadPoolExecutor

    if not isinstance(engine, ThreadPoolExecutor):
        from setwise.engines.serialization import pack

        pack(things)


def open_engine(engine: EngineLike, at_once: int | None = None, address: str | None = None) -> Engine:
    """Open an engine by its name, or with the user's executor, for use in a `with` statement.

    at_once: jobs at a time; by default one per core, here or in the cluster
    address: of a cluster; by default a local one is started, and stopped at the end
    """
    check_engine(engine, address)
    at_once = None if at_once is None else whole_number("jobs", at_once, 1)
    if not isinstance(engine, str):
        from setwise.engines.executors import Executors

        return Executors(engine, at_once)
    if engine == "threads":
        from setwise.engines.threads import Threads

        return Threads(at_once)
    if engine == "processes":
        from setwise.engines.processes import Processes

        return Processes(at_once)
    from setwise.engines.dask import Dask

    return Dask(at_once, address)


def answers(
    jobs: Sequence[Job],
    at_once: int | None = None,
    progress: Progress | None = None,
    engine: EngineLike = "processes",
    address: str | None = None,
) -> list[Any]:
    """Run all jobs and return the answers in order."""
    found: dict[int, Any] = {}
    with open_engine(engine, at_once, address) as crew:
        crew.do(jobs, found.__setitem__, progress)
    return [found[number] for number in range(len(jobs))]
