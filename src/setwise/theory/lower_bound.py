"""Check the steps of the paper's lower bound numerically, and compute a bound without any assumption.

The family has arms 1, ..., n + k - 1. In the world E_i the arms of s* = {i, n + 1, ..., n + k - 1} have mean q in every
set and the others q - epsilon: q = 1 / (k + 1) with choice feedback, at most one arm rewarded (M1), and q = 1/2 with
independent feedback (M2). A policy that is good in two worlds must see a divergence of order log T between them.
"""

import dataclasses
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from setwise.types import Floats, InputError


def divergence(p: Sequence[float] | Floats, change: Sequence[float] | Floats) -> float:
    """Return KL(p, p + change) = sum over i of p_i log(p_i / (p_i + change_i)), where the changes sum to 0.

    The terms are computed as change_i - p_i log(1 + change_i / p_i), never negative, to avoid cancellation.
    """
    before, step = np.asarray(p, dtype=np.float64), np.asarray(change, dtype=np.float64)
    if abs(step.sum()) > 1e-12 or (before <= 0.0).any() or (before + step <= 0.0).any():
        raise InputError("the divergence is of positive probabilities, before and after changes that sum to 0")
    return math.fsum((step - before * np.log1p(step / before)).tolist())


@dataclasses.dataclass(frozen=True)
class MainText:
    """KL(p, q) for q_1 = p_1 + eps and q_2 = p_2 - eps: exact; as printed, eps^2/p_1 + eps^2/p_2; and half of that."""

    exact: float
    printed: float
    half: float


def main_text_divergence(first: float = 0.2, second: float = 0.2, epsilon: float = 0.01) -> MainText:
    """Compare the main text's KL(p, q) = eps^2/p_1 + eps^2/p_2 + o(eps^2) with the exact value, which is half of it."""
    exact = divergence([first, second], [epsilon, -epsilon])
    printed = epsilon**2 / first + epsilon**2 / second
    return MainText(exact, printed, printed / 2.0)


def largest_chi_square_ratio(instances: int = 3000, seed: int = 0) -> float:
    """Return the largest left / right of the appendix's KL(p, p') <= sum of (p_i - p'_i)^2 / p'_i, on random pairs."""
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
    """Return the least slack of KL(p, q) >= (1/3) ln(1 / (3 q(B))) - 1/e for p(B) >= 1/3 > q(B) (Karp, Kleinberg).

    KL(p, q) is at least the divergence of p(B) and q(B) alone, which are searched on a grid.
    """
    least = math.inf
    for share in np.linspace(1.0 / 3.0, 1.0 - 1e-9, points).tolist():
        for other in (10.0 ** np.linspace(-12.0, math.log10(1.0 / 3.0), points)).tolist():
            exact = share * math.log(share / other) + (1.0 - share) * math.log((1.0 - share) / (1.0 - other))
            least = min(least, exact - math.log(1.0 / (3.0 * other)) / 3.0 + 1.0 / math.e)
    return least


def family_means(n: int, k: int, epsilon: float, best: int = 1, choice: bool = True) -> Floats:
    """Return the means of the n + k - 1 arms in the paper's world E_best: q in its optimal set, else q - epsilon."""
    q = 1.0 / (k + 1) if choice else 0.5
    if not 0.0 < epsilon < q or not 1 <= best <= n:
        raise InputError(f"epsilon is {epsilon:g} and the world {best}; they have to be in (0, {q:g}) and 1, ..., {n}")
    means = np.full(n + k - 1, q - epsilon)
    means[[best - 1, *range(n, n + k - 1)]] = q
    return means


def repaired_means(n: int, k: int, epsilon: float, raised: int, choice: bool = True) -> Floats:
    """Return the means of the world to compare E_1 with: E_1, but the arm `raised` has q + epsilon.

    Its least gap is epsilon again. It has k optimal sets: the raised arm with any k - 1 of the k arms of mean q.
    """
    means = family_means(n, k, epsilon, 1, choice)
    means[raised - 1] += 2.0 * epsilon
    return means


def set_divergence(before: Floats, after: Floats, arms: Sequence[int], choice: bool = True) -> float:
    """Return the KL of the feedback of one play of the set (arms from 1) between two worlds with fixed means."""
    chosen = np.asarray(arms) - 1
    p, change = before[chosen], after[chosen] - before[chosen]
    if choice:
        return divergence([*p, 1.0 - p.sum()], [*change, -change.sum()])
    return math.fsum(divergence([mean, 1.0 - mean], [step, -step]) for mean, step in zip(p, change))


def information(k: int, epsilon: float, choice: bool) -> float:
    """Return the KL of one play of {a_j, a_(n+1), ..., a_(n+k-1)} if a_j rises: 2 eps log((q + eps) / (q - eps))."""
    before, after = family_means(2, k, epsilon, 1, choice), repaired_means(2, k, epsilon, 2, choice)
    return set_divergence(before, after, [2, *range(3, k + 2)], choice)


def information_ratio(k: int, share: float = 1e-3) -> float:
    """Return KL in M1 over KL in M2 for epsilon = share / (k + 1); it tends to (k + 1) / 2 as epsilon tends to 0."""
    epsilon = share / (k + 1)
    return information(k, epsilon, choice=True) / information(k, epsilon, choice=False)


@dataclasses.dataclass(frozen=True)
class FailingStep:
    """KL <= C E[N_j(T)] k eps^2 between E_1 and E_j: it fails, as sets with a_1 and without a_j differ too.

    least, largest: KL of one play of such a set; the paper's proof takes it as 0
    best: KL of one play of E_1's optimal set, which contains a_1
    total: T times that, for a policy that always plays this set and never a_j: the right side is then 0
    log: log T, the required order of the divergence
    repaired: the largest KL of such a set between E_1 and the world that raises a_j and keeps a_1
    sets: number of such sets
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
    """Refute the appendix's "the only different arm between E_1 and E_j is a_j": a_1 falls from q to q - eps."""
    before = family_means(n, k, epsilon, 1)
    printed, repaired = family_means(n, k, epsilon, raised), repaired_means(n, k, epsilon, raised)
    others = [arm for arm in range(2, n + k) if arm != raised]
    sets = [(1, *rest) for rest in itertools.combinations(others, k - 1)]
    found = [set_divergence(before, printed, arms) for arms in sets]
    best = set_divergence(before, printed, [1, *range(n + 1, n + k)])
    unseen = max(set_divergence(before, repaired, arms) for arms in sets)
    return FailingStep(min(found), max(found), best, horizon * best, math.log(horizon), unseen, len(sets))


def needle_tries(n: int, k: int) -> Fraction:
    """Return the expected number of sets to try until a hidden one is found: (C(n, k) + 1) / 2.

    Without any assumption all other sets may look the same, whichever is hidden. So the order of a policy's tries does
    not depend on the hidden set until it is found, and in any order a uniformly drawn set has a uniform position.

    >>> needle_tries(6, 3)
    Fraction(21, 2)
    """
    return Fraction(math.comb(n, k) + 1, 2)
