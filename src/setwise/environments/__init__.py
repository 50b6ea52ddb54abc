"""The reward models, one to a file."""

from typing import Any

from setwise.environments.independent import Independent
from setwise.environments.mnl import MNL
from setwise.environments.preference_matrix import PreferenceMatrix
from setwise.environments.random_utility import RandomUtility
from setwise.environments.random_weak import RandomWeak
from setwise.environments.scaled import Scaled
from setwise.environments.table import Table

MODELS: tuple[Any, ...] = (MNL, RandomUtility, Independent, PreferenceMatrix, Table, RandomWeak, Scaled)

__all__ = [
    "MNL",
    "MODELS",
    "Independent",
    "PreferenceMatrix",
    "RandomUtility",
    "RandomWeak",
    "Scaled",
    "Table",
]
