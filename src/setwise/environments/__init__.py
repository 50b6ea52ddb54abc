"""The reward models, one per file, and presets: small worlds with known answers.

The imports are the one list of reward models, in the order of all tables. To add one, add its file and one line here.
"""
# ruff: noqa: I001

from typing import Any

from setwise.environments.mnl import MNL as MNL
from setwise.environments.random_utility import RandomUtility as RandomUtility
from setwise.environments.independent import Independent as Independent
from setwise.environments.preference_matrix import PreferenceMatrix as PreferenceMatrix
from setwise.environments.table import Table as Table
from setwise.environments.random_weak import RandomWeak as RandomWeak
from setwise.environments.scaled import Scaled as Scaled
from setwise.environments.nested_logit import NestedLogit as NestedLogit
from setwise.environments.mixed_logit import MixedLogit as MixedLogit
from setwise.environments.markov_chain import MarkovChain as MarkovChain
from setwise.environments.unequal_noise import UnequalNoise as UnequalNoise
from setwise.environments.rankings import Rankings as Rankings
from setwise.environments.mallows import Mallows as Mallows
from setwise.environments.coverage import Coverage as Coverage
from setwise.environments.needle import Needle as Needle
from setwise.environments.position_based import PositionBased as PositionBased
from setwise.environments.cascade import Cascade as Cascade
from setwise.environments.full_bandit import FullBandit as FullBandit
from setwise.environments.duels import Duels as Duels
from setwise.environments.presets import PRESETS as PRESETS

MODELS: tuple[Any, ...] = tuple(thing for thing in list(globals().values()) if hasattr(thing, "means"))

__all__ = ["MODELS", "PRESETS", *sorted(model.__name__ for model in MODELS)]
