"""A test of weak optimal set consistency while a policy plays, valid for every policy, in all rounds at once.

Under the assumption, an arm a of the optimal set s* (of one of them, if there are several) earns at least P(a|s*) on
average in any company. So for a in s*, an upper bound of what it earned on average, in all company or in that of one
set, is an upper bound of P(a|s*). Let U(a) be the least of these. Then Q(s*) is at most the sum of the k largest U. If
the lower bound L(s) of the expected total of some set s is above that sum, then Q(s) > Q(s*), which is impossible: the
assumption is refuted.

**Bounds for all rounds at once.** Let X_1, X_2, ... in [0, 1] have conditional means of at least mu, given the past,
and let N be their number and C their sum. For every q <= mu the product of (q/mu)^X ((1-q)/(1-mu))^(1-X) is a
supermartingale: a factor is convex in X, hence at most its chord, which has the mean
1 - (E X - mu) (mu - q) / (mu (1 - mu)) <= 1.
So is its mean over q, uniform from 0 to mu, which starts at 1. With beta the Beta function that mean is

    beta(C + 1, N - C + 1) P(Beta(C + 1, N - C + 1) <= mu) / (mu^(C+1) (1 - mu)^(N-C)),

and the probability in it is at least 1/2 if mu is at least the mean (C + 1) / (N + 2) and the mode C/N of that law,
because its median lies between them. By Ville's inequality the supermartingale ever reaches 1/delta with a chance of at
most delta. So with probability 1 - delta, in all rounds, mu is below p = (C + 1) / (N + 1), which is above both, or

    (N + 1) kl(p, mu) <= log(1/delta) + log 2 + log(C + 1) + log b,    b = M! / (D! (M-D)!) p^D (1 - p)^(M-D),

with M = N + 1, which is whole, and D = C + 1, which need not be: D! is the factorial of a real number. Let
h(x) = log(x! (e/x)^x), so that log b = h(M) - h(D) - h(M - D). h is concave and h(0) = 0, so b <= 1. And h(x) is at
least log(2 pi (x + 0.159)) / 2 for all x, and at most log(2 pi (x + 0.177)) / 2 for whole x > 0 (by Stirling's series
from 1 on, by computation below), so b <= sqrt((M + 0.177) / (2 pi (D + 0.159) (M - D + 0.159))). The lesser of the two
is used. No mu above p is refuted unless N kl(C/N, mu) > log(1/delta): the largest value of the density of the Beta law,
times mu, is at least the probability in the mean above, hence at least 1/2.

**Totals.** L(s) comes from how much the total falls short of its largest value: an upper bound of the mean of that is a
lower bound of Q(s). Where at most one arm is rewarded, the total lies between 0 and B, and is one value. Where the arms
of a set are rewarded independently, the k rewards of a round count as k values, though their means differ. Given the
past, the mean of the product of their factors is the product of the means, each at most that of its chord, which is
positive and linear in the mean of the arm. Such a product is largest if all means are equal (arithmetic and geometric
mean). Where neither is known, a total is one value between 0 and k B.

**The share of each bound.** s* is one set, so only its k arms count. In all company, each arm of s* has the share
delta / (4 k). The m-th set that is admitted has delta / (4 k m (m + 1)) for each arm in common with s*, and
delta / (2 m (m + 1)) for its total. The sum over all m is at most delta, whatever the policy plays. A set is admitted
when it was played `WAITING` rounds, and only later rounds count. So m is known before what is counted, and the bound
holds given the past of that moment. Whether a round counts is always decided before its rewards:

- Rounds may be added many at a time. The bounds hold in all rounds, hence in those at whose end the test looks.
- A bounded table keeps the sets. An admitted set stays; one that finds no place is not admitted; one that was forgotten
  while it waited starts again. Where two sets have the same code, only rounds of the first one count for it.
- A round of fewer than k arms does not count, because the assumption says nothing about it.

Silence does not prove the assumption: a violation is seen only if the policy plays a set that shows it. A refutation
says that the assumption fails, not how much a policy loses by that.

Ville: Etude critique de la notion de collectif (1939); Robbins: Statistical methods related to the law of the iterated
logarithm (1970), for mixtures; Payton, Young, Young 1989, for the median of the Beta law.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.kernels.divergence import bernoulli_divergence, upper_bound
from setwise.kernels.set_table import (
    NO_SET,
    WINDOW,
    SetTable,
    code_of,
    new_set_table,
    place_in_slot,
    slot_has,
    take_slot,
)
from setwise.types import Floats, Ints

WAITING = 8  # rounds until a set is admitted
BEFORE = 4  # rounds before the first test; then it is repeated whenever rounds have grown by a sixteenth


class Watch(NamedTuple):
    """State of the test.

    pulls, reward: of every arm, plays and sum of rewards as shares of the bound, in all company
    table: the sets, with rewards and totals as shares of the bound
    number: of every slot, m if its set was admitted, else 0
    counts: rounds, round of the next test, number of admitted sets, round of the refutation or 0
    limits: the bound B of one reward, the largest total of a set, both as amounts; the number of values that a total
        counts as; log(1/delta)
    witness: if refuted: in the first row, the lower bound of a set's total, the rounds it comes from, and the arms of
        the set; in the others the bound U of an arm, the arm, and the company it comes from, or -1 for all company
    bounds, company: buffers, of every arm U and the slot of the company, or `NO_SET`
    best, top: buffers for the k largest U and their arms
    """

    pulls: Floats
    reward: Floats
    table: SetTable
    number: Ints
    counts: Ints
    limits: Floats
    witness: Floats
    bounds: Floats
    company: Ints
    best: Floats
    top: Ints


ROUNDS, NEXT, ADMITTED, REFUTED = range(4)  # places in `counts`
BOUND, MOST, VALUES, DOUBT = range(4)  # places in `limits`


def new_watch(n: int, k: int, bound: float, most: float, values: int, delta: float) -> Watch:
    """Return the test before the first round.

    bound, most: the largest reward of an arm, and the largest total of a set, in one round
    values: k if the arms of a set are rewarded independently, else 1
    delta: chance of a wrong refutation, at most
    """
    table = new_set_table(n, k)
    return Watch(
        pulls=np.zeros(n),
        reward=np.zeros(n),
        table=table,
        number=np.zeros(len(table.taken), np.int64),
        counts=np.array([0, BEFORE, 0, 0]),
        limits=np.array([bound, most, float(values), math.log(1.0 / delta)]),
        witness=np.zeros((k + 1, k + 2)),
        bounds=np.zeros(n),
        company=np.zeros(n, np.int64),
        best=np.zeros(k),
        top=np.zeros(k, np.int64),
    )


def clear_watch(watch: Watch) -> None:
    """Reset to before the first round."""
    for array in (watch.pulls, watch.reward, watch.number, watch.counts, watch.witness):
        array.fill(0)
    for array in (watch.table.taken, watch.table.plays, watch.table.sets):
        array.fill(0)
    watch.counts[NEXT] = BEFORE


def watch_rounds(watch: Watch, chosen: Ints, totals: Floats, rounds: int) -> None:
    """Add rounds of one set, `totals` the sums of its arms' rewards; repeat the test if it is time."""
    watch.counts[ROUNDS] += rounds
    if watch.counts[REFUTED] != 0 or len(chosen) < len(watch.top):
        return
    for j in range(len(chosen)):
        watch.pulls[chosen[j]] += rounds
        watch.reward[chosen[j]] += totals[j] / watch.limits[BOUND]
    slot = slot_of(watch, chosen)
    if slot != NO_SET:
        watch_set(watch, slot, chosen, totals, rounds)
    if watch.counts[ROUNDS] >= watch.counts[NEXT]:
        decide(watch)
        watch.counts[NEXT] = watch.counts[ROUNDS] + 1 + watch.counts[ROUNDS] // 16


def slot_of(watch: Watch, chosen: Ints) -> int:
    """Return the slot of a set, a new one if need be; `NO_SET` if there is none but those of admitted sets."""
    table = watch.table
    code = code_of(table, chosen)
    mask = len(table.taken) - 1
    best = NO_SET
    for step in range(WINDOW):
        slot = (code + step) & mask
        if table.taken[slot] == code:
            return slot
        if table.taken[slot] == 0:
            best = slot
            break
        if watch.number[slot] == 0 and (best == NO_SET or table.plays[slot] < table.plays[best]):
            best = slot
    if best != NO_SET:
        take_slot(table, best, code, chosen)
    return best


def watch_set(watch: Watch, slot: int, chosen: Ints, totals: Floats, rounds: int) -> None:
    """Count rounds of an admitted set, or admit it when it has waited long enough."""
    table = watch.table
    if watch.number[slot] > 0 and not slot_has(table, slot, chosen):
        return
    table.plays[slot] += rounds
    if watch.number[slot] > 0:
        for j in range(len(chosen)):
            table.rewards[slot, place_in_slot(table, slot, chosen[j], j)] += totals[j] / watch.limits[BOUND]
            table.totals[slot] += totals[j] / watch.limits[MOST]
    elif table.plays[slot] >= WAITING:
        watch.counts[ADMITTED] += 1
        watch.number[slot] = watch.counts[ADMITTED]
        table.plays[slot] = 0.0


def uniform_bound(total: float, rounds: float, doubt: float) -> float:
    """Return the upper bound of the mean, for all numbers of rounds at once; `doubt` is log(1/delta).

    >>> round(uniform_bound(30.0, 100.0, math.log(20.0)), 6)
    0.455782
    """
    rest = max(rounds - total, 0.0)  # a sum of rewards may exceed the rounds by rounding
    share = (rounds + 1.177) / (2.0 * math.pi * (total + 1.159) * (rest + 0.159))
    level = doubt + math.log(2.0 * (total + 1.0)) + 0.5 * min(0.0, math.log(share))
    return upper_bound(total + 1.0, rounds + 1.0, level)


def decide(watch: Watch) -> None:
    """Compute all bounds; record the round and the witness if the assumption is refuted."""
    k = len(watch.top)
    least_bounds(watch)
    limit = largest_bounds(watch)
    table, doubt = watch.table, watch.limits[DOUBT]
    for slot in range(len(table.taken)):
        m = watch.number[slot]
        if m > 0 and table.totals[slot] * watch.limits[MOST] > limit * table.plays[slot]:
            values = table.plays[slot] * watch.limits[VALUES]
            missed = values - table.totals[slot] * watch.limits[VALUES]
            lower = 1.0 - uniform_bound(missed, values, doubt + math.log(2.0 * m * (m + 1)))
            lower *= watch.limits[MOST]
            if lower > limit:
                limit = lower
                watch.counts[REFUTED] = watch.counts[ROUNDS]
                watch.witness[0, 0] = lower
                watch.witness[0, 1] = table.plays[slot]
                for j in range(k):
                    watch.witness[0, j + 2] = table.arms[slot, j]
    if watch.counts[REFUTED] != 0:
        write_witness(watch)


def least_bounds(watch: Watch) -> None:
    """Write every arm's least upper bound, as a share of B, and the company it comes from."""
    table, doubt, k = watch.table, watch.limits[DOUBT], len(watch.top)
    for arm in range(len(watch.pulls)):
        watch.bounds[arm] = uniform_bound(watch.reward[arm], watch.pulls[arm], doubt + math.log(4.0 * k))
        watch.company[arm] = NO_SET
    for slot in range(len(table.taken)):
        plays = table.plays[slot]
        if watch.number[slot] > 0 and plays > 0.0:
            share = doubt + math.log(4.0 * k) + math.log(1.0 * watch.number[slot] * (watch.number[slot] + 1))
            for j in range(k):
                arm = table.arms[slot, j]
                earned, least = table.rewards[slot, j], watch.bounds[arm]
                # Otherwise the bound cannot be lower.
                if earned < plays * least and plays * bernoulli_divergence(earned / plays, least) > share:
                    bound = uniform_bound(earned, plays, share)
                    if bound < least:
                        watch.bounds[arm] = bound
                        watch.company[arm] = slot


def largest_bounds(watch: Watch) -> float:
    """Write the k largest bounds and their arms; return the sum of these bounds, as an amount."""
    best, top, k = watch.best, watch.top, len(watch.top)
    found = 0
    for arm in range(len(watch.bounds)):
        value = watch.bounds[arm]
        if found < k:
            found += 1
        elif value <= best[k - 1]:
            continue
        j = found - 1
        while j > 0 and best[j - 1] < value:
            best[j] = best[j - 1]
            top[j] = top[j - 1]
            j -= 1
        best[j] = value
        top[j] = arm
    total = 0.0
    for j in range(k):
        total += best[j]
    amount: float = total * watch.limits[BOUND]
    return amount


def write_witness(watch: Watch) -> None:
    """Write the k largest bounds and where they come from."""
    for i in range(len(watch.top)):
        arm = watch.top[i]
        watch.witness[i + 1, 0] = watch.best[i] * watch.limits[BOUND]
        watch.witness[i + 1, 1] = arm
        for j in range(len(watch.top)):
            slot = watch.company[arm]
            watch.witness[i + 1, j + 2] = -1.0 if slot == NO_SET else watch.table.arms[slot, j]
