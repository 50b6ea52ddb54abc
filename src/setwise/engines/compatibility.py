"""Check that workers have the same code and libraries as this process, because results depend on both.

Every job checks its worker, since workers come and go.
"""

import importlib
import importlib.metadata
import operator
import os
import platform
from collections.abc import Callable, Mapping, Sequence

from setwise.errors import WorkerLost

Facts = dict[str, str]


def facts(names: Sequence[str] = ()) -> Facts:
    """Return the versions of Python, the package and its libraries, and digests of its code and of the named objects.

    names: classes and functions as `module:name`. A missing one has an empty string, and the reason under `!name`
    """
    from setwise.digests import code_digest, package_digest

    found: Facts = {"Python": ".".join(platform.python_version_tuple()[:2])}

    def note(name: str, look: Callable[[], str]) -> None:
        try:
            found[name] = look()
        except Exception as error:
            found.update({name: "", f"!{name}": f"{type(error).__name__}: {error}"})

    def code_of(name: str) -> str:
        module, _, own = name.partition(":")
        return code_digest(operator.attrgetter(own)(importlib.import_module(module)))[:12]

    note("setwise", lambda: str(importlib.import_module("setwise").__version__))
    note("code of setwise", lambda: package_digest()[:12])
    for library in ("numpy", "numba", "llvmlite"):
        note(library, lambda library=library: importlib.metadata.version(library))  # type: ignore[misc]
    for name in names:
        note(name, lambda name=name: code_of(name))  # type: ignore[misc]
    return found


def check_alike(ours: Mapping[str, str], theirs: Mapping[str, str], worker: str) -> None:
    """Raise if results could differ on a worker."""
    for name, own in ours.items():
        other = theirs.get(name, "")
        if other == own or name.startswith("!"):
            continue
        module, _, what = name.partition(":")
        if what and other:
            wrong = f"has another version of {what} in its module {module}; copy the module there"
        elif what:
            why = theirs.get(f"!{name}", "it is not there")
            wrong = f"cannot import {what} from {module} ({why}); copy the module there, or use engine='threads'"
        elif name == "code of setwise":
            wrong = f"has setwise {theirs.get('setwise')} with other code ({other or 'unknown'}, and here {own}); "
            wrong += "install the same there"
        elif other:
            wrong = f"has {name} {other}, and here it is {own}, so that results could differ; install {own} there"
        else:
            wrong = f"lacks {name}; install {name} {own} there"
        raise WorkerLost(f"the worker {worker} {wrong}")


_alike: set[str] = set()


def check_here(ours: Mapping[str, str]) -> None:
    """Raise if results could differ on this worker; checked once for each set of facts."""
    key = repr(ours)
    if key not in _alike:
        names = [name for name in ours if ":" in name]
        check_alike(ours, facts(names), f"{os.getpid()} on {platform.node()}")
        _alike.add(key)
