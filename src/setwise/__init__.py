"""Choose k of n, see what each chosen item earned, and learn the best set.

>>> import setwise as sw
>>> result = sw.simulate(sw.UCB(), sw.paper.camera(), horizon=1000, runs=2, seed=0)
>>> result.regret.shape == (2, len(result.rounds))
True
"""

from typing import Any

from setwise.declare import environment, policy
from setwise.errors import DamagedFile, InputError, SetwiseError, StorageError, WorkerLost
from setwise.simulation import Interrupted, Result, simulate
from setwise.types import Environment, Feedback, Policy

__version__ = "0.1.0"

__all__ = [
    "CUCB",
    "ESCB1",
    "ESCB2",
    "KLMOSS",
    "KLUCB",
    "MNLUCB",
    "RUCB",
    "UCB",
    "UCBV",
    "AnytimeUCB",
    "Arm",
    "BattlingDoubler",
    "BattlingDuel",
    "BattlingMultiSBM",
    "BeatTheMean",
    "CombUCB1",
    "DamagedFile",
    "Decision",
    "Doubling",
    "Environment",
    "EpsilonGreedy",
    "Experiment",
    "Feedback",
    "InputError",
    "InterleavedFilter",
    "Interrupted",
    "LSBGreedy",
    "MNLThompson",
    "MaxMinUCB",
    "MultiDueling",
    "Oracle",
    "Policy",
    "RecMaxMinUCB",
    "Result",
    "SelfSparring",
    "SetwiseError",
    "Sparring",
    "StagewiseElimination",
    "StorageError",
    "Study",
    "Summary",
    "Thompson",
    "Uniform",
    "WinnerBeatsAll",
    "WorkerLost",
    "__version__",
    "check",
    "environment",
    "environments",
    "experiments",
    "kernels",
    "paper",
    "policies",
    "policy",
    "simulate",
    "study",
    "testing",
    "theory",
]

_SUBMODULES = ("environments", "experiments", "kernels", "paper", "policies", "study", "testing", "theory")
_LATER = {  # names that are in none of the policies' files, and where they are
    "Arm": "setwise.study",
    "Decision": "setwise.study",
    "Experiment": "setwise.experiments.experiment",
    "Study": "setwise.study",
    "Summary": "setwise.study",
    "check": "setwise.theory",
}


def __getattr__(name: str) -> Any:
    """Submodules and policies are loaded when they are first asked for, to keep `import setwise` light."""
    from importlib import import_module

    if name in _SUBMODULES:
        return import_module(f"setwise.{name}")
    if name in __all__:
        return getattr(import_module(_LATER.get(name, "setwise.policies")), name)
    raise AttributeError(f"module 'setwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All public names, also those that were not loaded yet; editors read `__init__.pyi` beside this file."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
