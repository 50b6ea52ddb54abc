"""KL-UCB for sets: the k arms of largest upper confidence bound from the Bernoulli divergence.

Before the first round every arm's index is infinite. In each round

1. play the k arms of largest index, ties broken uniformly at random;
2. for each arm a of the set, with N(a) its plays, p(a) its mean reward divided by the largest reward B, and T the
   horizon, set

       index(a) = B max{q from p(a) to 1: N(a) kl(p(a), q) <= alpha log T},
       kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)),

   and leave every other arm's index exactly as it was.

By Pinsker's inequality the index is at most B (p + sqrt(alpha log T / (2 N))), so with alpha = 1 it is below that of
UCB with alpha = 1/2, and far below for rarely rewarded arms. Both halves of the paper's Lemma 1 hold as for UCB: the
index of an arm that is not chosen stays, and N times the index of a chosen arm never decreases.

Garivier, Cappe: The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond (2011); Cappe, Garivier, Maillard,
Munos, Stoltz: Kullback-Leibler Upper Confidence Bounds for Optimal Sequential Allocation (2013).

Adaptation: plays the k best arms instead of one; uses log T of a known horizon instead of log t + 3 log log t in round
t, so that indices stay.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy, shares
from setwise.kernels.divergence import lower_mean, upper_bound
from setwise.policies._frozen import (
    ABOVE,
    FOREVER,
    FrozenState,
    new_state,
    rerank_all,
    reset,
    safe_rounds,
)
from setwise.policies.ucb import UCB
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive

CLOSE_TO_ONE = 0.999  # an index above this share of B hardly depends on the mean, so rounding matters


@policy(
    title="KL-UCB for sets",
    reference="Garivier, Cappe 2011",
    assumptions="each arm has a mean of its own",
    regret_bound="none known for sets and log T",
    if_assumption_fails="linear regret in general",
    adaptation="The k best arms in place of one, and log T in place of log t + 3 log log t.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
    missing=True,
)
@shares(UCB, "indices", "select_from", "grow")
class KLUCB(NamedTuple):
    """Play the k arms of largest q with N kl(C/N, q) <= alpha log T.

    alpha: how much to explore
    bound: B, the largest reward an arm can earn in one round
    """

    alpha: Positive = 1.0
    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> FrozenState:
        return new_state(n, k, self.alpha * math.log(horizon), 0.0)

    def select(self, state: FrozenState, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, len(state.chosen), rng)

    def update(self, state: FrozenState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_divergence(state, chosen, rewards, 1, self.bound)

    def certain_rounds(self, state: FrozenState, chosen: Ints) -> int:
        return rounds_of_divergence(state, chosen, self.bound)

    def update_many(self, state: FrozenState, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn_divergence(state, chosen, totals, rounds, self.bound)

    def threshold(self, state: FrozenState, chosen: Ints) -> float:
        """Return the largest index outside; infinite if it is not positive, or so near B that rounding matters."""
        theta = state.ranking.border(state.indices, chosen)
        if theta > CLOSE_TO_ONE * self.bound or theta <= 0.0:
            return np.inf
        return theta

    def required_reward(self, state: FrozenState, arm: int, rounds: int, until: int, theta: float) -> float:
        """Return the reward an arm needs to be above theta.

        Its index is above if N kl(C / (B N), theta / B) is below the level, or C / N above theta. N kl is jointly
        convex in N and C, so the least such C is convex in N at a constant level. For a decreasing level use its final
        value, which requires more.
        """
        pulls = float(state.pulls[arm] + rounds)
        level = level_of(state.pulls[arm] + until, state.level[0], state.level[1])
        share = lower_mean(theta / self.bound, level / pulls) + 1e-11 * theta / self.bound
        reward: float = state.reward[arm]
        return self.bound * pulls * share - reward

    def set_horizon(self, state: FrozenState, horizon: int, keep: bool) -> None:
        state.level[0] = self.alpha * math.log(horizon)
        set_horizon_divergence(state, keep, self.bound)


def rounds_of_divergence(state: FrozenState, chosen: Ints, bound: float) -> int:
    """Return for how many rounds the set is certain, by the fast bound if it decides, else by the index itself."""
    k = len(chosen)
    if k == len(state.indices):
        return FOREVER
    theta = state.ranking.border(state.indices, chosen)
    if theta == np.inf or theta <= 0.0:
        return 1
    start = state.level[0]
    slope = state.level[1]
    least = 1e15
    last = -1
    for j in range(k):
        arm = chosen[j]
        if state.pulls[arm] == 0 or state.indices[arm] <= theta * ABOVE:
            return 1
        rounds = surely_above(state.reward[arm], state.pulls[arm], state.indices[arm], start, slope, theta)
        if rounds < least:
            least = rounds
            last = arm
    if last < 0:
        return int(least)
    reward, index = state.reward[last] / bound, state.indices[last] / bound
    guess = likely_above(reward, state.pulls[last], index, start, slope, theta / bound)
    certain = int(min(1e15, max(least, guess)))
    for j in range(k):
        arm = chosen[j]
        if surely_above(state.reward[arm], state.pulls[arm], state.indices[arm], start, slope, theta) < certain:
            while certain > least and theta * ABOVE >= divergence_index(
                state.reward[arm], state.pulls[arm] + certain, start, slope, bound
            ):
                certain -= 1 + (certain - int(least)) // 4
    return certain + 1


def level_of(pulls: float, start: float, slope: float) -> float:
    """Return max(0, start - slope log N), the bound on N kl; a state stores start and slope in `level`."""
    if slope == 0.0:
        return start
    return max(0.0, start - slope * math.log(pulls))


def divergence_index(reward: float, pulls: float, start: float, slope: float, bound: float) -> float:
    """Return B max{q from C/(B N) to 1: N kl(C/(B N), q) <= level}.

    >>> round(divergence_index(30.0, 100, math.log(10**4), 0.0, 1.0), 10)
    0.5119181895
    """
    return bound * upper_bound(reward / bound, float(pulls), level_of(pulls, start, slope))


def learn_divergence(state: FrozenState, chosen: Ints, totals: Floats, rounds: int, bound: float) -> None:
    """Add rounds of one set to its arms and update their indices."""
    start = state.level[0]
    slope = state.level[1]
    for j in range(len(chosen)):
        arm = chosen[j]
        state.pulls[arm] += rounds
        state.reward[arm] += totals[j]
        state.indices[arm] = divergence_index(state.reward[arm], state.pulls[arm], start, slope, bound)
    state.ranking.moved(state.indices, chosen)


def set_horizon_divergence(state: FrozenState, keep: bool, bound: float) -> None:
    """Recompute all indices after the level has changed, or reset the arms if not `keep`."""
    if keep:
        for arm in range(len(state.pulls)):
            if state.pulls[arm] > 0:
                state.indices[arm] = divergence_index(
                    state.reward[arm], state.pulls[arm], state.level[0], state.level[1], bound
                )
    else:
        reset(state)
    rerank_all(state)


def surely_above(reward: float, pulls: int, index: float, start: float, slope: float, theta: float) -> float:
    """Return a fast lower bound on the rounds for which the index stays above theta, whatever is earned.

    N times the index U never decreases at a constant level f: d(N U)/dN is proportional to r/s - 1 - log(r/s) >= 0,
    where r = 1 - C/N and s = 1 - U. If the level decreases, to f - log(1 + m/N) after m rounds: U - C/N is concave in
    the level, so U keeps a share of at least 1 - m/(N f); and U is never below C/N.
    """
    if slope == 0.0:
        return safe_rounds(pulls, index, theta)
    level = level_of(pulls, start, slope)
    average = reward / (theta * ABOVE) - pulls
    if level == 0.0:
        return average
    return max(average, pulls * (1.0 - theta * ABOVE / index) * level / (level + slope))


def likely_above(reward: float, pulls: int, index: float, start: float, slope: float, theta: float) -> float:
    """Estimate for how many unrewarded rounds the index stays above theta, as if it fell like a power of N; B = 1."""
    p = reward / pulls
    if index >= 1.0 or index <= p:
        return 0.0
    fall = math.log((1.0 - p) / (1.0 - index)) + slope / pulls
    return pulls * (index - theta) * (index - p) / (theta * (1.0 - index) * fall)
