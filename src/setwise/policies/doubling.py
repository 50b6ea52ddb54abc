"""Doubling: an unknown horizon, by playing a policy that needs one for horizons that double.

1. Play the policy with the horizon m, the first one.
2. When the horizon is over, double it. Either keep the plays and rewards of all arms and set all indices anew (then
   the horizons are the rounds m, 2m, 4m, ...), or forget everything and start again (then the phases are m, 2m, 4m, ...
   rounds long).

The textbook restarts, and so do the proofs; whoever plays for real should not forget, so keeping is the default. Within
a phase indices stay, so the upper half of the paper's Lemma 1 holds there as for the policy that is played. The lower
half needs `restart`: where counts are kept, all indices move at the border of two phases.

Besson, Kaufmann: What Doubling Tricks Can and Can't Do for Multi-Armed Bandits (2018), with their history.

Adaptation: nothing is forgotten, unless asked for.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setwise.declare import check_range, policy, shown
from setwise.policies.ucb import UCB
from setwise.types import Floats, Generator, InputError, Ints

NEEDED = ("renew", "hold", "absorb", "indices", "select_from", "grow")


class DoublingState(NamedTuple):
    """What the policy knows, and where it is.

    base: the state of the policy that is played
    rounds: how many rounds were played
    phase: how many rounds will have been played when the phase ends, and the horizon of the phase
    """

    base: Any
    rounds: Ints
    phase: Ints


@policy(
    title="Doubling",
    reference="Besson, Kaufmann 2018",
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="those of the policy that is played",
    regret_bound="that of its base, up to a constant, if it restarts",
    original=False,
    adaptation="Plays and rewards are kept when the horizon doubles, unless restart is asked for.",
    set_dependent="as its base",
    total_order=False,
    ordered_sets=False,
)
class Doubling(NamedTuple):
    """Play a policy with a horizon that doubles whenever it is over; the horizon that is told is not used.

    base: the policy, which has to be able to change its horizon: UCB, KLUCB, KLMOSS, UCBV
    restart: whether to forget everything then
    first: the first horizon
    """

    base: Any = UCB()
    restart: bool = False
    first: int = 2

    def check(self) -> None:
        check_range("Doubling: first", self.first, 1, 1e12)
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
        return self.base.bound  # type: ignore[no-any-return]

    @property
    def binary_blocks(self) -> bool:
        """Whether `absorb` is right only where rewards are 0 or 1."""
        return self.base.binary_blocks  # type: ignore[no-any-return]

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> DoublingState:
        return DoublingState(
            base=self.base.init(n, k, self.first, rng),
            rounds=np.zeros(1, np.int64),
            phase=np.full(2, self.first),
        )

    def select(self, state: DoublingState, rng: Generator) -> Ints:
        return self.base.select(state.base, rng)  # type: ignore[no-any-return]

    def update(self, state: DoublingState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        self.base.update(state.base, chosen, rewards, rng)
        if phase_is_over(state, 1, self.restart):
            self.base.renew(state.base, state.phase[1], not self.restart)

    def hold(self, state: DoublingState, chosen: Ints) -> int:
        return min(self.base.hold(state.base, chosen), state.phase[0] - state.rounds[0])  # type: ignore[no-any-return]

    def absorb(self, state: DoublingState, chosen: Ints, totals: Floats, rounds: int) -> None:
        self.base.absorb(state.base, chosen, totals, rounds)
        if phase_is_over(state, rounds, self.restart):
            self.base.renew(state.base, state.phase[1], not self.restart)

    def indices(self, state: DoublingState, out: Floats) -> None:
        self.base.indices(state.base, out)

    def select_from(self, state: DoublingState, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
        return self.base.select_from(state.base, available, rng)  # type: ignore[no-any-return]

    def grow(self, state: DoublingState, n: int, rng: Generator) -> DoublingState:
        return DoublingState(self.base.grow(state.base, n, rng), state.rounds.copy(), state.phase.copy())


def phase_is_over(state: DoublingState, rounds: int, restart: bool) -> bool:
    """Count rounds, and say whether the phase is over; then the next one begins."""
    state.rounds[0] += rounds
    over = False
    while state.rounds[0] >= state.phase[0]:
        state.phase[1] *= 2
        state.phase[0] = state.phase[0] + state.phase[1] if restart else state.phase[1]
        over = True
    return over
