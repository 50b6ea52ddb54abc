"""Anytime UCB for sets: the k arms of largest upper confidence bound, with log t in place of log T.

In round t, with N(a) the plays of arm a, C(a) the sum of its rewards and B the largest reward,

1. set for every arm, not only those just played,

       index(a) = C(a) / N(a) + B sqrt(alpha log t / N(a)),

   or infinity if it was never played;
2. play the k arms of largest index, ties broken uniformly at random.

No horizon is needed. But the index of an arm that is not chosen grows, so the upper half of the paper's Lemma 1 fails,
and with it the paper's proof. `Doubling(restart=True)` needs no horizon either and keeps the lemma within each phase.

Auer, Cesa-Bianchi, Fischer: Finite-Time Analysis of the Multiarmed Bandit Problem (2002), whose UCB1 has alpha = 2.

Adaptation: plays the k best arms instead of one.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.topk import top_k
from setwise.policies._frozen import count_round, larger_state, select_available, write_indices
from setwise.types import Bools, Floats, Generator, Ints
from setwise.validation import Positive


class AnytimeState(NamedTuple):
    """State of policies that recompute all indices in every round.

    pulls, reward, indices: N, C and the index for the coming round, of every arm
    rounds: rounds played
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
    assumptions="each arm has a mean of its own",
    regret_bound="O(n log T / epsilon) for k = 1",
    adaptation="The k best arms in place of one.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
)
class AnytimeUCB(NamedTuple):
    """Play the k arms of largest C/N + B sqrt(alpha log t / N), recomputing all indices in every round t.

    alpha: how much to explore
    bound: B, the largest reward an arm can earn in one round
    """

    alpha: Positive = 2.0
    bound: Positive = 1.0

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

    def select_from(self, state: AnytimeState, available: Bools, rng: Generator) -> Ints:
        return select_available(state, available, rng)

    def grow(self, state: AnytimeState, n: int, rng: Generator) -> AnytimeState:
        return larger_state(state, n)


def anytime_state(n: int, k: int) -> AnytimeState:
    """Return the state before the first round: every index is infinite."""
    return AnytimeState(
        pulls=np.zeros(n, np.int64),
        reward=np.zeros(n),
        indices=np.full(n, np.inf),
        rounds=np.zeros(1, np.int64),
        chosen=np.arange(k),
        best=np.zeros(k),
    )


def set_indices(state: AnytimeState, level: float, most: float) -> None:
    """Set the index min(most, C/N + sqrt(level / N)) of every arm that was played.

    The loop has no branches, so that it vectorizes.
    """
    for arm in range(len(state.pulls)):
        pulls = float(max(state.pulls[arm], 1))
        value = min(most, state.reward[arm] / pulls + math.sqrt(level / pulls))
        state.indices[arm] = value if state.pulls[arm] > 0 else state.indices[arm]
