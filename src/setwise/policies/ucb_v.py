"""UCB-V for sets: the k arms of largest upper confidence bound from the empirical variance.

Before the first round every arm's index is infinite. In each round

1. play the k arms of largest index, ties broken uniformly at random;
2. for each arm a of the set, with N(a) its plays, C(a) the sum of its rewards, V(a) their variance, B the largest
   reward, T the horizon and E = zeta log T, set

       index(a) = C(a) / N(a) + sqrt(2 V(a) E / N(a)) + 3 c B E / N(a)

   and leave every other arm's index exactly as it was.

The last term is large for arms with few plays: the index is below that of UCB only for arms whose rewards vary little
and that were played more than about 9 E / alpha times.

Both halves of the paper's Lemma 1 hold as for UCB: the index of an arm that is not chosen stays, and N times the index
of a chosen arm never decreases. That product is C + sqrt(2 E N V) + 3 c B E, and N V, the sum of squared deviations
from the mean, cannot decrease when a reward is added.

Audibert, Munos, Szepesvari: Exploration-Exploitation Tradeoff Using Variance Estimates in Multi-Armed Bandits (2009).

Adaptation: plays the k best arms instead of one; uses log T of a known horizon instead of log t in round t, so that
indices stay.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy, shares
from setwise.kernels.ranking import Ranking
from setwise.policies._frozen import (
    ABOVE,
    FOREVER,
    new_state,
    rerank_all,
    reset,
    safe_rounds,
)
from setwise.policies.ucb import UCB
from setwise.types import Floats, Generator, Ints
from setwise.validation import NonNegative, Positive

CLOSE_TO_ONE = 0.999  # means of 0/1 rewards above this have so little variance that rounding matters


class UCBVState(NamedTuple):
    """State of UCB-V.

    pulls, reward, squares, indices: of every arm, N, C, the sum of its squared rewards, and the index
    ranking: of the arms by index
    chosen, best: buffers for a set and its indices
    level: E
    """

    pulls: Ints
    reward: Floats
    squares: Floats
    indices: Floats
    ranking: Ranking
    chosen: Ints
    best: Floats
    level: Floats


@policy(
    title="UCB-V for sets",
    reference="Audibert, Munos, Szepesvari 2009",
    assumptions="each arm has a mean of its own; zeta above 1",
    regret_bound="none known for sets and log T",
    if_assumption_fails="linear regret in general",
    adaptation="The k best arms in place of one, and log T in place of log t.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
    missing=True,
    binary_blocks=True,
)
@shares(UCB, "indices", "select_from", "grow")
class UCBV(NamedTuple):
    """Play the k arms of largest C/N + sqrt(2 V E / N) + 3 c B E / N, with E = zeta log T.

    `update_many` gets no squares, so it assumes rewards of 0 and 1.

    zeta: how much to explore; the theory requires more than 1
    c: the weight of the last term, 1 in theory
    bound: B, the largest reward an arm can earn in one round
    """

    zeta: Positive = 1.0
    c: NonNegative = 1.0
    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> UCBVState:
        return UCBVState(squares=np.zeros(n), **new_state(n, k, self.zeta * math.log(horizon))._asdict())

    def select(self, state: UCBVState, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, len(state.chosen), rng)

    def update(self, state: UCBVState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        for j in range(len(chosen)):
            count(state, chosen[j], rewards[j], rewards[j] * rewards[j], 1, self.c * self.bound)
        state.ranking.moved(state.indices, chosen)

    def certain_rounds(self, state: UCBVState, chosen: Ints) -> int:
        k = len(chosen)
        if k == len(state.indices):
            return FOREVER
        theta = state.ranking.border(state.indices, chosen)
        if theta == np.inf or theta <= 0.0:
            return 1
        # A reward can lower the index, and a round without one can raise it: only N U is certain never to decrease.
        least = 1e15
        for j in range(k):
            arm = chosen[j]
            if state.pulls[arm] == 0:
                return 1
            least = min(least, safe_rounds(state.pulls[arm], state.indices[arm], theta))
        return int(max(0.0, least)) + 1

    def update_many(self, state: UCBVState, chosen: Ints, totals: Floats, rounds: int) -> None:
        for j in range(len(chosen)):
            count(state, chosen[j], totals[j], totals[j], rounds, self.c * self.bound)
        state.ranking.moved(state.indices, chosen)

    def threshold(self, state: UCBVState, chosen: Ints) -> float:
        """Return the largest index outside; infinite if it is not positive, or so near 1 that rounding matters."""
        theta = state.ranking.border(state.indices, chosen)
        if theta > CLOSE_TO_ONE or theta <= 0.0:
            return np.inf
        return theta

    def required_reward(self, state: UCBVState, arm: int, rounds: int, until: int, theta: float) -> float:
        # With theta not near 1, rounding changes the index, or the least reward for it, by far less than this margin.
        pulls = float(state.pulls[arm] + rounds)
        reward: float = state.reward[arm]
        return least_reward(pulls, theta * ABOVE, state.level[0], self.c * self.bound) - reward

    def set_horizon(self, state: UCBVState, horizon: int, keep: bool) -> None:
        state.level[0] = self.zeta * math.log(horizon)
        if keep:
            for arm in range(len(state.pulls)):
                if state.pulls[arm] > 0:
                    count(state, arm, 0.0, 0.0, 0, self.c * self.bound)
        else:
            reset(state)
            for arm in range(len(state.pulls)):
                state.squares[arm] = 0.0
        rerank_all(state)


def variance_index(reward: float, squares: float, pulls: int, level: float, weight: float) -> float:
    """Return C / N + sqrt(2 V E / N) + 3 weight E / N, with level = E and weight = c B.

    >>> round(variance_index(30.0, 30.0, 100, math.log(10**4), 1.0), 10)
    0.7729912462
    """
    mean = reward / pulls
    variance = max(0.0, squares / pulls - mean * mean)
    return mean + math.sqrt(2.0 * variance * level / pulls) + 3.0 * weight * level / pulls


def least_reward(pulls: float, theta: float, level: float, weight: float) -> float:
    """Return the least C from which on the index is above theta, for C of N rewards 1, all others 0, and theta below 1.

    N (U - theta) = C + sqrt(2 E (C - C^2 / N)) - R, with R = theta N - 3 weight E, is concave in C and N together,
    because C^2 / N is convex and the square root concave and increasing. So the (C, N) where it is not negative are a
    convex set. As it is positive at C = N, at every N they reach from a least C up to N, and in between it is positive:
    more reward cannot bring U back to theta, although it can lower U. And the least C is convex in N.

    It is 0 if R <= 0. Else it is the C below R with 2 E (C - C^2 / N) = (R - C)^2, the smaller root of

        (1 + 2 E / N) C^2 - 2 (R + E) C + R^2 = 0,

    which is R^2 / (R + E + sqrt(E^2 + 2 E R (1 - R / N))): a form without differences of nearly equal numbers.

    >>> least = least_reward(100.0, 0.5, math.log(10**4), 0.1)
    >>> round(variance_index(least, least, 100, math.log(10**4), 0.1), 10)
    0.5
    """
    rest = theta * pulls - 3.0 * weight * level
    if rest <= 0.0:
        return 0.0
    root = math.sqrt(level * (level + 2.0 * rest * (1.0 - rest / pulls)))
    return rest * rest / (rest + level + root)


def count(state: UCBVState, arm: int, reward: float, squares: float, rounds: int, weight: float) -> None:
    """Add rounds of one arm and update its index."""
    state.pulls[arm] += rounds
    state.reward[arm] += reward
    state.squares[arm] += squares
    state.indices[arm] = variance_index(state.reward[arm], state.squares[arm], state.pulls[arm], state.level[0], weight)
