"""Shared by policies that have an index per arm: counts, growth, and rounds in which the set is certain.

If the index of an arm does not change while the arm is not chosen, theta, the largest index outside the set, is
constant while the set is played. So the set is certain as long as all its arms are certain to stay above theta.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np

from setwise.kernels.ranking import Ranking, new_ranking
from setwise.kernels.topk import top_k_among
from setwise.types import Bools, Floats, Generator, InputError, Ints

FOREVER = 1 << 62  # rounds of a set that never changes
ABOVE = 1.0 + 1e-12  # margin above theta that covers rounding errors

StateOf = TypeVar("StateOf", bound=Any)


class FrozenState(NamedTuple):
    """State of policies whose indices change only when played.

    pulls, reward, indices: N, C and the index of every arm
    ranking: of the arms by index
    chosen, best: buffers for a set and its indices
    level: terms of the index that depend on the horizon
    """

    pulls: Ints
    reward: Floats
    indices: Floats
    ranking: Ranking
    chosen: Ints
    best: Floats
    level: Floats


def new_state(n: int, k: int, *level: float) -> FrozenState:
    """Return the state before the first round: every index is infinite."""
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


UNPLAYED = {  # the entries of an arm that was never played, by the field of the state
    "pulls": 0,
    "reward": 0.0,
    "squares": 0.0,
    "successes": 0.0,
    "failures": 0.0,
    "means": 0.0,
    "widths": 0.0,
    "indices": np.inf,
}


def larger_state(state: StateOf, n: int) -> StateOf:
    """Return a copy with n arms, the new ones never played."""
    fields: dict[str, Any] = {
        name: value.copy() for name, value in state._asdict().items() if isinstance(value, np.ndarray)
    }
    by_arm = [name for name in UNPLAYED if name in fields]
    before = len(fields[by_arm[0]])
    check_growth(before, n)
    for name in by_arm:
        fields[name] = np.concatenate((fields[name], np.full(n - before, UNPLAYED[name])))
    if "ranking" in state._fields:
        fields["ranking"] = new_ranking(fields["indices"], len(state.chosen))
    larger: StateOf = state._replace(**fields)
    return larger


def check_growth(before: int, n: int) -> None:
    """Raise an error if there would be fewer arms than before."""
    if n < before:
        raise InputError(f"n={n} is less than the {before} arms there are; arms are added, never taken away")


def count_rounds(state: Any, chosen: Ints, totals: Floats, rounds: int) -> None:
    """Add the plays and rewards of some rounds."""
    state.rounds[0] += rounds
    for j in range(len(chosen)):
        state.pulls[chosen[j]] += rounds
        state.reward[chosen[j]] += totals[j]


def select_available(state: Any, available: Bools, rng: Generator) -> Ints:
    """Return the available arms of largest index."""
    chosen: Ints = state.chosen
    found = top_k_among(state.indices, available, chosen, state.best, rng)
    return chosen[:found]


def write_indices(state: Any, out: Floats) -> None:
    """Copy the indices."""
    for arm in range(len(out)):
        out[arm] = state.indices[arm]


def reset(state: Any) -> None:
    """Reset every arm to before the first round; call `rerank_all` afterwards."""
    for arm in range(len(state.pulls)):
        state.pulls[arm] = 0
        state.reward[arm] = 0.0
        state.indices[arm] = np.inf


def rerank_all(state: Any) -> None:
    """Report to the ranking that every index may have changed; one arm at a time, so that none passes for the set."""
    for arm in range(len(state.indices)):
        state.chosen[0] = arm
        state.ranking.moved(state.indices, state.chosen[:1])


def falls_at_once(pulls: int, index: float, theta: float) -> bool:
    """Whether one round without a reward takes an arm to theta or below: a cheap test, which may miss it.

    An index U = C / N + w / sqrt(N) becomes (N U + w (sqrt(N + 1) - sqrt(N))) / (N + 1), and w / sqrt(N) <= U, so that
    it is at most U (N + 1/2) / (N + 1).
    """
    return index * (pulls + 0.5) <= theta * (pulls + 1.0)


def safe_rounds(pulls: int, index: float, theta: float) -> float:
    """Return how many further rounds an arm stays above theta whatever it earns, if N U never decreases.

    U is its index; after m rounds it is then at least N U / (N + m).
    """
    return pulls * (index / (theta * ABOVE) - 1.0)
