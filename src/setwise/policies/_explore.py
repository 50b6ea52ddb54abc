"""Explore sets: draw every set's total from its posterior and take the set of largest draw. See `robust_ucb`."""

import math
from typing import Any

from setwise.kernels.divergence import bernoulli_divergence
from setwise.kernels.set_table import NO_SET, code_of, find_slot
from setwise.kernels.sets import next_set
from setwise.kernels.topk import top_k_among
from setwise.policies._doubt import STRONGEST, WEAKEST, all_marked, is_refuted, prior_mean, prior_rounds, share_of_bound
from setwise.types import Generator

NEIGHBOURS = 128  # drawn in a round, if there are many sets
FAR = 4.0  # a set is not drawn if its mean is so many standard deviations below the largest draw so far;
NEVER = 40.0  # where sets count alone, or there is a handful: if it exceeds that with a chance of at most exp(-40)


def explore(state: Any, bound: float, alone: bool, rng: Generator) -> None:
    """Write the set of largest draw to `state.chosen`; `alone` if every set is judged by itself."""
    for arm in range(len(state.pulls)):
        state.doubt.means[arm] = share_of_bound(state.reward[arm], state.pulls[arm], bound)
    if state.few[0] != 0:
        explore_all(state, bound, alone or is_refuted(state.doubt), rng)
    else:
        explore_seen(state, bound, rng)


def explore_all(state: Any, bound: float, alone: bool, rng: Generator) -> None:
    """Draw all sets."""
    n, k = len(state.pulls), len(state.chosen)
    other, table = state.other, state.table
    for j in range(k):
        other[j] = j
    best = -math.inf
    while True:
        if all_marked(state.usable, other):
            slot = find_slot(table, code_of(table, other))
            drawn = draw_total(state, other, slot, bound, best, alone, rng)
            if drawn > best:
                best = drawn
                for j in range(k):
                    state.chosen[j] = other[j]
        if other[0] == n - k:
            return
        next_set(n, other)


def explore_seen(state: Any, bound: float, rng: Generator) -> None:
    """Draw the set of the best arms, the sets that were seen, and some neighbours of the best of these."""
    n, k = len(state.pulls), len(state.chosen)
    table, other, chosen = state.table, state.other, state.chosen
    best = -math.inf
    top_k_among(state.doubt.means, state.usable, chosen, state.best, rng)
    if find_slot(table, code_of(table, chosen)) == NO_SET:
        best = draw_total(state, chosen, NO_SET, bound, best, False, rng)
    for slot in range(len(table.taken)):
        if table.plays[slot] > 0.0 and all_marked(state.usable, table.arms[slot]):
            drawn = draw_total(state, table.arms[slot], slot, bound, best, False, rng)
            if drawn > best:
                best = drawn
                for j in range(k):
                    chosen[j] = table.arms[slot, j]
    for j in range(k):
        other[j] = chosen[j]
    for _ in range(min(NEIGHBOURS, k * (n - k))):
        place = int(rng.random() * k)
        arm = int(rng.random() * n)
        if state.usable[arm] and not contains(other, arm):
            left = other[place]
            other[place] = arm
            if find_slot(table, code_of(table, other)) == NO_SET:
                drawn = draw_total(state, other, NO_SET, bound, best, False, rng)
                if drawn > best:
                    best = drawn
                    for j in range(k):
                        chosen[j] = other[j]
            other[place] = left


def contains(chosen: Any, arm: int) -> bool:
    """Whether a set has an arm."""
    for j in range(len(chosen)):
        if chosen[j] == arm:
            return True
    return False


def draw_total(state: Any, arms: Any, slot: int, bound: float, best: float, alone: bool, rng: Generator) -> float:
    """Draw the total of a set as a share of the largest; minus infinity if it would hardly exceed the best so far.

    alone: whether the set is judged by itself, with the weakest prior
    """
    doubt, table = state.doubt, state.table
    largest = doubt.largest[0]
    total = 0.0
    for j in range(len(arms)):
        total += doubt.means[arms[j]]
    expected = prior_mean(doubt, bound * total)
    variance = doubt.variance[0]
    if is_refuted(doubt):
        variance += doubt.deviation[0] * doubt.deviation[0]
    elif slot == NO_SET and state.few[0] == 0:  # of many sets some would have a large draw
        variance = doubt.variance[1]
    strength = WEAKEST if alone else prior_rounds(doubt, expected, variance)
    up, down = strength * expected, strength * (1.0 - expected)
    if slot != NO_SET:
        plays = table.plays[slot]
        mean = table.totals[slot] / (plays * largest)
        if largest > bound:
            rounds = plays + 2.0  # with two of the prior's coin, else a set that never earned anything stays unknown
            middle = (plays * mean + 2.0 * expected) / rounds
            variance = (table.squares[slot] / (largest * largest) + 2.0 * expected) / rounds - middle * middle
            plays *= middle * (1.0 - middle) / max(variance, expected * (1.0 - expected) / rounds)
        up += plays * mean
        down += plays * (1.0 - mean)
    count = up + down
    middle = up / count
    if alone or doubt.strongest[0] < STRONGEST:
        # By Chernoff, a draw exceeds q with a chance of at most exp(-count kl(middle, q)).
        if middle < best and count * bernoulli_divergence(middle, best) > NEVER:
            return -math.inf
    elif middle + FAR * math.sqrt(middle * (1.0 - middle) / (count + 1.0)) < best:
        return -math.inf
    drawn: float = rng.beta(up, down)
    return drawn
