"""The contract between policies, environments and the simulation loop."""

import enum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from setwise.errors import InputError as InputError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
State = Any  # a NamedTuple of arrays, defined by the policy

if TYPE_CHECKING:
    Generator = np.random.Generator
else:
    Generator = Any  # NumPy loads its random module on first use, and so do we


class Feedback(enum.IntEnum):
    """Feedback of a round: `choice`, at most one arm is rewarded; `independent`, each arm independently; `total`, only
    the total of the set is observed, and every arm's reward is an equal share of it.
    """

    choice = 0
    independent = 1
    total = 2

    @classmethod
    def _missing_(cls, value: object) -> "Feedback":
        if isinstance(value, str) and value in cls.__members__:
            return cls[value]
        raise InputError(f"feedback is {value!r}; it can be 'choice' or 'independent'")

    def __eq__(self, other: object) -> bool:
        return self.name == other if isinstance(other, str) else self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return repr(self.name)

    def __str__(self) -> str:
        return self.name


class Policy(Protocol):
    """A rule that chooses sets: a NamedTuple of parameters with these methods, e.g. `UCB(alpha=2.0)`."""

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> State:
        """Return the state before the first round: a NamedTuple of arrays; a counter is an array of length 1."""

    def select(self, state: State, rng: Generator) -> Ints:
        """Return k distinct arms in any order, possibly as a buffer valid until the next call. Must not learn."""

    def update(self, state: State, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        """Learn from one round in place; `rewards` is aligned with `chosen`."""


class PolicyOptions(Protocol):
    """Optional methods of a policy; the bodies are the defaults."""

    def certain_rounds(self, state: State, chosen: Ints) -> int:
        """Return for how many rounds, including this one, the selected set is certain to stay."""
        return 1

    def update_many(self, state: State, chosen: Ints, totals: Floats, rounds: int) -> None:
        """Learn from many rounds of one set at once; `totals` is the sum of their rewards."""
        raise NotImplementedError("update_many")

    def threshold(self, state: State, chosen: Ints) -> float:
        """Return the largest index outside the selected set; infinite if there is none or it is unknown."""
        return np.inf

    def required_reward(self, state: State, arm: int, rounds: int, until: int, theta: float) -> float:
        """Return the least total reward in the next `rounds` rounds that keeps a chosen arm above theta for certain.

        It never falls as `until` grows, and is convex in the rounds up to `until`, except for rounding (0.005).
        """
        return np.inf

    def indices(self, state: State, out: Floats) -> None:
        """Write the index of every arm, for recording."""
        raise NotImplementedError("indices")

    def select_from(self, state: State, available: Bools, rng: Generator) -> Ints:
        """Select like `select`, among the available arms."""

    def recommend(self, state: State, available: Bools) -> Ints:
        """Return the k arms to show if learning stopped now, among the available; no arms if it cannot say.

        Called only if at least k arms are available. It changes nothing, and is never compiled.
        """

    def grow(self, state: State, n: int, rng: Generator) -> State:
        """Return the state extended to n arms, the new ones never played."""

    def set_horizon(self, state: State, horizon: int, keep: bool) -> None:
        """Continue with another horizon, in place; keep the learned state, or reset to before the first round."""
        raise NotImplementedError("set_horizon")


class Environment(Protocol):
    """A reward model for sets: a NamedTuple with these methods and `n` and `k`, e.g. `MNL(values, k=10)`."""

    def means(self, chosen: Ints, out: Floats) -> None:
        """Write P(a|s), the expected reward of each chosen arm a in the chosen set s."""

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        """Write the rewards of one round."""

    def best(self) -> Ints:
        """Return the optimal set."""


class EnvironmentOptions(Protocol):
    """Optional methods of an environment; the bodies are the defaults."""

    def draw_many(self, chosen: Ints, rounds: int, rng: Generator, totals: Floats) -> None:
        """Write the sum of the rewards of many rounds of one set, drawn exactly.

        `@environment` adds this method to environments with 0/1 rewards.
        """
        raise NotImplementedError("draw_many")

    def value(self, chosen: Ints) -> float:
        """Return the set's value by which regret is counted, instead of the sum of its means; `best()` has the largest.

        Duels count regret in this way: one arm of every pair wins, so that the means of all pairs have the same sum.
        """
        return 0.0

    def surrogate(self, chosen: Ints) -> float:
        """Return the set's value by which a publication measured regret, in place of the expected reward."""
        return 0.0

    def gaps(self) -> tuple[float, float]:
        """Return the least positive and the largest gap between the optimal set and another."""
        return (0.0, 0.0)
