"""Robust UCB: play by weak optimal set consistency as long as nothing speaks against it, then by sets.

Under weak optimal set consistency, an arm a of the optimal set s* earns at least P(a|s*) in any company. So for every
set s that was played, an upper bound of P(a|s) is one of P(a|s*). With p, N the mean reward and plays of an arm, in all
company or in that of one set, and f = alpha log of the next power of two above the rounds played, let

    U(p, N) = B max{q from p/B to 1: N kl(p/B, q) <= f},    index(a) = min(U in all company, U in the set kept for a).

A set that is played is kept for each of its arms for which its U is lower than in all company and in the set kept so
far. It is dropped after a play that takes its U above that in all company. So the index is at least the minimum over
all sets. It can be larger, because another set is looked at again only when it is played.

In each round

1. with the chance min(1, exploration/3 e^doubt t^(-2/3)), 0 until every arm was played, and 1 once the assumption
   counts as refuted, explore: draw the total of every set from its posterior and play the set of largest draw;
2. otherwise play the k arms of largest index, ties broken uniformly at random: optimism under the assumption.

**The posterior of a set.** A set's total is what its arms earn in all company, plus a deviation of its own. Mean and
variance of the deviations are learned from the sets played so far (`_doubt.learn_variance`). A set of N plays and total
C has the posterior Beta(h m + C/M, h (1 - m) + N - C/M). M is the largest total seen, at least B. M m is the sum of its
arms' means, each after one more play of B/2, plus the mean deviation. h is such that Beta(h m, h (1 - m)) has the
variance of the deviations, from `WEAKEST` to `STRONGEST`. Where no deviations show, sets follow their arms, and
exploring costs little. Once the assumption counts as refuted, M m is without the mean deviation, the square of which is
added to the variance; and if there are few sets, h is `WEAKEST`: they are no longer judged by their arms. If several
arms were rewarded in a round (M > B), N and C are multiplied by m' (1 - m') / v, with m', v the mean and variance of
the set's totals / M and of two rounds of a coin of mean m. m is kept from 0.02 to 0.98. A set whose posterior mean is
`FAR` standard deviations below the largest draw so far is not drawn.

Above `FEW_SETS` sets, only sets that were seen, up to `NEIGHBOURS` of the neighbours of the best of these by one
exchange, and the set of the k arms of largest mean are looked at; the variance of a set that was never seen is then
`CAUTION` standard errors below its estimate, as long as the assumption is not refuted. The table of sets is bounded:
what it forgets (`kernels.set_table`) counts as never seen. A set of fewer than k arms teaches nothing.

**Doubt.** When every arm was played, and then whenever the rounds have grown by a thirty-second, test the assumption.
With f = `LEVEL`, let q, L be the mean and the lower bound of the total of a set (`_doubt.lower_total`), and p(a), U(a)
the mean and U of an arm where U is least: in all company, or in a set of at least f plays, there with f + log(number of
sets seen) in place of f. With v(a) = (U(a) - p(a))^2 / f and v = (q - L)^2 / f,

    evidence = max over sets and x = 1.5^i / B, i < 20, of 4 x (q - sum of the k largest p(a) + x v(a) - x v), or 0.

If errors are normal, then as long as the evidence is below e, some set has p(a) that are consistent with Q(s*) >= Q(s)
at the level e: it is the exponent of the likelihood of the assumption, which counts as refuted if the evidence is at
least r = `REFUTED` + log(number of sets seen), less `HOLD` if it was refuted by the last test. Otherwise doubt is
evidence - r + `REFUTED`, from 0 to `MOST_DOUBT`. The test is repeated: a doubt that was wrong passes. This is a rule of
play and proves nothing; the certificate does (`kernels.certificate`).

What it costs: docs/policies.md. There is no bound on its regret.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.divergence import bernoulli_divergence, upper_bound
from setwise.kernels.ranking import Ranking, new_ranking
from setwise.kernels.set_table import (
    FEW_SETS,
    NO_SET,
    SetTable,
    add_round,
    code_of,
    copy_sets,
    find_slot,
    new_set_table,
    place_in_slot,
    slot_to_take,
    take_slot,
)
from setwise.policies._doubt import REFUTED, Doubt, assess, new_doubt
from setwise.policies._explore import explore
from setwise.policies._frozen import check_growth, select_available, write_indices
from setwise.policies._sets import is_whole
from setwise.types import Bools, Floats, Generator, Ints
from setwise.validation import NonNegative, Positive


class RobustState(NamedTuple):
    """State of robust UCB.

    pulls, reward: plays of every arm and sum of its rewards, in all company
    indices: of every arm
    company, company_bound: the slot of the set whose company gave the arm's lowest bound, and that bound
    ranking: of the arms by index
    table: the sets that were seen
    doubt: of the assumption
    rounds: rounds played, round of the next assessment, arms never played
    level: f
    few: whether there are at most `FEW_SETS` sets
    usable: buffer, which arms may be explored
    chosen, other, best: buffers for two sets and their values
    """

    pulls: Floats
    reward: Floats
    indices: Floats
    company: Ints
    company_bound: Floats
    ranking: Ranking
    table: SetTable
    doubt: Doubt
    rounds: Ints
    level: Floats
    few: Ints
    usable: Bools
    chosen: Ints
    other: Ints
    best: Floats


@policy(
    title="Robust UCB",
    reference="this project; KL-UCB of Garivier, Cappe 2011 as long as the assumption holds",
    assumptions="none; good if weak optimal set consistency holds, or if there are few sets",
    regret_bound="none known",
    if_assumption_fails="goes over to sets",
    set_dependent="yes",
    ordered_sets=False,
)
class RobustUCB(NamedTuple):
    """Play the k arms of largest index, the least bound in any company, and by sets once the assumption is doubted.

    alpha: how much to explore arms
    exploration: about this times t^(1/3) of the first t rounds explore sets
    bound: B, the largest reward an arm can earn in one round
    """

    alpha: Positive = 1.0
    exploration: NonNegative = 20.0
    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> RobustState:
        indices = np.full(n, np.inf)
        return RobustState(
            pulls=np.zeros(n),
            reward=np.zeros(n),
            indices=indices,
            company=np.full(n, NO_SET),
            company_bound=np.full(n, np.inf),
            ranking=new_ranking(indices, k),
            table=new_set_table(n, k),
            doubt=new_doubt(n, k, self.bound),
            rounds=np.array([0, 1, n]),
            level=np.array([self.alpha * math.log(2.0)]),
            few=np.array([int(math.comb(n, k) <= FEW_SETS)]),
            usable=np.ones(n, np.bool_),
            chosen=np.arange(k),
            other=np.arange(k),
            best=np.zeros(k),
        )

    def select(self, state: RobustState, rng: Generator) -> Ints:
        if len(state.chosen) < len(state.indices) and rng.random() < state.doubt.share[0]:
            for arm in range(len(state.usable)):
                state.usable[arm] = True
            explore(state, self.bound, rng)
            return state.chosen
        return state.ranking.top(state.indices, len(state.chosen), rng)

    def update(self, state: RobustState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        if not is_whole(state, chosen):
            return
        learn_round(state, chosen, rewards, self.bound)
        state.rounds[0] += 1
        rounds = state.rounds[0]
        if rounds & (rounds - 1) == 0:
            state.level[0] = self.alpha * math.log(2.0 * rounds)
            recompute(state, self.bound)
        if rounds >= state.rounds[1] and state.rounds[2] == 0:
            assess(state.doubt, state.table, state.pulls, state.reward, self.bound)
            state.rounds[1] = rounds + 1 + rounds // 32
        if state.rounds[2] == 0:
            state.doubt.share[0] = share_of_sets(rounds, self.exploration, state.doubt.evidence)

    def indices(self, state: RobustState, out: Floats) -> None:
        write_indices(state, out)

    def select_from(self, state: RobustState, available: Bools, rng: Generator) -> Ints:
        found = 0
        for arm in range(len(available)):
            state.usable[arm] = available[arm]
            found += 1 if available[arm] else 0
        if found > len(state.chosen) and rng.random() < state.doubt.share[0]:
            explore(state, self.bound, rng)
            return state.chosen
        return select_available(state, available, rng)

    def grow(self, state: RobustState, n: int, rng: Generator) -> RobustState:
        return larger_robust(state, n, self.bound, self.init(n, len(state.chosen), 1, rng))


MOST_DOUBT = 4.0  # evidence up to which the share of exploring rounds grows


def share_of_sets(rounds: int, exploration: float, evidence: Floats) -> float:
    """Return the chance to explore sets in the next round."""
    if evidence[0] >= evidence[1]:
        return 1.0
    doubt = min(max(0.0, evidence[0] - evidence[1] + REFUTED), MOST_DOUBT)
    return min(1.0, exploration / 3.0 * math.exp(doubt - 2.0 / 3.0 * math.log(rounds)))


def learn_round(state: RobustState, chosen: Ints, rewards: Floats, bound: float) -> None:
    """Add a round to the arms and to the set, and update the indices of its arms."""
    table, level = state.table, state.level[0]
    code = code_of(table, chosen)
    slot = find_slot(table, code)
    if slot == NO_SET:
        slot = slot_to_take(table, code)
        forget(state, slot, bound)
        take_slot(table, slot, code, chosen)
    total = add_round(table, slot, chosen, rewards)
    state.doubt.largest[0] = max(state.doubt.largest[0], total)
    for j in range(len(chosen)):
        arm = chosen[j]
        if state.pulls[arm] == 0.0:
            state.rounds[2] -= 1
        state.pulls[arm] += 1.0
        state.reward[arm] += rewards[j]
        index = bound * upper_bound(state.reward[arm] / bound, state.pulls[arm], level)
        earned = table.rewards[slot, place_in_slot(table, slot, arm, j)] / bound
        lowest = index if state.company[arm] == slot else min(index, state.company_bound[arm])
        if is_below(earned, table.plays[slot], level, lowest / bound):
            state.company[arm] = slot
            state.company_bound[arm] = bound * upper_bound(earned, table.plays[slot], level)
        elif state.company[arm] == slot:
            state.company[arm] = NO_SET
            state.company_bound[arm] = np.inf
        state.indices[arm] = min(index, state.company_bound[arm])
    state.ranking.moved(state.indices, chosen)


def larger_robust(state: RobustState, n: int, bound: float, larger: RobustState) -> RobustState:
    """Fill the state of more arms; the new ones were never played. Exploring stops until they are."""
    before = len(state.pulls)
    check_growth(before, n)
    larger.pulls[:before] = state.pulls
    larger.reward[:before] = state.reward
    larger.level[:] = state.level
    larger.rounds[0] = state.rounds[0]
    larger.rounds[2] = n - np.count_nonzero(state.pulls)
    for name in ("evidence", "largest", "deviation", "variance"):
        getattr(larger.doubt, name)[:] = getattr(state.doubt, name)
    copy_sets(state.table, larger.table)
    for arm in range(before):
        if state.company[arm] != NO_SET:
            larger.company[arm] = find_slot(larger.table, state.table.taken[state.company[arm]])
    recompute(larger, bound)
    return larger


def is_below(reward: float, plays: float, level: float, q: float) -> bool:
    """Whether the upper bound of a mean is below q, N kl(p, q) > f; kl <= (p - q)^2 / (q (1 - q)) decides mostly."""
    p = reward / plays
    if p >= q:
        return False
    if q >= 1.0:
        return True
    if plays * (q - p) * (q - p) <= level * q * (1.0 - q):
        return False
    return plays * bernoulli_divergence(p, q) > level


def forget(state: RobustState, slot: int, bound: float) -> None:
    """Drop what follows from the set of a slot, if there is one."""
    if state.table.taken[slot] == 0:
        return
    for j in range(len(state.chosen)):
        arm = state.table.arms[slot, j]
        if state.company[arm] == slot:
            state.company[arm] = NO_SET
            state.company_bound[arm] = np.inf
            state.indices[arm] = bound * upper_bound(state.reward[arm] / bound, state.pulls[arm], state.level[0])
            state.other[0] = arm
            state.ranking.moved(state.indices, state.other[:1])


def recompute(state: RobustState, bound: float) -> None:
    """Recompute all indices after the level has changed."""
    table, level = state.table, state.level[0]
    for arm in range(len(state.pulls)):
        if state.pulls[arm] > 0.0:
            slot = state.company[arm]
            if slot != NO_SET:
                earned = table.rewards[slot, place_in_slot(table, slot, arm, 0)] / bound
                state.company_bound[arm] = bound * upper_bound(earned, table.plays[slot], level)
            index = bound * upper_bound(state.reward[arm] / bound, state.pulls[arm], level)
            state.indices[arm] = min(index, state.company_bound[arm])
        state.other[0] = arm  # not `chosen`, which the game may still read
        state.ranking.moved(state.indices, state.other[:1])
