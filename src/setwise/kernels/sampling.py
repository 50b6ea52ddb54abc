"""Draws and choices for all arms at once, in place of `rng.choice`, `rng.beta(a, b)` and `argsort`.

Numba does not support these methods of NumPy's generator, and NumPy and Numba order ties differently. The functions
here are plain loops with bitwise equal results interpreted and compiled. They return new arrays.
"""

import numpy as np

from setwise.kernels.random_set import random_set
from setwise.kernels.topk import top_k
from setwise.types import Floats, Generator, Ints


def choose(n: int, k: int, rng: Generator) -> Ints:
    """Draw k distinct numbers below n, every sequence equally likely, like `rng.choice(n, k, replace=False)`.

    >>> sorted(choose(3, 3, np.random.default_rng(0)).tolist())
    [0, 1, 2]
    """
    if k > n:
        raise ValueError("choose cannot take more than there are")
    chosen = np.zeros(k, np.int64)
    random_set(np.arange(n), chosen, rng)
    return chosen


def choose_one(weights: Floats, rng: Generator) -> int:
    """Draw a position in proportion to the weights, like `rng.choice(len(p), p=p)`; they need not add up to 1.

    >>> choose_one(np.array([0.0, 2.0, 0.0]), np.random.default_rng(0))
    1
    """
    heaviest = 0.0
    for weight in weights:
        if not 0.0 <= weight < np.inf:
            raise ValueError("weights are finite numbers from 0 on")
        heaviest = max(heaviest, weight)
    if heaviest == 0.0:
        raise ValueError("none of the weights is above 0")
    total = 0.0
    for weight in weights:
        total += weight / heaviest
    level = rng.random() * total
    last = 0
    for position in range(len(weights)):
        if weights[position] > 0.0:
            last = position
            if level < weights[position] / heaviest:
                break
            level -= weights[position] / heaviest
    return last


def choose_weighted(weights: Floats, k: int, rng: Generator) -> Ints:
    """Draw k distinct positions one by one, in proportion to the weights of those left.

    Like `rng.choice(len(p), k, replace=False, p=p)`. If fewer than k weights are positive, draw the rest uniformly.

    >>> sorted(choose_weighted(np.array([1.0, 0.0, 5.0]), 2, np.random.default_rng(0)).tolist())
    [0, 2]
    """
    if k > len(weights):
        raise ValueError("choose_weighted cannot take more than there are")
    left = weights.astype(np.float64)
    chosen = np.zeros(k, np.int64)
    for j in range(k):
        if not (left != 0.0).any():
            for position in range(len(left)):
                left[position] = 1.0
            for i in range(j):
                left[chosen[i]] = 0.0
        chosen[j] = choose_one(left, rng)
        left[chosen[j]] = 0.0
    return chosen


def largest(values: Floats, k: int, rng: Generator) -> Ints:
    """Return the positions of the k largest values, ties broken uniformly: in place of `np.argsort(-values)[:k]`.

    NaN comes last, as in NumPy.

    >>> sorted(largest(np.array([0.1, 0.9, 0.5]), 2, np.random.default_rng(0)).tolist())
    [1, 2]
    """
    if k > len(values):
        raise ValueError("largest cannot take more than there are")
    chosen = np.zeros(k, np.int64)
    if k > 0:
        numbers = values.astype(np.float64)
        for position in range(len(numbers)):
            if np.isnan(numbers[position]):
                numbers[position] = -np.inf
        top_k(numbers, chosen, np.zeros(k), rng)
    return chosen


def draw_betas(a: Floats, b: Floats, rng: Generator) -> Floats:
    """Draw from Beta(a[i], b[i]) for every i, like `rng.beta(a, b)`.

    >>> draw_betas(np.ones(2), np.ones(2), np.random.default_rng(0)).shape
    (2,)
    """
    out = np.zeros(len(a))
    for i in range(len(a)):
        if not (0.0 < a[i] < np.inf and 0.0 < b[i] < np.inf):  # a compiled draw might never end
            raise ValueError("the parameters of Beta are finite numbers above 0")
        out[i] = rng.beta(a[i], b[i])
    return out


def draw_gammas(shapes: Floats, scales: Floats, rng: Generator) -> Floats:
    """Draw from Gamma(shapes[i], scales[i]) for every i, like `rng.gamma(shapes, scales)`."""
    out = np.zeros(len(shapes))
    for i in range(len(shapes)):
        if not (0.0 <= shapes[i] < np.inf and 0.0 <= scales[i] < np.inf):
            raise ValueError("the parameters of Gamma are finite numbers from 0 on")
        out[i] = rng.gamma(shapes[i], scales[i])
    return out


def draw_normals(means: Floats, deviations: Floats, rng: Generator) -> Floats:
    """Draw from Normal(means[i], deviations[i]) for every i, like `rng.normal(means, deviations)`."""
    out = np.zeros(len(means))
    for i in range(len(means)):
        out[i] = means[i] + deviations[i] * rng.standard_normal()
    return out


def draw_exponentials(scales: Floats, rng: Generator) -> Floats:
    """Draw from an exponential distribution of mean scales[i] for every i, like `rng.exponential(scales)`."""
    out = np.zeros(len(scales))
    for i in range(len(scales)):
        out[i] = scales[i] * rng.standard_exponential()
    return out


def draw_bernoullis(chances: Floats, rng: Generator) -> Floats:
    """Draw 1.0 with probability chances[i], else 0.0, for every i, like `rng.binomial(1, chances)`."""
    out = np.zeros(len(chances))
    for i in range(len(chances)):
        out[i] = 1.0 if rng.random() < chances[i] else 0.0
    return out
