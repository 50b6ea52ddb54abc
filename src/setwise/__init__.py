"""Choose k of n, see what each chosen item earned, and learn the best set.

>>> import setwise as sw
>>> result = sw.simulate(sw.UCB(), sw.paper.camera(), horizon=1000, runs=2, seed=0)
>>> result.regret.shape == (2, len(result.rounds))
True
"""

from typing import TYPE_CHECKING, Any

from setwise.declare import environment, policy
from setwise.policies import UCB
from setwise.simulation import Interrupted, Result, simulate
from setwise.types import Environment, Feedback, InputError, Policy

if TYPE_CHECKING:
    from setwise import environments, paper, theory
    from setwise.theory import check

__version__ = "0.1.0"

__all__ = [
    "UCB",
    "Environment",
    "Feedback",
    "InputError",
    "Interrupted",
    "Policy",
    "Result",
    "__version__",
    "check",
    "environment",
    "environments",
    "paper",
    "policy",
    "simulate",
    "theory",
]


def __getattr__(name: str) -> Any:
    """The submodules are loaded when they are first asked for, to keep `import setwise` light."""
    from importlib import import_module

    if name in ("environments", "paper", "testing", "theory"):
        return import_module(f"setwise.{name}")
    if name == "check":
        return import_module("setwise.theory").check
    raise AttributeError(f"module 'setwise' has no attribute {name!r}")
