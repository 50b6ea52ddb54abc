"""The k arms whose means, all together within a budget of Kullback-Leibler divergence, can be largest: exactly.

The index of a set is b(s) = the largest sum of q(a) over s with the sum of N(a) kl(mu(a), q(a)) at most f, where kl is
that of Bernoulli laws. With a multiplier l > 0 for the budget,

    b(s) = min over l of  l f + sum of phi(a, l) over s,    phi(a, l) = max over q of  q - l N(a) kl(mu(a), q)

and the maximum is where q (1 - q) = l N (q - mu), a quadratic equation. So for any l the k largest phi give an upper
bound on the index of all sets, convex in l. The search for the best set is branch and bound:

- the least upper bound is sought, and the sets met on both sides of it are the first candidates;
- arms that are in every set as good as the best known one, or in none, are settled at once;
- sets are built arm by arm, by falling phi, and left as soon as the bound at one of five multipliers says that none of
  them is better than the best known one. An arm is not taken where one of mean no less and plays no more was left out.

The set is the best up to 12 digits of the index. Arms that can be exchanged without any change (of the same phi and
the same cost at the multiplier of the set) are drawn uniformly. Other sets whose indices happen to be the same to 12
digits are not: the one found first stays.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.types import Floats, Generator, Ints

SLACK = 1e-12  # share of the index by which a better set has to be better
EXACT = 1e-16  # share of the index by which the minimum over l may be missed
NEAR = 1e-10  # share of the index by which the least upper bound may be missed
MULTIPLIERS = 5  # at which bounds are taken
WINDOW = 256  # how many arms in question there is room for at first


class KLSets(NamedTuple):
    """Buffers for n arms and sets of k.

    order: all arms by falling phi, those of equal phi by plays, then by number
    multipliers: that of the least upper bound, and others from that of one candidate to that of the other
    phi: of every arm, at each multiplier
    costs, falls: of every arm, the other terms of `arm_terms`
    above: the sum of phi over the first i arms of the order
    rest: at each multiplier, the largest sum of phi over so many of the arms in question from a place of the order on
    low, high: the sets met on both sides of the least upper bound
    places: where the arms of a set are in the order
    taken: of every place of the order, whether its arm is in the set
    sums: of phi over the first arms of a set, at each multiplier
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
    """Empty buffers."""
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


def arm_terms(mean: float, pulls: int, multiplier: float) -> tuple[float, float, float]:
    """phi, the cost N kl(mu, q), and the derivative of the cost by log l with its sign changed.

    >>> [round(term, 6) for term in arm_terms(0.5, 10, 0.05)]
    [0.688714, 2.406059, 2.763932]
    """
    scaled = multiplier * pulls
    if mean >= 1.0:
        return 1.0, 0.0, 0.0
    if mean <= 0.0:
        if scaled >= 1.0:
            return 0.0, 0.0, 0.0
        return 1.0 - scaled + scaled * math.log(scaled), -pulls * math.log(scaled), float(pulls)
    root = math.sqrt((1.0 - scaled) * (1.0 - scaled) + 4.0 * mean * scaled)
    if scaled < 1.0:
        q = 0.5 * (1.0 - scaled + root)
    else:
        q = 2.0 * mean * scaled / (root + scaled - 1.0)
    shrunk = 2.0 * scaled / (1.0 + scaled + root)  # (1 - q) / (1 - mu)
    more = q * shrunk * (1.0 - mean) / scaled  # q - mu
    if shrunk < 0.5:
        log_shrunk = math.log(shrunk)
    else:
        log_shrunk = math.log1p(-more / (1.0 - mean))
    cost = pulls * max(0.0, -mean * math.log1p(more / mean) - (1.0 - mean) * log_shrunk)
    fall = 0.5 * pulls * (1.0 + (1.0 - scaled - 2.0 * mean) / root)
    return q - multiplier * cost, cost, fall


def next_multiplier(multiplier: float, cost: float, fall: float, level: float) -> float:
    """Newton's next guess at the multiplier whose cost is the level.

    The cost is convex in log l: a power of l where the means are inside (0, 1), linear where they are 0.
    """
    if cost <= 0.0 or fall <= 0.0:
        return multiplier / 16.0
    if cost < 0.1 * level:
        move = (cost - level) / fall
    else:
        move = cost * math.log(cost / level) / fall
    return multiplier * math.exp(min(max(move, -5.0), 5.0))


def set_index(means: Floats, pulls: Ints, level: float, chosen: Ints, multiplier: float) -> tuple[float, float]:
    """b(s) with the budget f = `level`, and its multiplier, sought from a first guess."""
    low, high = 0.0, np.inf
    index, best = np.inf, multiplier
    for _ in range(200):
        value, cost, fall = multiplier * level, 0.0, 0.0
        for j in range(len(chosen)):
            terms = arm_terms(means[chosen[j]], pulls[chosen[j]], multiplier)
            value += terms[0]
            cost += terms[1]
            fall += terms[2]
        if value < index:
            index, best = value, multiplier
        if multiplier * (cost - level) * (cost - level) <= EXACT * value * fall:
            break
        if cost > level:
            low = multiplier
        else:
            high = multiplier
        multiplier = next_multiplier(multiplier, cost, fall, level)
        if not low < multiplier < high:
            multiplier = math.sqrt(low * high)
        if multiplier < 1e-300 or not low < multiplier < high:
            break
    return index, best


def kl_top(means: Floats, pulls: Ints, level: float, chosen: Ints, work: KLSets, rng: Generator) -> float:
    """Write the k = len(chosen) arms of the largest index b to `chosen`, and return the index.

    Means are from 0 to 1, every arm has been played, and the level is more than 0.
    """
    k = len(chosen)
    if sure_arms(means, chosen, rng):
        return float(k)
    upper, multiplier = least_bound(
        means, pulls, level, work.order, work.phi, work.costs, work.falls, work.low, work.high
    )
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
    """Whether there are k arms of mean 1; if so, k of them are drawn uniformly, for no set has a larger index."""
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
    """Write the terms of every arm."""
    for arm in range(len(means)):
        phi[arm], costs[arm], falls[arm] = arm_terms(means[arm], pulls[arm], multiplier)


def sort_all(pulls: Ints, order: Ints, phi: Floats) -> None:
    """Put all arms in order: an insertion sort, quick on a nearly sorted order."""
    for i in range(1, len(order)):
        arm = order[i]
        j = i
        while j > 0 and comes_before(pulls, phi, arm, order[j - 1]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = arm


def comes_before(pulls: Ints, phi: Floats, arm: int, other: int) -> bool:
    """Whether the arm stands before the other: by phi, then by plays, then by number."""
    if phi[arm] != phi[other]:
        return bool(phi[arm] > phi[other])
    if pulls[arm] != pulls[other]:
        return bool(pulls[arm] < pulls[other])
    return arm < other


def same_set(one: Ints, other: Ints) -> bool:
    """Whether two lists of distinct arms have the same arms."""
    for i in range(len(one)):
        found = False
        for j in range(len(other)):
            if one[i] == other[j]:
                found = True
                break
        if not found:
            return False
    return True


def least_bound(
    means: Floats,
    pulls: Ints,
    level: float,
    order: Ints,
    phi: Floats,
    costs: Floats,
    falls: Floats,
    low_set: Ints,
    high_set: Ints,
) -> tuple[float, float]:
    """The least upper bound on all sets and its multiplier; the sets that give it on either side are written.

    Where the minimum is a kink, the tangents from both sides show where it is, and below what it cannot be.
    """
    n, k = len(means), len(low_set)
    spread = 0.0
    for arm in range(n):
        mean = (means[arm] * pulls[arm] + 1.0) / (pulls[arm] + 2.0)
        spread += mean * (1.0 - mean) / pulls[arm]
    multiplier = math.sqrt(0.5 * spread * k / (n * level))
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
                low_set[j] = order[j]
        if turn == 0 or done or cost <= level:
            for j in range(k):
                high_set[j] = order[j]
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


def search(
    means: Floats,
    pulls: Ints,
    level: float,
    best: float,
    upper: float,
    chosen: Ints,
    work: KLSets,
) -> None:
    """Write the best set to `chosen`, if one is better than the set of index `best` that is there.

    The arms are in order at the multiplier of the least upper bound.
    """
    n, k = len(means), len(chosen)
    order, phi, above, rest, sums, taken = work.order, work.phi, work.above, work.rest, work.sums, work.taken
    slack = SLACK * upper
    for i in range(n):
        above[i + 1] = above[i] + phi[0, order[i]]
    first, last = 0, n
    while first < k and upper - (phi[0, order[first]] - phi[0, order[k]]) <= best + slack:
        first += 1
    while last > k and upper - (phi[0, order[k - 1]] - phi[0, order[last - 1]]) <= best + slack:
        last -= 1
    if first == k or last == k:
        return
    size, places = last - first, k - first
    if size >= rest.shape[1]:
        rest = np.empty((MULTIPLIERS, size + 1, k + 1))
    for c in range(MULTIPLIERS):
        for j in range(places + 1):
            rest[c, size, j] = 0.0 if j == 0 else -np.inf
        for i in range(size - 1, -1, -1):
            rest[c, i, 0] = 0.0
            for j in range(1, places + 1):
                rest[c, i, j] = max(rest[c, i + 1, j], rest[c, i + 1, j - 1] + phi[c, order[first + i]])
        sums[0, c] = work.multipliers[c] * level
        for i in range(first):
            sums[0, c] += phi[c, order[i]]
    for i in range(first):
        work.low[i] = order[i]
    for i in range(first, last):
        taken[i] = 0
    depth, i = 0, first
    while True:
        wanted = places - depth
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
    """Whether an arm before this one was left out, of mean no less and plays no more: phi is never less then."""
    mean, plays = means[order[place]], pulls[order[place]]
    for i in range(first, place):
        if taken[i] == 0 and means[order[i]] >= mean and pulls[order[i]] <= plays:
            return True
    return False


def share_ties(means: Floats, pulls: Ints, multiplier: float, chosen: Ints, work: KLSets, rng: Generator) -> None:
    """Draw anew, from arms of the same phi and cost at the multiplier of the set, which of them are in it.

    Such arms can be exchanged: l f + the sum of phi stays the same at this multiplier, and so does its slope, so the
    minimum is still there.
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
