"""The five worlds of the paper, exactly as it gives them; its arm a_1 is arm 0 here."""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.environments import MNL, Independent, PreferenceMatrix, RandomUtility, RandomWeak, Table
from setwise.types import Feedback, InputError
from setwise.validation import check_range, check_sizes, whole_number

if TYPE_CHECKING:
    from fractions import Fraction

STEPS = 1.0 - 0.04 * np.arange(1, 21, dtype=np.float64)


def mnl() -> Any:
    """Multinomial logit: n = 20, k = 10, v_i = 1 - 0.04 i for i = 1, ..., 20, outside weight 1 (Appendix)."""
    return MNL(STEPS, k=10)


def random_utility() -> Any:
    """Gaussian random utility: n = 20, k = 5, means 1 - 0.04 i, unit variance, outside option N(2, 1) (Appendix)."""
    return RandomUtility(STEPS, k=5, noise="gaussian", outside=2.0)


def preference_matrix() -> Any:
    """Preference matrix: n = 10, k = 2, outside option 0.08 on the optimal pair and 0.1 elsewhere (Appendix)."""
    upper = {
        0: [0.02, 0.05, 0.1, 0.1, 0.2, 0.25, 0.3, 0.3, 0.3],
        1: [0.05, 0.1, 0.1, 0.2, 0.25, 0.3, 0.3, 0.3],
        2: [0.45] * 7,
        3: [-0.3, 0.3, 0.0, 0.0, 0.0, 0.0],
        4: [-0.3, 0.0, 0.0, 0.0, 0.0],
    }
    matrix = np.zeros((10, 10))
    for arm, row in upper.items():
        matrix[arm, arm + 1 :] = row
    outside = np.full((10, 10), 0.1)
    outside[0, 1] = outside[1, 0] = 0.08
    return PreferenceMatrix(matrix - matrix.T, outside)


def random_weak(seed: int = 0) -> Any:
    """A random world that satisfies weak optimal set consistency: n = 10, k = 5 (Appendix, Algorithm 2)."""
    return RandomWeak(n=10, k=5, seed=seed)


CAMERAS = ("Nikon", "Canon", "Sony", "Digital Camera", "Keyboard", "Shoes")


def camera_probabilities() -> dict[tuple[str, ...], "tuple[Fraction, ...]"]:
    """Return P(a|s) of the camera example as fractions: Digital Camera has 0.85 minus the sum of the other two."""
    from fractions import Fraction

    fixed = {
        name: Fraction(percent, 100)
        for name, percent in zip(CAMERAS, (35, 30, 25, None, 1, 1), strict=True)
        if percent is not None
    }
    table: dict[tuple[str, ...], tuple[Fraction, ...]] = {}
    for arms in itertools.combinations(CAMERAS, 3):
        others = sum((fixed[arm] for arm in arms if arm in fixed), Fraction(0))
        table[arms] = tuple(fixed.get(arm, Fraction(85, 100) - others) for arm in arms)
    return table


def camera() -> Any:
    """The camera example: n = 6, k = 3, no total order of the arms (Section 3.4)."""
    return Table(camera_probabilities(), names=CAMERAS)


def lower_bound_choice(n: int = 10, k: int = 3, epsilon: float = 0.05, optimal: int = 0) -> Any:
    """The lower bound's family with `choice` feedback: q = 1/(k+1) for the best arms, q - epsilon for the others."""
    return _lower_bound(Feedback.choice, n, k, epsilon, optimal)


def lower_bound_independent(n: int = 10, k: int = 3, epsilon: float = 0.05, optimal: int = 0) -> Any:
    """The lower bound's family with `independent` feedback: q = 1/2 for the best arms, q - epsilon for the others."""
    return _lower_bound(Feedback.independent, n, k, epsilon, optimal)


def _lower_bound(feedback: Feedback, n: int, k: int, epsilon: float, optimal: int) -> Any:
    """Build a world whose best arms are the last k - 1 and one of the first n - k + 1; the paper's n is n - k + 1."""
    n, k = check_sizes(n, k)
    optimal = whole_number("optimal", optimal, 0)
    if optimal > n - k:
        raise InputError(f"optimal is {optimal}; it has to be one of the first {n - k + 1} arms, 0 to {n - k}")
    q = 1.0 / (k + 1) if feedback == Feedback.choice else 0.5
    check_range("epsilon", epsilon, 0.0, q, strict=True)
    values = np.full(n, q - epsilon)
    values[n - k + 1 :] = values[optimal] = q
    return Independent(values, k, feedback)


INSTANCES = {
    "mnl": mnl,
    "random-utility": random_utility,
    "preference-matrix": preference_matrix,
    "random-weak": random_weak,
    "camera": camera,
}

LOWER_BOUNDS = {
    "lower-bound-choice": lower_bound_choice,
    "lower-bound-independent": lower_bound_independent,
}
