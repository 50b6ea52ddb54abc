"""The steps of the paper's lower bound in numbers, and what can be said without any assumption.

The family has arms 1, ..., n + k - 1. In the world E_i the arms of s* = {i, n + 1, ..., n + k - 1} have mean q in every
set and the others q - epsilon: q = 1 / (k + 1) where at most one arm is rewarded (M1), and q = 1/2 where each is by
itself (M2). A policy that is good in two worlds has to see a divergence of the order of log T between them.
"""

import dataclasses
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from setwise.types import Floats, InputError


def divergence(p: Sequence[float] | Floats, change: Sequence[float] | Floats) -> float:
    """KL(p, p + change) = sum over i of p_i log(p_i / (p_i + change_i)), where the changes sum to 0.

    It is summed as change_i - p_i log(1 + change_i / p_i), which is never negative, so that small changes keep their
    digits.
    """
    before, step = np.asarray(p, dtype=np.float64), np.asarray(change, dtype=np.float64)
    if abs(step.sum()) > 1e-12 or (before <= 0.0).any() or (before + step <= 0.0).any():
        raise InputError("the divergence is of positive probabilities, before and after changes that sum to 0")
    return math.fsum((step - before * np.log1p(step / before)).tolist())


@dataclasses.dataclass(frozen=True)
class MainText:
    """KL(p, q) for q_1 = p_1 + eps and q_2 = p_2 - eps; as printed, eps^2/p_1 + eps^2/p_2; and half of that."""

    exact: float
    printed: float
    half: float


def main_text_divergence(first: float = 0.2, second: float = 0.2, epsilon: float = 0.01) -> MainText:
    """The main text's KL(p, q) = eps^2/p_1 + eps^2/p_2 + o(eps^2), of which half is true."""
    exact = divergence([first, second], [epsilon, -epsilon])
    printed = epsilon**2 / first + epsilon**2 / second
    return MainText(exact, printed, printed / 2.0)


def largest_chi_square_ratio(instances: int = 3000, seed: int = 0) -> float:
    """The appendix's KL(p, p') <= sum over i of (p_i - p'_i)^2 / p'_i: the largest left / right of random pairs."""
    rng = np.random.default_rng(seed)
    largest = 0.0
    for _ in range(instances):
        p = rng.dirichlet(np.full(int(rng.integers(2, 12)), 10.0 ** rng.uniform(-1.0, 1.0))) + 1e-9
        p /= p.sum()
        other = rng.dirichlet(np.ones(len(p))) + 1e-9
        change = 10.0 ** rng.uniform(-4.0, 0.0) * (other / other.sum() - p)
        after = p + change
        largest = max(largest, divergence(p, change) / math.fsum((change**2 / after).tolist()))
    return largest


def least_event_slack(points: int = 200) -> float:
    """KL(p, q) >= (1/3) ln(1 / (3 q(B))) - 1/e for p(B) >= 1/3 > q(B), from Karp and Kleinberg: the least difference.

    KL(p, q) is at least that of the chances of B alone, and these are on a grid.
    """
    least = math.inf
    for share in np.linspace(1.0 / 3.0, 1.0 - 1e-9, points).tolist():
        for other in (10.0 ** np.linspace(-12.0, math.log10(1.0 / 3.0), points)).tolist():
            exact = share * math.log(share / other) + (1.0 - share) * math.log((1.0 - share) / (1.0 - other))
            least = min(least, exact - math.log(1.0 / (3.0 * other)) / 3.0 + 1.0 / math.e)
    return least


def family_means(n: int, k: int, epsilon: float, best: int = 1, choice: bool = True) -> Floats:
    """The means of the n + k - 1 arms in the paper's world E_best: q in its optimal set, q - epsilon for the others."""
    q = 1.0 / (k + 1) if choice else 0.5
    if not 0.0 < epsilon < q or not 1 <= best <= n:
        raise InputError(f"epsilon is {epsilon:g} and the world {best}; they have to be in (0, {q:g}) and 1, ..., {n}")
    means = np.full(n + k - 1, q - epsilon)
    means[[best - 1, *range(n, n + k - 1)]] = q
    return means


def repaired_means(n: int, k: int, epsilon: float, raised: int, choice: bool = True) -> Floats:
    """The world to compare E_1 with: as E_1, but the arm `raised` has q + epsilon.

    Its least gap is epsilon again. With it any k - 1 of the k arms that have q make an optimal set, so there are k.
    """
    means = family_means(n, k, epsilon, 1, choice)
    means[raised - 1] += 2.0 * epsilon
    return means


def set_divergence(before: Floats, after: Floats, arms: Sequence[int], choice: bool = True) -> float:
    """The KL of what one play of the set, arms from 1, shows in two worlds with fixed means."""
    chosen = np.asarray(arms) - 1
    p, change = before[chosen], after[chosen] - before[chosen]
    if choice:
        return divergence([*p, 1.0 - p.sum()], [*change, -change.sum()])
    return math.fsum(divergence([mean, 1.0 - mean], [step, -step]) for mean, step in zip(p, change))


def information(k: int, epsilon: float, choice: bool) -> float:
    """The KL of one play of {a_j, a_(n+1), ..., a_(n+k-1)} when a_j is raised: 2 eps log((q + eps) / (q - eps))."""
    before, after = family_means(2, k, epsilon, 1, choice), repaired_means(2, k, epsilon, 2, choice)
    return set_divergence(before, after, [2, *range(3, k + 2)], choice)


def information_ratio(k: int, share: float = 1e-3) -> float:
    """KL in M1 over KL in M2 for epsilon = share / (k + 1); it tends to (k + 1) / 2 as epsilon tends to 0."""
    epsilon = share / (k + 1)
    return information(k, epsilon, choice=True) / information(k, epsilon, choice=False)


@dataclasses.dataclass(frozen=True)
class FailingStep:
    """KL <= C E[N_j(T)] k eps^2 between E_1 and E_j, which fails as the sets that have a_1 and not a_j differ as well.

    least, largest: KL of one play of such a set; the paper's proof takes it to be 0
    best: KL of one play of E_1's optimal set, which has a_1
    total: T times that, for a policy that plays this set always and a_j never: the right side is then 0
    log: log T, of which order the divergence has to be
    repaired: the largest KL of such a set between E_1 and the world that raises a_j and leaves a_1
    sets: how many such sets there are
    """

    least: float
    largest: float
    best: float
    total: float
    log: float
    repaired: float
    sets: int


def failing_step(
    n: int = 10, k: int = 3, epsilon: float = 0.05, horizon: int = 100_000, raised: int = 2
) -> FailingStep:
    """The appendix's "the only different arm between E_1 and E_j is a_j" does not hold: a_1 falls from q to q - eps."""
    before = family_means(n, k, epsilon, 1)
    printed, repaired = family_means(n, k, epsilon, raised), repaired_means(n, k, epsilon, raised)
    others = [arm for arm in range(2, n + k) if arm != raised]
    sets = [(1, *rest) for rest in itertools.combinations(others, k - 1)]
    found = [set_divergence(before, printed, arms) for arms in sets]
    best = set_divergence(before, printed, [1, *range(n + 1, n + k)])
    unseen = max(set_divergence(before, repaired, arms) for arms in sets)
    return FailingStep(min(found), max(found), best, horizon * best, math.log(horizon), unseen, len(sets))


def needle_tries(n: int, k: int) -> Fraction:
    """How many sets have to be tried to find one that is hidden among all: (C(n, k) + 1) / 2 on average.

    Without any assumption the other sets may all be alike, whichever is hidden. So the order in which a policy tries
    them does not depend on it until it is found, and in any order a set drawn uniformly has a uniform place.

    >>> needle_tries(6, 3)
    Fraction(21, 2)
    """
    return Fraction(math.comb(n, k) + 1, 2)
