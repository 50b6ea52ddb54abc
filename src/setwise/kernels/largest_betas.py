"""The k arms of largest mean, each mean drawn from its own Beta distribution, with as few draws as possible.

Arm a has s successes and f failures in N = s + f rounds, and its mean theta(a) is drawn from Beta(1 + s, 1 + f). Most
arms are almost certainly in the set, or almost certainly not. So split the arms by a center, which lies between the
k-th and the next of the expected means: strong arms are far above it, weak arms far below, near arms are the others.

Deferred decisions. Draw the means of all near arms. They have a border: the largest that does not get one of the places
left by the strong arms (lower), and the smallest that does (upper). Then repeat, with a level between lower and upper:

- reveal the weak arms above the level, given that all unrevealed ones are at most the ceiling, the last such level;
- reveal the strong arms below the level, given that all unrevealed ones are at least the floor, the last such level.

A revealed arm joins the near ones, which moves the border. Stop when ceiling <= upper, lower <= floor and
ceiling <= floor: the set is the unrevealed strong arms and the largest of the drawn ones. What is asked never depends
on what is not revealed, so the set has the law that it has if all means are drawn.

Reveal by thinning. The log density is concave, so beyond a level l it is below its tangent, whose slope has the size
rate = |N l - s| / (l (1 - l)). So the chance to be beyond l is at most

    E(s, f, l) = density(l) / rate = (N + 1) binomial(N, s) l^(s + 1) (1 - l)^(f + 1) / |N l - s|.

With any b >= E, an arm is a candidate with chance b, at l plus an exponential step of that rate, and it is accepted
with chance density / (b rate exp(-rate step)). One uniform number finds the first candidate of all weak arms by
inversion: arm j with chance (1 - b1) ... (1 - b(j-1)) bj. The sum of all b is larger than the chance that there is any,
so a number above the sum says that no arm crosses, and most rounds need no more. To draw an arm given that it is not
beyond the ceiling or the floor, repeat until it is not.

Bounds that last. E falls as the level moves away from the arm: the density falls and the rate grows. So the bounds at
the center hold at all levels beyond. E also falls with every outcome that moves an arm away from the center. With
d = s - N l > 0, which is at most N (1 - l), a strong arm has

    E(s + 1, f) / E(s, f) = (N + 2) l / (s + 1) * d / (d + 1 - l) <= 1 because d^2 + 2 d (1 - l) + 1 - l >= 0
    E(s, f + 1) / E(s, f) = (N + 2) (1 - l) / (f + 1) * d / (d - l) >= 1 because d^2 + d (1 - 2 l) + l >= 0 if d > l

and a weak arm the same with s and f exchanged. So a bound for s and f + m, which must still be above the center, holds
until the arm has failed m more times.

All is exact but for rounding: a chance below 2^-53, the unit of the uniform numbers, may count as 0.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.kernels.beta_tails import NONE, crossing_bound, draw_crossing, draw_mean
from setwise.types import Floats, Generator, Ints

# Tuned on the multinomial logits of the paper (n = 20, k = 10) and of n = 100, k = 5, for 10^3 to 10^6 rounds. Nothing
# changes by more than a few percent for half or twice of any.
FAR = 0.4  # an arm is far if its bound is at most this; a larger one costs more to thin than to draw
PATIENCE = 64  # rounds until the arms are split again
GROWTH = 0.5  # logarithm of the factor by which a bound is larger to last longer; 0 costs up to twice the time

STRONG, NEAR, LEFT = range(3)  # places in `counts`
CENTER, STRONG_SUM, WEAK_SUM = range(3)  # places in `levels`


class LargestBetas(NamedTuple):
    """The split of n arms for sets of k, and buffers.

    order: all arms: the strong ones, the near ones, the weak ones
    bounds: of every strong or weak arm, an upper bound of its chance to cross the center; 0 for near arms
    most_successes, most_failures: the bound of a weak arm holds up to so many successes, that of a strong arm up to so
        many failures; infinite for all other arms
    counts: number of strong arms, number of near arms, rounds until the next split
    levels: the center, the sum of the bounds of strong arms, the sum of the bounds of weak arms
    drawn: buffer for the arms whose mean is drawn; the first ones are the near arms
    values: buffer for their means
    revealed: buffer for the mean of every strong and weak arm, or `NONE`
    best: buffer for the largest values
    """

    order: Ints
    bounds: Floats
    most_successes: Floats
    most_failures: Floats
    counts: Ints
    levels: Floats
    drawn: Ints
    values: Floats
    revealed: Floats
    best: Floats


def draw_largest(split: LargestBetas, successes: Floats, failures: Floats, chosen: Ints, rng: Generator) -> None:
    """Draw all means, as far as they matter, and write the k = len(chosen) arms of largest mean to `chosen`."""
    strong = split.counts[STRONG]
    found = split.counts[NEAR]
    for j in range(found):
        arm = split.drawn[j]
        split.values[j] = draw_mean(successes[arm], failures[arm], rng)
    places = len(chosen) - strong
    first_weak = strong + found
    center = split.levels[CENTER]
    risen, fallen = 0, 0
    lower, upper = border(split.values[:found], split.best[:places])
    ceiling = np.inf if first_weak < len(split.order) else -np.inf
    floor = -np.inf if strong > 0 else np.inf
    while True:
        level = min(max(center, lower), upper)
        before = found
        if ceiling > upper or ceiling == np.inf:
            chance = rng.random()
            if level < center or chance < split.levels[WEAK_SUM]:
                arms = split.order[first_weak:]
                found = reveal(split, successes, failures, arms, True, level, ceiling, risen > 0, found, chance, rng)
                risen += found - before
            ceiling = level
        elif floor < max(lower, ceiling):
            chance = rng.random()
            if level > center or chance < split.levels[STRONG_SUM]:
                arms = split.order[:strong]
                found = reveal(split, successes, failures, arms, False, level, floor, fallen > 0, found, chance, rng)
                fallen += found - before
                places += found - before
            floor = level
        else:
            break
        if found > before:
            lower, upper = border(split.values[:found], split.best[:places])
    fill(split, chosen, fallen > 0, found, lower, upper, rng)


def reveal(
    split: LargestBetas, successes: Floats, failures: Floats, arms: Ints, weak: bool, level: float, limit: float,
    again: bool, found: int, chance: float, rng: Generator
) -> int:  # fmt: skip
    """Reveal which of the arms, all weak or all strong, are beyond the level; return the number of drawn means.

    Beyond the center, take the stored bounds, and the bound at the level only for candidates. On the other side,
    bound every arm anew; one whose bound is no use is drawn, on whatever side of the level it is.

    limit: no mean is beyond it
    again: whether some of the arms are revealed already; otherwise their entries in `revealed` mean nothing
    found: number of drawn means so far
    chance: a uniform number
    """
    stored = level >= split.levels[CENTER] if weak else level <= split.levels[CENTER]
    reached = 0.0  # the chance that there is a candidate among the arms so far, since the last one
    left = 1.0  # one minus that
    for j in range(len(arms)):
        arm = arms[j]
        if again and split.revealed[arm] != NONE:
            continue
        mean = NONE
        bound = split.bounds[arm]
        if not stored:
            bound = crossing_bound(successes[arm], failures[arm], level, weak)
            if bound > FAR:
                bound = 0.0
                mean = draw_mean(successes[arm], failures[arm], rng)
                while mean > limit if weak else mean < limit:
                    mean = draw_mean(successes[arm], failures[arm], rng)
        share = left * bound
        if chance < reached + share:
            place = (chance - reached) / left  # uniform up to the bound
            mean = draw_crossing(successes[arm], failures[arm], weak, level, limit, bound, place, rng)
            chance = rng.random()
            reached = 0.0
            left = 1.0
        else:
            reached += share
            left *= 1.0 - bound
        split.revealed[arm] = mean
        if mean != NONE:
            split.drawn[found] = arm
            split.values[found] = mean
            found += 1
    return found


def fill(
    split: LargestBetas, chosen: Ints, fallen: bool, found: int, lower: float, upper: float, rng: Generator
) -> None:
    """Write the unrevealed strong arms and the largest of the drawn ones to `chosen`, ties uniform.

    fallen: whether some strong arms are revealed
    found: number of drawn means; lower, upper: their border
    """
    filled = 0
    for j in range(split.counts[STRONG]):
        arm = split.order[j]
        if not fallen or split.revealed[arm] == NONE:
            chosen[filled] = arm
            filled += 1
    ties = 0
    for j in range(found):
        if split.values[j] > lower:
            chosen[filled] = split.drawn[j]
            filled += 1
        elif split.values[j] == upper:
            ties += 1
    if ties == 0:
        return
    for j in range(found):
        if split.values[j] == upper:
            if rng.random() * ties < len(chosen) - filled:
                chosen[filled] = split.drawn[j]
                filled += 1
            ties -= 1


def count_outcome(split: LargestBetas, successes: Floats, failures: Floats, arm: int, success: bool) -> None:
    """Count an outcome of an arm; renew its bound if that does not hold any longer."""
    if success:
        successes[arm] += 1.0
        if successes[arm] > split.most_successes[arm]:
            renew_bound(split, successes[arm], failures[arm], arm, True)
    else:
        failures[arm] += 1.0
        if failures[arm] > split.most_failures[arm]:
            renew_bound(split, successes[arm], failures[arm], arm, False)


def renew_bound(split: LargestBetas, successes: float, failures: float, arm: int, weak: bool) -> None:
    """Bound a weak or a strong arm anew; if it is no longer far, have the arms split at the end of the round."""
    bound = lasting_bound(split, successes, failures, arm, weak)
    if bound > FAR:
        split.counts[LEFT] = 0
    if weak:
        split.levels[WEAK_SUM] += bound - split.bounds[arm]
    else:
        split.levels[STRONG_SUM] += bound - split.bounds[arm]
    split.bounds[arm] = bound


def lasting_bound(split: LargestBetas, successes: float, failures: float, arm: int, weak: bool) -> float:
    """Return a bound on an arm's chance to cross the center, and store how long it holds.

    Every success of a weak arm multiplies the bound by about 1 + (N center - s) / s.
    """
    center = split.levels[CENTER]
    distance = abs((successes + failures) * center - successes)
    if distance == 0.0:
        return 1.0
    if weak:
        most = successes + math.floor(min(GROWTH * successes / distance, PATIENCE))
        split.most_successes[arm] = most
        return crossing_bound(most, failures, center, True)
    most = failures + math.floor(min(GROWTH * failures / distance, PATIENCE))
    split.most_failures[arm] = most
    return crossing_bound(successes, most, center, False)


def end_round(split: LargestBetas, successes: Floats, failures: Floats) -> None:
    """Split the arms again if it is time."""
    split.counts[LEFT] -= 1
    if split.counts[LEFT] <= 0:
        split_arms(split, successes, failures)


def split_arms(split: LargestBetas, successes: Floats, failures: Floats) -> None:
    """Split the arms into strong, near and weak ones; if k = n, all are strong for ever."""
    n = len(split.order)
    split.counts[LEFT] = PATIENCE
    if len(split.best) == n:
        return
    means = split.values
    split.levels[CENTER] = find_center(split, successes, failures, means)
    split.levels[STRONG_SUM] = 0.0
    split.levels[WEAK_SUM] = 0.0
    strong = 0
    near = 0
    first_weak = n
    for arm in range(n):
        weak = means[arm] < split.levels[CENTER]
        bound = lasting_bound(split, successes[arm], failures[arm], arm, weak)
        far = bound <= FAR and means[arm] != split.levels[CENTER]
        split.bounds[arm] = bound if far else 0.0
        if not far or not weak:
            split.most_successes[arm] = np.inf
        if not far or weak:
            split.most_failures[arm] = np.inf
        if not far:
            split.drawn[near] = arm
            near += 1
        elif weak:
            first_weak -= 1
            split.order[first_weak] = arm
            split.levels[WEAK_SUM] += bound
        else:
            split.order[strong] = arm
            strong += 1
            split.levels[STRONG_SUM] += bound
    for j in range(near):
        split.order[strong + j] = split.drawn[j]
    split.counts[STRONG] = strong
    split.counts[NEAR] = near


def find_center(split: LargestBetas, successes: Floats, failures: Floats, means: Floats) -> float:
    """Return a level between the k-th and the next expected mean, and write all of these to `means`.

    It is as many standard deviations from the one as from the other, if they have the same variance of a round.
    """
    for arm in range(len(means)):
        means[arm] = (successes[arm] + 1.0) / (successes[arm] + failures[arm] + 2.0)
    lower, upper = border(means, split.best)
    one, other = 0.0, 0.0
    for arm in range(len(means)):
        if means[arm] == lower:
            one = math.sqrt(successes[arm] + failures[arm] + 2.0)
        if means[arm] == upper:
            other = math.sqrt(successes[arm] + failures[arm] + 2.0)
    return min(max((one * lower + other * upper) / (one + other), lower), upper)


def new_largest_betas(n: int, k: int) -> LargestBetas:
    """Return the split before the first round: all arms are near, or, if k = n, strong."""
    strong = n if k == n else 0
    return LargestBetas(
        order=np.arange(n),
        bounds=np.zeros(n),
        most_successes=np.full(n, np.inf),
        most_failures=np.full(n, np.inf),
        counts=np.array([strong, n - strong, PATIENCE]),
        levels=np.array([0.5, 0.0, 0.0]),
        drawn=np.arange(n),
        values=np.zeros(n),
        revealed=np.zeros(n),
        best=np.zeros(k),
    )


def border(values: Floats, best: Floats) -> tuple[float, float]:
    """Return the largest value that is not among the len(best) largest, and the smallest that is.

    Infinite if there is none. `best` is a buffer.

    >>> [float(value) for value in border(np.array([0.4, 0.1, 0.8, 0.6]), np.zeros(2))]
    [0.4, 0.6]
    """
    places = len(best)
    lower = -np.inf
    for j in range(len(values)):
        value = values[j]
        i = j
        if j >= places:
            if places == 0 or value <= best[places - 1]:
                lower = max(lower, value)
                continue
            i = places - 1
            lower = max(lower, best[i])
        while i > 0 and best[i - 1] < value:
            best[i] = best[i - 1]
            i -= 1
        best[i] = value
    return lower, best[places - 1] if places > 0 else np.inf
