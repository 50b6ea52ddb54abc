"""Pickle jobs for other processes; fail early on objects that these could not import.

Classes and functions are sent by name, never by value: code sent by value would be compiled again for every task, and
could not be cached by Numba.
"""

import functools
import io
import pickle
import sys
import time
import traceback
import types
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

from setwise.engines.jobs import Job
from setwise.types import InputError

ADVICE = "put it in a module of its own and import it, or use engine='threads'"


class Packed(NamedTuple):
    """Pickled bytes, and the user's classes and functions in them, as `module:name`."""

    data: bytes
    names: tuple[str, ...]


class _Pickler(pickle.Pickler):
    """Pickler that collects the user's classes and functions."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.found: dict[str, None] = {}

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, type | types.FunctionType) and is_foreign(thing.__module__):
            _check(thing)
            self.found[f"{thing.__module__}:{thing.__qualname__}"] = None
        return NotImplemented


def pack(thing: Any) -> Packed:
    """Pickle the object; raise if another process could not import part of it."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        pickler.dump(thing)
    except InputError:
        raise
    except Exception as error:  # pickling can raise errors of any kind
        why = " ".join(str(error).split())
        raise InputError(f"a job cannot be sent to another process ({why}): {ADVICE}") from None
    return Packed(file.getvalue(), tuple(pickler.found))


def pack_job(job: Job) -> Packed:
    """Pickle a job without its common arguments."""
    return pack((job.function, job.arguments, job.shares))


def unpack(data: bytes) -> Any:
    """Unpickle an object from `pack`."""
    try:
        return pickle.loads(data)
    except (ImportError, AttributeError) as error:
        raise InputError(f"another process cannot import its job ({error}); {ADVICE}") from None


@functools.lru_cache(maxsize=16)
def unpack_once(data: bytes) -> Any:
    """Unpickle an object from `pack`, cached by its bytes: the jobs' common arguments are created once.

    Clusters can send arrays directly, but these may arrive read-only, which is another type to the compiler.
    """
    return unpack(data)


def run_packed(common: bytes, data: bytes, progress: Callable[[float], None] | None = None) -> tuple[Any, float]:
    """Run a pickled job on a worker; return the answer and its duration in seconds.

    common, data: its common arguments, and the rest, as packed
    """
    started = time.monotonic()
    function, arguments, shares = unpack(data)
    answer = function(*unpack_once(common), *arguments, **({"progress": progress} if shares else {}))
    return answer, time.monotonic() - started


class JobOutcome(NamedTuple):
    """The answer of a job or its error, with the traceback."""

    answer: Any
    error: BaseException | None = None
    trace: str = ""

    def get(self) -> Any:
        """Return the answer, or raise the error."""
        if self.error is not None:
            raise self.error from RuntimeError(f"in a worker:\n{self.trace}")
        return self.answer


def outcome_of(function: Callable[..., Any], *arguments: Any) -> JobOutcome:
    """Call a function on a worker; return its answer or its error, in a form that survives pickling."""
    try:
        return JobOutcome(function(*arguments))
    except KeyboardInterrupt:
        return JobOutcome(None, KeyboardInterrupt())
    except BaseException as error:
        trace = "".join(traceback.format_exception(error))
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # pickling can raise errors of any kind
            return JobOutcome(None, RuntimeError(f"{type(error).__name__}: {error}"), trace)
        return JobOutcome(None, error, trace)


def is_foreign(module: str) -> bool:
    """Whether a module is the user's: not Python's, Setwise's, or a library whose version is compared.

    >>> is_foreign("mine.policies"), is_foreign("__main__"), is_foreign("setwise.policies.ucb"), is_foreign("fractions")
    (True, True, False, False)
    """
    top = module.partition(".")[0]
    return top not in sys.stdlib_module_names and top not in ("setwise", "numpy", "numba", "llvmlite")


def _check(thing: type | Callable[..., Any]) -> None:
    """Raise if the class or function can be found only in this process."""
    name = thing.__qualname__
    if thing.__module__ in ("__main__", "__mp_main__"):
        raise InputError(f"{name} is defined in the main script, where other processes do not find it: {ADVICE}")
    try:
        found = attrgetter(name)(sys.modules[thing.__module__])
    except (KeyError, AttributeError):
        found = None
    if found is not thing:
        where = "inside a function" if "<" in name else f"but not to be found in its module {thing.__module__}"
        raise InputError(f"{name} is defined {where}, so that other processes do not find it: {ADVICE}")
