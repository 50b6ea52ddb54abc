"""Multinomial logit: an arm is chosen in proportion to its weight.

    P(a|s) = v_a / (v_0 + sum of v_b over b in s)

where v_0 is the weight of the outside option, choosing nothing. The paper's appendix gives the weights themselves with
v_0 = 1; its main text gives utilities u and u_0, that is weights e^u and e^u_0: see `MNL.from_utilities`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.ordered import best_by_value, gaps_by_value
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, Ints
from setwise.validation import array, check_list, check_names, check_range, check_sizes, number

LARGEST_UTILITY = 600.0  # sums of e^u do not overflow
LARGEST_WEIGHT = 1e300  # nor do sums of such weights


PROOF = (
    "the best set has the k largest weights, so v_0 + the sum of the weights is never more in another set, and "
    "v_a over that sum never less; in any set the larger weight has the larger probability"
)


@environment(
    title="Multinomial logit",
    rewards="binary",
    smaller_sets=True,
    weak_consistency="always",
    total_order="always",
    proof=PROOF,
)
class MNL(NamedTuple):
    """Multinomial logit.

    values: the weight of every arm, 0 or more
    k: the size of a set
    outside: the weight of the outside option, more than 0
    feedback: `choice`, at most one arm is rewarded; or `independent`, each independently, with the same probability
    names: of the arms, optional
    """

    values: Floats
    k: int
    outside: float = 1.0
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None

    def check(self) -> dict[str, Any]:
        check_list("MNL: values", self.values)
        check_sizes(len(self.values), self.k)
        check_range("MNL: values", self.values, 0.0, LARGEST_WEIGHT)
        check_range("MNL: outside", self.outside, 0.0, LARGEST_WEIGHT, strict=True)
        return {"names": check_names(self.names, len(self.values))}

    @classmethod
    def from_utilities(cls, utilities: Any, k: int, outside: float = 0.0, **options: Any) -> "MNL":
        """Return the world with weights e^u, and e^u_0 for the outside option.

        >>> MNL.from_utilities([0.0, math.log(3.0)], k=1).values.tolist()
        [1.0, 3.0000000000000004]
        """
        given, outside = array("MNL: utilities", utilities), number("MNL: outside", outside)
        check_range("MNL: utilities", given, -LARGEST_UTILITY, LARGEST_UTILITY)
        check_range("MNL: outside", outside, -LARGEST_UTILITY, LARGEST_UTILITY)
        return cls(np.exp(given), k, math.exp(outside), **options)

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def merits(self) -> Floats:
        """The values that order the arms: see `proof`."""
        return self.values

    def means(self, chosen: Ints, out: Floats) -> None:
        total = self.outside
        for j in range(len(chosen)):
            total += self.values[chosen[j]]
        share = 1.0 / total  # one division in place of k
        for j in range(len(chosen)):
            out[j] = self.values[chosen[j]] * share

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)
        draw_binary(self.feedback, rewards, rng, rewards)

    def best(self) -> Ints:
        return best_by_value(self.values, self.k)

    def gaps(self) -> tuple[float, float]:
        return gaps_by_value(self, self.values)
