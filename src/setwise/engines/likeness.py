"""What a worker has to have in common with this process: results follow from code and libraries, wherever they are.

`facts` is sent to the workers as text, since a worker that lacks the package can run no function of it. It is asked
before the first task; and every task looks again, since workers come and go.
"""

import inspect
import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from setwise.errors import WorkerLost

Facts = dict[str, str]


def facts(names: Sequence[str] = ()) -> Facts:
    """The versions of Python, the package and the libraries, and the digests of its code and of what is named.

    names: classes and functions as `module:name`. What is not there has an empty text; why, stands behind `!name`
    """
    import importlib
    import importlib.metadata
    import operator
    import platform

    found: Any = {"Python": ".".join(platform.python_version_tuple()[:2])}

    def note(name: str, look: Any) -> None:
        try:
            found[name] = str(look())
        except Exception as error:
            found.update({name: "", f"!{name}": f"{type(error).__name__}: {error}"})

    def code_of(name: str) -> Any:
        module, _, own = name.partition(":")
        digests: Any = importlib.import_module("setwise.digests")
        return digests.code_digest(operator.attrgetter(own)(importlib.import_module(module)))[:12]

    def package() -> Any:
        digests: Any = importlib.import_module("setwise.digests")
        return digests.package_digest()[:12]

    note("setwise", lambda: importlib.import_module("setwise").__version__)
    for library in ("numpy", "numba", "llvmlite"):
        note(library, lambda library=library: importlib.metadata.version(library))
    note("code of setwise", package)
    for name in names:
        note(name, lambda name=name: code_of(name))
    return found  # type: ignore[no-any-return]


def question(names: Sequence[str]) -> str:
    """An expression whose value is `facts(names)`, also in a process that has nothing but Python."""
    text = "from collections.abc import Sequence\nfrom typing import Any\nFacts = dict\n" + inspect.getsource(facts)
    return f"(lambda space: exec({text!r}, space) or space['facts']({list(names)!r}))({{}})"


def check_alike(ours: Mapping[str, str], theirs: Mapping[str, str], worker: str) -> None:
    """Refuse a worker on which results could differ."""
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
    """Refuse this process, if it is a worker on which results could differ; it looks once for each set of facts."""
    key = repr(ours)
    if key not in _alike:
        names = [name for name in ours if ":" in name]
        check_alike(ours, facts(names), f"{os.getpid()} on {platform.node()}")
        _alike.add(key)
