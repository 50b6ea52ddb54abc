"""How much exploring sets may cost, and whether sets are scattered: see `robust_ucb`."""

import math
from typing import Any

from setwise.policies._doubt import HANDFUL, REFUTED, bounded_mean, is_refuted

MOST_DOUBT = 4.0  # doubt at most, before the assumption counts as refuted;
MOST_OF_SCATTERED = 6.0  # and of scattered sets
OFTEN_OF_SCATTERED, OFTEN_OF_FEW, OFTEN_OF_MANY = 50.0, 20.0, 5.0  # about 2 sqrt(t) times that of t rounds look at sets
CHALLENGES = 0.8  # budget of challengers as a share of `exploration`
MORE = 3.0  # budget of scattered sets, for each `HANDFUL` of them
ALONE = 16  # rounds for each of the scattered sets, in which they are explored alone
EASY = 12.0  # rounds in which an average set can be told from the best, at most, if sets are scattered,
LOOSE = 16.0  # and rounds that the prior of the best may count for
AVERAGE = 4.0  # rounds of an average set that are added to those of each set to find what an average set earns


def is_scattered(state: Any) -> bool:
    """Whether sets count as scattered."""
    table, largest = state.table, state.doubt.largest[0]
    if state.few[0] <= HANDFUL:
        return bool(state.few[0] > 0)
    earned, rounds, seen = 0.0, 0.0, 0.0
    for slot in range(len(table.taken)):
        if table.plays[slot] > 0.0:
            earned += table.totals[slot] / largest
            rounds += table.plays[slot]
            seen += 1.0
    average, best = 0.0, 0.0
    for slot in range(len(table.taken)):
        plays = table.plays[slot]
        if plays > 0.0:
            average += (table.totals[slot] / largest + AVERAGE * earned / rounds) / (plays + AVERAGE) / seen
            mean = bounded_mean((table.totals[slot] / largest + 1.0) / (plays + 2.0))
            best = max(best, mean - math.sqrt(2.0 * mean * (1.0 - mean) * math.log(seen) / plays))
    gap, best = best - average, bounded_mean(best)
    variance = best * (1.0 - best)
    easy = gap > 0.0 and variance <= EASY * gap * gap
    return bool(easy and variance * largest * largest <= (1.0 + LOOSE) * state.doubt.variance[0])


def doubt_of(state: Any) -> float:
    """Return the logarithm of how much more may be spent on exploring; infinite if the assumption counts as refuted."""
    doubt = state.doubt
    if is_refuted(doubt):
        return math.inf
    grown: float = max(0.0, doubt.evidence[0] - doubt.evidence[1] + REFUTED)
    most = MOST_DOUBT
    if state.scattered[0]:
        grown = 2.0 * doubt.evidence[0]
        most = MOST_OF_SCATTERED
    return min(grown, most)


def share_rounds(state: Any, exploration: float) -> None:
    """Set the chances to explore in the next round, and what that may cost."""
    rounds, doubt = float(state.rounds[0]), doubt_of(state)
    if doubt == math.inf or (state.scattered[0] and rounds < ALONE * state.few[0]):
        state.share[0], state.share[1], state.budget[0], state.budget[1] = 1.0, 1.0, 0.0, math.inf
        return
    often = OFTEN_OF_SCATTERED if state.scattered[0] else OFTEN_OF_FEW if state.few[0] != 0 else OFTEN_OF_MANY
    times = math.exp(doubt)
    more = MORE * state.few[0] / HANDFUL if state.scattered[0] and state.few[0] > HANDFUL else 1.0
    state.share[0] = min(1.0, often * times / math.sqrt(rounds)) if exploration > 0.0 else 0.0
    state.share[1] = 0.0
    state.budget[0] = CHALLENGES * exploration * more / rounds
    state.budget[1] = exploration * more * times / rounds
