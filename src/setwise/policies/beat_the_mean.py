"""Beat the mean: arms duel random others, and an arm that does clearly worse than the best one is removed.

With T the horizon and delta = 1 / (2 T n), all arms are active at first, and each has a record of its own duels:
opponents, duels and wins.

1. Let b be the active arm with the fewest duels in its record, ties broken at random. It duels another active arm,
   drawn uniformly. The outcome goes to the record of b alone.
2. Let p be the share of its duels that an arm has won, m* the least number of duels in a record, and c = 3 gamma^2
   sqrt(log(1 / delta) / m*). If the least p + c <= the largest p - c, remove the arm of least p, and delete all duels
   against it from the records of the others.
3. If one arm is left, play it forever. Else repeat from 1.

Yue, Joachims: Beat the Mean Bandit (2011).

Adaptation: sets have k distinct arms. Arm b comes first, then for k = 2 its opponent, for k > 2 the k - 1 other active
arms with the fewest duels. If b wins, it wins a duel against each active arm of the set; if another active arm wins, b
loses a duel against that one. A round without a winner counts for nothing. If too few arms are active, removed arms
fill up the set, the last removed first; also at the end, where the original plays the last arm against itself. With
`pad` off, sets have fewer arms then, and the last arm is played alone, against itself.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.duels import remove, take_best, take_drawn, take_removed
from setwise.kernels.pairs import check_pairs
from setwise.kernels.winners import winner_of
from setwise.policies._frozen import FOREVER
from setwise.types import Floats, Generator, Ints
from setwise.validation import Range


class BeatTheMeanState(NamedTuple):
    """State of beat-the-mean.

    active: of every arm, 1 until it is removed, then 0
    pair_duels, pair_wins: in row b and column w, the duels against w in b's record, and how many of them b won
    duels, wins_of: row sums over the active arms
    removed, gone: the removed arms in order of removal, and their number
    lots: a random number for every arm, to break ties between removals
    level: 9 gamma^4 log(1 / delta)
    rounds: rounds played
    lack, standing, chosen: buffers for minus the duels, the arms not yet in the set, and the set
    """

    active: Ints
    pair_duels: Ints
    pair_wins: Ints
    duels: Ints
    wins_of: Ints
    removed: Ints
    gone: Ints
    lots: Floats
    level: Floats
    rounds: Ints
    lack: Floats
    standing: Ints
    chosen: Ints


@policy(
    title="Beat the mean",
    reference="Yue, Joachims 2011",
    feedback=("choice",),
    assumptions="duels with relaxed stochastic transitivity and the stochastic triangle inequality",
    regret_bound="O(gamma^7 n log T / epsilon) to the best single arm, for duels",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="An arm meets k - 1 others at once, and the last one is played with those removed last, not alone, "
    "unless pad is off. The guarantee is for duels with pad off.",
    set_dependent="no",
    total_order=True,
)
class BeatTheMean(NamedTuple):
    """Remove arms that win clearly less often against random others than the best one does; play the last forever.

    `select` returns the arm whose record grows first, and `update` expects it there. Memory is two n x n tables. A
    round costs O(k n); one that removes an arm, O(n^2).

    gamma: how far the world is from strong transitivity, 1 or more; 1 means strong transitivity
    pad: whether every set has k arms; if not, removed arms are never played, and the last arm is played alone
    """

    gamma: Annotated[float, Range(1.0)] = 1.0
    pad: bool = True

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> BeatTheMeanState:
        check_pairs("BeatTheMean", k)
        return BeatTheMeanState(
            active=np.ones(n, np.int64),
            pair_duels=np.zeros((n, n), np.int64),
            pair_wins=np.zeros((n, n), np.int64),
            duels=np.zeros(n, np.int64),
            wins_of=np.zeros(n, np.int64),
            removed=np.zeros(n, np.int64),
            gone=np.zeros(1, np.int64),
            lots=rng.random(n),
            level=np.full(1, 9.0 * self.gamma**4 * math.log(2.0 * horizon * n)),
            rounds=np.zeros(1, np.int64),
            lack=np.zeros(n),
            standing=np.zeros(n, np.int64),
            chosen=np.arange(k),
        )

    def select(self, state: BeatTheMeanState, rng: Generator) -> Ints:
        chosen = state.chosen
        for arm in range(len(state.active)):
            state.standing[arm] = state.active[arm]
            state.lack[arm] = -state.duels[arm]
        take_best(state.lack, state.standing, chosen[:1], 0, rng)
        if len(chosen) == 2:
            filled = take_drawn(state.active, state.standing, chosen, 1, rng)
        else:
            filled = take_best(state.lack, state.standing, chosen, 1, rng)
        if not self.pad:
            return chosen[:filled]
        take_removed(state.removed, state.gone[0], chosen, filled)
        return chosen

    def update(self, state: BeatTheMeanState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn(state, chosen, rewards, 1)

    def certain_rounds(self, state: BeatTheMeanState, chosen: Ints) -> int:
        return FOREVER if one_is_left(state) else 1

    def update_many(self, state: BeatTheMeanState, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn(state, chosen, totals, rounds)


def one_is_left(state: BeatTheMeanState) -> bool:
    """Return whether only one arm is left."""
    return bool(state.gone[0] == len(state.active) - 1)


def learn(state: BeatTheMeanState, chosen: Ints, totals: Floats, rounds: int) -> None:
    """Add the duels of a round to one record; once one arm is left, only count the rounds."""
    state.rounds[0] += rounds
    winner = winner_of(totals)
    arm = chosen[0]
    if winner < 0 or state.active[arm] == 0 or one_is_left(state):
        return
    for j in range(1, len(chosen)):
        other = chosen[j]
        if state.active[other] == 1 and (winner == 0 or winner == j):
            won = 1 if winner == 0 else 0
            state.pair_duels[arm, other] += 1
            state.pair_wins[arm, other] += won
            state.duels[arm] += 1
            state.wins_of[arm] += won
    worst = clearly_worst(state.active, state.duels, state.wins_of, state.lots, state.level[0])
    if worst >= 0:
        remove(worst, state.active, state.removed, state.gone)
        for other in range(len(state.active)):
            state.duels[other] -= state.pair_duels[other, worst]
            state.wins_of[other] -= state.pair_wins[other, worst]
            state.pair_duels[other, worst] = 0
            state.pair_wins[other, worst] = 0


def clearly_worst(active: Ints, duels: Ints, wins_of: Ints, lots: Floats, level: float) -> int:
    """Return the active arm of least share if that is clearly below the largest, else -1."""
    worst = -1
    least = 0.0
    largest = 0.0
    fewest = FOREVER
    for arm in range(len(active)):
        if active[arm] == 1:
            if duels[arm] == 0:
                return -1
            share = wins_of[arm] / duels[arm]
            if worst < 0 or share < least or (share == least and lots[arm] > lots[worst]):
                worst = arm
                least = share
            largest = max(largest, share)
            fewest = min(fewest, duels[arm])
    radius = math.sqrt(level / fewest)
    return worst if least + radius <= largest - radius else -1
