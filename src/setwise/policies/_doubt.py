"""Whether weak optimal set consistency is to be doubted, and how far sets deviate from their arms: see `robust_ucb`."""

import math
from typing import NamedTuple

import numpy as np

from setwise.kernels.divergence import bernoulli_divergence, upper_bound
from setwise.kernels.largest_betas import border
from setwise.kernels.set_table import SetTable
from setwise.types import Bools, Floats, Ints

REFUTED = 5.0  # evidence from which on the assumption counts as refuted,
HOLD = 4.0  # and by how much it has to fall until it does not
LEVEL = 8.0  # of the bounds from which evidence is computed
FIRST_VARIANCE = 0.01  # of deviations, before anything is known
LEAST_VARIANCE = 1e-5
LEAST_SPREAD = 1e-3  # variance from which on sets of many plays weigh no more than others
CAUTION = 2.0  # standard errors that are subtracted from the estimated variance
WEAKEST, STRONGEST = 2.0, 2000.0  # rounds that the prior of a set counts for, at least and at most;
STRONGEST_OF_HANDFUL = 5.0  # and at most, if there are at most `HANDFUL` sets
HANDFUL = 64


class Doubt(NamedTuple):
    """What is known about the assumption.

    evidence: against it, and the evidence from which on it counts as refuted
    strongest: rounds that the prior of a set counts for, at most
    largest: the largest total so far, at least the bound of one arm
    deviation: mean of the deviations of sets, from the sum of their arms' means
    variance: of the deviations of sets, estimated, and its lower end
    scales, sums: the x that are tried, and for each the sum of the k largest p + x v
    pulls, reward, means, bounds, values: buffers for every arm
    best: buffer for the k largest
    surest, sure: the set of largest lower bound of its total, and that bound
    """

    evidence: Floats
    strongest: Floats
    largest: Floats
    deviation: Floats
    variance: Floats
    scales: Floats
    sums: Floats
    pulls: Floats
    reward: Floats
    means: Floats
    bounds: Floats
    values: Floats
    best: Floats
    surest: Ints
    sure: Floats


def new_doubt(n: int, k: int, bound: float) -> Doubt:
    """Return no doubt."""
    return Doubt(
        evidence=np.array([0.0, 1e9]),
        strongest=np.full(1, STRONGEST_OF_HANDFUL if math.comb(n, k) <= HANDFUL else STRONGEST),
        largest=np.full(1, bound),
        deviation=np.zeros(1),
        variance=np.full(2, FIRST_VARIANCE * bound**2),
        scales=np.array([1.5**i / bound for i in range(20)]),
        sums=np.zeros(20),
        pulls=np.zeros(n),
        reward=np.zeros(n),
        means=np.zeros(n),
        bounds=np.zeros(n),
        values=np.zeros(n),
        best=np.zeros(k),
        surest=np.arange(k),
        sure=np.zeros(1),
    )


def is_refuted(doubt: Doubt) -> bool:
    """Whether the assumption counts as refuted."""
    return bool(doubt.evidence[0] >= doubt.evidence[1])


def all_marked(marks: Bools, arms: Ints) -> bool:
    """Whether all arms of a set are marked."""
    for j in range(len(arms)):
        if not marks[arms[j]]:
            return False
    return True


def prior_mean(doubt: Doubt, total: float) -> float:
    """Return the expected total of a set as a share of the largest, given that of its arms in all company."""
    if not is_refuted(doubt):
        total += doubt.deviation[0]
    return bounded_mean(total / doubt.largest[0])


def bounded_mean(mean: float) -> float:
    """Return a mean as a share of the largest total, kept away from 0 and 1."""
    kept: float = min(max(mean, 0.02), 0.98)
    return kept


def prior_rounds(doubt: Doubt, mean: float, variance: float) -> float:
    """Return for how many rounds the prior of a set counts, given the variance of its total."""
    largest = doubt.largest[0]
    rounds: float = min(max(mean * (1.0 - mean) * largest * largest / variance - 1.0, WEAKEST), doubt.strongest[0])
    return rounds


def assess(doubt: Doubt, table: SetTable, current: Bools, pulls: Floats, reward: Floats, bound: float) -> None:
    """Learn the variance of deviations; from the arms that are current, the evidence and the surest set."""
    refuted = is_refuted(doubt)
    learn_variance(doubt, table, pulls, reward, bound)
    pool(doubt, table, current, pulls, reward)
    least_bounds(doubt, table, current, bound)
    for i in range(len(doubt.scales)):
        doubt.sums[i] = largest_sum(doubt, doubt.scales[i])
    most = largest_sum(doubt, 0.0)
    evidence = 0.0
    for slot in range(len(table.taken)):
        plays = table.plays[slot]
        if plays > 0.0 and table.totals[slot] > most * plays and all_marked(current, table.arms[slot]):
            mean = table.totals[slot] / plays
            below = mean - lower_total(doubt, table, slot, bound, LEVEL)
            own = below * below / LEVEL
            for i in range(len(doubt.scales)):
                x = doubt.scales[i]
                evidence = max(evidence, 4.0 * x * (mean - doubt.sums[i] - x * own))
    doubt.evidence[0] = evidence
    doubt.evidence[1] = REFUTED + math.log(table.sets[0]) - (HOLD if refuted else 0.0)
    learn_surest(doubt, table, current, bound)


def learn_surest(doubt: Doubt, table: SetTable, current: Bools, bound: float) -> None:
    """Learn which set has the largest lower bound. The largest of many is high by chance, so the level grows."""
    level = LEVEL + math.log(table.sets[0])
    doubt.sure[0] = 0.0
    for slot in range(len(table.taken)):
        plays = table.plays[slot]
        if plays > 0.0 and table.totals[slot] > doubt.sure[0] * plays and all_marked(current, table.arms[slot]):
            lower = lower_total(doubt, table, slot, bound, level)
            if lower > doubt.sure[0]:
                doubt.sure[0] = lower
                for j in range(len(doubt.surest)):
                    doubt.surest[j] = table.arms[slot, j]


def lower_total(doubt: Doubt, table: SetTable, slot: int, bound: float, level: float) -> float:
    """Return the lower bound of a set's expected total, by the divergence, or by the variance if totals exceed B."""
    plays, total = table.plays[slot], table.totals[slot]
    if doubt.largest[0] <= bound:
        return bound * (1.0 - upper_bound(plays - total / bound, plays, level))
    mean = total / plays
    variance = max(0.0, table.squares[slot] / plays - mean * mean)
    lower: float = mean - math.sqrt(2.0 * variance * level / plays) - 3.0 * doubt.largest[0] * level / plays
    return lower


def pool(doubt: Doubt, table: SetTable, current: Bools, pulls: Floats, reward: Floats) -> None:
    """Write every arm's plays and rewards in all company, without the sets of arms that are not current."""
    for arm in range(len(pulls)):
        doubt.pulls[arm] = pulls[arm]
        doubt.reward[arm] = reward[arm]
    for slot in range(len(table.taken)):
        if table.plays[slot] > 0.0 and not all_marked(current, table.arms[slot]):
            for j in range(table.arms.shape[1]):
                arm = table.arms[slot, j]
                doubt.pulls[arm] -= table.plays[slot]
                doubt.reward[arm] = max(0.0, doubt.reward[arm] - table.rewards[slot, j])


def least_bounds(doubt: Doubt, table: SetTable, current: Bools, bound: float) -> None:
    """Write every arm's least upper bound over all company and single sets, and the mean it comes from.

    The least of many bounds is low by chance, so those in single sets have a level of log(number of sets) more.
    """
    for arm in range(len(doubt.means)):
        doubt.means[arm] = 0.0
        doubt.bounds[arm] = 0.0
        if current[arm]:
            plays = doubt.pulls[arm]
            doubt.means[arm] = doubt.reward[arm] / plays if plays > 0.0 else 0.5 * bound
            doubt.bounds[arm] = bound * upper_bound(doubt.reward[arm] / bound, plays, LEVEL) if plays > 0.0 else bound
    k = table.arms.shape[1]
    level = LEVEL + math.log(table.sets[0])
    for slot in range(len(table.taken)):
        plays = table.plays[slot]
        if plays >= LEVEL and all_marked(current, table.arms[slot]):
            for j in range(k):
                arm = table.arms[slot, j]
                earned = table.rewards[slot, j] / bound
                least = doubt.bounds[arm] / bound
                if earned < plays * least and plays * bernoulli_divergence(earned / plays, least) > level:
                    doubt.means[arm] = bound * earned / plays
                    doubt.bounds[arm] = bound * upper_bound(earned, plays, level)


def largest_sum(doubt: Doubt, x: float) -> float:
    """Return the sum of the k largest p + x v."""
    for arm in range(len(doubt.values)):
        width = doubt.bounds[arm] - doubt.means[arm]
        doubt.values[arm] = doubt.means[arm] + x * width * width / LEVEL
    border(doubt.values, doubt.best)
    total = 0.0
    for j in range(len(doubt.best)):
        total += doubt.best[j]
    return total


def learn_variance(doubt: Doubt, table: SetTable, pulls: Floats, reward: Floats, bound: float) -> None:
    """Estimate mean and variance of the deviations of sets, by weighted moments.

    A set's deviation is its mean total less what its arms earn in other company. The square of what is seen of it
    exceeds the true one by what chance contributes: the variance of a total divided by the plays, and those of the
    arms' means. A set's weight is 1 / (chance + variance) for the mean, and the square of that for the variance.
    """
    largest = doubt.largest[0]
    within = 0.0
    if largest > bound:
        within = within_sets(table, bound)
    variance, deviation = max(doubt.variance[0], LEAST_SPREAD * bound * bound), doubt.deviation[0]
    total, weights = 0.0, 0.0
    away_total, away_weights = 0.0, 0.0
    k = table.arms.shape[1]
    for slot in range(len(table.taken)):
        plays = table.plays[slot]
        if plays > 0.0:
            expected, chance = 0.0, 0.0
            for j in range(k):
                arm = table.arms[slot, j]
                others = pulls[arm] - plays
                share = share_of_bound(reward[arm] - table.rewards[slot, j], others, bound)
                expected += share
                chance += share * (1.0 - share) / (others + 1.0)
            expected = bounded_mean(expected * bound / largest)
            chance *= bound * bound
            chance += (expected * (1.0 - expected) * largest * largest if largest <= bound else within) / plays
            away = table.totals[slot] / plays - expected * largest
            weight = 1.0 / (chance + variance)
            away_total += weight * away
            away_weights += weight
            away -= deviation
            weight *= weight
            total += weight * (away * away - chance)
            weights += weight
    doubt.deviation[0] = away_total / away_weights
    least = LEAST_VARIANCE * bound * bound
    doubt.variance[0] = max(least, total / weights)
    doubt.variance[1] = max(least, total / weights - CAUTION * math.sqrt(2.0 / weights))


def within_sets(table: SetTable, bound: float) -> float:
    """Return the variance of the totals of one set, pooled over all sets; B^2 if none was played twice."""
    squares, plays = 1e-9 * bound * bound, 1e-9
    for slot in range(len(table.taken)):
        if table.plays[slot] > 1.0:
            squares += table.squares[slot] - table.totals[slot] * table.totals[slot] / table.plays[slot]
            plays += table.plays[slot] - 1.0
    return squares / plays


def share_of_bound(reward: float, pulls: float, bound: float) -> float:
    """Return the estimated mean of an arm as a share of the bound, after one more play of half a reward."""
    return (reward / bound + 0.5) / (pulls + 1.0)
