"""The set of k arms with the largest index under a shared budget of Kullback-Leibler divergence, found exactly.

The index of a set is b(s) = the largest sum of q(a) over s with the sum of N(a) kl(mu(a), q(a)) at most f, where kl is
the Bernoulli divergence. With a multiplier l > 0 for the budget,

    b(s) = min over l of  l f + sum of phi(a, l) over s,    phi(a, l) = max over q of  q - l N(a) kl(mu(a), q)

and the maximum solves the quadratic equation q (1 - q) = l N (q - mu). So for any l the k largest phi give an upper
bound on the index of all sets, convex in l. The search is branch and bound:

- minimise the upper bound over l; the sets found on either side of the minimum are the first candidates;
- fix arms that are in every set as good as the incumbent, or in none;
- build sets arm by arm in decreasing order of phi, and prune a branch as soon as the bound at one of five multipliers
  shows that it cannot beat the incumbent. Skip an arm if one with no smaller mean and no more plays was left out.

The set is optimal up to 12 digits of the index. Interchangeable arms (same phi and same cost at the multiplier of the
set) are drawn uniformly. Other ties to 12 digits are not broken at random: the set found first stays.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.kernels.kl_index import EXACT, arm_terms, next_multiplier, set_index
from setwise.types import Floats, Generator, Ints

SLACK = 1e-12  # a better set has to be better by this share of the index
NEAR = 1e-10  # relative tolerance of the least upper bound
MULTIPLIERS = 5  # at which bounds are computed
WINDOW = 256  # initial capacity for undecided arms


class KLSets(NamedTuple):
    """Buffers for n arms and sets of k.

    order: all arms by decreasing phi, ties by plays, then by number
    multipliers: that of the least upper bound, and a grid between those of the two candidates
    phi: for every multiplier and arm
    costs, falls: for every arm, the other terms of `arm_terms`
    above: the sum of phi over the first i arms of the order
    rest: for every multiplier, the largest sum of phi over j undecided arms from position i of the order on
    low, high: the sets found on either side of the least upper bound
    places: the positions of a set's arms in the order
    taken: for every position of the order, whether its arm is in the set
    sums: partial sums of phi over the first arms of a set, for every multiplier
    """

    order: Ints
    multipliers: Floats
    phi: Floats
    costs: Floats
    falls: Floats
    above: Floats
    rest: Floats
    low: Ints
    high: Ints
    places: Ints
    taken: Ints
    sums: Floats


def new_kl_sets(n: int, k: int) -> KLSets:
    """Return empty buffers."""
    return KLSets(
        order=np.arange(n),
        multipliers=np.zeros(MULTIPLIERS),
        phi=np.zeros((MULTIPLIERS, n)),
        costs=np.zeros(n),
        falls=np.zeros(n),
        above=np.zeros(n + 1),
        rest=np.zeros((MULTIPLIERS, min(n, WINDOW) + 1, k + 1)),
        low=np.zeros(k, np.int64),
        high=np.zeros(k, np.int64),
        places=np.zeros(k, np.int64),
        taken=np.zeros(n, np.int64),
        sums=np.zeros((k + 1, MULTIPLIERS)),
    )


def kl_top(means: Floats, pulls: Ints, level: float, chosen: Ints, work: KLSets, rng: Generator) -> float:
    """Write the set of k = len(chosen) arms with the largest index b to `chosen`, and return the index.

    Requires means in [0, 1], at least one play of every arm, and level > 0.
    """
    k = len(chosen)
    if sure_arms(means, chosen, rng):
        return float(k)
    upper, multiplier = least_bound(means, pulls, level, work)
    best, own = set_index(means, pulls, level, work.low, multiplier)
    other, other_own = best, own
    if not same_set(work.low, work.high):
        other, other_own = set_index(means, pulls, level, work.high, multiplier)
    for j in range(k):
        chosen[j] = work.low[j] if best >= other else work.high[j]
    if upper - max(best, other) > SLACK * upper:
        work.multipliers[0] = multiplier
        for c in range(1, MULTIPLIERS):
            work.multipliers[c] = own * math.exp(math.log(other_own / own) * (c - 1.0) / (MULTIPLIERS - 2.0))
        for c in range(MULTIPLIERS):
            score_all(means, pulls, work.multipliers[c], work.phi[c], work.costs, work.falls)
        sort_all(pulls, work.order, work.phi[0])
        search(means, pulls, level, max(best, other), upper, chosen, work)
    best, own = set_index(means, pulls, level, chosen, own if best >= other else other_own)
    share_ties(means, pulls, own, chosen, work, rng)
    return best


def sure_arms(means: Floats, chosen: Ints, rng: Generator) -> bool:
    """Return whether k arms have mean 1; if so, draw k of them uniformly, since no set has a larger index."""
    sure = 0
    for arm in range(len(means)):
        if means[arm] >= 1.0:
            sure += 1
    if sure < len(chosen):
        return False
    place = 0
    for arm in range(len(means)):
        if means[arm] >= 1.0:
            if rng.random() * sure < len(chosen) - place:
                chosen[place] = arm
                place += 1
            sure -= 1
    return True


def score_all(means: Floats, pulls: Ints, multiplier: float, phi: Floats, costs: Floats, falls: Floats) -> None:
    """Write the terms of `arm_terms` for every arm."""
    for arm in range(len(means)):
        phi[arm], costs[arm], falls[arm] = arm_terms(means[arm], pulls[arm], multiplier)


def sort_all(pulls: Ints, order: Ints, phi: Floats) -> None:
    """Sort all arms by insertion sort, which is fast on a nearly sorted order."""
    for i in range(1, len(order)):
        arm = order[i]
        j = i
        while j > 0 and comes_before(pulls, phi, arm, order[j - 1]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = arm


def comes_before(pulls: Ints, phi: Floats, arm: int, other: int) -> bool:
    """Compare two arms by phi, then by plays, then by number."""
    if phi[arm] != phi[other]:
        return bool(phi[arm] > phi[other])
    if pulls[arm] != pulls[other]:
        return bool(pulls[arm] < pulls[other])
    return arm < other


def same_set(one: Ints, other: Ints) -> bool:
    """Return whether two lists of distinct arms are the same set."""
    for i in range(len(one)):
        found = False
        for j in range(len(other)):
            if one[i] == other[j]:
                found = True
                break
        if not found:
            return False
    return True


def first_multiplier(means: Floats, pulls: Ints, level: float, k: int) -> float:
    """Estimate the multiplier of the least upper bound, as if the arms were Gaussian and all alike."""
    n = len(means)
    spread = 0.0
    for arm in range(n):
        mean = (means[arm] * pulls[arm] + 1.0) / (pulls[arm] + 2.0)
        spread += mean * (1.0 - mean) / pulls[arm]
    return math.sqrt(0.5 * spread * k / (n * level))


def least_bound(means: Floats, pulls: Ints, level: float, work: KLSets) -> tuple[float, float]:
    """Return the least upper bound on all sets and its multiplier; write the sets that give it on either side.

    If the minimum is a kink, the intersection of the tangents from both sides locates it and bounds it from below.
    """
    k = len(work.low)
    order, phi, costs, falls = work.order, work.phi, work.costs, work.falls
    multiplier = first_multiplier(means, pulls, level, k)
    upper, best = np.inf, multiplier
    low, low_value, low_slope = 0.0, 0.0, 0.0
    high, high_value, high_slope = np.inf, 0.0, 0.0
    for turn in range(200):
        score_all(means, pulls, multiplier, phi[0], costs, falls)
        sort_all(pulls, order, phi[0])
        value, cost, fall = multiplier * level, 0.0, 0.0
        for j in range(k):
            arm = order[j]
            value += phi[0, arm]
            cost += costs[arm]
            fall += falls[arm]
        if value < upper:
            upper, best = value, multiplier
        done = multiplier * (cost - level) * (cost - level) <= EXACT * value * fall
        if turn == 0 or done or cost > level:
            for j in range(k):
                work.low[j] = order[j]
        if turn == 0 or done or cost <= level:
            for j in range(k):
                work.high[j] = order[j]
        if done:
            break
        if cost > level:
            low, low_value, low_slope = multiplier, value, level - cost
        else:
            high, high_value, high_slope = multiplier, value, level - cost
        multiplier = next_multiplier(multiplier, cost, fall, level)
        if low > 0.0 and high < np.inf:
            meet = (high_value - low_value + low_slope * low - high_slope * high) / (low_slope - high_slope)
            if upper - (low_value + low_slope * (meet - low)) <= NEAR * upper:
                break
            if turn % 8 == 7:
                multiplier = math.sqrt(low * high)
            elif not low < multiplier < high:
                multiplier = meet
            if not low < multiplier < high:
                break
        elif multiplier < 1e-300:
            break
    return upper, best


def undecided_arms(phi: Floats, order: Ints, k: int, upper: float, enough: float) -> tuple[int, int]:
    """Return where the arms begin and end in the order that are in some sets above `enough`, but not in all of them.

    A set without one of the first k arms, or with one of the others, has at most the upper bound minus the distance of
    that arm's phi from the border.
    """
    first, last = 0, len(order)
    while first < k and upper - (phi[order[first]] - phi[order[k]]) <= enough:
        first += 1
    while last > k and upper - (phi[order[k - 1]] - phi[order[last - 1]]) <= enough:
        last -= 1
    return first, last


def largest_rests(work: KLSets, rest: Floats, first: int, last: int, level: float) -> None:
    """Fill `rest` for the arms order[first:last], and begin the sums with the arms before them."""
    size, places = last - first, len(work.places) - first
    for c in range(MULTIPLIERS):
        phi = work.phi[c]
        for j in range(places + 1):
            rest[c, size, j] = 0.0 if j == 0 else -np.inf
        for i in range(size - 1, -1, -1):
            rest[c, i, 0] = 0.0
            for j in range(1, places + 1):
                rest[c, i, j] = max(rest[c, i + 1, j], rest[c, i + 1, j - 1] + phi[work.order[first + i]])
        work.sums[0, c] = work.multipliers[c] * level
        for i in range(first):
            work.sums[0, c] += phi[work.order[i]]


def search(means: Floats, pulls: Ints, level: float, best: float, upper: float, chosen: Ints, work: KLSets) -> None:
    """Replace `chosen`, a set of index `best`, by the best set if there is a better one.

    The arms are sorted at the multiplier of the least upper bound.
    """
    n, k = len(means), len(chosen)
    order, phi, above, rest, sums, taken = work.order, work.phi, work.above, work.rest, work.sums, work.taken
    slack = SLACK * upper
    for i in range(n):
        above[i + 1] = above[i] + phi[0, order[i]]
    first, last = undecided_arms(phi[0], order, k, upper, best + slack)
    if first == k or last == k:
        return
    if last - first >= rest.shape[1]:
        rest = np.empty((MULTIPLIERS, last - first + 1, k + 1))
    largest_rests(work, rest, first, last, level)
    for i in range(first):
        work.low[i] = order[i]
    for i in range(first, last):
        taken[i] = 0
    depth, i = 0, first
    while True:
        wanted = k - first - depth
        if i + wanted > last or sums[depth, 0] + above[i + wanted] - above[i] <= best + slack:
            if depth == 0:
                return
            depth -= 1
            i = work.places[depth]
            taken[i] = 0
            i += 1
            continue
        arm = order[i]
        hopeful = not better_left_out(means, pulls, order, taken, first, i)
        for c in range(MULTIPLIERS):
            sums[depth + 1, c] = sums[depth, c] + phi[c, arm]
            if sums[depth + 1, c] + rest[c, i + 1 - first, wanted - 1] <= best + slack:
                hopeful = False
        if hopeful and wanted > 1:
            taken[i] = 1
            work.places[depth] = i
            depth += 1
        elif hopeful:
            for j in range(depth):
                work.low[first + j] = order[work.places[j]]
            work.low[k - 1] = arm
            index, _ = set_index(means, pulls, level, work.low, work.multipliers[0])
            if index > best + slack:
                best = index
                for j in range(k):
                    chosen[j] = work.low[j]
        i += 1


def better_left_out(means: Floats, pulls: Ints, order: Ints, taken: Ints, first: int, place: int) -> bool:
    """Return whether an earlier arm with no smaller mean and no more plays was left out; its phi is never smaller."""
    mean, plays = means[order[place]], pulls[order[place]]
    for i in range(first, place):
        if taken[i] == 0 and means[order[i]] >= mean and pulls[order[i]] <= plays:
            return True
    return False


def share_ties(means: Floats, pulls: Ints, multiplier: float, chosen: Ints, work: KLSets, rng: Generator) -> None:
    """Redraw which of the arms with equal phi and cost at the multiplier of the set are in it.

    Such arms are interchangeable: l f + the sum of phi and its slope stay the same at this multiplier, so the minimum
    is still there.
    """
    n, k = len(means), len(chosen)
    phi, costs, taken = work.phi[0], work.costs, work.taken
    score_all(means, pulls, multiplier, phi, costs, work.falls)
    for arm in range(n):
        taken[arm] = 0
    for j in range(k):
        taken[chosen[j]] = 1
    for j in range(k):
        value, cost = phi[chosen[j]], costs[chosen[j]]
        alike, wanted = 0, 0
        for arm in range(n):
            if phi[arm] == value and costs[arm] == cost:
                alike += 1
                wanted += taken[arm]
        if wanted == 0 or wanted == alike:  # done with this group, or nothing to draw
            continue
        place = j
        for arm in range(n):
            if phi[arm] == value and costs[arm] == cost:
                taken[arm] = 0
                if rng.random() * alike < wanted:
                    while phi[chosen[place]] != value or costs[chosen[place]] != cost:
                        place += 1
                    chosen[place] = arm
                    place += 1
                    wanted -= 1
                alike -= 1
