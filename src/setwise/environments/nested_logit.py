"""Nested logit: the customer chooses first a nest, then an arm of it.

    I_g = sum of v_b^(1 / lambda_g) over the offered arms b of nest g
    P(a|s) = I_g^lambda_g / (v_0 + sum of I_h^lambda_h over all nests h) * v_a^(1 / lambda_g) / I_g

for an arm a of nest g. The smaller the dissimilarity lambda_g, the better the arms of the nest substitute each other;
lambda = 1 everywhere is a multinomial logit. Weights are divided by the largest of their nest before taking powers, to
avoid overflow.

McFadden 1978, "Modelling the Choice of Residential Location".
"""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.best_set import check_best_set, pick
from setwise.environments.enumeration import best_by_enumeration, gaps_by_enumeration
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import check_list, check_names, check_range, check_sizes

LOWEST = -745.0  # e^x is 0 below


def nests_and_arms(
    values: Floats,
    nests: Ints,
    dissimilarities: Floats,
    outside: float,
    chosen: Ints,
    of_nests: Floats,
    within: Floats,
) -> None:
    """Write the probability of every nest, and of every chosen arm given its nest."""
    k = len(chosen)
    tops = np.zeros(len(dissimilarities))
    sums = np.zeros(len(dissimilarities))
    largest = outside
    for j in range(k):
        g = nests[chosen[j]]
        tops[g] = max(tops[g], values[chosen[j]])
        largest = max(largest, values[chosen[j]])
    for j in range(k):
        g = nests[chosen[j]]
        within[j] = 0.0
        if values[chosen[j]] > 0.0:
            share = values[chosen[j]] / tops[g]
            if share > 0.0 and math.log(share) > LOWEST * dissimilarities[g]:
                within[j] = math.exp(math.log(share) / dissimilarities[g])
            sums[g] += within[j]
    total = outside / largest
    for g in range(len(tops)):
        of_nests[g] = 0.0
        if tops[g] > 0.0:
            of_nests[g] = tops[g] / largest * math.exp(dissimilarities[g] * math.log(sums[g]))
            total += of_nests[g]
    for g in range(len(tops)):
        of_nests[g] /= total
    for j in range(k):
        if within[j] > 0.0:
            within[j] /= sums[nests[chosen[j]]]


@environment(
    title="Nested logit",
    rewards="binary",
    smaller_sets=True,
)
class NestedLogit(NamedTuple):
    """Nested logit.

    values: the weight of every arm, 0 or more
    nests: the nest of every arm, numbered from 0
    dissimilarities: lambda of every nest, more than 0 and at most 1
    k: the size of a set
    outside: the weight of the outside option, more than 0; it is in no nest
    feedback: `choice`, at most one arm is rewarded; or `independent`, each independently, with the same probability
    names: of the arms, optional
    best_set: the optimal set; found by enumeration if not given

    >>> world = NestedLogit([1.0, 0.99, 0.5], [0, 0, 1], [0.05, 1.0], k=2)
    >>> world.best().tolist()
    [0, 2]
    """

    values: Floats
    nests: Ints
    dissimilarities: Floats
    k: int
    outside: float = 1.0
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None
    best_set: Any = None

    def check(self) -> dict[str, Any]:
        check_list("NestedLogit: values", self.values)
        n, k = check_sizes(len(self.values), self.k)
        check_range("NestedLogit: values", self.values, 0.0, np.finfo(np.float64).max)
        check_range("NestedLogit: outside", self.outside, 0.0, np.finfo(np.float64).max, strict=True)
        if self.dissimilarities.ndim != 1 or len(self.dissimilarities) == 0:
            raise InputError(
                f"NestedLogit: dissimilarities has the shape {self.dissimilarities.shape}; "
                "give a list with a number for each nest"
            )
        check_range("NestedLogit: dissimilarities", self.dissimilarities, 0.0, 1.0, strict=True)
        if self.nests.shape != (n,):
            raise InputError(
                f"NestedLogit: nests has the shape {self.nests.shape} for {n} arms; "
                "give a list with the number of a nest for each arm"
            )
        check_range("NestedLogit: nests", self.nests, 0, len(self.dissimilarities) - 1)
        return {
            "names": check_names(self.names, n),
            "best_set": check_best_set("NestedLogit: best_set", self.best_set, n, k),
        }

    @property
    def n(self) -> int:
        return len(self.values)

    def means(self, chosen: Ints, out: Floats) -> None:
        of_nests = np.empty(len(self.dissimilarities))
        nests_and_arms(self.values, self.nests, self.dissimilarities, self.outside, chosen, of_nests, out)
        for j in range(len(chosen)):
            out[j] *= of_nests[self.nests[chosen[j]]]

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        of_nests = np.empty(len(self.dissimilarities))
        nests_and_arms(self.values, self.nests, self.dissimilarities, self.outside, chosen, of_nests, rewards)
        if self.feedback == Feedback.choice:
            nest = pick(of_nests, rng.random())
            for j in range(len(chosen)):
                if self.nests[chosen[j]] != nest:
                    rewards[j] = 0.0
        else:
            for j in range(len(chosen)):
                rewards[j] *= of_nests[self.nests[chosen[j]]]
        draw_binary(self.feedback, rewards, rng, rewards)

    def best(self) -> Ints:
        return best_by_enumeration(self) if self.best_set is None else np.array(self.best_set)

    def gaps(self) -> tuple[float, float]:
        return gaps_by_enumeration(self)
