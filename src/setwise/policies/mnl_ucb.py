"""Exploration-exploitation for the multinomial logit: the k arms of largest upper bound on their weight.

An epoch plays the same set until a round in which nothing is chosen. For arm a let T(a) be the finished epochs that
offered it, and v(a) its purchases in them divided by T(a), which estimates its weight if the outside option has weight
1. When the l-th epoch ends,

1. for each arm offered so far, with A = alpha log(sqrt(n) l + 1) and alpha = 48, set

       index(a) = v(a) + sqrt(v(a) A / T(a)) + A / T(a),

   capped at 1, the largest weight the analysis allows;
2. play the k arms of largest index in the next epoch, ties broken uniformly at random, arms never offered first.

Since all revenues are 1 here, this set maximises the expected revenue under the indices.

Agrawal, Avadhanula, Goyal, Zeevi 2019, "MNL-bandit: a dynamic learning approach to assortment selection".

Adaptation: the published index is not capped at 1, and that of an arm never offered is 1. An arm offered in a few
epochs is far above that, so the first set stays for hundreds of epochs; `MNLUCB(cap=False)` plays like this. The
original offers at most k arms, which with equal revenues are always k.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.topk import top_k
from setwise.policies._epochs import EpochState, add_purchases, ends_epoch, new_epochs
from setwise.policies._frozen import write_indices
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


def weight_bound(purchases: float, offers: int, level: float) -> float:
    """Return v + sqrt(v A / T) + A / T with v = purchases / T, T epochs, and the level A.

    >>> round(weight_bound(100.0, 400, 48 * math.log(math.sqrt(20) * 50 + 1)), 6)
    1.302749
    """
    weight = purchases / offers
    return weight + math.sqrt(weight * level / offers) + level / offers


@policy(
    title="UCB for the multinomial logit",
    reference="Agrawal, Avadhanula, Goyal, Zeevi 2019",
    feedback=("choice",),
    needs_outside_option=True,
    assumptions="multinomial logit, no weight above that of the outside option",
    regret_bound="O(k n log T / epsilon)",
    if_assumption_fails="linear regret in general",
    adaptation="The index is at most 1 and arms never offered come first; cap=False is as published.",
    set_dependent="MNL",
    total_order=True,
    ordered_sets=False,
    epochs=True,
)
class MNLUCB(NamedTuple):
    """Keep the k arms of largest v + sqrt(v A / T) + A / T until nothing is chosen.

    A round costs O(k), the last of an epoch O(n). Late feedback on another set is ignored. Under other choice models,
    the estimated weight of an arm depends on the rest of the set.

    cap: whether to cap indices at 1 and play arms never offered first; False is as published
    alpha: how much to explore; 48 in the theorem
    """

    cap: bool = True
    alpha: Positive = 48.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> EpochState:
        state = new_epochs(n, k, np.inf if self.cap else 1.0)
        top_k(state.indices, state.chosen, state.best, rng)
        return state

    def select(self, state: EpochState, rng: Generator) -> Ints:
        return state.chosen

    def update(self, state: EpochState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        if ends_epoch(state, chosen, rewards):
            n = len(state.indices)
            level = self.alpha * math.log(math.sqrt(n) * state.epochs[0] + 1.0)
            for arm in range(n):
                if state.offers[arm] > 0:
                    index = weight_bound(state.purchases[arm], state.offers[arm], level)
                    state.indices[arm] = min(index, 1.0) if self.cap else index
            top_k(state.indices, state.chosen, state.best, rng)

    def certain_rounds(self, state: EpochState, chosen: Ints) -> int:
        return 1

    def update_many(self, state: EpochState, chosen: Ints, totals: Floats, rounds: int) -> None:
        add_purchases(state, chosen, totals)

    def indices(self, state: EpochState, out: Floats) -> None:
        write_indices(state, out)
