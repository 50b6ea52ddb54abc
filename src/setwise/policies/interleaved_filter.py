"""Interleaved filter: a candidate duels all others until it beats them, or one of them beats it.

With T the horizon and delta = 1 / (T n^2), let p(w) be the share of its duels against w that the candidate has won, m
their number, and c(w) = sqrt(4 log(1 / delta) / m). A random arm is the first candidate, all others are active.

1. The candidate duels every active arm once.
2. Remove each active arm w with p(w) - c(w) > 1/2: the candidate beats it.
3. If an active arm w has p(w) + c(w) < 1/2, it beats the candidate (of several, take that of least p). Then remove each
   active arm with p > 1/2 (only IF2 prunes like this, IF1 does not), remove the candidate, make w the candidate, and
   forget all duels.
4. If no arm is active, play the candidate forever. Else repeat from 1.

Yue, Broder, Kleinberg, Joachims: The K-armed Dueling Bandits Problem (2012).

Adaptation: sets have k distinct arms. The candidate comes first, then the k - 1 active arms that duelled it least. If
the candidate wins, it wins a duel against each active arm of the set; if an active arm wins, the candidate loses a duel
against that one. A round without a winner is repeated. Step 2 runs when the least number of duels of an active arm
increases, for k = 2 after each pass of step 1. If too few arms are active, removed arms fill up the set, the last
removed first; also at the end, where the original plays its candidate against itself. With `pad` off, sets have fewer
arms then, and the candidate is played alone, against itself.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.duels import remove, take_best, take_removed
from setwise.kernels.pairs import check_pairs
from setwise.kernels.winners import winner_of
from setwise.policies._frozen import FOREVER
from setwise.types import Floats, Generator, Ints


class InterleavedFilterState(NamedTuple):
    """State of the filter.

    candidate: the arm that duels all others
    active: of every arm, 1 if it still duels the candidate, else 0
    duels, lost: of every active arm, its duels against the candidate, and how many of them it lost
    least: the least number of duels of an active arm at the last check for removals
    removed, gone: the removed arms in order of removal, and their number
    lots: a random number for every arm, to break ties between removals
    level: 4 log(1 / delta)
    rounds: rounds played
    lack, standing, chosen: buffers for minus the duels, the arms not yet in the set, and the set
    """

    candidate: Ints
    active: Ints
    duels: Ints
    lost: Ints
    least: Ints
    removed: Ints
    gone: Ints
    lots: Floats
    level: Floats
    rounds: Ints
    lack: Floats
    standing: Ints
    chosen: Ints


@policy(
    title="Interleaved filter",
    reference="Yue, Broder, Kleinberg, Joachims 2012",
    feedback=("choice",),
    assumptions="duels with strong stochastic transitivity and the stochastic triangle inequality",
    regret_bound="O(n log T / epsilon) to the best single arm, for duels",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="The candidate meets k - 1 others at once, and is played with those removed last in the end, not alone, "
    "unless pad is off. The guarantee is for duels with pad off.",
    set_dependent="no",
    total_order=True,
)
class InterleavedFilter(NamedTuple):
    """Let a candidate duel all others until one beats it and replaces it, or it beats them all; then play it forever.

    A round costs O(k n); one that removes arms, up to O(n^2).

    prune: whether a beaten candidate also removes all arms it was ahead of (IF2), or not (IF1)
    pad: whether every set has k arms; if not, removed arms are never played, and the last candidate is played alone
    """

    prune: bool = True
    pad: bool = True

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> InterleavedFilterState:
        check_pairs("InterleavedFilter", k)
        state = InterleavedFilterState(
            candidate=np.zeros(1, np.int64),
            active=np.ones(n, np.int64),
            duels=np.zeros(n, np.int64),
            lost=np.zeros(n, np.int64),
            least=np.zeros(1, np.int64),
            removed=np.zeros(n, np.int64),
            gone=np.zeros(1, np.int64),
            lots=rng.random(n),
            level=np.full(1, 4.0 * math.log(float(horizon) * n * n)),
            rounds=np.zeros(1, np.int64),
            lack=np.zeros(n),
            standing=np.zeros(n, np.int64),
            chosen=np.arange(k),
        )
        set_candidate(state, int(rng.random() * n))
        return state

    def select(self, state: InterleavedFilterState, rng: Generator) -> Ints:
        state.chosen[0] = state.candidate[0]
        for arm in range(len(state.active)):
            state.standing[arm] = state.active[arm]
            state.lack[arm] = -state.duels[arm]
        filled = take_best(state.lack, state.standing, state.chosen, 1, rng)
        if not self.pad:
            return state.chosen[:filled]
        take_removed(state.removed, state.gone[0], state.chosen, filled)
        return state.chosen

    def update(self, state: InterleavedFilterState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn(state, chosen, rewards, 1, self.prune)

    def certain_rounds(self, state: InterleavedFilterState, chosen: Ints) -> int:
        return FOREVER if has_won(state) else 1

    def update_many(self, state: InterleavedFilterState, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn(state, chosen, totals, rounds, self.prune)


def has_won(state: InterleavedFilterState) -> bool:
    """Return whether only the candidate is left."""
    return bool(state.gone[0] == len(state.active) - 1)


def set_candidate(state: InterleavedFilterState, arm: int) -> None:
    """Make an active arm the candidate and forget all duels."""
    state.candidate[0] = arm
    state.active[arm] = 0
    state.least[0] = 0
    for other in range(len(state.active)):
        state.duels[other] = 0
        state.lost[other] = 0


def learn(state: InterleavedFilterState, chosen: Ints, totals: Floats, rounds: int, prune: bool) -> None:
    """Record the duels of a round; once the candidate has won, only count the rounds."""
    state.rounds[0] += rounds
    place = -1
    for j in range(len(chosen)):
        if chosen[j] == state.candidate[0]:
            place = j
    winner = winner_of(totals)
    if place < 0 or winner < 0 or has_won(state):
        return
    if winner == place:
        for j in range(len(chosen)):
            if state.active[chosen[j]] == 1:
                state.duels[chosen[j]] += 1
                state.lost[chosen[j]] += 1
    elif state.active[chosen[winner]] == 1:
        state.duels[chosen[winner]] += 1
    least = FOREVER
    for arm in range(len(state.active)):
        if state.active[arm] == 1:
            least = min(least, state.duels[arm])
    if least > state.least[0]:
        state.least[0] = least
        eliminate(state, prune)


def eliminate(state: InterleavedFilterState, prune: bool) -> None:
    """Remove the arms that the candidate clearly beats; if an arm clearly beats the candidate, replace it."""
    level = state.level[0]
    remove_beaten(state.active, state.duels, state.lost, state.lots, level, state.removed, state.gone)
    better = clearest(state.active, state.duels, state.lost, state.lots, -1.0, level)
    if better >= 0:
        if prune:
            remove_beaten(state.active, state.duels, state.lost, state.lots, 0.0, state.removed, state.gone)
        remove(state.candidate[0], state.active, state.removed, state.gone)
        set_candidate(state, better)


def remove_beaten(active: Ints, duels: Ints, lost: Ints, lots: Floats, level: float, removed: Ints, gone: Ints) -> None:
    """Remove each active arm with p - 1/2 above sqrt(level / m), in decreasing order of p."""
    arm = clearest(active, duels, lost, lots, 1.0, level)
    while arm >= 0:
        remove(arm, active, removed, gone)
        arm = clearest(active, duels, lost, lots, 1.0, level)


def clearest(active: Ints, duels: Ints, lost: Ints, lots: Floats, sign: float, level: float) -> int:
    """Return the active arm of largest sign (p - 1/2), if above sqrt(level / m); -1 if there is none.

    The sign is 1 for arms that the candidate beats, -1 for arms that beat it.
    """
    found = -1
    most = 0.0
    for arm in range(len(active)):
        if active[arm] == 1 and duels[arm] > 0:
            lead = sign * (lost[arm] / duels[arm] - 0.5)
            if lead > math.sqrt(level / duels[arm]) and (
                found < 0 or lead > most or (lead == most and lots[arm] > lots[found])
            ):
                found = arm
                most = lead
    return found
