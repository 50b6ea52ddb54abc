"""The k arms that maximise (sum of x) + sqrt(level (sum of y)), found exactly by Pareto frontiers, ties uniform.

The value grows with both sums, so a partial set that another of its size dominates in both sums can be dropped. For
every size, the search keeps the Pareto frontier of the pairs of sums, arm by arm. Four things keep the frontiers short:

- for every slope p > 0, sqrt(level y) <= p y + level / (4 p), so the k largest scores x + p y give an upper bound on
  all sets. It is convex in p, and the sets found while minimising it are nearly optimal;
- with the scores at that p, arms that are in every set as good as the incumbent, or in none, are fixed;
- a partial set is dropped once its best completion, by the scores, falls short of the incumbent;
- identical arms, with the same x and y, form a group: only how many of them are in the set matters.

The number of points is exponential in the number of arms at worst, as for every exact method. The arrays grow as
needed. Instead of growing them, the search stops if the incumbent reaches the upper bound to 12 digits.

Every point counts the sets it stands for and keeps one of them, drawn uniformly. So all optimal sets are equally
likely: those that differ by identical arms, and those of other arms with the same two sums. Sums and values count as
equal if they agree to 14 digits, so the order of summation does not matter.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.types import Floats, Generator, Ints

Terms = tuple[float, float, float, float, float, float]
SLACK = 1e-12  # relative rounding error allowed in bounds
SAME = 1e-14  # sums and values that differ by less than this share of the value are equal
ROOM = 1 << 12  # initial capacity for points


class Pareto(NamedTuple):
    """Buffers for n arms and sets of k.

    order: all arms by decreasing score, ties by decreasing y, identical arms by number
    scores: of every arm
    above: sums of x, of y and of the scores over the first i arms of the order
    groups: where each group of identical arms starts in the order
    ways: the logarithm of the number of ways to take j arms of a group
    starts, ends: where the frontier of every size starts and ends among the points, before and after a group
    heads: for each number of arms of a group, the next point to add them to
    points: x, y, and the logarithm of the number of sets, of every point
    links: the point it came from, and how many arms of the group were added
    """

    order: Ints
    scores: Floats
    above: Floats
    groups: Ints
    ways: Floats
    starts: Ints
    ends: Ints
    heads: Ints
    points: Floats
    links: Ints


def new_pareto(n: int, k: int, room: int = ROOM) -> Pareto:
    """Return empty buffers."""
    return Pareto(
        order=np.arange(n),
        scores=np.zeros(n),
        above=np.zeros((n + 1, 3)),
        groups=np.zeros(n + 1, np.int64),
        ways=np.zeros(k + 1),
        starts=np.zeros((2, k + 1), np.int64),
        ends=np.zeros((2, k + 1), np.int64),
        heads=np.zeros(k + 1, np.int64),
        points=np.zeros((room, 3)),
        links=np.zeros((room, 2), np.int64),
    )


def pareto_top(xs: Floats, ys: Floats, level: float, chosen: Ints, work: Pareto, rng: Generator) -> float:
    """Write the k = len(chosen) arms of largest (sum of x) + sqrt(level (sum of y)) to `chosen`; return their value.

    Requires x >= 0, y > 0 and level > 0. Ties are uniform.

    >>> chosen = np.zeros(2, np.int64)
    >>> xs, ys = np.array([0.5, 0.4, 0.0, 0.0]), np.array([0.01, 0.01, 0.5, 0.25])
    >>> value = pareto_top(xs, ys, 0.1, chosen, new_pareto(4, 2), np.random.default_rng(0))
    >>> sorted(chosen.tolist()), round(float(value), 6)
    ([0, 1], 0.944721)
    >>> value = pareto_top(xs, ys, 4.0, chosen, new_pareto(4, 2), np.random.default_rng(0))
    >>> sorted(chosen.tolist()), round(float(value), 6)
    ([0, 2], 1.928286)
    """
    k = len(chosen)
    n = len(xs)
    best, upper, slope = best_slope(xs, ys, level, chosen, work.order, work.scores, work.above)
    first, last = 0, n
    if k < n:
        # A set without one of the first k arms, or with one of the others, has at most the upper bound minus the
        # distance of that arm's score from the border.
        least = best - SLACK * upper
        into, out = work.scores[work.order[k]], work.scores[work.order[k - 1]]
        while first < k and upper - (work.scores[work.order[first]] - into) < least:
            first += 1
        while last > k and upper - (out - work.scores[work.order[last - 1]]) < least:
            last -= 1
    if first == k or last == k:
        return best
    return search(xs, ys, level, slope, best, upper, first, last, chosen, work, rng)


def best_slope(
    xs: Floats, ys: Floats, level: float, chosen: Ints, order: Ints, scores: Floats, above: Floats
) -> tuple[float, float, float]:
    """Return the value of the best set found, which is in `chosen`, the least upper bound, and its slope p.

    The bound of one set, x + p y + level / (4 p), is least at p = sqrt(level / y) / 2. The larger p, the larger y of
    the set with the largest scores. So the current set tells on which side the minimum is, and two sets, one from each
    side, give an estimate of where it is. Order, scores and sums end up at the returned slope.
    """
    k = len(chosen)
    total = 0.0
    for arm in range(len(ys)):
        total += ys[arm]
    p = 0.5 * math.sqrt(level * len(ys) / (k * total))
    best, upper, slope = -np.inf, np.inf, p
    low, low_x, low_y, low_own = 0.0, 0.0, 0.0, np.inf
    high, high_x, high_y, high_own = np.inf, 0.0, 0.0, 0.0
    for _ in range(100):
        score_all(xs, ys, p, order, scores, above)
        x, y = above[k, 0], above[k, 1]
        value = x + math.sqrt(level * y)
        if value > best:
            best = value
            for j in range(k):
                chosen[j] = order[j]
        bound = x + p * y + level / (4.0 * p)
        if bound < upper:
            upper, slope = bound, p
        if bound - value <= SAME * bound:
            break
        both = low > 0.0 and high < np.inf
        if both and x + p * y <= max(low_x + p * low_y, high_x + p * high_y) + SAME * bound:
            break
        own = 0.5 * math.sqrt(level / y)
        if own > p:
            low, low_x, low_y, low_own = p, x, y, own
        else:
            high, high_x, high_y, high_own = p, x, y, own
        if low == 0.0 or high == np.inf:
            p = own
        elif high_y > low_y:
            p = min(max((low_x - high_x) / (high_y - low_y), high_own), low_own)
        if not low < p < high:
            break
    if p != slope:
        score_all(xs, ys, slope, order, scores, above)
    return best, upper, slope


def score_all(xs: Floats, ys: Floats, p: float, order: Ints, scores: Floats, above: Floats) -> None:
    """Score the arms, sort them (insertion sort: fast on a nearly sorted order), and compute the running sums."""
    n = len(order)
    for arm in range(n):
        scores[arm] = xs[arm] + p * ys[arm]
    for i in range(1, n):
        arm = order[i]
        j = i
        while j > 0 and comes_before(scores, ys, arm, order[j - 1]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = arm
    for i in range(n):
        arm = order[i]
        above[i + 1, 0] = above[i, 0] + xs[arm]
        above[i + 1, 1] = above[i, 1] + ys[arm]
        above[i + 1, 2] = above[i, 2] + scores[arm]


def comes_before(scores: Floats, ys: Floats, arm: int, other: int) -> bool:
    """Compare two arms by score, then by y, then by number."""
    if scores[arm] != scores[other]:
        return bool(scores[arm] > scores[other])
    if ys[arm] != ys[other]:
        return bool(ys[arm] > ys[other])
    return arm < other


def search(
    xs: Floats, ys: Floats, level: float, slope: float, best: float, upper: float, first: int, last: int, chosen: Ints,
    work: Pareto, rng: Generator
) -> float:  # fmt: skip
    """Choose the rest of the set among the arms order[first:last]; return the value of the set.

    best: the value of the incumbent, the set in `chosen`
    """
    places = len(chosen) - first
    order, above, groups, ways = work.order, work.above, work.groups, work.ways
    starts, ends, heads, points, links = work.starts, work.ends, work.heads, work.points, work.links
    terms = (level, slope, level / (4.0 * slope), SLACK * upper, SAME * upper, SAME * upper / slope)
    used = begin(work, first, places)
    best_point, best_group, best_wanted = -1, 0, 0
    before, group = 0, 0
    while groups[group] < last:
        end = end_of_group(xs, ys, order, groups[group], last)
        size = end - groups[group]
        arms = (xs[order[end - 1]], ys[order[end - 1]])
        group += 1
        groups[group] = end
        for taken in range(1, min(size, places) + 1):
            ways[taken] = ways[taken - 1] + math.log((size - taken + 1.0) / taken)
        for j in range(places + 1):
            starts[1 - before, j], ends[1 - before, j] = used, used
            wanted = places - j
            if wanted > last - end:
                continue
            room = used
            for taken in range(min(size, j) + 1):
                heads[taken] = starts[before, j - taken]
                room += ends[before, j - taken] - heads[taken]
            if room == used:
                continue
            if room > len(points):
                if upper - best <= SLACK * upper:
                    if best_point >= 0:
                        for i in range(best_wanted):
                            chosen[i] = order[groups[best_group] + i]
                        trace_back(links, best_point, groups, best_group, best_wanted, order, chosen, rng)
                    return best
                more = max(2 * len(points), room)
                more_points = np.empty((more, 3))
                more_links = np.empty((more, 2), np.int64)
                copy_points(points, links, used, more_points, more_links)
                points, links = more_points, more_links
            used, best, point = merge(
                points, links, used, heads, ends, before, j, arms, size, ways, above, end, wanted, terms, best, rng
            )
            if point >= 0:
                best_point, best_group, best_wanted = point, group, wanted
            ends[1 - before, j] = used
        before = 1 - before
    point = draw_best(points, starts[before, places], ends[before, places], level, rng)
    trace_back(links, point, groups, group, 0, order, chosen, rng)
    return value_of(points, point, level)


def begin(work: Pareto, first: int, places: int) -> int:
    """Write the point of the set of the first arms, which are fixed; return the number of points."""
    work.points[0, 0], work.points[0, 1], work.points[0, 2] = work.above[first, 0], work.above[first, 1], 0.0
    for j in range(places + 1):
        work.starts[0, j], work.ends[0, j] = 0, 0
    work.ends[0, 0] = 1
    work.groups[0] = first
    return 1


def merge(
    points: Floats, links: Ints, used: int, heads: Ints, ends: Ints, before: int, j: int, arms: tuple[float, float],
    size: int, ways: Floats, above: Floats, end: int, wanted: int, terms: Terms, best: float, rng: Generator
) -> tuple[int, float, int]:  # fmt: skip
    """Write the frontier of j arms, by decreasing x, from the points before a group of identical arms.

    arms, size, end: x and y of an arm of the group, their number, and where they end in the order
    wanted: arms still to choose after the group
    terms: level, slope, level / (4 slope), the slack of the bounds, and differences in x and in y that count as none

    Return the number of points, the value of the incumbent, and the point it comes from, -1 if it is as before.
    """
    x, y = arms
    level, slope, constant, slack, same_x, same_y = terms
    start, best_point = used, -1
    rest = above[end + wanted, 2] - above[end, 2] + constant
    rest_x = above[end + wanted, 0] - above[end, 0]
    rest_y = above[end + wanted, 1] - above[end, 1]
    while True:
        taken, point_x, point_y = -1, -np.inf, -np.inf
        for other in range(min(size, j) + 1):
            if heads[other] < ends[before, j - other]:
                other_x = points[heads[other], 0] + other * x
                if other_x >= point_x:
                    other_y = points[heads[other], 1] + other * y
                    if other_x > point_x or other_y > point_y:
                        taken, point_x, point_y = other, other_x, other_y
        if taken < 0:
            return used, best, best_point
        source = heads[taken]
        heads[taken] += 1
        sets = points[source, 2] + ways[taken]
        if used > start and point_y <= points[used - 1, 1] + same_y:
            last_x, last_y = points[used - 1, 0], points[used - 1, 1]
            if point_x >= last_x - same_x and point_y >= last_y - same_y:
                points[used - 1, 2] = log_sum(points[used - 1, 2], sets)
                if rng.random() < math.exp(sets - points[used - 1, 2]):
                    links[used - 1, 0], links[used - 1, 1] = source, taken
                continue
            if point_y <= last_y:
                continue
        if point_x + slope * point_y + rest < best - slack:
            continue
        points[used, 0], points[used, 1], points[used, 2] = point_x, point_y, sets
        links[used, 0], links[used, 1] = source, taken
        if wanted > 0 and taken < size:
            value = point_x + rest_x + math.sqrt(level * (point_y + rest_y))
            if value > best:
                best, best_point = value, used
        used += 1


def end_of_group(xs: Floats, ys: Floats, order: Ints, start: int, last: int) -> int:
    """Return where the group of identical arms that begins at `start` ends in the order."""
    end = start + 1
    while end < last and xs[order[end]] == xs[order[start]] and ys[order[end]] == ys[order[start]]:
        end += 1
    return end


def copy_points(points: Floats, links: Ints, used: int, more_points: Floats, more_links: Ints) -> None:
    """Copy the points and links to larger arrays."""
    for i in range(used):
        for j in range(3):
            more_points[i, j] = points[i, j]
        for j in range(2):
            more_links[i, j] = links[i, j]


def log_sum(one: float, other: float) -> float:
    """Return log(e^one + e^other).

    >>> round(log_sum(math.log(2.0), math.log(5.0)), 12) == round(math.log(7.0), 12)
    True
    """
    return max(one, other) + math.log(1.0 + math.exp(-abs(one - other)))


def value_of(points: Floats, point: int, level: float) -> float:
    """Return the value of the sets that a point stands for."""
    x: float = points[point, 0]
    return x + math.sqrt(level * points[point, 1])


def draw_best(points: Floats, start: int, end: int, level: float, rng: Generator) -> int:
    """Return a point of largest value; draw among ties in proportion to the number of sets they stand for."""
    best = -np.inf
    for point in range(start, end):
        best = max(best, value_of(points, point, level))
    found, sets = -1, 0.0
    for point in range(start, end):
        if value_of(points, point, level) >= best - SAME * best:
            if found < 0:
                found, sets = point, points[point, 2]
            else:
                sets = log_sum(sets, points[point, 2])
                if rng.random() < math.exp(points[point, 2] - sets):
                    found = point
    return found


def trace_back(
    links: Ints, point: int, groups: Ints, group: int, place: int, order: Ints, chosen: Ints, rng: Generator
) -> None:
    """Trace a point's set back and write it to `chosen` from `place` on; draw identical arms uniformly.

    group: the number of groups up to the point
    """
    while group > 0:
        group -= 1
        start, end = groups[group], groups[group + 1]
        wanted = links[point, 1]
        for i in range(start, end):
            if wanted == 0:
                break
            if wanted == end - i or rng.random() * (end - i) < wanted:
                chosen[place] = order[i]
                place += 1
                wanted -= 1
        point = links[point, 0]
    for i in range(groups[0]):
        chosen[place + i] = order[i]
