"""The contract between policies, environments and the loop that plays them."""

import enum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from setwise.errors import InputError as InputError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
State = Any  # a NamedTuple of arrays, of the policy's own making

if TYPE_CHECKING:
    Generator = np.random.Generator
else:
    Generator = Any  # NumPy loads its random module on first use, and so do we


class Feedback(enum.IntEnum):
    """What a round shows: `choice`, at most one arm of the set is rewarded; `independent`, each arm by itself."""

    choice = 0
    independent = 1

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
    """Chooses sets: a NamedTuple of parameters with these methods, e.g. `UCB(alpha=2.0)`."""

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> State:
        """The state before the first round: a NamedTuple of arrays; a counter is an array of one."""

    def select(self, state: State, rng: Generator) -> Ints:
        """k distinct arms in any order; may be a view of a buffer, good until the next call. Learns nothing."""

    def update(self, state: State, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        """Learn one round in place; `rewards` is aligned with `chosen`."""


class PolicyOptions(Protocol):
    """What a policy may have besides; the bodies say what is done without."""

    def hold(self, state: State, chosen: Ints) -> int:
        """For how many rounds, this one included, the set just selected is certain to be selected."""
        return 1

    def absorb(self, state: State, chosen: Ints, totals: Floats, rounds: int) -> None:
        """Learn from that many rounds of one set at once; `totals` is the sum of their rewards."""
        raise NotImplementedError("absorb")

    def rival(self, state: State, chosen: Ints) -> float:
        """The largest index of an arm outside the set just selected; infinite if there is none, or it is not known."""
        return np.inf

    def demand(self, state: State, arm: int, rounds: int, until: int, theta: float) -> float:
        """What an arm of the set has to earn in so many further rounds at the least to be above theta for certain.

        For a larger `until` it is no less, and it is convex in the rounds up to there, but for rounding (0.005).
        """
        return np.inf

    def indices(self, state: State, out: Floats) -> None:
        """Write every arm's index, for recording."""
        raise NotImplementedError("indices")

    def select_from(self, state: State, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
        """As `select`, among the arms marked available."""

    def grow(self, state: State, n: int, rng: Generator) -> State:
        """The state with n arms, the new ones never played."""

    def renew(self, state: State, horizon: int, keep: bool) -> None:
        """Go on with another horizon, in place: keeping what is known, or as before the first round."""
        raise NotImplementedError("renew")


class Environment(Protocol):
    """The world that rewards a set: a NamedTuple with these methods, e.g. `MNL(values, k=10)`, and `n` and `k`."""

    def means(self, chosen: Ints, out: Floats) -> None:
        """Write P(a|s), the expected reward of each chosen arm a in the chosen set s."""

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        """Write the rewards of one round."""

    def best(self) -> Ints:
        """The optimal set."""


class EnvironmentOptions(Protocol):
    """What an environment may have besides; the bodies say what is done without."""

    def draw_many(self, chosen: Ints, rounds: int, rng: Generator, totals: Floats) -> None:
        """Write the sum of the rewards over that many rounds of one set: exactly, not approximately."""
        raise NotImplementedError("draw_many")

    def surrogate(self, chosen: Ints) -> float:
        """A value of the set by which a publication measured regret in place of the expected reward."""
        return 0.0

    def gaps(self) -> tuple[float, float]:
        """The least positive and the largest gap between the optimal set and another."""
        return (0.0, 0.0)
