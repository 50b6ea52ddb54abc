"""The paper's random worlds: uniform among those that satisfy weak optimal set consistency.

The optimal set is s* = {0, ..., k-1} with P(a|s*) uniform on (0, 1/k). For every other set s, P(a|s) is uniform on
(P(a|s*), 1/k) for the arms of s* and on (0, 1/k) for the others, given that their sum is at most that of s*.

The paper uses rejection (its Algorithm 2), whose expected time is infinite: for a set that differs from s* in one arm,
the acceptance probability is of the order of the k-th power of a number uniform on (0, 1). Here the same law is drawn
from a proposal hardly larger than its target, see `uniform_in_corner`.

Yang, Ren, Dhillon, Sanghavi 2021, Appendix (Random Weak Optimal Set Consistency).
"""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.table import gaps_of_rows, table_means
from setwise.kernels.draws import draw_binary
from setwise.kernels.sets import binomial_table
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import check_names, check_range, check_sizes


def uniform_in_corner(widths: Floats, most: float, rng: Generator) -> Floats:
    """Draw a point uniformly in the box of the given widths, given that its coordinates add up to at most `most`.

    Rejection from a product that contains the target: the b narrowest coordinates uniform in their intervals, the
    others uniform in the simplex of sum at most `most`, for the b of least volume. The acceptance rate is the ratio of
    the volumes; the least observed is 0.2 for ten coordinates.
    """
    d = len(widths)
    if most <= 0.0:
        return np.zeros(d)
    if most >= widths.sum():
        return rng.random(d) * widths
    order = np.argsort(widths, kind="stable")
    narrow = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(widths[order], 1e-300)))])
    volumes = [narrow[b] + (d - b) * math.log(most) - math.lgamma(d - b + 1) for b in range(d + 1)]
    b = int(np.argmin(volumes))
    point = np.empty(d)
    while True:
        point[order[:b]] = rng.random(b) * widths[order[:b]]
        if b < d:
            parts = rng.standard_exponential(d - b + 1)
            point[order[b:]] = most * parts[:-1] / parts.sum()
        if (point <= widths).all() and point.sum() <= most:
            return point


@environment(
    title="Random weak consistency",
    derived=("probabilities", "choose"),
    rewards="binary",
    weak_consistency="always",
    proof="the world is drawn so that P(a|s) is at least P(a|s*)",
)
class RandomWeak(NamedTuple):
    """A random world that satisfies weak optimal set consistency.

    n, k: the number of arms, and the size of a set
    seed: of the world; equal seeds give equal worlds
    margin: every other set is worse than the optimal one by at least this; 0 in the paper
    feedback: `choice`, at most one arm is rewarded; or `independent`, each independently
    names: of the arms, optional
    """

    n: int = 10
    k: int = 5
    seed: int = 0
    margin: float = 0.0
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None
    probabilities: Any = None
    choose: Any = None

    def check(self) -> dict[str, Any]:
        n, k = check_sizes(self.n, self.k)
        if self.seed < 0:
            raise InputError(f"RandomWeak: seed is {self.seed}; it has to be 0 or more")
        check_range("RandomWeak: margin", self.margin, 0.0, 1.0)
        if self.margin >= 1.0 / k:
            raise InputError(f"RandomWeak: margin is {self.margin:g}; with k={k} it has to be less than {1 / k:g}")
        if math.comb(n, k) > 10**7:
            raise InputError(
                f"RandomWeak: {k} of {n} arms make {math.comb(n, k)} sets, too many for a table; at most 10^7"
            )
        rows = _draw_rows(n, k, self.margin, np.random.default_rng(self.seed))
        return {"probabilities": rows, "choose": binomial_table(n, k), "names": check_names(self.names, n)}

    def means(self, chosen: Ints, out: Floats) -> None:
        table_means(self.choose, self.probabilities, chosen, out)

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        table_means(self.choose, self.probabilities, chosen, rewards)
        draw_binary(self.feedback, rewards, rng, rewards)

    def best(self) -> Ints:
        return np.arange(self.k)

    def gaps(self) -> tuple[float, float]:
        return gaps_of_rows(self.probabilities.sum(axis=1))


def _draw_rows(n: int, k: int, margin: float, rng: Generator) -> Floats:
    """Draw P(a|s) for every set; P(a|s*) exceeds the margin, so that a set with one arm replaced is possible."""
    optimal = margin + rng.random(k) * (1.0 / k - margin)
    rows = np.empty((math.comb(n, k), k))
    for row, arms in enumerate(itertools.combinations(range(n), k)):
        if row == 0:
            rows[row] = optimal
            continue
        lower = np.array([optimal[arm] if arm < k else 0.0 for arm in arms])
        missing = [optimal[arm] for arm in range(k) if arm not in arms]
        rows[row] = lower + uniform_in_corner(1.0 / k - lower, math.fsum(missing) - margin, rng)
    rows.setflags(write=False)
    return rows
