"""Thompson sampling over sets: every set is an arm of its own, and the set of largest sampled total is played.

Every set's total reward, as a share of the largest total M, has a Beta posterior, Beta(1, 1) at first. In each round

1. draw theta(s) from the posterior of every set s, and play the set of largest theta;
2. let x be the set's total reward. If no set ever earned more than the bound B of one arm, M = B: let Y be 1 with
   probability x / B, else 0, and update Beta(p, q) of the set to Beta(p + Y, q + 1 - Y).

Where several arms can be rewarded in a round, M is the largest total seen so far, and totals vary less than a coin of
the same mean. Then a set of N plays, with m the mean and v the variance of its totals / M, both with a round of 0 and a
round of 1 added, has the posterior Beta(c m, c (1 - m)) with c = (N + 2) m (1 - m) / v, whose variance is about
v / (N + 2). For totals of 0 and M that is the posterior of the coin, Beta(1 + C / M, 1 + N - C / M).

It needs no assumption on how the rewards of a set depend on its arms, and is the yardstick where there is none. As long
as M = B, few of the sets have to be drawn (`kernels/largest_betas.py`); afterwards a round draws all C(n, k). A set of
fewer arms, played where fewer than k are available, is none of the sets and teaches nothing.

Thompson: On the Likelihood that One Unknown Probability Exceeds Another in View of the Evidence of Two Samples (1933);
Agrawal, Goyal: Analysis of Thompson Sampling for the Multi-armed Bandit Problem (2012), for a set in place of an arm;
the bound: Agrawal, Goyal: Further Optimal Regret Bounds for Thompson Sampling (2013).
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.beta_tails import draw_mean
from setwise.kernels.largest_betas import (
    LargestBetas,
    count_outcome,
    draw_largest,
    end_round,
    new_largest_betas,
    split_arms,
)
from setwise.kernels.sets import binomial_table, row_of, write_set
from setwise.policies._sets import add_rewards, best_available, best_played, count_sets, is_whole, rows_after_growth
from setwise.types import Bools, Floats, Generator, Ints
from setwise.validation import Positive


class SetThompsonState(NamedTuple):
    """State of Thompson sampling over sets.

    hits, misses: of every set, how often Y was 1, and 0
    sums, squares: of every set, the sum of its total rewards, and of their squares, in units of B
    largest: M / B, the largest total so far, at least 1
    split: of the sets, to draw few of them
    drawn: buffer for the sampled totals
    choose: binomial coefficients, to number the sets
    chosen, other, row: buffers for two sets and the number of a set
    """

    hits: Floats
    misses: Floats
    sums: Floats
    squares: Floats
    largest: Floats
    split: LargestBetas
    drawn: Floats
    choose: Ints
    chosen: Ints
    other: Ints
    row: Ints


@policy(
    title="Thompson sampling over sets",
    reference="Thompson 1933; Agrawal, Goyal 2012",
    feedback=("choice", "independent", "total"),
    assumptions="none, except that the order of a set does not matter; at most 100,000 sets",
    regret_bound="O(C(n, k) log T / epsilon) if at most one arm is rewarded",
    if_assumption_fails="no effect: needs no assumption",
    adaptation="A set in place of an arm; if several arms can be rewarded, a Beta law with the variance of the totals.",
    set_dependent="yes",
    ordered_sets=False,
    over_sets=True,
)
class SetThompson(NamedTuple):
    """Play the set of largest theta, drawn from the Beta posterior of its total reward.

    bound: B, the largest reward an arm can earn in one round
    """

    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> SetThompsonState:
        return _new_state(count_sets("SetThompson", n, k), n, k)

    def select(self, state: SetThompsonState, rng: Generator) -> Ints:
        if state.largest[0] <= 1.0:
            draw_largest(state.split, state.hits, state.misses, state.row, rng)
        else:
            sample_totals(state, rng)
            state.row[0] = 0
            for row in range(len(state.drawn)):
                if state.drawn[row] > state.drawn[state.row[0]]:
                    state.row[0] = row
        write_set(state.choose, state.row[0], state.chosen)
        return state.chosen

    def update(self, state: SetThompsonState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        if is_whole(state, chosen):
            total = add_rewards(rewards, self.bound)
            row = row_of(state.choose, len(state.hits), chosen)
            state.sums[row] += total
            state.squares[row] += total * total
            state.largest[0] = max(state.largest[0], total)
            success = total >= 1.0 or (total > 0.0 and rng.random() < total)
            count_outcome(state.split, state.hits, state.misses, row, success)
            end_round(state.split, state.hits, state.misses)

    def select_from(self, state: SetThompsonState, available: Bools, rng: Generator) -> Ints:
        sample_totals(state, rng)
        return best_available(state, state.drawn, available, rng)

    def recommend(self, state: SetThompsonState, available: Bools) -> Ints:
        return best_played(state, state.hits + state.misses, state.sums, available)

    def grow(self, state: SetThompsonState, n: int, rng: Generator) -> SetThompsonState:
        rows, k = rows_after_growth("SetThompson", state, n), len(state.chosen)
        larger = _new_state(math.comb(n, k), n, k)
        for field in ("hits", "misses", "sums", "squares"):
            getattr(larger, field)[rows] = getattr(state, field)
        larger.largest[0] = state.largest[0]
        split_arms(larger.split, larger.hits, larger.misses)
        return larger


def _new_state(sets: int, n: int, k: int) -> SetThompsonState:
    return SetThompsonState(
        hits=np.zeros(sets),
        misses=np.zeros(sets),
        sums=np.zeros(sets),
        squares=np.zeros(sets),
        largest=np.ones(1),
        split=new_largest_betas(sets, 1),
        drawn=np.zeros(sets),
        choose=binomial_table(n, k),
        chosen=np.arange(k),
        other=np.arange(k),
        row=np.zeros(1, np.int64),
    )


def sample_totals(state: SetThompsonState, rng: Generator) -> None:
    """Draw every set's total from its posterior, as a share of the largest."""
    largest = state.largest[0]
    for row in range(len(state.drawn)):
        if largest <= 1.0:
            state.drawn[row] = draw_mean(state.hits[row], state.misses[row], rng)
        else:
            plays = state.hits[row] + state.misses[row]
            state.drawn[row] = draw_total(plays, state.sums[row] / largest, state.squares[row] / largest**2, rng)


def draw_total(plays: float, total: float, square: float, rng: Generator) -> float:
    """Draw from the posterior of a set, given its rounds, the sum of the totals and of their squares, all up to 1.

    Without a round it is uniform; after totals of 0 or 1 it is that of a coin.
    """
    rounds = plays + 2.0
    mean = (total + 1.0) / rounds
    # A 0 and a 1 are among the rounds, so that it is less only by rounding.
    variance = max(0.5 / rounds, (square + 1.0) / rounds - mean * mean)
    count = rounds * mean * (1.0 - mean) / variance
    return rng.beta(mean * count, (1.0 - mean) * count)
