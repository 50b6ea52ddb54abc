"""What policies share in which an arm's index stays exactly as it is while the arm is not chosen.

In such a policy theta, the largest index outside the set, does not move while the set is played. So the set is
certain for as long as every arm of it is certain to stay above theta.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from setwise.kernels.ranking import new_ranking
from setwise.kernels.topk import top_k_among
from setwise.types import Floats, Generator, InputError, Ints

FOREVER = 1 << 62  # a hold without an end
ABOVE = 1.0 + 1e-12  # how far an index has to stay above theta for rounding to be out of the question

StateOf = TypeVar("StateOf", bound=Any)


class FrozenState(NamedTuple):
    """What is known of the arms.

    pulls, reward, indices: of every arm, N, C and the index
    ranking: of the arms by their index
    chosen, best: buffers for a set and its indices
    level: what the index takes from the horizon
    """

    pulls: Ints
    reward: Floats
    indices: Floats
    ranking: Any
    chosen: Ints
    best: Floats
    level: Floats


def new_state(n: int, k: int, *level: float) -> FrozenState:
    """The state before the first round: every index is infinite."""
    indices = np.full(n, np.inf)
    return FrozenState(
        pulls=np.zeros(n, np.int64),
        reward=np.zeros(n),
        indices=indices,
        ranking=new_ranking(indices, k),
        chosen=np.arange(k),
        best=np.zeros(k),
        level=np.array(level),
    )


def larger_state(state: StateOf, n: int) -> StateOf:
    """A copy with n arms, the new ones never played."""
    before = len(state.pulls)
    if n < before:
        raise InputError(f"n={n} is less than the {before} arms there are; arms are added, never taken away")
    grown: dict[str, Any] = {name: np.array(getattr(state, name)) for name in state._fields if name != "ranking"}
    for name, nothing in (("pulls", 0), ("reward", 0.0), ("squares", 0.0), ("indices", np.inf)):
        if name in grown:
            grown[name] = np.concatenate((grown[name], np.full(n - before, nothing)))
    if "ranking" in state._fields:
        grown["ranking"] = new_ranking(grown["indices"], len(state.chosen))
    return state._replace(**grown)  # type: ignore[no-any-return]


def select_available(state: Any, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
    """The available arms of largest index."""
    found = top_k_among(state.indices, available, state.chosen, state.best, rng)
    return state.chosen[:found]  # type: ignore[no-any-return]


def write_indices(state: Any, out: Floats) -> None:
    """Copy the indices."""
    for arm in range(len(out)):
        out[arm] = state.indices[arm]


def forget(state: Any) -> None:
    """Every arm as before the first round; its rank is left to `rank_anew`."""
    for arm in range(len(state.pulls)):
        state.pulls[arm] = 0
        state.reward[arm] = 0.0
        state.indices[arm] = np.inf


def rank_anew(state: Any) -> None:
    """Tell the ranking that every index may have changed: of arm by arm, so that none can be taken for the set."""
    for arm in range(len(state.indices)):
        state.chosen[0] = arm
        state.ranking.moved(state.indices, state.chosen[:1])


def certain_rounds(pulls: int, index: float, theta: float) -> float:
    """How many further rounds an arm is above theta whatever it earns, if N times its index never falls.

    For then the index after m rounds is at least N U / (N + m).
    """
    return pulls * (index / (theta * ABOVE) - 1.0)
