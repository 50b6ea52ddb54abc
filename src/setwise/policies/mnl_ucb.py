"""Exploration-exploitation for the multinomial logit: the k arms of largest upper bound on their weight.

A set is kept until a round in which nothing is chosen; these rounds are an epoch. For arm a let T(a) be the finished
epochs that offered it, and v(a) its purchases in them divided by T(a), which estimates its weight if the outside option
has weight 1. When the l-th epoch of all ends,

1. for each arm offered so far, with A = alpha log(sqrt(n) l + 1) and alpha = 48, set

       index(a) = v(a) + sqrt(v(a) A / T(a)) + A / T(a),

   at most 1, which is the largest weight the analysis allows;
2. keep the k arms of largest index for the next epoch, ties broken uniformly at random, arms never offered first.

The same set maximises the expected revenue that the indices promise, because all revenues are 1 here.

Agrawal, Avadhanula, Goyal, Zeevi 2019, "MNL-bandit: a dynamic learning approach to assortment selection".

Adaptation: the published index is not cut off at 1, and that of an arm never offered is 1. An arm offered in a few
epochs is far above that, so that the first set stays for hundreds of epochs: `MNLUCB(cap=False)` plays so. The original
offers at most k arms, which with equal revenues are always k.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import check_range, policy
from setwise.kernels.topk import top_k
from setwise.policies.epochs import add_purchases, ends_epoch
from setwise.types import Floats, Generator, Ints


class MNLUCBState(NamedTuple):
    """What the policy knows.

    offers, purchases: of every arm, the finished epochs that offered it, and its purchases in them
    bought: of every arm, its purchases in the epoch under way
    indices: of every arm
    epochs: how many are finished
    chosen: the set of the epoch
    best: buffer for its indices
    """

    offers: Ints
    purchases: Floats
    bought: Floats
    indices: Floats
    epochs: Ints
    chosen: Ints
    best: Floats


def weight_bound(purchases: float, offers: int, level: float) -> float:
    """v + sqrt(v A / T) + A / T with v = purchases / T, T epochs, and the level A.

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
    fixed_size=True,
    assumptions="multinomial logit, no weight above that of the outside option",
    regret_bound="O(k n log T / epsilon)",
    original=False,
    adaptation="The index is at most 1 and arms never offered come first; cap=False is as published.",
    set_dependent="MNL",
    total_order=True,
    ordered_sets=False,
    epochs=True,
)
class MNLUCB(NamedTuple):
    """Keep the k arms of largest v + sqrt(v A / T) + A / T until nothing is chosen.

    A round costs O(k), the last of an epoch O(n). Feedback on a set that is no longer held is ignored. Where the choice
    model is another, an arm's estimated weight depends on the arms beside it.

    cap: whether indices are at most 1 and arms never offered come first; without, as published
    alpha: how much to explore; the theorem has 48
    """

    cap: bool = True
    alpha: float = 48.0

    def check(self) -> None:
        check_range("MNLUCB: alpha", self.alpha, 0.0, math.inf, strict=True)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> MNLUCBState:
        state = MNLUCBState(
            offers=np.zeros(n, np.int64),
            purchases=np.zeros(n),
            bought=np.zeros(n),
            indices=np.full(n, np.inf if self.cap else 1.0),
            epochs=np.zeros(1, np.int64),
            chosen=np.arange(k),
            best=np.zeros(k),
        )
        top_k(state.indices, state.chosen, state.best, rng)
        return state

    def select(self, state: MNLUCBState, rng: Generator) -> Ints:
        return state.chosen

    def update(self, state: MNLUCBState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        if ends_epoch(state.offers, state.purchases, state.bought, state.chosen, chosen, rewards):
            state.epochs[0] += 1
            n = len(state.indices)
            level = self.alpha * math.log(math.sqrt(n) * state.epochs[0] + 1.0)
            for arm in range(n):
                if state.offers[arm] > 0:
                    index = weight_bound(state.purchases[arm], state.offers[arm], level)
                    state.indices[arm] = min(index, 1.0) if self.cap else index
            top_k(state.indices, state.chosen, state.best, rng)

    def hold(self, state: MNLUCBState, chosen: Ints) -> int:
        return 1

    def absorb(self, state: MNLUCBState, chosen: Ints, totals: Floats, rounds: int) -> None:
        add_purchases(state.bought, state.chosen, chosen, totals)

    def indices(self, state: MNLUCBState, out: Floats) -> None:
        for arm in range(len(out)):
            out[arm] = state.indices[arm]
