"""KL-MOSS for sets: KL-UCB with a level that decreases with the plays of an arm.

Before the first round every arm's index is infinite. In each round

1. play the k arms of largest index, ties broken uniformly at random;
2. for each arm a of the set, with N(a) its plays, p(a) its mean reward divided by the largest reward B, and T the
   horizon, set

       index(a) = B max{q from p(a) to 1: N(a) kl(p(a), q) <= log+(T k / (n N(a)))},

   where log+(x) = max(log x, 0), and leave every other arm's index exactly as it was.

T k / n is how often each arm would be played if all were played equally often. An arm played that often is no longer
explored: its index is its mean. If T k / n is at most 1, no arm is ever explored.

The index of an arm that is not chosen stays, and it never increases without reward, so the upper half of the paper's
Lemma 1 holds. The lower half fails: N times the index decreases while the level does.

Audibert, Bubeck: Minimax Policies for Adversarial and Stochastic Bandits (2009), for the level; Garivier, Hadiji,
Menard, Stoltz: KL-UCB-switch (2022), for this level with the divergence.

Adaptation: plays the k best arms instead of one, hence T k / n instead of T / n. KL-UCB-switch changes to another index
for arms played often, this policy does not.
"""

import math
from typing import NamedTuple

from setwise.declare import policy, shares
from setwise.policies._frozen import FrozenState, new_state
from setwise.policies.kl_ucb import KLUCB, learn_divergence, set_horizon_divergence
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive


@policy(
    title="KL-MOSS for sets",
    reference="Audibert, Bubeck 2009; Garivier, Hadiji, Menard, Stoltz 2022",
    assumptions="each arm has a mean of its own",
    regret_bound="none known for sets",
    if_assumption_fails="linear regret in general",
    adaptation="The k best arms in place of one, and a level of log+(T k / (n N)) in place of log+(T / (n N)).",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
    missing=True,
)
@shares(KLUCB, "certain_rounds", "update_many", "threshold", "required_reward", "indices", "select_from", "grow")
class KLMOSS(NamedTuple):
    """Play the k arms of largest q with N kl(C/N, q) <= log+(T k / (n N)).

    The level depends on the number of arms at the start, even after arms are added, until `set_horizon` is called. The
    lower half of the paper's Lemma 1 fails.

    bound: B, the largest reward an arm can earn in one round
    """

    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> FrozenState:
        return new_state(n, k, math.log(horizon * k / n), 1.0)

    def select(self, state: FrozenState, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, len(state.chosen), rng)

    def update(self, state: FrozenState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_divergence(state, chosen, rewards, 1, self.bound)

    def set_horizon(self, state: FrozenState, horizon: int, keep: bool) -> None:
        state.level[0] = math.log(horizon * len(state.chosen) / len(state.pulls))
        set_horizon_divergence(state, keep, self.bound)
