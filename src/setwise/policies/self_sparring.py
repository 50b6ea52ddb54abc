"""Self-sparring with independent arms: a separate Thompson sample fills every place of the set.

Every arm has S successes and F failures, at first none. In each round

1. for each place of the set draw a new theta(a) from Beta(S(a) + 1, F(a) + 1) for every arm, and put the arm of largest
   theta there; if it is already in the set, the arm of next largest theta;
2. the winner gets eta successes for each of the k - 1 others, and each of these gets eta failures.

A round without a winner changes nothing.

Sui, Zhuang, Burdick, Yue: Multi-dueling Bandits with Dependent Arms (2017), IndSelfSparring.

Adaptation: the original may put an arm into several places and observes the outcomes of several pairs. Here arms are
distinct, and the winner counts as beating all others. With `pad` off, an arm drawn for several places is played once,
so that sets may be smaller; an arm that meets only itself is played alone, and nothing is learned from that.
"""

from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.duels import open_all
from setwise.kernels.pairs import OPEN, TAKEN, check_pairs, largest
from setwise.kernels.winners import winner_of
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


class SelfSparringState(NamedTuple):
    """State of self-sparring.

    successes, failures: S and F of every arm
    sample, standing: buffers for theta and for the arms not yet in the set
    chosen: buffer for the set
    """

    successes: Floats
    failures: Floats
    sample: Floats
    standing: Ints
    chosen: Ints


@policy(
    title="Self-sparring",
    reference="Sui, Zhuang, Burdick, Yue 2017, IndSelfSparring",
    feedback=("choice",),
    assumptions="duels with a total order and approximate linearity",
    regret_bound="O(n log T / epsilon) to the best single arm, as published",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="Arms are distinct unless pad is off, and the one winner beats all others. The guarantee is lost.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
)
class SelfSparring(NamedTuple):
    """Fill each place of the set by a separate Thompson sample; the winner beats all others.

    A round costs k n Beta draws.

    eta: weight of one outcome
    pad: whether every set has k arms; if not, an arm that several samples choose is played once
    """

    eta: Positive = 1.0
    pad: bool = True

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> SelfSparringState:
        check_pairs("SelfSparring", k)
        return SelfSparringState(
            successes=np.zeros(n),
            failures=np.zeros(n),
            sample=np.zeros(n),
            standing=np.zeros(n, np.int64),
            chosen=np.arange(k),
        )

    def select(self, state: SelfSparringState, rng: Generator) -> Ints:
        open_all(state.standing)
        needed = OPEN if self.pad else TAKEN
        size = 0
        for _ in range(len(state.chosen)):
            for arm in range(len(state.sample)):
                if state.standing[arm] >= needed:
                    state.sample[arm] = rng.beta(state.successes[arm] + 1.0, state.failures[arm] + 1.0)
            arm = largest(state.sample, state.standing, needed, rng)
            if state.standing[arm] == OPEN:
                state.standing[arm] = TAKEN
                state.chosen[size] = arm
                size += 1
        return state.chosen[:size]

    def update(self, state: SelfSparringState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        winner = winner_of(rewards)
        if winner < 0:
            return
        for j in range(len(chosen)):
            if j != winner:
                state.successes[chosen[winner]] += self.eta
                state.failures[chosen[j]] += self.eta
