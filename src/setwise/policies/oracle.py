"""Play a given set forever: with the best set, a baseline without regret."""

from typing import Any, NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.policies._frozen import FOREVER
from setwise.types import Floats, Generator, InputError, Ints


class OracleState(NamedTuple):
    """State of the oracle.

    chosen: the set
    """

    chosen: Ints


@policy(
    title="Oracle",
    reference="a baseline",
    feedback=("choice", "independent", "total"),
    assumptions="the best set is known",
    regret_bound="0",
    if_assumption_fails="no effect: knows the best set",
    set_dependent="yes",
    ordered_sets=False,
    missing=True,
)
class Oracle(NamedTuple):
    """Play the given arms in every round.

    arms: the set, of distinct arms; `Oracle.for_world(world)` takes the best one
    pad: whether the set needs k arms; if not, it may have fewer, such as one arm that meets itself

    >>> Oracle([4, 1])
    Oracle(arms=[4, 1])
    """

    arms: Ints
    pad: bool = True

    def check(self) -> None:
        if self.arms.ndim != 1 or len(self.arms) == 0:
            raise InputError(f"Oracle: arms has the shape {self.arms.shape}; give a list with the arms of a set")
        if min(self.arms) < 0:
            raise InputError(f"Oracle: arms has the arm {min(self.arms)}; arms are numbered from 0")
        given, times = np.unique(self.arms, return_counts=True)
        if max(times) > 1:
            raise InputError(f"Oracle: arms has arm {given[times > 1][0]} more than once; a set has distinct arms")

    @classmethod
    def for_world(cls, environment: Any) -> "Oracle":
        """Return the oracle that plays the world's best set."""
        best = environment.best()
        return cls(best, pad=len(best) == environment.k)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> OracleState:
        if len(self.arms) > k or (self.pad and len(self.arms) < k):
            raise InputError(f"Oracle: arms has {len(self.arms)} arms; a set has k={k} here")
        if max(self.arms) >= n:
            raise InputError(f"Oracle: arms has the arm {max(self.arms)}; arms are numbered from 0 to {n - 1} here")
        return OracleState(chosen=np.array(self.arms))

    def select(self, state: OracleState, rng: Generator) -> Ints:
        return state.chosen

    def update(self, state: OracleState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        pass

    def certain_rounds(self, state: OracleState, chosen: Ints) -> int:
        return FOREVER

    def update_many(self, state: OracleState, chosen: Ints, totals: Floats, rounds: int) -> None:
        pass
