"""Choose k of n, see what each chosen item earned, and learn the best set.

>>> import setwise as sw
>>> result = sw.simulate(sw.UCB(), sw.paper.camera(), horizon=1000, runs=2, seed=0)
>>> result.regret.shape == (2, len(result.rounds))
True
"""

from typing import Any

from setwise.declare import environment, policy
from setwise.errors import DamagedFile, InputError, SetwiseError, StorageError, WorkerLost
from setwise.policies import NAMES
from setwise.simulation import Interrupted, Result, simulate
from setwise.types import Environment, Feedback, Policy

__version__ = "0.1.0"

_SUBMODULES = ("environments", "experiments", "kernels", "paper", "policies", "study", "testing", "theory")
_LATER = {  # where the names are that are loaded when they are first used
    "Arm": "setwise.study",
    "Decision": "setwise.study",
    "Experiment": "setwise.experiments.experiment",
    "Study": "setwise.study",
    "Summary": "setwise.study",
    "check": "setwise.theory",
    **dict.fromkeys(NAMES.values(), "setwise.policies"),
}

__all__ = [
    "DamagedFile",
    "Environment",
    "Feedback",
    "InputError",
    "Interrupted",
    "Policy",
    "Result",
    "SetwiseError",
    "StorageError",
    "WorkerLost",
    "__version__",
    "environment",
    "policy",
    "simulate",
    *_LATER,
    *_SUBMODULES,
]


def __getattr__(name: str) -> Any:
    """Load submodules and policies on first use, to keep `import setwise` light."""
    import sys
    from importlib import import_module

    if name in _SUBMODULES:
        return import_module(f"setwise.{name}")
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'setwise' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """All public names, also those that were not loaded yet; editors read `__init__.pyi` beside this file."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
