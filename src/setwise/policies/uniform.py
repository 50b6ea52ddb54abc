"""Play a random set in every round: the baseline that learns nothing.

In each round play k of the n arms, every set equally likely, whatever the rewards so far.
"""

from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.random_set import random_set
from setwise.kernels.topk import top_k_among
from setwise.policies._frozen import check_growth
from setwise.types import Bools, Floats, Generator, Ints


class UniformState(NamedTuple):
    """Buffers: there is nothing to learn.

    arms: all arms, to draw from
    chosen: buffer for a set
    """

    arms: Ints
    chosen: Ints


@policy(
    title="Uniformly random sets",
    reference="a baseline",
    feedback=("choice", "independent", "total"),
    assumptions="none",
    regret_bound="O(T)",
    if_assumption_fails="no effect: linear regret anyway",
    set_dependent="yes",
    ordered_sets=False,
    missing=True,
)
class Uniform(NamedTuple):
    """Play a uniformly random set of k arms. A round costs O(k)."""

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> UniformState:
        return UniformState(arms=np.arange(n), chosen=np.arange(k))

    def select(self, state: UniformState, rng: Generator) -> Ints:
        random_set(state.arms, state.chosen, rng)
        return state.chosen

    def update(self, state: UniformState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        pass

    def select_from(self, state: UniformState, available: Bools, rng: Generator) -> Ints:
        alike = np.zeros(len(available))
        found = top_k_among(alike, available, state.chosen, np.zeros(len(state.chosen)), rng)
        return state.chosen[:found]

    def grow(self, state: UniformState, n: int, rng: Generator) -> UniformState:
        check_growth(len(state.arms), n)
        return UniformState(arms=np.arange(n), chosen=state.chosen)
