"""Thompson sampling for the multinomial logit: the k arms of largest sampled weight.

An epoch plays the same set until a round in which nothing is chosen. For arm a let T(a) be the finished epochs that
offered it, and C(a) its purchases in them. Before each epoch sample the weight of every arm, and play the k arms of
largest sample for the epoch. There are two ways to sample.

Beta, the default: draw theta from Beta(1 + T(a), 1 + C(a)); the weight is 1 / theta - 1.

Gaussian and correlated: draw k standard normal numbers, and let z be the largest, the same for all arms. With
v(a) = C(a) / T(a) and the horizon H, the weight is v(a) + z sigma(a), at most 1, where

    sigma(a) = sqrt(50 v(a) (v(a) + 1) / T(a)) + 75 sqrt(log(H k)) / T(a)

and the first epochs offer every arm once.

Agrawal, Avadhanula, Goyal, Zeevi 2017, "Thompson sampling for the MNL-bandit".

Adaptation: the original offers at most k arms; with equal revenues these are k if the samples are positive, and here
always k. Its Gaussian form begins with an epoch for each single arm, here with ceil(n / k) epochs of k arms each, the
last filled up at random.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.topk import top_k
from setwise.policies._epochs import EpochState, add_purchases, ends_epoch, new_epochs
from setwise.types import Floats, Generator, Ints

LEAST_THETA = 1e-12  # a sample can be 0 by underflow


def gaussian_weight(purchases: float, offers: int, level: float, z: float) -> float:
    """Return v + z sigma, not capped at 1.

    >>> round(gaussian_weight(100.0, 400, math.sqrt(math.log(10**4 * 10)), 1.5), 7)
    1.5007645
    """
    weight = purchases / offers
    return weight + z * (math.sqrt(50.0 * weight * (weight + 1.0) / offers) + 75.0 * level / offers)


@policy(
    title="Thompson sampling for the multinomial logit",
    reference="Agrawal, Avadhanula, Goyal, Zeevi 2017",
    feedback=("choice",),
    needs_outside_option=True,
    assumptions="multinomial logit, no weight above that of the outside option",
    regret_bound="O(sqrt(n T) log(k T)) for the Gaussian form",
    if_assumption_fails="linear regret in general",
    adaptation="Sets always have k arms, also in the first epochs of the Gaussian form, which offered single arms.",
    set_dependent="MNL",
    total_order=True,
    ordered_sets=False,
    epochs=True,
)
class MNLThompson(NamedTuple):
    """Keep the k arms of largest sampled weight until nothing is chosen.

    A round costs O(k), the last of an epoch O(n). Late feedback on another set is ignored. Under other choice models,
    the estimated weight of an arm depends on the rest of the set.

    gaussian: whether samples are Gaussian and correlated, as in the theorem, instead of Beta
    """

    gaussian: bool = False

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> EpochState:
        state = new_epochs(n, k, 0.0, math.sqrt(math.log(horizon * k)))
        begin_epoch(self.gaussian, state, rng)
        return state

    def select(self, state: EpochState, rng: Generator) -> Ints:
        return state.chosen

    def update(self, state: EpochState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        if ends_epoch(state, chosen, rewards):
            begin_epoch(self.gaussian, state, rng)

    def certain_rounds(self, state: EpochState, chosen: Ints) -> int:
        return 1

    def update_many(self, state: EpochState, chosen: Ints, totals: Floats, rounds: int) -> None:
        add_purchases(state, chosen, totals)


def begin_epoch(gaussian: bool, state: EpochState, rng: Generator) -> None:
    """Sample the weight of every arm and choose the k largest."""
    n = len(state.offers)
    if not gaussian:
        for arm in range(n):
            theta = rng.beta(1.0 + state.offers[arm], 1.0 + state.purchases[arm])
            state.indices[arm] = 1.0 / max(theta, LEAST_THETA) - 1.0
    elif any_new(state.offers):
        for arm in range(n):
            state.indices[arm] = np.inf if state.offers[arm] == 0 else 0.0
    else:
        z = -np.inf
        for _ in range(len(state.chosen)):
            z = max(z, rng.standard_normal())
        for arm in range(n):
            weight = gaussian_weight(state.purchases[arm], state.offers[arm], state.level[0], z)
            state.indices[arm] = min(weight, 1.0)
    top_k(state.indices, state.chosen, state.best, rng)


def any_new(offers: Ints) -> bool:
    """Return whether some arm was never offered."""
    for arm in range(len(offers)):
        if offers[arm] == 0:
            return True
    return False
