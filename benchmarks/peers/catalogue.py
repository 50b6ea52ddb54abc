"""The libraries: their requirements for pip, and the ways of playing to try.

A library whose plain install fails today stays in the table with its error. If an older version of it, or of its
dependencies, still works, that has a separate line, whose name says so.
"""

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent


class Peer(NamedTuple):
    """A line of the table.

    name: name of the line
    environment: the folder of its environment; lines may share one
    requirements: requirements for pip
    package: the distribution whose version is shown
    imports: import statement to time
    module: module in `games` that plays it
    ways: the functions there; the fastest is shown
    """

    name: str
    environment: str
    requirements: tuple[str, ...]
    package: str
    imports: str
    module: str
    ways: tuple[str, ...]

    @property
    def ours(self) -> bool:
        """Whether it is this checkout."""
        return self.package == "setwise"


def _ours(name: str, way: str) -> Peer:
    return Peer(name, "setwise", (str(ROOT),), "setwise", "import setwise", "setwise", (way,))


OURS = _ours("Setwise", "simulate")
_SMPYBANDITS = ("SMPyBandits", "from SMPyBandits.Policies import UCBH", "smpybandits", ("arm_by_arm", "at_once"))
_OBP = ("obp", "from obp.policy import BernoulliTS", "obp", ("action_by_action", "at_once"))
_DUELPY = (
    "duelpy",
    "from duelpy.algorithms import RelativeConfidenceSampling",
    "duelpy",
    ("relative_confidence_sampling",),
)

PEERS = (
    OURS,
    _ours("Setwise, every round", "every_round"),
    _ours("Setwise, by hand", "by_hand"),
    Peer("SMPyBandits", "smpybandits", ("SMPyBandits",), *_SMPYBANDITS),
    Peer("SMPyBandits, SciPy < 1.14", "smpybandits-scipy", ("SMPyBandits", "scipy<1.14"), *_SMPYBANDITS),
    Peer(
        "mabalgs",
        "mabalgs",
        ("mabalgs",),
        "mabalgs",
        "from mab import algs",
        "mabalgs",
        ("ranked", "first_of_the_order"),
    ),
    Peer("MABWiser", "mabwiser", ("mabwiser",), "mabwiser", "from mabwiser.mab import MAB", "mabwiser", ("ucb1",)),
    Peer("river", "river", ("river",), "river", "from river import bandit", "river", ("ucb",)),
    Peer("obp", "obp", ("obp",), *_OBP),
    Peer("obp 0.3.3", "obp-old", ("obp==0.3.3",), *_OBP),
    Peer(
        "pybandits",
        "pybandits",
        ("pybandits",),
        "pybandits",
        "from pybandits.smab import SmabBernoulli",
        "pybandits",
        ("thompson",),
    ),
    Peer(
        "bayesianbandits",
        "bayesianbandits",
        ("bayesianbandits",),
        "bayesianbandits",
        "import bayesianbandits",
        "bayesianbandits",
        ("learner_for_each_arm", "shared_learner"),
    ),
    Peer(
        "vowpalwabbit",
        "vowpalwabbit",
        ("vowpalwabbit",),
        "vowpalwabbit",
        "import vowpalwabbit",
        "vowpalwabbit",
        ("slots",),
    ),
    Peer("duelpy", "duelpy", ("duelpy",), *_DUELPY),
    Peer("duelpy, NumPy < 1.24", "duelpy-numpy", ("duelpy", "numpy<1.24"), *_DUELPY),
)
