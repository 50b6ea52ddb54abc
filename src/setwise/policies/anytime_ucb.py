"""Anytime UCB for sets: the k arms of largest upper confidence bound, with log t in place of log T.

In round t, with N(a) the plays of arm a, C(a) the sum of its rewards and B the largest reward,

1. set for every arm, not only those just played,

       index(a) = C(a) / N(a) + B sqrt(alpha log t / N(a)),

   or infinity if it was never played;
2. play the k arms of largest index, ties broken uniformly at random.

While a set is played, the index of an arm in it falls at most as if log t stood still and nothing were earned, and the
widths of the others grow like sqrt(log t). As long as the former are above a bound of the latter, the set is certain,
and such rounds can be played at once.

No horizon is needed. But the index of an arm that is not chosen grows, so the upper half of the paper's Lemma 1 fails,
and with it the paper's proof. `Doubling(restart=True)` needs no horizon either and keeps the lemma within each phase.

Auer, Cesa-Bianchi, Fischer: Finite-Time Analysis of the Multiarmed Bandit Problem (2002), whose UCB1 has alpha = 2.

Adaptation: plays the k best arms instead of one.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.ranking import FEW_ARMS, Sorted
from setwise.kernels.topk import top_k
from setwise.policies._frozen import (
    ABOVE,
    FOREVER,
    count_rounds,
    falls_at_once,
    larger_state,
    select_available,
    write_indices,
)
from setwise.policies.ucb import rounds_above
from setwise.types import Bools, Floats, Generator, Ints
from setwise.validation import Positive


class AnytimeState(NamedTuple):
    """State of policies that recompute all indices in every round.

    pulls, reward, indices: N, C and the index for the coming round, of every arm
    rounds: rounds played
    ranking: of the arms by index, if they are few
    fewest: fewest plays of an arm outside the set, written with theta
    chosen, best: buffers for a set and its indices
    """

    pulls: Ints
    reward: Floats
    indices: Floats
    rounds: Ints
    ranking: Sorted
    fewest: Ints
    chosen: Ints
    best: Floats


@policy(
    title="anytime UCB for sets",
    reference="Auer, Cesa-Bianchi, Fischer 2002",
    assumptions="each arm has a mean of its own",
    regret_bound="O(n log T / epsilon) for k = 1",
    if_assumption_fails="linear regret in general",
    adaptation="The k best arms in place of one.",
    set_dependent="no",
    total_order=True,
    ordered_sets=False,
    missing=True,
)
class AnytimeUCB(NamedTuple):
    """Play the k arms of largest C/N + B sqrt(alpha log t / N), recomputing all indices in every round t.

    alpha: how much to explore
    bound: B, the largest reward an arm can earn in one round
    """

    alpha: Positive = 2.0
    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> AnytimeState:
        return anytime_state(n, k)

    def select(self, state: AnytimeState, rng: Generator) -> Ints:
        return select_top(state, rng)

    def update(self, state: AnytimeState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn(state, chosen, rewards, 1, self.bound * self.bound * self.alpha, math.inf)

    def certain_rounds(self, state: AnytimeState, chosen: Ints) -> int:
        return rounds_ahead(state, chosen, self.bound * self.bound * self.alpha, state.rounds[0] + 1, math.inf)

    def update_many(self, state: AnytimeState, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn(state, chosen, totals, rounds, self.bound * self.bound * self.alpha, math.inf)

    def threshold(self, state: AnytimeState, chosen: Ints) -> float:
        return largest_outside(state, chosen)

    def required_reward(self, state: AnytimeState, arm: int, rounds: int, until: int, theta: float) -> float:
        scale = self.bound * self.bound * self.alpha
        return reward_ahead(state, arm, rounds, until, theta, scale, state.rounds[0] + 1, math.inf)

    def indices(self, state: AnytimeState, out: Floats) -> None:
        write_indices(state, out)

    def select_from(self, state: AnytimeState, available: Bools, rng: Generator) -> Ints:
        return select_available(state, available, rng)

    def grow(self, state: AnytimeState, n: int, rng: Generator) -> AnytimeState:
        return larger_state(state, n)._replace(ranking=few_sorted(n))


def anytime_state(n: int, k: int) -> AnytimeState:
    """Return the state before the first round: every index is infinite."""
    return AnytimeState(
        pulls=np.zeros(n, np.int64),
        reward=np.zeros(n),
        indices=np.full(n, np.inf),
        rounds=np.zeros(1, np.int64),
        ranking=few_sorted(n),
        fewest=np.zeros(1, np.int64),
        chosen=np.arange(k),
        best=np.zeros(k),
    )


def few_sorted(n: int) -> Sorted:
    """Return an order of few arms; of many, an empty one, because repairing it takes longer than finding the k best."""
    ranked = n if n <= FEW_ARMS else 0
    return Sorted(np.arange(ranked), np.zeros(2 * ranked, np.int64), np.zeros(1, np.int64))


def select_top(state: AnytimeState, rng: Generator) -> Ints:
    """Return the arms of largest index, ties broken uniformly at random."""
    if len(state.ranking.order) > 0:
        return state.ranking.top(state.indices, len(state.chosen), rng)
    top_k(state.indices, state.chosen, state.best, rng)
    return state.chosen


def largest_outside(state: AnytimeState, chosen: Ints) -> float:
    """Return theta, the largest index outside the set, and write the fewest plays of these arms to the state.

    It is infinite if the set is not the only one of largest indices, or an arm was never played.
    """
    k = len(chosen)
    theta = state.ranking.border(state.indices, chosen) if len(state.ranking.order) > 0 else np.inf
    fewest = FOREVER
    if theta < np.inf:
        if state.indices[state.ranking.order[k - 1]] == theta:
            return np.inf
        for place in range(k, len(state.pulls)):
            fewest = min(fewest, state.pulls[state.ranking.order[place]])
        state.fewest[0] = fewest
        return theta
    least = np.inf
    for j in range(k):
        least = min(least, state.indices[chosen[j]])
    theta = -np.inf
    inside = 0
    for arm in range(len(state.indices)):
        if state.indices[arm] >= least:
            inside += 1
        else:
            theta = max(theta, state.indices[arm])
            fewest = min(fewest, state.pulls[arm])
    state.fewest[0] = fewest
    return theta if inside == k and least < np.inf else np.inf


def highest_outside(state: AnytimeState, theta: float, scale: float, time: int, most: float, rounds: int) -> float:
    """Bound the indices outside the set in the next rounds; infinite if one may be cut to `most`, where arms tie.

    An index is a mean, which stays, and a width sqrt(scale log t / N), so that none grows by more than the width of the
    arm of fewest plays.
    """
    pulls = float(state.fewest[0])
    growth = math.sqrt(scale * math.log(time + rounds) / pulls) - math.sqrt(scale * math.log(time) / pulls)
    highest = (theta + growth) * ABOVE
    return highest if highest < most else math.inf


def rounds_ahead(state: AnytimeState, chosen: Ints, scale: float, time: int, most: float) -> int:
    """Return for how many rounds the set is certain, this one included.

    scale, time, most: the width of an index is sqrt(scale log(time) / N), where the time grows by 1 in every round, and
        no index is larger than `most`
    """
    k = len(chosen)
    if k == len(state.indices):
        return FOREVER
    if len(state.ranking.order) > 0:
        last = chosen[k - 1]
        if falls_at_once(state.pulls[last], state.indices[last], state.ranking.border(state.indices, chosen)):
            return 1
    theta = largest_outside(state, chosen)
    if theta == np.inf or theta <= 0.0 or time < 2:
        return 1
    log = math.log(time)
    level = scale * log
    least, gap = rounds_to_theta(state, chosen, level, theta)
    if least < 1.0:
        return 1
    # Meanwhile theta rises, by about the width / (2 t log t) in a round.
    rise = 0.5 * math.sqrt(level / state.fewest[0]) / (time * log)
    least = 0.95 * gap / (gap / least + rise)
    while least >= 1.0:
        rounds = int(least)
        if all_above(state, chosen, rounds, level, highest_outside(state, theta, scale, time, most, rounds)):
            return rounds + 1
        least *= 0.5
    return 1


def rounds_to_theta(state: AnytimeState, chosen: Ints, level: float, theta: float) -> tuple[float, float]:
    """Estimate after how many rounds without a reward an arm of the set falls to theta, and how far it is above."""
    inverse = 1.0 / theta
    least = 1e15
    gap = np.inf
    for j in range(len(chosen) - 1, -1, -1):  # of few arms, the one next to theta first
        arm = chosen[j]
        if state.pulls[arm] == 0:
            return 0.0, 0.0
        # N times the index never falls, so that it is above theta for N (index / theta - 1) rounds at least.
        if state.pulls[arm] * (state.indices[arm] * inverse - 1.0) < least:
            rounds = rounds_above(state.reward[arm], state.pulls[arm], level, theta)
            if rounds < least:
                least = rounds
                gap = state.indices[arm] - theta
                if least < 1.0:
                    break
    return least, gap


def all_above(state: AnytimeState, chosen: Ints, rounds: int, level: float, theta: float) -> bool:
    """Whether all arms of the set have an index above theta after rounds without a reward, at a constant level."""
    for j in range(len(chosen)):
        pulls = float(state.pulls[chosen[j]] + rounds)
        if state.reward[chosen[j]] + math.sqrt(level * pulls) <= theta * pulls:
            return False
    return True


def reward_ahead(
    state: AnytimeState, arm: int, rounds: int, until: int, theta: float, scale: float, time: int, most: float
) -> float:
    """Return the reward that keeps an arm above all others for some rounds, out of `until` rounds of its set."""
    pulls = float(state.pulls[arm] + rounds)
    reward: float = state.reward[arm]
    highest = highest_outside(state, theta, scale, time, most, until)
    return highest * pulls - math.sqrt(scale * math.log(time) * pulls) - reward


def learn(state: AnytimeState, chosen: Ints, totals: Floats, rounds: int, scale: float, most: float) -> None:
    """Add rounds of one set to its arms and update all indices, for the coming round."""
    count_rounds(state, chosen, totals, rounds)
    set_indices(state, scale * math.log(state.rounds[0] + 1), most)


def set_indices(state: AnytimeState, level: float, most: float) -> None:
    """Set the index min(most, C/N + sqrt(level / N)) of every arm that was played.

    The loop has no branches, so that it vectorizes.
    """
    for arm in range(len(state.pulls)):
        pulls = float(max(state.pulls[arm], 1))
        value = min(most, (state.reward[arm] + math.sqrt(level * pulls)) / pulls)
        state.indices[arm] = value if state.pulls[arm] > 0 else state.indices[arm]
    state.ranking.intact[0] = 0
