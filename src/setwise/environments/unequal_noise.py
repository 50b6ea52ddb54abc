"""Random utility with unequal noise: the utility of every arm is Gaussian with its own standard deviation.

    U_a = u_a + sigma_a Z_a,  P(a|s) = P(U_a > U_b for all b in s, and U_a > U_0)
           = Int f_a(x) F_0(x) Prod over b != a of F_b(x) dx

where f and F are the density and distribution function of the normal law with the arm's mean and standard deviation.

`REACH` standard deviations above its mean F is 1, and as far below the integrand is 0. So the integral starts where
the last of the normal laws begins, and from there on laws can only end. Each panel is one standard deviation of the
narrowest law that has not ended. Gauss-Legendre quadrature with eight nodes per panel is accurate to 1e-9 for sets of
100 arms, whatever their standard deviations, and to 1e-11 for sets of 10.

Thurstone 1927, "A law of comparative judgment".
"""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.best_set import check_best_set
from setwise.environments.enumeration import best_by_enumeration, gaps_by_enumeration
from setwise.kernels.draws import draw_binary
from setwise.kernels.normal_grid import normal_cdf
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import check_list, check_names, check_range, check_sizes

LARGEST = 1e100  # of utilities and scales; their quotients and squares do not overflow
REACH = 7.0  # standard deviations; the tail beyond has a probability of 1e-12
NODES = (
    0.019855071751231856,
    0.10166676129318664,
    0.2372337950418355,
    0.4082826787521751,
    0.5917173212478249,
    0.7627662049581645,
    0.8983332387068134,
    0.9801449282487681,
)  # Gauss-Legendre nodes on [0, 1]
SHARES = (
    0.05061426814518813,
    0.11119051722668724,
    0.15685332293894363,
    0.18134189168918100,
    0.18134189168918100,
    0.15685332293894363,
    0.11119051722668724,
    0.05061426814518813,
)


def unequal_choice(
    utilities: Floats, scales: Floats, outside: float, outside_scale: float, chosen: Ints, out: Floats
) -> None:
    """Write P(a|s), by quadrature."""
    k = len(chosen)
    means = np.empty(k + 1)
    widths = np.empty(k + 1)
    means[k] = outside
    widths[k] = outside_scale
    last = k
    for j in range(k):
        out[j] = 0.0
        means[j] = utilities[chosen[j]]
        widths[j] = scales[chosen[j]]
        if means[j] - means[last] > REACH * (widths[j] - widths[last]):
            last = j
    # From here on, x and the means are relative to where the last law begins. Each law ends within twice its reach;
    # enforcing that despite rounding keeps the number of panels small.
    origin = means[last]
    ends = np.empty(k + 1)
    high = 0.0
    for j in range(k + 1):
        means[j] = means[j] - origin + REACH * widths[last]
        ends[j] = min(means[j] + REACH * widths[j], 2.0 * REACH * widths[j])
        if j < k:
            high = max(high, ends[j])
    below = np.empty(k + 1)
    x = 0.0
    while x < high:
        width = np.inf
        end = x
        for j in range(k + 1):
            if ends[j] > x and (widths[j] < width or (widths[j] == width and ends[j] > end)):
                width = widths[j]
                end = ends[j]
        stop = min(x + width, end, high)
        for i in range(len(NODES)):
            at = x + NODES[i] * (stop - x)
            product = (stop - x) * SHARES[i]
            for j in range(k + 1):
                below[j] = 1.0
                if at < ends[j]:
                    below[j] = normal_cdf((at - means[j]) / widths[j])
                product *= below[j]
            for j in range(k):
                if at < ends[j] and below[j] > 0.0:
                    z = (at - means[j]) / widths[j]
                    out[j] += 0.3989422804014327 * math.exp(-0.5 * z * z) / widths[j] * (product / below[j])
        x = stop


@environment(
    title="Random utility with unequal noise",
    rewards="binary",
    smaller_sets=True,
    accuracy=1e-9,
)
class UnequalNoise(NamedTuple):
    """Random utility with Gaussian noises of unequal size.

    utilities: u_a of every arm
    scales: the standard deviation of every arm, more than 0
    k: the size of a set
    outside: u_0
    outside_scale: the standard deviation of the outside option, more than 0
    feedback: `choice`, the largest utility is rewarded; or `independent`, each arm independently, with the same
        probability
    names: of the arms, optional
    best_set: the optimal set; found by enumeration if not given

    With equal noise the best set has the k largest utilities, and its arms earn no more in it than in any other set
    (the paper's Assumption 1). With unequal noise they may: here arm 0 earns 0.67 in the best set, but 0.45
    next to arm 2, whose utility is mostly noise: it wins nearly half of the time, without making a good set.

    >>> world = UnequalNoise([1.0, 0.5, 0.0], [1.0, 0.2, 10.0], k=2, outside_scale=0.5)
    >>> means = np.zeros(2)
    >>> for chosen in (world.best(), np.array([0, 2])):
    ...     world.means(chosen, means)
    ...     print(chosen.tolist(), means.round(4).tolist())
    [0, 1] [0.6696, 0.2634]
    [0, 2] [0.449, 0.4559]
    """

    utilities: Floats
    scales: Floats
    k: int
    outside: float = 0.0
    outside_scale: float = 1.0
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None
    best_set: Any = None

    def check(self) -> dict[str, Any]:
        check_list("UnequalNoise: utilities", self.utilities)
        n, k = check_sizes(len(self.utilities), self.k)
        if self.scales.shape != (n,):
            raise InputError(
                f"UnequalNoise: scales has the shape {self.scales.shape} for {n} arms; "
                "give a list with a number for each arm"
            )
        check_range("UnequalNoise: utilities", self.utilities, -LARGEST, LARGEST)
        check_range("UnequalNoise: outside", self.outside, -LARGEST, LARGEST)
        check_range("UnequalNoise: scales", self.scales, 1.0 / LARGEST, LARGEST)
        check_range("UnequalNoise: outside_scale", self.outside_scale, 1.0 / LARGEST, LARGEST)
        return {
            "names": check_names(self.names, n),
            "best_set": check_best_set("UnequalNoise: best_set", self.best_set, n, k),
        }

    @property
    def n(self) -> int:
        return len(self.utilities)

    def means(self, chosen: Ints, out: Floats) -> None:
        unequal_choice(self.utilities, self.scales, self.outside, self.outside_scale, chosen, out)

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        if self.feedback == Feedback.independent:
            self.means(chosen, rewards)
            draw_binary(self.feedback, rewards, rng, rewards)
            return
        winner = -1
        best = self.outside + self.outside_scale * rng.standard_normal()
        for j in range(len(chosen)):
            rewards[j] = 0.0
            utility = self.utilities[chosen[j]] + self.scales[chosen[j]] * rng.standard_normal()
            if utility > best:
                best = utility
                winner = j
        if winner >= 0:
            rewards[winner] = 1.0

    def best(self) -> Ints:
        return best_by_enumeration(self) if self.best_set is None else np.array(self.best_set)

    def gaps(self) -> tuple[float, float]:
        return gaps_by_enumeration(self)
