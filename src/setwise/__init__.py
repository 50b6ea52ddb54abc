"""Choose k of n, see what each chosen item earned, and learn the best set.

>>> import setwise as sw
>>> result = sw.simulate(sw.UCB(), sw.paper.camera(), horizon=1000, runs=2, seed=0)
>>> result.regret.shape == (2, len(result.rounds))
True
"""

from setwise import environments, paper
from setwise.declare import environment, policy
from setwise.policies import UCB
from setwise.simulation import Interrupted, Result, simulate
from setwise.types import Environment, Feedback, InputError, Policy

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
    "environment",
    "environments",
    "paper",
    "policy",
    "simulate",
]
