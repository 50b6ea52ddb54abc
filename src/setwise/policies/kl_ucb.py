"""KL-UCB for sets: the k arms of largest upper confidence bound by the Bernoulli divergence.

Before the first round every arm's index is infinite. In each round

1. play the k arms of largest index, ties broken uniformly at random;
2. for each arm a of the set, with N(a) its plays, p(a) the average of its rewards, in shares of the largest reward B,
   and T the horizon, set

       index(a) = B max{q from p(a) to 1: N(a) kl(p(a), q) <= alpha log T},
       kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)),

   and leave every other arm's index exactly as it was.

By Pinsker's inequality the index is at most B (p + sqrt(alpha log T / (2 N))), so with alpha = 1 it is below that of
UCB with its alpha = 1/2, and for arms that are rarely rewarded far below. Both halves of the paper's Lemma 1 hold as
for UCB: the index of an arm that is not chosen stays, and N times the index of one that is chosen never falls.

Garivier, Cappe: The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond (2011); Cappe, Garivier, Maillard,
Munos, Stoltz: Kullback-Leibler Upper Confidence Bounds for Optimal Sequential Allocation (2013).

Adaptation: the k best arms in place of one; log T of a known horizon, in place of log t + 3 log log t in round t, so
that indices stay.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setwise.declare import check_range, policy
from setwise.kernels.divergence import lower_mean, upper_bound
from setwise.policies.frozen import (
    ABOVE,
    FOREVER,
    FrozenState,
    certain_rounds,
    forget,
    larger_state,
    new_state,
    rank_anew,
    select_available,
    write_indices,
)
from setwise.types import Floats, Generator, Ints

CLOSE_TO_ONE = 0.999  # an index above this share of B hardly moves with the average, so that rounding matters


@policy(
    title="KL-UCB for sets",
    reference="Garivier, Cappe 2011",
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="each arm has a mean of its own",
    regret_bound="none known for sets and log T",
    original=False,
    adaptation="The k best arms in place of one, and log T in place of log t + 3 log log t.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
)
class KLUCB(NamedTuple):
    """Play the k arms of largest q with N kl(C/N, q) <= alpha log T.

    alpha: how much to explore
    bound: B, the largest reward an arm can earn in one round
    """

    alpha: float = 1.0
    bound: float = 1.0

    def check(self) -> None:
        check_range("KLUCB: alpha", self.alpha, 0.0, math.inf, strict=True)
        check_range("KLUCB: bound", self.bound, 0.0, math.inf, strict=True)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> FrozenState:
        return new_state(n, k, self.alpha * math.log(horizon), 0.0)

    def select(self, state: FrozenState, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, len(state.chosen), rng)  # type: ignore[no-any-return]

    def update(self, state: FrozenState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_divergence(state, chosen, rewards, 1, self.bound)

    def hold(self, state: FrozenState, chosen: Ints) -> int:
        return hold_divergence(state, chosen, self.bound)

    def absorb(self, state: FrozenState, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn_divergence(state, chosen, totals, rounds, self.bound)

    def rival(self, state: FrozenState, chosen: Ints) -> float:
        return rival_divergence(state, chosen, self.bound)

    def demand(self, state: FrozenState, arm: int, rounds: int, until: int, theta: float) -> float:
        return demand_divergence(state, arm, rounds, until, theta, self.bound)

    def indices(self, state: FrozenState, out: Floats) -> None:
        write_indices(state, out)

    def select_from(self, state: FrozenState, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
        return select_available(state, available, rng)

    def grow(self, state: FrozenState, n: int, rng: Generator) -> FrozenState:
        return larger_state(state, n)

    def renew(self, state: FrozenState, horizon: int, keep: bool) -> None:
        state.level[0] = self.alpha * math.log(horizon)
        renew_divergence(state, keep, self.bound)


def level_of(pulls: int, start: float, slope: float) -> float:
    """start - slope log N, but not below 0: what N kl may be; in a state, start and slope are its `level`."""
    if slope == 0.0:
        return start
    return max(0.0, start - slope * math.log(pulls))


def divergence_index(reward: float, pulls: int, start: float, slope: float, bound: float) -> float:
    """B max{q from C/(B N) to 1: N kl(C/(B N), q) <= level}.

    >>> round(divergence_index(30.0, 100, math.log(10**4), 0.0, 1.0), 10)
    0.5119181895
    """
    return bound * upper_bound(reward / bound, float(pulls), level_of(pulls, start, slope))


def learn_divergence(state: FrozenState, chosen: Ints, totals: Floats, rounds: int, bound: float) -> None:
    """Add the rounds of one set to its arms, and set their indices anew."""
    start = state.level[0]
    slope = state.level[1]
    for j in range(len(chosen)):
        arm = chosen[j]
        state.pulls[arm] += rounds
        state.reward[arm] += totals[j]
        state.indices[arm] = divergence_index(state.reward[arm], state.pulls[arm], start, slope, bound)
    state.ranking.moved(state.indices, chosen)


def renew_divergence(state: FrozenState, keep: bool, bound: float) -> None:
    """Set all indices anew after the level has changed, or forget the arms."""
    if keep:
        for arm in range(len(state.pulls)):
            if state.pulls[arm] > 0:
                state.indices[arm] = divergence_index(
                    state.reward[arm], state.pulls[arm], state.level[0], state.level[1], bound
                )
    else:
        forget(state)
    rank_anew(state)


def surely_above(reward: float, pulls: int, index: float, start: float, slope: float, theta: float) -> float:
    """How many further rounds the index stays above theta whatever is earned: a quick bound, safely short.

    N times the index U never falls while the level f stays: d(N U)/dN is proportional to r/s - 1 - log(r/s) >= 0, where
    r = 1 - C/N and s = 1 - U. If the level falls, to f - log(1 + m/N) after m rounds: U - C/N is concave in the level,
    so U keeps a share of 1 - m/(N f) or more; and U is never below C/N.
    """
    if slope == 0.0:
        return certain_rounds(pulls, index, theta)
    level = level_of(pulls, start, slope)
    average = reward / (theta * ABOVE) - pulls
    if level == 0.0:
        return average
    return max(average, pulls * (1.0 - theta * ABOVE / index) * level / (level + slope))


def likely_above(reward: float, pulls: int, index: float, start: float, slope: float, theta: float) -> float:
    """How many further unrewarded rounds the index stays above theta if it falls like a power of N: a guess, B = 1."""
    p = reward / pulls
    if index >= 1.0 or index <= p:
        return 0.0
    fall = math.log((1.0 - p) / (1.0 - index)) + slope / pulls
    return pulls * (index - theta) * (index - p) / (theta * (1.0 - index) * fall)


def hold_divergence(state: FrozenState, chosen: Ints, bound: float) -> int:
    """For how many rounds the set is certain: the quick bound where that is enough to know, else the index decides."""
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
    guess = likely_above(
        state.reward[last] / bound, state.pulls[last], state.indices[last] / bound, start, slope, theta / bound
    )
    certain = int(min(1e15, max(least, guess)))
    for j in range(k):
        arm = chosen[j]
        if surely_above(state.reward[arm], state.pulls[arm], state.indices[arm], start, slope, theta) < certain:
            while certain > least and theta * ABOVE >= divergence_index(
                state.reward[arm], state.pulls[arm] + certain, start, slope, bound
            ):
                certain -= 1 + (certain - int(least)) // 4
    return certain + 1


def rival_divergence(state: FrozenState, chosen: Ints, bound: float) -> float:
    """The largest index outside the set, unless it is so close to B that rounding matters."""
    theta = state.ranking.border(state.indices, chosen)
    if theta > CLOSE_TO_ONE * bound or theta <= 0.0:
        return np.inf
    return theta  # type: ignore[no-any-return]


def demand_divergence(state: FrozenState, arm: int, rounds: int, until: int, theta: float, bound: float) -> float:
    """What an arm has to earn to be above theta.

    Its index is above if N kl(C / (B N), theta / B) is below the level, or C / N above theta. N kl is convex in N and C
    together, so the least such C is convex in N as long as the level stays. A level that falls is taken as it will be
    at the end: with that an arm needs more.
    """
    pulls = float(state.pulls[arm] + rounds)
    level = level_of(state.pulls[arm] + until, state.level[0], state.level[1])
    share = lower_mean(theta / bound, level / pulls) + 1e-11 * theta / bound
    return bound * pulls * share - state.reward[arm]  # type: ignore[no-any-return]
