# The one list of policies: one line each, in the order of all tables. `__init__.py` reads it at run time; editors and
# type checkers read it instead of `__init__.py`. On the command line a policy is called like its file, with dashes.
# ruff: noqa: I001

from collections.abc import Mapping
from typing import Any

from setwise.policies.ucb import UCB as UCB
from setwise.policies.kl_ucb import KLUCB as KLUCB
from setwise.policies.kl_moss import KLMOSS as KLMOSS
from setwise.policies.ucb_v import UCBV as UCBV
from setwise.policies.anytime_ucb import AnytimeUCB as AnytimeUCB
from setwise.policies.doubling import Doubling as Doubling
from setwise.policies.thompson import Thompson as Thompson
from setwise.policies.robust_ucb import RobustUCB as RobustUCB
from setwise.policies.set_ucb import SetUCB as SetUCB
from setwise.policies.set_kl_ucb import SetKLUCB as SetKLUCB
from setwise.policies.set_thompson import SetThompson as SetThompson
from setwise.policies.cucb import CUCB as CUCB
from setwise.policies.comb_ucb1 import CombUCB1 as CombUCB1
from setwise.policies.escb1 import ESCB1 as ESCB1
from setwise.policies.escb2 import ESCB2 as ESCB2
from setwise.policies.mnl_thompson import MNLThompson as MNLThompson
from setwise.policies.mnl_ucb import MNLUCB as MNLUCB
from setwise.policies.max_min_ucb import MaxMinUCB as MaxMinUCB
from setwise.policies.rec_max_min_ucb import RecMaxMinUCB as RecMaxMinUCB
from setwise.policies.winner_beats_all import WinnerBeatsAll as WinnerBeatsAll
from setwise.policies.stagewise_elimination import StagewiseElimination as StagewiseElimination
from setwise.policies.sparring import Sparring as Sparring
from setwise.policies.rucb import RUCB as RUCB
from setwise.policies.interleaved_filter import InterleavedFilter as InterleavedFilter
from setwise.policies.beat_the_mean import BeatTheMean as BeatTheMean
from setwise.policies.multi_dueling import MultiDueling as MultiDueling
from setwise.policies.self_sparring import SelfSparring as SelfSparring
from setwise.policies.battling_doubler import BattlingDoubler as BattlingDoubler
from setwise.policies.battling_multi_sbm import BattlingMultiSBM as BattlingMultiSBM
from setwise.policies.battling_duel import BattlingDuel as BattlingDuel
from setwise.policies.lsb_greedy import LSBGreedy as LSBGreedy
from setwise.policies.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
from setwise.policies.uniform import Uniform as Uniform
from setwise.policies.oracle import Oracle as Oracle

NAMES: dict[str, str]
POLICIES: Mapping[str, Any]
