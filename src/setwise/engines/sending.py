"""Jobs as bytes that another process can read: whatever it would not find there is refused here, in a sentence.

Classes and functions are sent by name, never by value: code that was sent by value would be compiled anew for every
task, and would have no place in the compiler's cache.
"""

import functools
import io
import pickle
import sys
import time
import types
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

from setwise.engines.jobs import Job
from setwise.types import InputError

ADVICE = "put it in a module of its own and import it, or use engine='threads'"


class Packed(NamedTuple):
    """Something as bytes, and the classes and functions of the user's in it, as `module:name`."""

    data: bytes
    names: tuple[str, ...]


class _Pickler(pickle.Pickler):
    """Notes every class and function by the way."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.found: dict[str, None] = {}

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, type | types.FunctionType) and is_foreign(thing.__module__):
            _check(thing)
            self.found[f"{thing.__module__}:{thing.__qualname__}"] = None
        return NotImplemented


def pack(thing: Any) -> Packed:
    """The thing as bytes; else a sentence that says what in it no other process would find."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        pickler.dump(thing)
    except InputError:
        raise
    except Exception as error:  # from what cannot be pickled, errors of any kind
        why = " ".join(str(error).split())
        raise InputError(f"what is to be done cannot be sent to another process ({why}): {ADVICE}") from None
    return Packed(file.getvalue(), tuple(pickler.found))


def pack_job(job: Job) -> Packed:
    """A job without what it has in common with others."""
    return pack((job.function, job.arguments, job.shares))


def unpack(data: bytes) -> Any:
    """What `pack` made these bytes of."""
    try:
        return pickle.loads(data)
    except (ImportError, AttributeError) as error:
        raise InputError(f"another process does not find what it is to do ({error}); {ADVICE}") from None


@functools.lru_cache(maxsize=16)
def unpack_once(data: bytes) -> Any:
    """What `pack` made these bytes of, the same object for the same bytes: what many jobs share is made once.

    Clusters can send arrays as they are, too; but those may come out read-only, which is another type to the compiler.
    """
    return unpack(data)


def run_packed(common: bytes, data: bytes, progress: Callable[[float], None] | None = None) -> tuple[Any, float]:
    """Do a job where it has arrived; the answer, and how many seconds it took.

    common, data: what it has in common with others, and the rest of it, as packed
    """
    started = time.monotonic()
    function, arguments, shares = unpack(data)
    answer = function(*unpack_once(common), *arguments, **({"progress": progress} if shares else {}))
    return answer, time.monotonic() - started


def is_foreign(module: str) -> bool:
    """Whether a module is the user's: neither Python's, nor Setwise, nor a library whose version is compared.

    >>> is_foreign("mine.policies"), is_foreign("__main__"), is_foreign("setwise.policies.ucb"), is_foreign("fractions")
    (True, True, False, False)
    """
    top = module.partition(".")[0]
    return top not in sys.stdlib_module_names and top not in ("setwise", "numpy", "numba", "llvmlite")


def _check(thing: type | Callable[..., Any]) -> None:
    """Refuse what can be found in this process only."""
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
