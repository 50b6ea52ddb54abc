# What editors and type checkers read instead of `__init__.py`, which loads most names when they are first asked for.

from setwise import environments as environments
from setwise import experiments as experiments
from setwise import kernels as kernels
from setwise import paper as paper
from setwise import policies as policies
from setwise import study as study
from setwise import testing as testing
from setwise import theory as theory
from setwise.declare import environment as environment
from setwise.declare import policy as policy
from setwise.errors import DamagedFile as DamagedFile
from setwise.errors import InputError as InputError
from setwise.errors import SetwiseError as SetwiseError
from setwise.errors import StorageError as StorageError
from setwise.errors import WorkerLost as WorkerLost
from setwise.experiments.experiment import Experiment as Experiment
from setwise.policies.anytime_ucb import AnytimeUCB as AnytimeUCB
from setwise.policies.battling_doubler import BattlingDoubler as BattlingDoubler
from setwise.policies.battling_duel import BattlingDuel as BattlingDuel
from setwise.policies.battling_multi_sbm import BattlingMultiSBM as BattlingMultiSBM
from setwise.policies.beat_the_mean import BeatTheMean as BeatTheMean
from setwise.policies.comb_ucb1 import CombUCB1 as CombUCB1
from setwise.policies.cucb import CUCB as CUCB
from setwise.policies.doubling import Doubling as Doubling
from setwise.policies.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
from setwise.policies.escb1 import ESCB1 as ESCB1
from setwise.policies.escb2 import ESCB2 as ESCB2
from setwise.policies.interleaved_filter import InterleavedFilter as InterleavedFilter
from setwise.policies.kl_moss import KLMOSS as KLMOSS
from setwise.policies.kl_ucb import KLUCB as KLUCB
from setwise.policies.lsb_greedy import LSBGreedy as LSBGreedy
from setwise.policies.max_min_ucb import MaxMinUCB as MaxMinUCB
from setwise.policies.mnl_thompson import MNLThompson as MNLThompson
from setwise.policies.mnl_ucb import MNLUCB as MNLUCB
from setwise.policies.multi_dueling import MultiDueling as MultiDueling
from setwise.policies.oracle import Oracle as Oracle
from setwise.policies.rec_max_min_ucb import RecMaxMinUCB as RecMaxMinUCB
from setwise.policies.rucb import RUCB as RUCB
from setwise.policies.self_sparring import SelfSparring as SelfSparring
from setwise.policies.sparring import Sparring as Sparring
from setwise.policies.stagewise_elimination import StagewiseElimination as StagewiseElimination
from setwise.policies.thompson import Thompson as Thompson
from setwise.policies.ucb import UCB as UCB
from setwise.policies.ucb_v import UCBV as UCBV
from setwise.policies.uniform import Uniform as Uniform
from setwise.policies.winner_beats_all import WinnerBeatsAll as WinnerBeatsAll
from setwise.simulation.result import Result as Result
from setwise.simulation.simulate import Interrupted as Interrupted
from setwise.simulation.simulate import simulate as simulate
from setwise.study.records import Arm as Arm
from setwise.study.records import Decision as Decision
from setwise.study.records import Summary as Summary
from setwise.study.study import Study as Study
from setwise.theory.check import check as check
from setwise.types import Environment as Environment
from setwise.types import Feedback as Feedback
from setwise.types import Policy as Policy

__version__: str

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
