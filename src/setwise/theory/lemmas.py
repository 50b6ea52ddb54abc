"""Check the steps of the paper's upper bound numerically: how tight each is, and where it fails as printed.

For the optimal set with P*_1 >= ... >= P*_k and the least gap epsilon, and with L = log T,

    delta_ij = P*_i - P*_j        Delta_l = sum over i >= l of delta_li
    sigma_ij = 4 delta_ij (Delta_j + epsilon) / (Delta_i + epsilon)^2        for i <= j
"""

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np

from setwise.theory.profiles import MOST_ARMS, ROUNDING, Extreme, gaps_of, gaps_of_all, harmonic_drops, search, world_of
from setwise.types import Floats, InputError

WIDE = 0.1  # Delta_l >= epsilon / 10 is the paper's case I


def sigma(profile: Sequence[float], epsilon: float) -> Floats:
    """Return sigma_ij = 4 delta_ij (Delta_j + epsilon) / (Delta_i + epsilon)^2 for i <= j, zero elsewhere.

    >>> sigma([0.35, 0.30, 0.25], 0.05).round(6).tolist()
    [[0.0, 0.5, 0.5], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    gaps_of(profile)
    if not 0.0 <= epsilon < math.inf:
        raise InputError(f"epsilon is {epsilon!r}; it has to be 0 or more")
    matrix: Floats = _sigma(np.asarray(profile, dtype=np.float64)[None], np.array([float(epsilon)]))[0]
    return matrix


def _sigma(profiles: Floats, epsilons: Floats) -> Floats:
    delta, wide = gaps_of_all(profiles)
    room = wide + epsilons[:, None]
    above = 4.0 * delta * room[:, None, :]
    # Where Delta_i + epsilon is 0 all later P* are equal: delta_ij is 0, and so is sigma_ij.
    below = np.where(room > 0.0, room, 1.0)[:, :, None] ** 2
    return np.asarray(above / below, dtype=np.float64)


def f_of(sigmas: Floats) -> Floats:
    """Return f(i, j) = 0.4 sigma_ij + sum over i < m < j of 0.4 sigma_im f(m, j), for one matrix of sigma."""
    matrix: Floats = _f(sigmas[None])[0]
    return matrix


def _f(sigmas: Floats) -> Floats:
    found = np.zeros_like(sigmas)
    for i in range(sigmas.shape[1] - 2, -1, -1):
        found[:, i] = 0.4 * sigmas[:, i] + 0.4 * (sigmas[:, i, None, :] @ found)[:, 0]
    return found


def second_index_extreme(k: int) -> Extreme:
    """Return the largest possible sum over j of sigma_ij: 2 H / (H + 2), H = sum over m < k - 1 of 1 / (m + 1/2).

    With x_j = delta_1j / (Delta_1 + epsilon) and X their sum, the sum of sigma_1j is 4 X - 2 X^2 - 4 sum over j of
    (k - j + 1/2) x_j^2. It is largest for x_j proportional to 1 / (k - j + 1/2), and then for epsilon = 2 Delta_1 / H.
    So it is below 2 for every k, and no smaller constant works for all k.
    """
    harmonic = sum(1.0 / (m + 0.5) for m in range(k - 1))
    shape = np.concatenate([harmonic_drops(k), [2.0]])  # Delta_1 = H for these drops
    profile, epsilon = world_of(shape)
    return Extreme(2.0 * harmonic / (harmonic + 2.0), 2.0, profile, epsilon, 1)


def first_index_extreme(k: int) -> Extreme:
    """Return the largest possible sum over i of sigma_il: k - 1, for P*_1 = ... = P*_(k-1) = P*_k + epsilon, l = k.

    Delta_i + epsilon >= (k - l + 1) delta_il + (Delta_l + epsilon), and 4 x y <= (x + y)^2, so sigma_il is at most
    1 / (k - l + 1).
    """
    profile, epsilon = world_of(np.concatenate([np.zeros(k - 2), [1.0, 1.0]]))
    return Extreme(k - 1.0, 2.0, profile, epsilon, 1)


def largest_second_index_sum(most: int = MOST_ARMS, seed: int = 0) -> Extreme:
    """Search for the largest sum over j of sigma_ij: at most 2 by the lemma on sigma."""
    return search(lambda profiles, epsilons: _sigma(profiles, epsilons).sum(axis=2).max(axis=1), 2.0, most, seed)


def largest_first_index_sum(most: int = MOST_ARMS, seed: int = 0) -> Extreme:
    """Search for the largest sum over i of sigma_il; the proof of the lemma on delta times t takes it as at most 2."""
    return search(lambda profiles, epsilons: _sigma(profiles, epsilons).sum(axis=1).max(axis=1), 2.0, most, seed)


@dataclasses.dataclass(frozen=True)
class SigmaStep:
    """A step in the proof of the lemma on sigma, for one profile and i < j.

    printed: sum over m >= j of delta_mk + sum over m from i to j of delta_im
    meant: the same with delta_jm in place of delta_mk, so that the first sum is Delta_j
    limit: Delta_i + epsilon, the proof's bound on the sum
    """

    printed: float
    meant: float
    limit: float


def sigma_step(
    profile: Sequence[float] = (1.0, 1.0, 1.0, 0.0), epsilon: float = 0.0, i: int = 1, j: int = 2
) -> SigmaStep:
    """Evaluate a step: it fails as printed, as the sum over m >= j of delta_mk is not Delta_j; with delta_jm it holds.

    >>> sigma_step()
    SigmaStep(printed=2.0, meant=1.0, limit=1.0)
    """
    delta, wide = gaps_of(profile)
    before = float(delta[i - 1, i - 1 : j].sum())
    printed, meant = float(delta[j - 1 :, -1].sum()), float(wide[j - 1])
    return SigmaStep(printed + before, meant + before, float(wide[i - 1]) + epsilon)


def largest_f(most: int = MOST_ARMS, seed: int = 0) -> Extreme:
    """Search for the largest f(i, j): at most 1 by the lemma on f, second part, and at most 0.8 by its proof."""
    return search(lambda profiles, epsilons: _f(_sigma(profiles, epsilons)).max(axis=(1, 2)), 0.8, most, seed)


def largest_identity_error(most: int = MOST_ARMS, seed: int = 0) -> Extreme:
    """Search for the largest |f(i, j) - 0.4 sigma_ij - sum over m of 0.4 f(i, m) sigma_mj|: 0 by the lemma on f."""

    def error(profiles: Floats, epsilons: Floats) -> Floats:
        sigmas = _sigma(profiles, epsilons)
        found = _f(sigmas)
        return np.asarray(np.abs(found - 0.4 * sigmas - 0.4 * found @ sigmas).max(axis=(1, 2)))

    return search(error, ROUNDING, most, seed, climb=0)


@dataclasses.dataclass(frozen=True)
class PathSums:
    """f(1, k), and the sums over the paths x from 1 to k of 0.4^(|x| - 1) g(x) and, as printed, of 0.4^|x| g(x)."""

    f: float
    edges: float
    printed: float


def path_sums(profile: Sequence[float], epsilon: float) -> PathSums:
    """Compare two powers of 0.4 for paths x = {x_1 < ... < x_|x|}, with g(x) = sigma_(x_1 x_2) sigma_(x_2 x_3) ..."""
    sigmas = sigma(profile, epsilon)
    last = len(sigmas) - 1
    edges = printed = 0.0
    for size in range(last):
        for inner in itertools.combinations(range(1, last), size):
            path = (0, *inner, last)
            product = math.prod(float(sigmas[i, j]) for i, j in itertools.pairwise(path))
            edges += 0.4 ** (len(path) - 1) * product
            printed += 0.4 ** len(path) * product
    return PathSums(float(f_of(sigmas)[0, last]), edges, printed)


def plays_constants(profile: Sequence[float], epsilon: float) -> tuple[Floats, Floats]:
    """Solve the proof's recursion as an equality: return c_l, and S_l of the lemma on delta times t.

    t_l - t'_l = c_l 4 alpha k n L / (Delta_l + eps)^2, or / eps^2 in case II, Delta_l < eps / 10, and
    sum over i < l of delta_il (t_i - t'_i) = S_l alpha k n L / (Delta_l + eps), where
    c_l = 3.08 + 0.275 sum over i < l of sigma_il c_i and S_l = sum over i < l of sigma_il c_i; for the i in case II
    the coefficients are 0.34 and, as (Delta_i + eps)^2 <= 1.21 eps^2, 1.21.
    """
    sigma(profile, epsilon)
    plays, totals = _constants(np.asarray(profile, dtype=np.float64)[None], np.array([float(epsilon)]))
    return plays[0], totals[0]


def _constants(profiles: Floats, epsilons: Floats) -> tuple[Floats, Floats]:
    sigmas, wide = _sigma(profiles, epsilons), gaps_of_all(profiles)[1]
    first = wide >= WIDE * epsilons[:, None]
    growth, share = np.where(first, 0.275, 0.34), np.where(first, 1.0, 1.21)
    plays, totals = np.zeros_like(wide), np.zeros_like(wide)
    for rank in range(wide.shape[1]):
        terms = sigmas[:, :rank, rank] * plays[:, :rank]
        plays[:, rank] = 3.08 + (growth[:, :rank] * terms).sum(axis=1)
        totals[:, rank] = (share[:, :rank] * terms).sum(axis=1)
    return plays, totals


def largest_plays_constant(most: int = MOST_ARMS, seed: int = 0, least_rank: int = 1) -> Extreme:
    """Search for the largest c_l / l: at most 10 by the lemma on sub-optimal plays; 3.08 for l = 1 in any profile."""

    def constant(profiles: Floats, epsilons: Floats) -> Floats:
        plays = _constants(profiles, epsilons)[0]
        return np.asarray((plays / np.arange(1, plays.shape[1] + 1))[:, least_rank - 1 :].max(axis=1))

    return search(constant, 10.0, most, seed)


def largest_repaired_sum(most: int = MOST_ARMS, seed: int = 0) -> Extreme:
    """Search for the largest S_l / (l - 1): at most 1.21 x 20 = 24.2 by the repaired lemma on delta times t.

    From the lemma on f, c_i <= 3.08 + 10 sum over j < i of f(j, i), so that the sum over i < l of sigma_il c_i is at
    most (10 / 0.4) sum over i < l of f(i, l) <= 20 (l - 1), and case II costs at most a factor of 1.21.
    """

    def constant(profiles: Floats, epsilons: Floats) -> Floats:
        totals = _constants(profiles, epsilons)[1]
        return np.asarray((totals[:, 1:] / np.arange(1, totals.shape[1])).max(axis=1))

    return search(constant, 24.2, most, seed)


def largest_delta_times_t(most: int = MOST_ARMS, seed: int = 0) -> Extreme:
    """Search for the largest S_l / l, in the lemma's own units alpha l k n L / (Delta_l + epsilon): at most 30."""

    def constant(profiles: Floats, epsilons: Floats) -> Floats:
        totals = _constants(profiles, epsilons)[1]
        return np.asarray((totals / np.arange(1, totals.shape[1] + 1)).max(axis=1))

    return search(constant, 30.0, most, seed)


def largest_printed_delta_times_t(most: int = MOST_ARMS, seed: int = 0) -> Extreme:
    """Search for the same constant in the printed units, alpha l k n L / (Delta_(l-1) + epsilon)."""

    def constant(profiles: Floats, epsilons: Floats) -> Floats:
        totals, wide = _constants(profiles, epsilons)[1], gaps_of_all(profiles)[1] + epsilons[:, None]
        ranks = np.arange(2, totals.shape[1] + 1)
        growth = np.divide(wide[:, :-1], wide[:, 1:], out=np.zeros_like(wide[:, 1:]), where=wide[:, 1:] > 0.0)
        return np.asarray((totals[:, 1:] / ranks * growth).max(axis=1))

    return search(constant, 30.0, most, seed)


def theorem_1_constants(k: int) -> tuple[float, float]:
    """Return Theorem 1 in units of alpha n L / epsilon, as printed and as repaired, without the last term.

    Printed: 8 k^1.5 + 30 k^2. The lemma on sub-optimal plays gives 2 sqrt(40) k^1.5 in place of 8 k^1.5, but delta
    times t gives 24.2 k (k - 1) in place of 30 k^2: the repaired sum is below the printed one for every k.
    """
    return 8.0 * k**1.5 + 30.0 * k**2, 2.0 * math.sqrt(40.0) * k**1.5 + 24.2 * k * (k - 1)


@dataclasses.dataclass(frozen=True)
class CaseOne:
    """The step of case I for one k, l and Delta_l, all sides in units of epsilon.

    Each pair claims left <= right.

    printed: (eps/3) (k - l) and (2/3) Delta_l (k + l/2)
    implied: eps (k - l) - Delta_l l and (2/3) (k - l) (Delta_l + eps), which the paper derives from `printed`
    needed: 1.1 (eps (k - l) - Delta_l l) and (k - l) (Delta_l + eps), all that the proof uses
    """

    k: int
    rank: int
    gap: float
    printed: tuple[float, float]
    implied: tuple[float, float]
    needed: tuple[float, float]

    @property
    def slack(self) -> float:
        """Right minus left side of the needed inequality."""
        return self.needed[1] - self.needed[0]


def case_one(k: int = 10, rank: int = 1, gap: float = 0.1) -> CaseOne:
    """Evaluate the two printed inequalities of case I and the one that is needed; gap is Delta_l / epsilon."""
    spent, room = (k - rank) - gap * rank, (k - rank) * (gap + 1.0)
    printed = (k - rank) / 3.0, 2.0 * gap * (k + rank / 2.0) / 3.0
    return CaseOne(k, rank, gap, printed, (spent, 2.0 * room / 3.0), (1.1 * spent, room))


def tightest_case_one(most: int = 60) -> CaseOne:
    """Find the case of least slack in the needed inequality: (k - l) (Delta_l - eps/10) + 1.1 Delta_l l."""
    grid = [WIDE * 10.0 ** (step / 5.0) for step in range(26)]
    # l = k is always case II, as Delta_k = 0.
    cases = (case_one(k, rank, gap) for k in range(2, most + 1) for rank in range(1, k) for gap in grid)
    return min(cases, key=lambda case: round(case.slack, 9))


@dataclasses.dataclass(frozen=True)
class LogStep:
    """The condition log T >= 5, and the weaker one that suffices.

    log, horizon: the log T and T from which 4 n (Delta_l + eps) P*_l <= 0.8 alpha k n log T holds in every world
    largest: the largest (Delta_l + eps) P*_l / k of all profiles tried; the step takes it as at most 1
    shorter: for 2 <= T < 149, the largest T over 40 alpha log T, the smallest bound of the lemma on t_l - t'_l
    """

    log: float
    horizon: int
    largest: float
    shorter: float


def log_step(alpha: float = 2.0, most: int = MOST_ARMS, seed: int = 0) -> LogStep:
    """Check that log T >= 5 / alpha suffices, as (Delta_l + eps) P*_l <= k, and that short horizons are trivial.

    t_l - t'_l <= T, and (Delta_l + eps)^2 <= k^2, so the lemma's bound is at least 40 alpha l (n/k) L >= 40 alpha L.
    If that is T or more, the lemma holds for any plays, and so do the theorems, as R(T) <= k T.
    """

    def share(profiles: Floats, epsilons: Floats) -> Floats:
        # Scale to the extremes: P*_1 = 1, its maximum, and P*_k = epsilon, its minimum.
        total = profiles[:, :1] + epsilons[:, None]
        values = (profiles + epsilons[:, None]) / total
        room = (gaps_of_all(profiles)[1] + epsilons[:, None]) / total
        return np.asarray((room * values).max(axis=1) / profiles.shape[1])

    log = 5.0 / alpha
    shorter = max(horizon / (40.0 * alpha * math.log(horizon)) for horizon in range(2, 149))
    return LogStep(log, math.ceil(math.exp(log)), search(share, 1.0, most, seed).value, shorter)
