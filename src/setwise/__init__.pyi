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
from setwise.policies import *
from setwise.simulation.comparison import compare as compare
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
