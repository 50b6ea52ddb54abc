"""Remember which classes were compared, interpreted with compiled, and had the same bits.

Our own are compared by the tests. A user's class is compared by `check_policy` or `check_environment`, which leave an
empty file in the cache, named by the digest of all code of the class. Whoever changes the class has to check it again.
"""

import contextlib
from typing import Any

from setwise.compiler.settings import cache_folder
from setwise.digests import classes_of, code_digest, is_own
from setwise.files import write_atomic

_known: set[str] = set()


def is_compared(*things: Any) -> bool:
    """Whether the classes of all these objects were compared."""
    return all(_is_compared(thing) for thing in things)


def _is_compared(thing: Any) -> bool:
    classes = classes_of(thing)
    if all(map(is_own, classes)):
        return True
    name = _name(classes)
    if name not in _known:
        with contextlib.suppress(OSError, RuntimeError):  # a folder that cannot be read, no home
            if (cache_folder() / name).exists():
                _known.add(name)
    return name in _known


def remember_compared(thing: Any) -> None:
    """Remember that an object's classes were compared; in this process only if no folder can be written."""
    classes = classes_of(thing)
    if not all(map(is_own, classes)):
        name = _name(classes)
        _known.add(name)
        with contextlib.suppress(OSError, RuntimeError):
            write_atomic(cache_folder() / name, b"")


def _name(classes: list[type]) -> str:
    return f"compared-{code_digest(*classes)[:40]}"
