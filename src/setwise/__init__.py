"""Choose k of n, see what each chosen item earned, and learn the best set.

>>> import setwise as sw
>>> result = sw.simulate(sw.UCB(), sw.paper.camera(), horizon=1000, runs=2, seed=0)
>>> result.regret.shape == (2, len(result.rounds))
True
"""

from typing import Any

from setwise.errors import DamagedFile, InputError, SetwiseError, StorageError, WorkerLost
from setwise.policies import NAMES

__version__ = "0.1.0"

_SUBMODULES = ("environments", "experiments", "kernels", "paper", "policies", "study", "testing", "theory")
_INNER = ("declare", "digests", "engines", "report", "simulation", "types", "validation")  # also found, not listed
_LATER = {  # where the names are that are loaded when they are first used
    "Arm": "setwise.study",
    "Decision": "setwise.study",
    "Environment": "setwise.types",
    "Experiment": "setwise.experiments.experiment",
    "Feedback": "setwise.types",
    "Interrupted": "setwise.simulation",
    "Policy": "setwise.types",
    "Result": "setwise.simulation",
    "Study": "setwise.study",
    "Summary": "setwise.study",
    "check": "setwise.theory",
    "compare": "setwise.simulation.comparison",
    "environment": "setwise.declare",
    "policy": "setwise.declare",
    "simulate": "setwise.simulation",
    **dict.fromkeys(NAMES.values(), "setwise.policies"),
}

__all__ = [
    "DamagedFile",
    "InputError",
    "SetwiseError",
    "StorageError",
    "WorkerLost",
    "__version__",
    *_LATER,
    *_SUBMODULES,
]


def __getattr__(name: str) -> Any:
    """Load submodules and names on first use, so that `import setwise` and most of the command line start at once."""
    import sys
    from importlib import import_module

    if name in _SUBMODULES or name in _INNER:
        return import_module(f"setwise.{name}")
    if name in _LATER:
        found = globals()[name] = getattr(import_module(_LATER[name]), name)
        return found
    raise AttributeError(f"module 'setwise' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """All public names, also those that were not loaded yet; editors read `__init__.pyi` beside this file."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
