"""Choose k of n, see what each chosen item earned, and learn the best set.

>>> import setwise as sw
>>> result = sw.simulate(sw.UCB(), sw.paper.camera(), horizon=1000, runs=2, seed=0)
>>> result.regret.shape == (2, len(result.rounds))
True
"""

from typing import TYPE_CHECKING, Any

from setwise.declare import environment, policy
from setwise.errors import DamagedFile, InputError, SetwiseError, StorageError, WorkerLost
from setwise.simulation import Interrupted, Result, simulate
from setwise.types import Environment, Feedback, Policy

if TYPE_CHECKING:
    from setwise import environments, experiments, paper, theory
    from setwise.experiments.experiment import Experiment
    from setwise.policies import (
        CUCB,
        ESCB1,
        ESCB2,
        KLMOSS,
        KLUCB,
        MNLUCB,
        RUCB,
        UCB,
        UCBV,
        AnytimeUCB,
        BattlingDoubler,
        BattlingDuel,
        BattlingMultiSBM,
        BeatTheMean,
        CombUCB1,
        Doubling,
        EpsilonGreedy,
        InterleavedFilter,
        LSBGreedy,
        MaxMinUCB,
        MNLThompson,
        MultiDueling,
        Oracle,
        RecMaxMinUCB,
        SelfSparring,
        Sparring,
        StagewiseElimination,
        Thompson,
        Uniform,
        WinnerBeatsAll,
    )
    from setwise.study import Arm, Decision, Study, Summary
    from setwise.theory import check

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
    "paper",
    "policy",
    "simulate",
    "theory",
]


def __getattr__(name: str) -> Any:
    """Submodules and policies are loaded when they are first asked for, to keep `import setwise` light."""
    from importlib import import_module

    if name in ("environments", "experiments", "paper", "study", "testing", "theory"):
        return import_module(f"setwise.{name}")
    if name == "Experiment":
        return import_module("setwise.experiments.experiment").Experiment
    if name in ("Arm", "Decision", "Study", "Summary"):
        return getattr(import_module("setwise.study"), name)
    if name == "check":
        return import_module("setwise.theory").check
    if name in __all__:
        return getattr(import_module("setwise.policies"), name)
    raise AttributeError(f"module 'setwise' has no attribute {name!r}")
