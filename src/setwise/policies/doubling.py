"""Doubling: run a policy that needs a horizon without knowing it, by doubling the horizon.

1. Play the policy with the first horizon m.
2. When the horizon is reached, double it. Either keep the plays and rewards of all arms and recompute all indices (the
   horizons are then the rounds m, 2m, 4m, ...), or restart from scratch (the phases are then m, 2m, 4m, ... rounds
   long).

Textbooks and proofs restart. Then a bound c sqrt(T) of the base grows by a constant factor. A bound c log T becomes
c log^2 T up to a constant: each of about log2 T phases costs up to c log T. In practice it is better to keep the
statistics, so that is the default; these bounds are not about it. Within a phase indices stay, so the upper half of the
paper's Lemma 1 holds there as for the base policy. The lower half needs `restart`: if counts are kept, all indices
change between two phases.

Besson, Kaufmann: What Doubling Tricks Can and Can't Do for Multi-Armed Bandits (2018), with their history.

Adaptation: keeps the statistics by default.
"""

import functools
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.policies.ucb import UCB
from setwise.types import Bools, Floats, Generator, InputError, Ints
from setwise.validation import Range, shown

NEEDED = ("set_horizon", "certain_rounds", "update_many", "indices", "select_from", "grow")


class DoublingState(NamedTuple):
    """State of the base policy, and its phase.

    base: the state of the base policy
    rounds: rounds played
    phase: the round in which the phase ends, and the horizon of the phase
    """

    base: Any
    rounds: Ints
    phase: Ints


def infinite_without(method: Callable[..., float]) -> Any:
    """Let a method of Doubling return infinity if its base has no such method, the contract's default.

    Compiled code calls the default by itself.
    """

    @functools.wraps(method)
    def found(self: Any, *args: Any) -> float:
        return method(self, *args) if hasattr(self.base, method.__name__) else np.inf

    found.__declared__ = method  # type: ignore[attr-defined]
    return found


@policy(
    title="Doubling",
    reference="Besson, Kaufmann 2018",
    assumptions="those of the policy that is played",
    regret_bound="that of its base, times log T for log T bounds and a constant for sqrt(T) bounds, if it restarts",
    if_assumption_fails="as its base",
    adaptation="Plays and rewards are kept when the horizon doubles, unless restart is asked for.",
    set_dependent="as its base",
    ordered_sets=False,
)
class Doubling(NamedTuple):
    """Play a policy with a horizon that doubles whenever it is reached; the horizon given to `init` is ignored.

    base: the policy, which must support `set_horizon`: UCB, KLUCB, KLMOSS, UCBV
    restart: whether to restart from scratch at every doubling
    first: the first horizon
    """

    base: Any = UCB()
    restart: bool = False
    first: Annotated[int, Range(1, 1e12)] = 2

    def check(self) -> None:
        if isinstance(self.base, type):
            name = self.base.__name__
            raise InputError(f"Doubling: base is the class {name}; give an object of it, {name}()")
        if not hasattr(self.base, "select"):
            raise InputError(f"Doubling: base is {shown(self.base)}, which is not a policy; give one, such as UCB()")
        lacking = [name for name in NEEDED if not hasattr(self.base, name)]
        if lacking:
            raise InputError(
                f"Doubling: base is {type(self.base).__name__}, which has no method {lacking[0]}, and whose horizon "
                "cannot be changed; use UCB(), KLUCB(), KLMOSS() or UCBV()"
            )

    @property
    def bound(self) -> float:
        """The largest reward."""
        return float(self.base.bound)

    @property
    def binary_blocks(self) -> bool:
        """Whether `update_many` is exact only for rewards of 0 and 1."""
        return bool(self.base.binary_blocks)

    @property
    def missing(self) -> bool:
        """Whether it accepts rewards that are not observed."""
        return bool(getattr(self.base, "missing", False))

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> DoublingState:
        return DoublingState(
            base=self.base.init(n, k, self.first, rng),
            rounds=np.zeros(1, np.int64),
            phase=np.full(2, self.first),
        )

    def select(self, state: DoublingState, rng: Generator) -> Ints:
        chosen: Ints = self.base.select(state.base, rng)
        return chosen

    def update(self, state: DoublingState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        self.base.update(state.base, chosen, rewards, rng)
        if phase_is_over(state, 1, self.restart):
            self.base.set_horizon(state.base, state.phase[1], not self.restart)

    def certain_rounds(self, state: DoublingState, chosen: Ints) -> int:
        rounds: int = min(self.base.certain_rounds(state.base, chosen), state.phase[0] - state.rounds[0])
        return rounds

    def update_many(self, state: DoublingState, chosen: Ints, totals: Floats, rounds: int) -> None:
        self.base.update_many(state.base, chosen, totals, rounds)
        if phase_is_over(state, rounds, self.restart):
            self.base.set_horizon(state.base, state.phase[1], not self.restart)

    @infinite_without
    def threshold(self, state: DoublingState, chosen: Ints) -> float:
        theta: float = self.base.threshold(state.base, chosen)
        return theta

    @infinite_without
    def required_reward(self, state: DoublingState, arm: int, rounds: int, until: int, theta: float) -> float:
        # After the last round of the phase the indices change, and nothing that was earned makes the set certain.
        if until >= state.phase[0] - state.rounds[0]:
            return np.inf
        required: float = self.base.required_reward(state.base, arm, rounds, until, theta)
        return required

    def indices(self, state: DoublingState, out: Floats) -> None:
        self.base.indices(state.base, out)

    def select_from(self, state: DoublingState, available: Bools, rng: Generator) -> Ints:
        chosen: Ints = self.base.select_from(state.base, available, rng)
        return chosen

    def grow(self, state: DoublingState, n: int, rng: Generator) -> DoublingState:
        return DoublingState(self.base.grow(state.base, n, rng), state.rounds.copy(), state.phase.copy())


def phase_is_over(state: DoublingState, rounds: int, restart: bool) -> bool:
    """Count rounds; return whether the phase is over, after starting the next one."""
    state.rounds[0] += rounds
    over = False
    while state.rounds[0] >= state.phase[0]:
        state.phase[1] *= 2
        state.phase[0] = state.phase[0] + state.phase[1] if restart else state.phase[1]
        over = True
    return over
