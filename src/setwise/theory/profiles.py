"""Search for the profile P*_1 >= ... >= P*_k of the optimal set on which a lemma is tightest.

The lemmas are invariant under shifting the P*_i, and under scaling them and epsilon by a common factor. So the search
goes over the drops P*_i - P*_(i+1) and epsilon. Reported profiles are scaled to sum to 1, with P*_k = epsilon: the
least gap is at most P*_k, as by weak optimal set consistency the other arms keep at least their means without a_k.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np

from setwise.types import Floats, Generator, InputError

MOST_ARMS = 12  # searches cover k = 2 to this
ROUNDING = 1e-9


@dataclasses.dataclass(frozen=True)
class Extreme:
    """The largest value found over many profiles of P*, and the paper's limit on it.

    profile, epsilon: where it is attained
    looked_at: number of profiles tried
    """

    value: float
    limit: float
    profile: tuple[float, ...]
    epsilon: float
    looked_at: int

    @property
    def holds(self) -> bool:
        """Whether the value is within the limit, up to rounding."""
        return self.value <= self.limit * (1.0 + ROUNDING)


def gaps_of(profile: Sequence[float]) -> tuple[Floats, Floats]:
    """Return delta_ij for i <= j (zero elsewhere), and Delta_l = sum over i >= l of delta_li."""
    values = np.asarray(profile, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (np.diff(values) > 0.0).any():
        raise InputError(f"the profile is {profile!r}; give P(a|s*) as a list that does not rise")
    delta, wide = gaps_of_all(values[None])
    return delta[0], wide[0]


def gaps_of_all(profiles: Floats) -> tuple[Floats, Floats]:
    """Return the same for many profiles, one per row."""
    delta = np.triu(profiles[:, :, None] - profiles[:, None, :])
    return delta, delta.sum(axis=2)


def harmonic_drops(k: int) -> Floats:
    """Return the drops of the profile delta_1j = 1 / (k - j + 1/2), j > 1, on which the lemma on sigma is tightest."""
    levels = np.concatenate([[0.0], [1.0 / (k - j + 0.5) for j in range(2, k + 1)]])
    return np.diff(levels)


def _shapes(k: int, rng: Generator) -> Floats:
    """Return drops and epsilon, one profile per row: two levels, near-ties, linear, geometric, harmonic and random."""
    levels = np.eye(k - 1)
    geometric = np.array([float(ratio) ** np.arange(k - 1) for ratio in (0.03, 0.1, 0.3, 0.6, 2, 4, 10, 30)])
    scattered = 10.0 ** rng.uniform(-6.0, 0.0, (120, k - 1))
    drops = np.concatenate([
        levels, levels + 1e-6, np.ones((1, k - 1)), geometric, harmonic_drops(k)[None], scattered,
        scattered * (rng.random(scattered.shape) < 0.5), rng.standard_exponential((60, k - 1)),
    ])  # fmt: skip
    drops = drops[drops.sum(axis=1) > 0.0]
    first = drops @ np.arange(k - 1, 0, -1)  # Delta_1: the drop after a_i counts for the k - i arms behind it
    harmonic = sum(1.0 / (m + 0.5) for m in range(k - 1))
    parts = np.array([0.0, 2.0 / harmonic, *(10.0**power for power in range(-6, 3))])
    return np.concatenate([np.column_stack([drops, part * first]) for part in parts])


def _profiles(shapes: Floats) -> tuple[Floats, Floats]:
    """Return P*_i - P*_k and epsilon."""
    tails = np.cumsum(shapes[:, -2::-1], axis=1)[:, ::-1]
    return np.concatenate([tails, np.zeros((len(shapes), 1))], axis=1), shapes[:, -1]


def world_of(shape: Floats) -> tuple[tuple[float, ...], float]:
    """Return the profile with P*_k = epsilon, scaled to sum to 1, and epsilon."""
    profiles, epsilons = _profiles(shape[None])
    raised = profiles[0] + epsilons[0]
    total = float(raised.sum())
    return tuple((raised / total).tolist()), float(epsilons[0]) / total


def search(
    objective: Callable[[Floats, Floats], Floats], limit: float, most: int, seed: int, climb: int = 120
) -> Extreme:
    """Maximise over the starting shapes for k = 2, ..., most, then improve the best by random hill climbing."""
    top, best, looked_at = -math.inf, np.zeros(2), 0
    for k in range(2, most + 1):
        rng = np.random.default_rng([seed, k])
        shapes = _shapes(k, rng)
        values = objective(*_profiles(shapes))
        looked_at += len(shapes)
        leaders = np.argsort(-values, kind="stable")[:24]
        shapes, values = shapes[leaders], values[leaders]
        for _ in range(climb):
            width = 10.0 ** rng.uniform(-3.0, 0.0, (len(shapes), 1))
            steps = np.exp(width * rng.standard_normal(shapes.shape) * (rng.random(shapes.shape) < 0.5))
            others = objective(*_profiles(shapes * steps))
            better = others > values
            shapes[better], values[better] = (shapes * steps)[better], others[better]
            looked_at += len(shapes)
        # Require a gain beyond rounding from a larger k, so that the smallest example is reported.
        if values.max() > top * (1.0 + 1e-12):
            top, best = float(values.max()), shapes[values.argmax()]
    profile, epsilon = world_of(best)
    return Extreme(top, limit, profile, epsilon, looked_at)
