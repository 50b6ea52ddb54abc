"""Robust UCB: play by weak optimal set consistency as long as nothing speaks against it, then by sets.

Under weak optimal set consistency, an arm a of the optimal set s* earns at least P(a|s*) in any company. So for every
set s that was played, an upper bound of P(a|s) is one of P(a|s*). With p, N the mean reward and plays of an arm, in
all company or in that of one set, t' the next power of two above the rounds played, and log+(x) = max(log x, 0), let

    f(N) = alpha log+(t' k / (n N)), as in KL-MOSS,
    U(p, N) = B max{q from p/B to 1: N kl(p/B, q) <= f(N)}, index(a) = min(U in all company, U in the set kept for a).

A set that is played is kept for each of its arms for which its U is lower than in all company and in the set kept so
far. It is dropped after a play that takes its U above that in all company. So the index is at least the minimum over
all sets. It can be larger, because another set is looked at again only when it is played.

In round t + 1

1. if every available arm was played, look at sets with the chance c = min(1, often e^doubt / sqrt(t)). The loss of a
   set is how much less than the best set it is expected to earn, by the means m of the posteriors. G is the mean loss
   of the sets other than the best, and u is drawn uniformly from 0 to c.

   - The challenger is a set s other than the best set, drawn in proportion to exp(-N(s) kl(m(s), m(best))) / N(s),
     with N(s) the rounds that its posterior counts: the index of IMED (Honda, Takemura 2015) as a chance. Play it if
     u loss <= `CHALLENGES` exploration more G / t.
   - If not, draw the total of every set from its posterior. Play the set of largest draw if
     u loss <= exploration more e^doubt M / t.

2. otherwise play the k arms of largest index, ties broken uniformly at random: optimism under the assumption.
   But if the sum of their indices is below the lower bound of the total of the surest set, see below, then what is
   known of arms contradicts what is known of sets: play the surest set.

So a round is expected to lose at most exploration more (M e^doubt + `CHALLENGES` G) / t by exploring, at most about
exploration more (M + `CHALLENGES` G) log t in all as long as there is no doubt. Sets that may well be as good as the
best are played often, and others rarely. Challengers are sets that the largest draw may neglect: little is known about
them. But if sets have followed their arms so far, there are too few challengers to try each of many sets, and one that
is far better than its arms suggest may never be tried. often is `OFTEN_OF_FEW` for up to `FEW_SETS` sets, and
`OFTEN_OF_MANY` for more: the more sets, the more time it takes to look at them. more is 1, except with scattered sets.
Once the assumption counts as refuted, every round plays the set of largest draw.

**The posterior of a set.** A set's total is what its arms earn in all company, plus a deviation of its own. Mean and
variance of the deviations are learned from the sets played so far (`_doubt.learn_variance`). A set of N plays and
total C has the posterior Beta(h m + C/M, h (1 - m) + N - C/M). M is the largest total seen, at least B. M m is the sum
of its arms' means, each after one more play of B/2, plus the mean deviation. h is such that Beta(h m, h (1 - m)) has
the variance of the deviations, from `WEAKEST` to `STRONGEST`. Where no deviations show, sets follow their arms, and
exploring costs little. Once the assumption counts as refuted, M m is without the mean deviation, the square of which
is added to the variance; and if there are few sets, every set counts alone: h = 2 and m = 1/2, as in `SetThompson`. If
several arms were rewarded in a round (M > B), N and C are multiplied by m' (1 - m') / v, with m', v the mean and
variance of the set's totals / M and of two rounds of a coin of mean m. m is kept from 0.02 to 0.98.

**Scattered sets** are cheap to try one by one, and what their arms earn says little about them: a wrong prior could
hide the best of them for very long. A handful of sets, at most `HANDFUL`, always counts as scattered, and has a weak
prior: h is at most `STRONGEST_OF_HANDFUL`. Up to `FEW_SETS` sets count as scattered if an average set could be told
from the best by its own rewards in `EASY` rounds, V <= `EASY` (L - A)^2 and A < L, and the prior of the best counts for
no more than `LOOSE` rounds, M^2 V <= (1 + `LOOSE`) x variance of the deviations. Here A is the mean of
(C/M + `AVERAGE` T) / (N + `AVERAGE`) over the sets seen, with T the mean total / M of all rounds: without these rounds
A would be too low, because sets are given up when they had bad luck. With p = (C/M + 1) / (N + 2), L is the largest
p - sqrt(2 p (1 - p) log(number of sets seen) / N), and V = L (1 - L). p is kept from 0.02 to 0.98, and so is L in V. In
the first `ALONE` rounds for each of scattered sets, every set counts alone, and every round plays the set of largest
draw. Later, often is `OFTEN_OF_SCATTERED`, and doubt comes sooner, see below. If there are more than a handful, more
is `MORE` for each `HANDFUL` sets.

**Many sets.** Above `FEW_SETS` sets, only sets that were seen, the set of the k arms of largest mean, and some of the
neighbours of the best of these by one exchange, in `NEIGHBOURS` tries, are candidates, also in G. The variance of a set
that was never seen is then `CAUTION` standard errors below its estimate, as long as the assumption is not refuted. The
table of sets is bounded: what it forgets (`kernels.set_table`) counts as never seen. A set of fewer than k arms teaches
nothing.

**Doubt.** When every arm was played, or after n rounds, and then whenever the rounds have grown by a thirty-second,
test the assumption. Let now U be with f = `LEVEL`, let q, L be the mean and the lower bound of the total of a set
(`_doubt.lower_total`), and p(a), U(a) the mean and U of an arm where U is least: in all company, or in a set of at
least f plays, there with f + log(number of sets seen) in place of f. With v(a) = (U(a) - p(a))^2 / f and v = (q - L)^2
/ f,

    evidence = max over sets and x = 1.5^i / B, i < 20, of 4 x (q - sum of the k largest p(a) + x v(a) - x v), or 0.

If errors are normal and independent, evidence of e or more means that there is a set s whose Q(s) no s* reaches with
p(a) that are consistent at the level e: it is a lower bound of the exponent of the likelihood of the assumption. The
assumption counts as refuted if the evidence is at least r = `REFUTED` + log(number of sets seen), less `HOLD` if it
was refuted by the last test. Otherwise doubt is evidence - r + `REFUTED`, from 0 to `MOST_DOUBT`; if sets are
scattered, it is twice the evidence, at most `MOST_OF_SCATTERED`. The test is repeated: a doubt that was wrong
passes. This is a rule of play and proves nothing; the certificate does (`kernels.certificate`).

The surest set is that of the largest L, with f + log(number of sets seen) in place of f, at the last test. Under the
assumption, and if all bounds hold, it earns at most Q(s*), which is at most the sum of the k largest indices. So it is
played in their place only if the assumption fails, or a bound does.

**Arms that come and go.** Arms that were never played do not count in the test, and neither do those out of reach: idle
for a quarter of the rounds and n more, although they would have been played if they were available. That is, an index
above one of the k largest of the others, with which these sum up to the bound of the surest set or more; or being in
the surest set, if the k largest of the others sum up to less. Their p(a) and U(a) are 0 there. Their sets are left out,
as far as the table still has them, also of what other arms earned in all company, and are not kept for other arms.
While every round explores, no further arm is left out, because neither decides. An arm that is played counts again.
When arms are added, f follows with the next power of two.

What it costs: docs/policies.md. There is no bound on its regret.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.largest_betas import border
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
from setwise.policies._budget import MOST_DOUBT, doubt_of, is_scattered, share_rounds
from setwise.policies._company import forget, index_of, is_below, recompute, release
from setwise.policies._doubt import HANDFUL, Doubt, all_marked, assess, new_doubt
from setwise.policies._explore import NEIGHBOURS, contains, explore
from setwise.policies._frozen import check_growth, select_available, write_indices
from setwise.policies._sets import NEAR, is_whole
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
    share: chance to explore in the next round, and to judge every set alone then
    budget: what challengers may cost in the next round, in multiples of G, and what the set of largest draw may cost,
        as a share of the largest total; both in expectation
    last: round in which every arm was last played
    current: whether every arm counts in the test of the assumption
    rounds: rounds played, round of the next assessment, arms never played
    level: alpha log(t' k / n), and alpha; f is the first less the second times log N
    few: number of sets, 0 if there are more than `FEW_SETS`
    scattered: whether sets are scattered
    usable: buffer, which arms may be explored
    posteriors, candidates: buffers, the posterior of every candidate, and which set that is (`_explore`)
    swaps, best_arms, center: buffers for candidates that were never seen (`_explore`)
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
    share: Floats
    budget: Floats
    last: Ints
    current: Bools
    rounds: Ints
    level: Floats
    few: Ints
    scattered: Bools
    usable: Bools
    posteriors: Floats
    candidates: Ints
    swaps: Ints
    best_arms: Ints
    center: Ints
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
    exploration: in t rounds, exploring may cost about this times log t of the largest total, and more in doubt
    bound: B, the largest reward an arm can earn in one round
    """

    alpha: Positive = 1.0
    exploration: NonNegative = 10.0
    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> RobustState:
        indices, sets, table = np.full(n, np.inf), math.comb(n, k), new_set_table(n, k)
        most = sets if sets <= FEW_SETS else len(table.taken) + 1 + NEIGHBOURS
        return RobustState(
            pulls=np.zeros(n),
            reward=np.zeros(n),
            indices=indices,
            company=np.full(n, NO_SET),
            company_bound=np.full(n, np.inf),
            ranking=new_ranking(indices, k),
            table=table,
            doubt=new_doubt(n, k, self.bound),
            share=np.zeros(2),
            budget=np.zeros(2),
            last=np.zeros(n, np.int64),
            current=np.zeros(n, np.bool_),
            rounds=np.array([0, 1, n]),
            level=np.array([self.alpha * math.log(2.0 * k / n), self.alpha]),
            few=np.array([sets if sets <= FEW_SETS else 0]),
            scattered=np.full(1, sets <= HANDFUL),
            usable=np.ones(n, np.bool_),
            posteriors=np.zeros((most, 2)),
            candidates=np.zeros(most, np.int64),
            swaps=np.zeros((NEIGHBOURS, 2), np.int64),
            best_arms=np.arange(k),
            center=np.arange(k),
            chosen=np.arange(k),
            other=np.arange(k),
            best=np.zeros(k),
        )

    def select(self, state: RobustState, rng: Generator) -> Ints:
        if state.rounds[2] == 0 and len(state.chosen) < len(state.indices):
            drawn = rng.random()
            if drawn < state.share[0]:
                for arm in range(len(state.usable)):
                    state.usable[arm] = True
                if explore(state, self.bound, drawn, rng):
                    return state.chosen
        return unless_surer(state, state.ranking.top(state.indices, len(state.chosen), rng))

    def update(self, state: RobustState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        if not is_whole(state, chosen):
            return
        state.rounds[0] += 1
        rounds = state.rounds[0]
        learn_round(state, chosen, rewards, self.bound)
        assessed = rounds >= state.rounds[1] and (state.rounds[2] == 0 or rounds >= len(state.pulls))
        if assessed:
            drop_idle(state, self.bound)  # by the indices of before the level changes
        if rounds & (rounds - 1) == 0:
            state.level[0] = self.alpha * math.log(2.0 * rounds * len(chosen) / len(state.pulls))
            recompute(state, self.bound)
        if assessed:
            assess(state.doubt, state.table, state.current, state.pulls, state.reward, self.bound)
            state.scattered[0] = is_scattered(state)
            state.rounds[1] = rounds + 1 + rounds // 32
        share_rounds(state, self.exploration)

    def indices(self, state: RobustState, out: Floats) -> None:
        write_indices(state, out)

    def select_from(self, state: RobustState, available: Bools, rng: Generator) -> Ints:
        found, unplayed = 0, 0
        for arm in range(len(available)):
            state.usable[arm] = available[arm]
            found += 1 if available[arm] else 0
            unplayed += 1 if available[arm] and state.pulls[arm] == 0.0 else 0
        if unplayed == 0 and found > len(state.chosen):
            drawn = rng.random()
            if drawn < state.share[0] and explore(state, self.bound, drawn, rng):
                return state.chosen
        chosen = select_available(state, available, rng)
        return unless_surer(state, chosen) if all_marked(available, state.doubt.surest) else chosen

    def grow(self, state: RobustState, n: int, rng: Generator) -> RobustState:
        return larger_robust(state, n, self.bound, self.init(n, len(state.chosen), 1, rng))

    def recommend(self, state: RobustState, available: Bools) -> Ints:
        """Return the set of largest mean total, after one more play of M/4, if doubt is at least `MOST_DOUBT`.

        In less doubt, return the surest set if it would be played in place of the arms of largest index.
        """
        found: Ints = state.chosen[:0]
        if doubt_of(state) < MOST_DOUBT:
            known = state.indices[available & (state.pulls > 0.0)]
            promised = np.sort(known)[-len(state.chosen) :].sum()
            surer = promised < state.doubt.sure[0] and available[state.doubt.surest].all()
            return state.doubt.surest.copy() if surer else found
        table, best = state.table, -1.0
        for slot in np.flatnonzero(table.plays):
            mean = (table.totals[slot] + state.doubt.largest[0] / 4) / (table.plays[slot] + 1)
            if mean > best and available[table.arms[slot]].all():
                best, found = mean, table.arms[slot]
        return found.copy()


def unless_surer(state: RobustState, chosen: Ints) -> Ints:
    """Return these arms of largest index; but the surest set, if its lower bound is above the sum of their indices."""
    promised = 0.0
    for j in range(len(chosen)):
        promised += state.indices[chosen[j]]
    if promised >= state.doubt.sure[0]:
        return chosen
    for j in range(len(state.chosen)):
        state.chosen[j] = state.doubt.surest[j]
    return state.chosen


IDLE = 4  # an arm is idle if it was not played in the last quarter of the rounds, and n rounds more


def drop_idle(state: RobustState, bound: float) -> None:
    """Leave arms out of the test that are idle although they would be played if they were available.

    Either their index is above one of those that are played, and with it the k largest promise no less than the surest
    set; or they are in the surest set, and the others promise less. While every round explores, all stay.
    """
    rounds, values = state.rounds[0], state.doubt.values
    if state.share[0] >= 1.0:
        return
    for arm in range(len(values)):
        values[arm] = state.indices[arm] if state.last[arm] > rounds - rounds // IDLE - len(values) else -1.0
    _, least = border(values, state.best)
    promised = 0.0
    for j in range(len(state.best)):
        promised += state.best[j]
    sure = state.doubt.sure[0]
    for arm in range(len(values)):
        if values[arm] < 0.0:
            index = state.indices[arm]
            by_index = index > least and promised - least + index >= sure
            if by_index or (promised < sure and contains(state.doubt.surest, arm)):
                state.current[arm] = False
    for arm in range(len(values)):
        slot = state.company[arm]
        if slot != NO_SET and not all_marked(state.current, state.table.arms[slot]):
            release(state, arm, bound)


def learn_round(state: RobustState, chosen: Ints, rewards: Floats, bound: float) -> None:
    """Add a round to the arms and to the set, and update the indices of its arms."""
    table = state.table
    code = code_of(table, chosen)
    slot = find_slot(table, code)
    if slot == NO_SET:
        slot = slot_to_take(table, code)
        forget(state, slot, bound)
        take_slot(table, slot, code, chosen)
    total = add_round(table, slot, chosen, rewards)
    if total > state.doubt.largest[0] * (1.0 + NEAR):  # shares of one reward add up to a little more
        state.doubt.largest[0] = total
    for j in range(len(chosen)):
        arm = chosen[j]
        if state.pulls[arm] == 0.0:
            state.rounds[2] -= 1
        state.last[arm] = state.rounds[0]
        state.current[arm] = True
        state.pulls[arm] += 1.0
        state.reward[arm] += rewards[j]
        index = index_of(state, state.reward[arm], state.pulls[arm], bound)
        earned = table.rewards[slot, place_in_slot(table, slot, arm, j)]
        lowest = index if state.company[arm] == slot else min(index, state.company_bound[arm])
        if is_below(state, earned / bound, table.plays[slot], lowest / bound):
            state.company[arm] = slot
            state.company_bound[arm] = index_of(state, earned, table.plays[slot], bound)
        elif state.company[arm] == slot:
            state.company[arm] = NO_SET
            state.company_bound[arm] = np.inf
        state.indices[arm] = min(index, state.company_bound[arm])
    state.ranking.moved(state.indices, chosen)


def larger_robust(state: RobustState, n: int, bound: float, larger: RobustState) -> RobustState:
    """Fill the state of more arms; the new ones were never played."""
    before = len(state.pulls)
    check_growth(before, n)
    for name in ("pulls", "reward", "indices", "company", "company_bound", "last", "current"):
        getattr(larger, name)[:before] = getattr(state, name)
    larger.level[:] = state.level
    larger.share[:] = state.share
    larger.budget[:] = state.budget
    larger.rounds[:] = state.rounds
    larger.rounds[2] += n - before
    for name in ("evidence", "largest", "deviation", "variance", "surest", "sure"):
        getattr(larger.doubt, name)[:] = getattr(state.doubt, name)
    copy_sets(state.table, larger.table)
    larger.scattered[0] = is_scattered(larger)
    if len(state.table.taken) < len(larger.table.taken):
        for arm in range(before):
            if state.company[arm] != NO_SET:
                larger.company[arm] = find_slot(larger.table, state.table.taken[state.company[arm]])
            if larger.company[arm] == NO_SET:
                larger.company_bound[arm] = np.inf
        recompute(larger, bound)
    return larger._replace(ranking=new_ranking(larger.indices, len(larger.chosen)))
