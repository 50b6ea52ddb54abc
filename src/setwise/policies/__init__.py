"""The policies, one algorithm to a file; each file is loaded when its class is first asked for."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setwise.policies.anytime_ucb import AnytimeUCB
    from setwise.policies.battling_doubler import BattlingDoubler
    from setwise.policies.battling_duel import BattlingDuel
    from setwise.policies.battling_multi_sbm import BattlingMultiSBM
    from setwise.policies.beat_the_mean import BeatTheMean
    from setwise.policies.comb_ucb1 import CombUCB1
    from setwise.policies.cucb import CUCB
    from setwise.policies.doubling import Doubling
    from setwise.policies.epsilon_greedy import EpsilonGreedy
    from setwise.policies.escb1 import ESCB1
    from setwise.policies.escb2 import ESCB2
    from setwise.policies.interleaved_filter import InterleavedFilter
    from setwise.policies.kl_moss import KLMOSS
    from setwise.policies.kl_ucb import KLUCB
    from setwise.policies.lsb_greedy import LSBGreedy
    from setwise.policies.max_min_ucb import MaxMinUCB
    from setwise.policies.mnl_thompson import MNLThompson
    from setwise.policies.mnl_ucb import MNLUCB
    from setwise.policies.multi_dueling import MultiDueling
    from setwise.policies.oracle import Oracle
    from setwise.policies.rec_max_min_ucb import RecMaxMinUCB
    from setwise.policies.rucb import RUCB
    from setwise.policies.self_sparring import SelfSparring
    from setwise.policies.sparring import Sparring
    from setwise.policies.stagewise_elimination import StagewiseElimination
    from setwise.policies.thompson import Thompson
    from setwise.policies.ucb import UCB
    from setwise.policies.ucb_v import UCBV
    from setwise.policies.uniform import Uniform
    from setwise.policies.winner_beats_all import WinnerBeatsAll

NAMES = {
    "ucb": "UCB",
    "kl-ucb": "KLUCB",
    "kl-moss": "KLMOSS",
    "ucb-v": "UCBV",
    "anytime-ucb": "AnytimeUCB",
    "doubling": "Doubling",
    "thompson": "Thompson",
    "cucb": "CUCB",
    "comb-ucb1": "CombUCB1",
    "escb1": "ESCB1",
    "escb2": "ESCB2",
    "mnl-thompson": "MNLThompson",
    "mnl-ucb": "MNLUCB",
    "max-min-ucb": "MaxMinUCB",
    "rec-max-min-ucb": "RecMaxMinUCB",
    "winner-beats-all": "WinnerBeatsAll",
    "stagewise-elimination": "StagewiseElimination",
    "sparring": "Sparring",
    "rucb": "RUCB",
    "interleaved-filter": "InterleavedFilter",
    "beat-the-mean": "BeatTheMean",
    "multi-dueling": "MultiDueling",
    "self-sparring": "SelfSparring",
    "battling-doubler": "BattlingDoubler",
    "battling-multi-sbm": "BattlingMultiSBM",
    "battling-duel": "BattlingDuel",
    "lsb-greedy": "LSBGreedy",
    "epsilon-greedy": "EpsilonGreedy",
    "uniform": "Uniform",
    "oracle": "Oracle",
}

__all__ = [
    "CUCB",
    "ESCB1",
    "ESCB2",
    "KLMOSS",
    "KLUCB",
    "MNLUCB",
    "POLICIES",
    "RUCB",
    "UCB",
    "UCBV",
    "AnytimeUCB",
    "BattlingDoubler",
    "BattlingDuel",
    "BattlingMultiSBM",
    "BeatTheMean",
    "CombUCB1",
    "Doubling",
    "EpsilonGreedy",
    "InterleavedFilter",
    "LSBGreedy",
    "MNLThompson",
    "MaxMinUCB",
    "MultiDueling",
    "Oracle",
    "RecMaxMinUCB",
    "SelfSparring",
    "Sparring",
    "StagewiseElimination",
    "Thompson",
    "Uniform",
    "WinnerBeatsAll",
]


class Policies(Mapping[str, Any]):
    """The classes by their names on the command line."""

    def __getitem__(self, name: str) -> Any:
        return __getattr__(NAMES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


POLICIES = Policies()


def __getattr__(name: str) -> Any:
    for spoken, known in NAMES.items():
        if known == name:
            return getattr(import_module(f"setwise.policies.{spoken.replace('-', '_')}"), name)
    raise AttributeError(f"module 'setwise.policies' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All policies, also those that were not loaded yet."""
    return sorted({*globals(), *__all__})
