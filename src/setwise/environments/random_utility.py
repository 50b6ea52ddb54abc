"""Random utility: every arm of the set draws a utility, and the largest is chosen if it beats the outside option's.

    U_a = u_a + e_a,  P(a|s) = P(U_a > U_b for all b in s, and U_a > U_0)

with independent, identically distributed noises e. For noise with distribution function F and density f

    P(a|s) = Int f(x - u_a) F(x - u_0) Prod over b != a of F(x - u_b) dx.

Gaussian noise uses the trapezoidal rule, which converges faster than any power of the step for such integrands; it is
accurate to 1e-9 for sets of up to 1,000 arms. Gumbel noise has a closed form, a multinomial logit. Any other law is
given by its quantile function q. With y the logit of F(x), so that x = q(1 / (1 + e^-y)), the trapezoidal rule applies
again; F is the inverse of the tabulated q by four-point interpolation. That is accurate to 1e-9 for smooth laws, and to
a few 1e-4 for densities with a jump or a kink (uniform, exponential, Laplace).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.ordered import best_by_value, gaps_by_value
from setwise.kernels.draws import draw_binary
from setwise.kernels.normal_grid import CDF, RATIO, STEP, on_grid
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import array, check_list, check_names, check_range, check_sizes

GAUSSIAN, GUMBEL, TABULATED = 0, 1, 2
LAWS = {"gaussian": GAUSSIAN, "gumbel": GUMBEL}
CUT = 30.0
NEAR = 3.0  # standard deviations below the largest utility
LOG_2 = 0.6931471805599453
SMALL_SET = 100  # up to this many arms a step of 1/4 is accurate to 2e-10
LOGIT_REACH = 30.0  # the tails beyond have a probability of 1e-13
INTERVALS = 2000
STRIDE = 8  # every eighth point of the table is a point of the trapezoidal rule


def gaussian_choice(utilities: Floats, chosen: Ints, scale: float, outside: float, out: Floats) -> None:
    """Write P(a|s) for Gaussian noise; x is relative to the largest utility, in standard deviations.

    Sum Prod F(x - u_b) f(x - u_a) / F(x - u_a) over the points x, with the product over all arms and the outside
    option. Large sets average the sums on two grids, which equals the sum on a grid of half the step.
    """
    k = len(chosen)
    largest = utilities[chosen[0]]
    for j in range(k):
        out[j] = 0.0
        largest = max(largest, utilities[chosen[j]])
    top = max(largest, outside)
    low, high = reach(utilities, chosen, scale, outside, largest, top)
    if not low < high:
        return
    size = int((high - low) / STEP) + 1
    buffers = np.empty((2, size))
    product = buffers[0]
    own = buffers[1]
    grids = 1 if k <= SMALL_SET else 2
    for grid in range(grids):
        x = low + grid * STEP / grids
        for i in range(size):
            product[i] = 1.0
        multiply_by(product, own, on_grid(CDF, x + (top - outside) / scale, own))
        for j in range(k):
            multiply_by(product, own, on_grid(CDF, x + (top - utilities[chosen[j]]) / scale, own))
        for j in range(k):
            points = on_grid(RATIO, x + (top - utilities[chosen[j]]) / scale, own)
            out[j] += STEP / grids * dot(product, own, points)


def reach(
    utilities: Floats, chosen: Ints, scale: float, outside: float, largest: float, top: float
) -> tuple[float, float]:
    """Return the limits of the integrals for Gaussian noise; the part cut off has probability e^-CUT, 1e-13.

    As log F is concave, the product of F(x - u_b) over c of the utilities is at most F(x - m)^c, with m their mean, and
    F(-z) is at most e^(-z^2 / 2) / 2. This is applied to the largest utility, and to all that are near it.
    """
    near = 0
    depth = 0.0
    for j in range(len(chosen) + 1):
        utility = utilities[chosen[j]] if j < len(chosen) else outside
        if (top - utility) / scale < NEAR:
            near += 1
            depth += (top - utility) / scale
    low = -depth / near - math.sqrt(max(0.0, 2.0 * (CUT / near - LOG_2)))
    high = math.sqrt(2.0 * (CUT + math.log(len(chosen)))) - (top - largest) / scale
    return max(low, -math.sqrt(2.0 * CUT)), high


def multiply_by(product: Floats, factors: Floats, size: int) -> None:
    """Multiply the first `size` numbers by the factors, in place."""
    for i in range(size):
        product[i] *= factors[i]


def dot(first: Floats, second: Floats, size: int) -> float:
    """Return the dot product of the first `size` numbers; four independent sums hide the latency."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    for i in range(0, size - 3, 4):
        a += first[i] * second[i]
        b += first[i + 1] * second[i + 1]
        c += first[i + 2] * second[i + 2]
        d += first[i + 3] * second[i + 3]
    for i in range(size - size % 4, size):
        a += first[i] * second[i]
    return (a + b) + (c + d)


def gumbel_choice(utilities: Floats, chosen: Ints, scale: float, outside: float, out: Floats) -> None:
    """Write P(a|s) for Gumbel noise: a multinomial logit with weights e^(u / scale)."""
    largest = outside
    for j in range(len(chosen)):
        largest = max(largest, utilities[chosen[j]])
    total = math.exp((outside - largest) / scale)
    for j in range(len(chosen)):
        out[j] = math.exp((utilities[chosen[j]] - largest) / scale)
        total += out[j]
    for j in range(len(chosen)):
        out[j] /= total


def interpolate_cubic(
    x: float, a: float, b: float, c: float, d: float, fa: float, fb: float, fc: float, fd: float
) -> float:
    """Return the value at x of the cubic through (a, fa), (b, fb), (c, fc), (d, fd)."""
    return (
        fa * (x - b) * (x - c) * (x - d) / ((a - b) * (a - c) * (a - d))
        + fb * (x - a) * (x - c) * (x - d) / ((b - a) * (b - c) * (b - d))
        + fc * (x - a) * (x - b) * (x - d) / ((c - a) * (c - b) * (c - d))
        + fd * (x - a) * (x - b) * (x - c) / ((d - a) * (d - b) * (d - c))
    )


def node(i: int) -> float:
    """Return the i-th point of the logit scale."""
    return LOGIT_REACH * (2.0 * i / INTERVALS - 1.0)


def tabulated_cdf(quantiles: Floats, x: float) -> float:
    """Return F(x) from the table of quantiles."""
    if x <= quantiles[0]:
        return 0.0
    if x >= quantiles[INTERVALS]:
        return 1.0
    low = 0
    high = INTERVALS
    while high - low > 1:
        middle = (low + high) // 2
        if quantiles[middle] <= x:
            low = middle
        else:
            high = middle
    i = min(max(low - 1, 0), INTERVALS - 3)
    y = interpolate_cubic(
        x, quantiles[i], quantiles[i + 1], quantiles[i + 2], quantiles[i + 3],
        node(i), node(i + 1), node(i + 2), node(i + 3),
    )  # fmt: skip
    return 1.0 / (1.0 + math.exp(-y))


def tabulated_quantile(quantiles: Floats, u: float) -> float:
    """Return q(u) from the table of quantiles."""
    if u <= 0.0:
        return float(quantiles[0])
    y = math.log(u / (1.0 - u))
    i = min(max(int((y + LOGIT_REACH) / (2.0 * LOGIT_REACH) * INTERVALS) - 1, 0), INTERVALS - 3)
    return interpolate_cubic(
        y, node(i), node(i + 1), node(i + 2), node(i + 3),
        quantiles[i], quantiles[i + 1], quantiles[i + 2], quantiles[i + 3],
    )  # fmt: skip


def tabulated_choice(
    quantiles: Floats, utilities: Floats, chosen: Ints, scale: float, outside: float, out: Floats
) -> None:
    """Write P(a|s) for noise given by its quantiles."""
    k = len(chosen)
    step = 2.0 * LOGIT_REACH / INTERVALS * STRIDE
    for j in range(k):
        own = utilities[chosen[j]] / scale
        total = 0.0
        for i in range(0, INTERVALS + 1, STRIDE):
            u = 1.0 / (1.0 + math.exp(-node(i)))
            product = step * u * (1.0 - u) * tabulated_cdf(quantiles, quantiles[i] + own - outside / scale)
            for b in range(k):
                if b != j:
                    product *= tabulated_cdf(quantiles, quantiles[i] + own - utilities[chosen[b]] / scale)
            total += product
        out[j] = total


def tabulate(quantile: Any) -> Floats:
    """Return the quantiles at the points of the logit scale."""
    levels = [1.0 / (1.0 + math.exp(-node(i))) for i in range(INTERVALS + 1)]
    table: Floats = array("RandomUtility: noise", [float(quantile(u)) for u in levels])
    if not (np.isfinite(table).all() and (np.diff(table) > 0.0).all()):
        raise InputError("RandomUtility: noise is not a strictly increasing quantile function, finite on (0, 1)")
    return table


PROOF = (
    "with equal noises the best set has the k largest utilities; sorted, the rivals of an arm in another set are no "
    "better one by one, and its probability falls in the utility of each rival"
)


@environment(
    title="Random utility",
    derived=("law", "quantiles"),
    rewards="binary",
    smaller_sets=True,
    accuracy=1e-9,
    weak_consistency="always",
    total_order="always",
    proof=PROOF,
)
class RandomUtility(NamedTuple):
    """Random utility with independent, identically distributed noises.

    utilities: u_a of every arm
    k: the size of a set
    noise: "gaussian", "gumbel", or the quantile function of any other continuous law
    outside: u_0; the outside option has the same noise
    scale: factor of the noise
    feedback: `choice`, the largest utility is rewarded; or `independent`, each arm independently, with the same
        probability
    names: of the arms, optional
    """

    utilities: Floats
    k: int
    noise: Any = "gaussian"
    outside: float = 0.0
    scale: float = 1.0
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None
    law: int = 0
    quantiles: Any = None

    def check(self) -> dict[str, Any]:
        check_list("RandomUtility: utilities", self.utilities)
        check_sizes(len(self.utilities), self.k)
        largest = np.finfo(np.float64).max
        check_range("RandomUtility: utilities", self.utilities, -largest, largest)
        check_range("RandomUtility: outside", self.outside, -largest, largest)
        check_range("RandomUtility: scale", self.scale, 0.0, largest, strict=True)
        if not callable(self.noise) and self.noise not in tuple(LAWS):
            raise InputError(
                f"RandomUtility: noise is {self.noise!r}; it can be 'gaussian', 'gumbel' or a quantile function"
            )
        tabulated = callable(self.noise)
        return {
            "law": TABULATED if tabulated else LAWS[self.noise],
            "quantiles": tabulate(self.noise) if tabulated else array("quantiles", np.zeros(0)),
            "names": check_names(self.names, len(self.utilities)),
        }

    @property
    def n(self) -> int:
        return len(self.utilities)

    @property
    def merits(self) -> Floats:
        """The values that order the arms: see `proof`."""
        return self.utilities

    def means(self, chosen: Ints, out: Floats) -> None:
        if self.law == GAUSSIAN:
            gaussian_choice(self.utilities, chosen, self.scale, self.outside, out)
        elif self.law == GUMBEL:
            gumbel_choice(self.utilities, chosen, self.scale, self.outside, out)
        else:
            tabulated_choice(self.quantiles, self.utilities, chosen, self.scale, self.outside, out)

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        if self.feedback == Feedback.independent:
            self.means(chosen, rewards)
            draw_binary(self.feedback, rewards, rng, rewards)
            return
        winner = -1
        best = self.outside + self.scale * draw_noise(self.law, self.quantiles, rng)
        for j in range(len(chosen)):
            rewards[j] = 0.0
            utility = self.utilities[chosen[j]] + self.scale * draw_noise(self.law, self.quantiles, rng)
            if utility > best:
                best = utility
                winner = j
        if winner >= 0:
            rewards[winner] = 1.0

    def best(self) -> Ints:
        return best_by_value(self.utilities, self.k)

    def surrogate(self, chosen: Ints) -> float:
        """Return the sum of the utilities, by which the paper's panel on random utility measures regret."""
        total = 0.0
        for j in range(len(chosen)):
            total += self.utilities[chosen[j]]
        return total

    def gaps(self) -> tuple[float, float]:
        return gaps_by_value(self, self.utilities)


def draw_noise(law: int, quantiles: Floats, rng: Generator) -> float:
    """Draw one noise."""
    if law == GAUSSIAN:
        return rng.standard_normal()
    if law == GUMBEL:
        return -math.log(rng.standard_exponential())
    return tabulated_quantile(quantiles, rng.random())
