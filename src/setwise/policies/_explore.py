"""Explore sets: challengers of the best, or the set of largest draw. See `robust_ucb`.

All totals are drawn, in law. The set of largest mean is drawn first. Another one matters only if its draw is above the
largest so far, so if there is a small bound of that chance, toss a coin, and mostly that is all (`kernels.beta_tails`).

The candidates have a row each in `posteriors`, and a place each in `candidates`. If there are few sets, these are all
sets, and the place is the number in the order of `kernels.sets`. If there are many, first come the sets that were seen,
by their slot, then the set of the arms of largest mean, unless it was seen, and then neighbours of the best of all
these that were never seen, by the number of slots, and one more, two more and so on.
"""

import math
from typing import Any

from setwise.kernels.beta_tails import NONE, crossing_bound, draw_beyond
from setwise.kernels.divergence import bernoulli_divergence
from setwise.kernels.set_table import NO_SET, code_of, find_slot
from setwise.kernels.sets import next_set
from setwise.kernels.topk import top_k_among
from setwise.policies._doubt import all_marked, is_refuted, prior_mean, prior_rounds, share_of_bound
from setwise.types import Floats, Generator, Ints

NEIGHBOURS = 128  # candidates among them, if there are many sets
THIN = 0.4  # largest bound of the chance to exceed the largest draw so far at which a coin is tossed
ROUNDING = 1e-12  # of means, which are at most 1
ONE_ROUND = 0.99  # the least that `crossing_bound` takes; whole rounds differ from it by more than rounding
UP, DOWN = 0, 1  # parameters of a posterior


def explore(state: Any, bound: float, place: float, rng: Generator) -> bool:
    """Write a set to `state.chosen` and return whether to play it.

    place: a uniform number up to the chance to explore, `state.share[0]`
    """
    alone = state.share[1] > 0.0
    for arm in range(len(state.pulls)):
        state.doubt.means[arm] = share_of_bound(state.reward[arm], state.pulls[arm], bound)
    if state.few[0] != 0:
        found = learn_all(state, bound, alone)
    else:
        found = learn_seen(state, bound, rng)
    posteriors = state.posteriors[:found]
    best = likeliest(posteriors, rng)
    row = best
    if not alone:
        row = challenger(posteriors, best, rng)
    if alone or place * loss_of(posteriors, best, row) > state.budget[0] * mean_loss(posteriors, best):
        row, _ = largest_draw(posteriors, best, rng)
        if place * loss_of(posteriors, best, row) > state.budget[1]:
            return False
    write_candidate(state, state.candidates[row])
    return True


def learn_all(state: Any, bound: float, alone: bool) -> int:
    """Write the posteriors of all sets; return how many."""
    chosen, found = state.chosen, 0
    begin_sets(chosen)
    for number in range(len(state.posteriors)):
        if all_marked(state.usable, chosen):
            slot = find_slot(state.table, code_of(state.table, chosen))
            learn_posterior(state, chosen, slot, bound, alone, found)
            state.candidates[found] = number
            found += 1
        next_set(len(state.pulls), chosen)
    return found


def learn_seen(state: Any, bound: float, rng: Generator) -> int:
    """Write the posteriors of the sets that were seen, the set of the best arms, and some neighbours of the best."""
    n, k = len(state.pulls), len(state.chosen)
    table, candidates, other, swaps = state.table, state.candidates, state.other, state.swaps
    slots, found = len(table.taken), 0
    for slot in range(slots):
        if table.plays[slot] > 0.0 and all_marked(state.usable, table.arms[slot]):
            learn_posterior(state, table.arms[slot], slot, bound, False, found)
            candidates[found] = slot
            found += 1
    top_k_among(state.doubt.means, state.usable, other, state.best, rng)
    code_of_best_arms = code_of(table, other)
    if find_slot(table, code_of_best_arms) == NO_SET:
        learn_posterior(state, other, NO_SET, bound, False, found)
        candidates[found] = slots
        found += 1
    copy_set(other, state.best_arms)
    best = candidates[likeliest(state.posteriors[:found], rng)]
    if best < slots:
        copy_set(table.arms[best], other)
    copy_set(other, state.center)
    start, step = first_and_step(k * n, rng)
    for i in range(min(len(swaps), k * n)):
        number = (start + i * step) % (k * n)
        place, arm = number // n, number % n
        if state.usable[arm] and not contains(other, arm):
            left = other[place]
            other[place] = arm
            code = code_of(table, other)
            if code != code_of_best_arms and find_slot(table, code) == NO_SET:
                swaps[i, 0] = place
                swaps[i, 1] = arm
                learn_posterior(state, other, NO_SET, bound, False, found)
                candidates[found] = slots + 1 + i
                found += 1
            other[place] = left
    return found


def first_and_step(count: int, rng: Generator) -> tuple[int, int]:
    """Draw a number below `count`, and a step that leads from it to all others before it returns."""
    first, step = int(rng.random() * count), 1 + int(rng.random() * count)
    while common_divisor(step, count) > 1:
        step += 1
    return first, step


def common_divisor(a: int, b: int) -> int:
    """Return the greatest number that divides both."""
    while b > 0:
        a, b = b, a % b
    return a


def write_candidate(state: Any, place: int) -> None:
    """Write the set of this place to `state.chosen`."""
    chosen, slots = state.chosen, len(state.table.taken)
    if state.few[0] != 0:
        begin_sets(chosen)
        for _ in range(place):
            next_set(len(state.pulls), chosen)
    elif place < slots:
        copy_set(state.table.arms[place], chosen)
    elif place == slots:
        copy_set(state.best_arms, chosen)
    else:
        copy_set(state.center, chosen)
        chosen[state.swaps[place - slots - 1, 0]] = state.swaps[place - slots - 1, 1]


def begin_sets(chosen: Ints) -> None:
    """Write the first set."""
    for j in range(len(chosen)):
        chosen[j] = j


def copy_set(chosen: Ints, out: Ints) -> None:
    """Write a set to another buffer."""
    for j in range(len(chosen)):
        out[j] = chosen[j]


def contains(chosen: Any, arm: int) -> bool:
    """Whether a set has an arm."""
    for j in range(len(chosen)):
        if chosen[j] == arm:
            return True
    return False


def learn_posterior(state: Any, arms: Any, slot: int, bound: float, alone: bool, row: int) -> None:
    """Write the posterior of the total of a set as a share of the largest.

    alone: whether the set is judged by itself, with a uniform prior
    """
    doubt, table = state.doubt, state.table
    largest = doubt.largest[0]
    total = 0.0
    for j in range(len(arms)):
        total += doubt.means[arms[j]]
    expected, strength = 0.5, 2.0
    if not alone:
        expected = prior_mean(doubt, bound * total)
        variance = doubt.variance[0]
        if is_refuted(doubt):
            variance += doubt.deviation[0] * doubt.deviation[0]
        elif slot == NO_SET and state.few[0] == 0:  # of many sets some would have a large draw
            variance = doubt.variance[1]
        strength = prior_rounds(doubt, expected, variance)
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
    state.posteriors[row, UP] = up
    state.posteriors[row, DOWN] = down


def mean_of(posteriors: Floats, row: int) -> float:
    """Return the mean of a posterior."""
    mean: float = posteriors[row, UP] / (posteriors[row, UP] + posteriors[row, DOWN])
    return mean


def likeliest(posteriors: Floats, rng: Generator) -> int:
    """Return the row of largest mean, ties broken uniformly at random; what differs by rounding is a tie."""
    best, highest, ties = 0, -1.0, 0
    for row in range(len(posteriors)):
        mean = mean_of(posteriors, row)
        if mean > highest + ROUNDING:
            best, highest, ties = row, mean, 1
        elif mean >= highest - ROUNDING:
            ties += 1
            if rng.random() * ties < 1.0:
                best = row
    return best


def largest_draw(posteriors: Floats, first: int, rng: Generator) -> tuple[int, float]:
    """Draw from all posteriors, one of them first; return the row of the largest draw, and that draw."""
    winner, ties = first, 1
    best: float = rng.beta(posteriors[first, UP], posteriors[first, DOWN])
    for row in range(len(posteriors)):
        if row != first:
            drawn = draw_above(posteriors, row, best, rng)
            if drawn > best:
                winner, best, ties = row, drawn, 1
            elif drawn == best:  # draws are rounded, in particular to 1
                ties += 1
                if rng.random() * ties < 1.0:
                    winner = row
    return winner, best


def draw_above(posteriors: Floats, row: int, best: float, rng: Generator) -> float:
    """Draw from a posterior; any number below the best draw so far may stand for all of these."""
    up, down = posteriors[row, UP] - 1.0, posteriors[row, DOWN] - 1.0
    if best < 1.0 and up >= -ROUNDING and down >= -ROUNDING and up + down >= ONE_ROUND:
        chance = crossing_bound(max(up, 0.0), max(down, 0.0), best, True)
        if chance <= THIN:
            return draw_beyond(max(up, 0.0), max(down, 0.0), best, chance, rng) if rng.random() < chance else NONE
    drawn: float = rng.beta(up + 1.0, down + 1.0)
    return drawn


def loss_of(posteriors: Floats, best: int, row: int) -> float:
    """Return how much less than the best set another one is expected to earn."""
    return mean_of(posteriors, best) - mean_of(posteriors, row)


def mean_loss(posteriors: Floats, best: int) -> float:
    """Return how much less than the best set the others are expected to earn, on average."""
    total = 0.0
    for row in range(len(posteriors)):
        total += loss_of(posteriors, best, row)
    return total / max(len(posteriors) - 1, 1)


def challenger(posteriors: Floats, best: int, rng: Generator) -> int:
    """Draw another set, in proportion to exp(-N kl(mean, mean of the best)) / N, N = up + down; or the only one.

    `least` is the smallest exponent so far, and weights are relative to it.
    """
    highest = mean_of(posteriors, best)
    found, total, least = best, 0.0, math.inf
    for row in range(len(posteriors)):
        if row != best:
            count = posteriors[row, UP] + posteriors[row, DOWN]
            against = count * bernoulli_divergence(mean_of(posteriors, row), highest) + math.log(count)
            if against < least:
                total *= math.exp(against - least)
                least = against
            weight = math.exp(least - against)
            total += weight
            if rng.random() * total < weight:
                found = row
    return found
