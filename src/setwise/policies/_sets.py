"""Shared by policies that have an arm for every set of k: numbering, growth, and sets of available arms."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from setwise.kernels.sets import binomial_table, next_set, row_of, write_set
from setwise.policies._frozen import FrozenState, check_growth
from setwise.types import Bools, Floats, Generator, InputError, Ints

MOST_SETS = 100_000  # every set has its own counts, and has to be played some times
NEAR = 1e-9  # a total so near to a whole number, as a share of it, is meant to be that number


class SetsState(NamedTuple):
    """State of a policy over sets.

    sets: the state of the policy of single arms, with an arm for every set
    choose: binomial coefficients, to number the sets
    chosen, other, row, total: buffers for two sets, the number of a set, and its total reward
    """

    sets: FrozenState
    choose: Ints
    chosen: Ints
    other: Ints
    row: Ints
    total: Any


def count_sets(name: str, n: int, k: int) -> int:
    """Return C(n, k); raise if it is too large for a policy over sets."""
    sets = 1
    for j in range(min(k, n - k)):
        sets = sets * (n - j) // (j + 1)
        if sets > 10**15:
            break
    if sets > MOST_SETS:
        many = "more than 10^15" if sets > 10**15 else f"{sets:,}"
        raise InputError(
            f"{name} learns about every set by itself, at most {MOST_SETS:,}; there are {many} sets of {k} of {n} "
            "arms: use RobustUCB, or a policy of single arms such as KLUCB"
        )
    return sets


def most_in_a_round(environment: Any) -> float:
    """Return the largest total reward of a set in one round: of one arm with choice feedback, otherwise of k."""
    if not hasattr(environment, "k"):
        raise InputError(f"{environment!r} is not an environment; give an object such as setwise.paper.camera()")
    arms = 1 if getattr(environment, "feedback", None) == "choice" else int(environment.k)
    return arms * float(getattr(environment, "bound", 1.0))


def sets_state(sets: FrozenState, n: int, k: int) -> SetsState:
    """Return the state around that of the policy of single arms."""
    return SetsState(sets, binomial_table(n, k), np.arange(k), np.arange(k), np.zeros(1, np.int64), np.zeros(1))


def best_set(state: SetsState, rng: Generator) -> Ints:
    """Return the set of largest index, ties broken uniformly at random."""
    row = state.sets.ranking.top(state.sets.indices, 1, rng)
    write_set(state.choose, row[0], state.chosen)
    return state.chosen


def is_whole(state: Any, chosen: Ints) -> bool:
    """Whether the set has k arms; one of fewer, played where fewer are available, is none of the sets."""
    return len(chosen) == len(state.chosen)


def row_of_set(state: Any, chosen: Ints) -> Ints:
    """Return the number of a set, as an array of one."""
    state.row[0] = row_of(state.choose, len(state.sets.indices), chosen)
    row: Ints = state.row
    return row


def total_of(state: Any, totals: Any) -> Any:
    """Return the total reward of the set, as an array of one."""
    state.total[0] = add_rewards(totals, 1.0)
    return state.total


def add_rewards(rewards: Floats, unit: float) -> float:
    """Return the total reward in units of `unit`, and a whole number of them if it is one up to rounding.

    If only totals are observed, every arm has an equal share, and the shares do not add up exactly: a ninth nine times
    is more than 1. Then sets that earned the same would not tie.

    >>> float(add_rewards(np.full(9, 1 / 9), 1.0)), float(add_rewards(np.array([0.25, 0.5]), 0.5))
    (1.0, 1.5)
    """
    total = 0.0
    for j in range(len(rewards)):
        total += rewards[j]
    total /= unit
    if total < 1e15:  # larger ones are nearly whole, and would not fit into an integer
        whole = float(math.floor(total + 0.5))
        if abs(total - whole) <= NEAR * total:
            return whole
    return total


def best_available(state: Any, values: Any, available: Bools, rng: Generator) -> Ints:
    """Return the set of available arms of largest value, ties broken uniformly; fewer arms if fewer are available."""
    chosen: Ints = state.chosen
    n, k = len(available), len(chosen)
    found = 0
    for arm in range(n):
        if available[arm]:
            if found < k:
                chosen[found] = arm
            found += 1
    if found <= k:
        return chosen[:found]
    arms = state.other
    for j in range(k):
        arms[j] = j
    best, ties, chosen_row = -np.inf, 0, 0
    for row in range(len(values)):
        fits = True
        for j in range(k):
            fits = fits and available[arms[j]]
        if fits and values[row] >= best:
            ties = ties + 1 if values[row] == best else 1
            best = values[row]
            if ties == 1 or rng.random() * ties < 1.0:
                chosen_row = row
        next_set(n, arms)
    write_set(state.choose, chosen_row, chosen)
    return chosen


def best_played(state: Any, plays: Any, totals: Any, available: Bools) -> Ints:
    """Return the set of largest mean total among the played sets of available arms, no arms if there is none.

    Ties go to the lowest row. Not for compiled code.
    """
    played = np.flatnonzero(plays > 0)
    arms = np.zeros(len(state.chosen), np.int64)
    for row in played[np.argsort(-totals[played] / plays[played], kind="stable")]:
        write_set(state.choose, row, arms)
        if available[arms].all():
            return arms
    return arms[:0]


def rows_after_growth(name: str, state: Any, n: int) -> Ints:
    """Return the new number of every set there was, after arms were added."""
    before, k = len(state.choose), len(state.chosen)
    check_growth(before, n)
    sets, choose = count_sets(name, n, k), binomial_table(n, k)
    arms = np.array(list(itertools.combinations(range(before), k)), np.int64)
    rows: Ints = sets - 1 - choose[n - 1 - arms, k - np.arange(k)].sum(axis=1)
    return rows
