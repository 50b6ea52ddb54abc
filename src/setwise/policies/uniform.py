"""Play a set at random, every round another: the baseline that learns nothing.

In each round play k of the n arms, every set equally likely, whatever was earned before.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setwise.declare import policy
from setwise.kernels.random_set import random_set
from setwise.kernels.topk import top_k_among
from setwise.types import Floats, Generator, InputError, Ints


class UniformState(NamedTuple):
    """Nothing is known.

    arms: all of them, to draw from
    chosen: buffer for a set
    """

    arms: Ints
    chosen: Ints


@policy(
    title="Uniformly random sets",
    reference="a baseline",
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="none",
    regret_bound="O(T)",
    original=True,
    set_dependent="yes",
    total_order=False,
    ordered_sets=False,
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

    def select_from(self, state: UniformState, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
        alike = np.zeros(len(available))
        found = top_k_among(alike, available, state.chosen, np.zeros(len(state.chosen)), rng)
        return state.chosen[:found]

    def grow(self, state: UniformState, n: int, rng: Generator) -> UniformState:
        if n < len(state.arms):
            raise InputError(
                f"n={n} is less than the {len(state.arms)} arms there are; arms are added, never taken away"
            )
        return UniformState(arms=np.arange(n), chosen=state.chosen)
