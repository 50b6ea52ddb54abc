"""Anytime UCB for sets: the k arms of largest upper confidence bound, with log t in place of log T.

In round t, with N(a) the plays of arm a, C(a) the sum of its rewards and B the largest reward,

1. set for every arm, played last or not,

       index(a) = C(a) / N(a) + B sqrt(alpha log t / N(a)),

   and infinity if it was never played;
2. play the k arms of largest index, ties broken uniformly at random.

No horizon is needed. But the index of an arm that is not chosen grows, so the upper half of the paper's Lemma 1 fails,
and with it the paper's proof. `Doubling(restart=True)` does without a horizon and keeps the lemma within each phase.

Auer, Cesa-Bianchi, Fischer: Finite-Time Analysis of the Multiarmed Bandit Problem (2002), whose UCB1 has alpha = 2.

Adaptation: the k best arms in place of one.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setwise.declare import check_range, policy
from setwise.kernels.topk import top_k
from setwise.policies.frozen import larger_state, select_available, write_indices
from setwise.types import Floats, Generator, Ints


class AnytimeState(NamedTuple):
    """What is known of the arms.

    pulls, reward, indices: of every arm, N, C and the index for the round at hand
    rounds: how many rounds were played
    chosen, best: buffers for a set and its indices
    """

    pulls: Ints
    reward: Floats
    indices: Floats
    rounds: Ints
    chosen: Ints
    best: Floats


@policy(
    title="anytime UCB for sets",
    reference="Auer, Cesa-Bianchi, Fischer 2002",
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="each arm has a mean of its own",
    regret_bound="O(n log T / epsilon) for k = 1",
    original=False,
    adaptation="The k best arms in place of one.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
)
class AnytimeUCB(NamedTuple):
    """Play the k arms of largest C/N + B sqrt(alpha log t / N), with all indices set anew in every round t.

    alpha: how much to explore
    bound: B, the largest reward an arm can earn in one round
    """

    alpha: float = 2.0
    bound: float = 1.0

    def check(self) -> None:
        check_range("AnytimeUCB: alpha", self.alpha, 0.0, math.inf, strict=True)
        check_range("AnytimeUCB: bound", self.bound, 0.0, math.inf, strict=True)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> AnytimeState:
        return anytime_state(n, k)

    def select(self, state: AnytimeState, rng: Generator) -> Ints:
        top_k(state.indices, state.chosen, state.best, rng)
        return state.chosen

    def update(self, state: AnytimeState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        count_round(state, chosen, rewards)
        set_indices(state, self.bound * self.bound * self.alpha * math.log(state.rounds[0] + 1), math.inf)

    def indices(self, state: AnytimeState, out: Floats) -> None:
        write_indices(state, out)

    def select_from(self, state: AnytimeState, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
        return select_available(state, available, rng)

    def grow(self, state: AnytimeState, n: int, rng: Generator) -> AnytimeState:
        return larger_state(state, n)


def anytime_state(n: int, k: int) -> AnytimeState:
    """The state before the first round: every index is infinite."""
    return AnytimeState(
        pulls=np.zeros(n, np.int64),
        reward=np.zeros(n),
        indices=np.full(n, np.inf),
        rounds=np.zeros(1, np.int64),
        chosen=np.arange(k),
        best=np.zeros(k),
    )


def count_round(state: AnytimeState, chosen: Ints, rewards: Floats) -> None:
    """Add one round to the arms of its set."""
    state.rounds[0] += 1
    for j in range(len(chosen)):
        state.pulls[chosen[j]] += 1
        state.reward[chosen[j]] += rewards[j]


def set_indices(state: AnytimeState, level: float, most: float) -> None:
    """Set C/N + sqrt(level / N), but at most `most`, for every arm that was played.

    All arms are treated alike, without a branch, so that the processor can take several at once.
    """
    for arm in range(len(state.pulls)):
        pulls = float(max(state.pulls[arm], 1))
        value = min(most, state.reward[arm] / pulls + math.sqrt(level / pulls))
        state.indices[arm] = value if state.pulls[arm] > 0 else state.indices[arm]
