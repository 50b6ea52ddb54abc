"""The reward models, one to a file, and small worlds made of them whose answers are known."""

from typing import Any

from setwise.environments.coverage import Coverage
from setwise.environments.independent import Independent
from setwise.environments.mallows import Mallows
from setwise.environments.markov_chain import MarkovChain
from setwise.environments.mixed_logit import MixedLogit
from setwise.environments.mnl import MNL
from setwise.environments.needle import Needle
from setwise.environments.nested_logit import NestedLogit
from setwise.environments.preference_matrix import PreferenceMatrix
from setwise.environments.presets import PRESETS
from setwise.environments.random_utility import RandomUtility
from setwise.environments.random_weak import RandomWeak
from setwise.environments.rankings import Rankings
from setwise.environments.scaled import Scaled
from setwise.environments.table import Table
from setwise.environments.unequal_noise import UnequalNoise

MODELS: tuple[Any, ...] = (
    MNL, RandomUtility, Independent, PreferenceMatrix, Table, RandomWeak, Scaled, NestedLogit, MixedLogit, MarkovChain,
    UnequalNoise, Rankings, Mallows, Coverage, Needle,
)  # fmt: skip

__all__ = [
    "MNL",
    "MODELS",
    "PRESETS",
    "Coverage",
    "Independent",
    "Mallows",
    "MarkovChain",
    "MixedLogit",
    "Needle",
    "NestedLogit",
    "PreferenceMatrix",
    "RandomUtility",
    "RandomWeak",
    "Rankings",
    "Scaled",
    "Table",
    "UnequalNoise",
]
