"""Mixed logit: customers of several classes, each with its own multinomial logit.

    P(a|s) = sum over the classes c of w_c v_ca / (v_0 + sum of v_cb over b in s)

where w_c is the share of class c among the customers, and v_0 the weight of the outside option, the same for all
classes.

McFadden, Train 2000, "Mixed MNL models for discrete response".
"""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.best_set import check_best_set, pick
from setwise.environments.enumeration import best_by_enumeration, gaps_by_enumeration
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import array, check_names, check_range, check_sizes


def logit_choice(values: Floats, outside: float, chosen: Ints, out: Floats) -> None:
    """Write P(a|s) of one class; the weights are divided by the largest, so that their sum cannot overflow."""
    largest = outside
    for j in range(len(chosen)):
        largest = max(largest, values[chosen[j]])
    total = outside / largest
    for j in range(len(chosen)):
        out[j] = values[chosen[j]] / largest
        total += out[j]
    for j in range(len(chosen)):
        out[j] /= total


@environment(
    title="Mixed logit",
    rewards="binary",
    smaller_sets=True,
)
class MixedLogit(NamedTuple):
    """Mixed logit.

    weights: the share of every class; they add up to 1
    values: a row for every class with the weight of every arm, 0 or more
    k: the size of a set
    outside: the weight of the outside option, more than 0
    feedback: `choice`, at most one arm is rewarded; or `independent`, each independently, with the same probability
    names: of the arms, optional
    best_set: the optimal set; found by enumeration if not given

    >>> world = MixedLogit([0.5, 0.5], [[20, 19, 0.01], [0.01, 0.01, 1]], k=2)
    >>> world.best().tolist()
    [0, 2]
    """

    weights: Floats
    values: Floats
    k: int
    outside: float = 1.0
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None
    best_set: Any = None

    def check(self) -> dict[str, Any]:
        if self.weights.ndim != 1:
            raise InputError(
                f"MixedLogit: weights has {self.weights.ndim} dimensions; give a list with a number for each class"
            )
        check_range("MixedLogit: weights", self.weights, 0.0, 1.0 + 1e-9)
        total = math.fsum(self.weights)
        if abs(total - 1.0) > 1e-9:
            raise InputError(f"MixedLogit: weights adds up to {total:.10g}; the shares of the classes have to make 1")
        if self.values.ndim != 2 or len(self.values) != len(self.weights):
            raise InputError(
                f"MixedLogit: values has the shape {self.values.shape} for {len(self.weights)} classes; "
                "give a row for each class with a number for each arm"
            )
        n, k = check_sizes(self.values.shape[1], self.k)
        check_range("MixedLogit: values", self.values, 0.0, np.finfo(np.float64).max)
        check_range("MixedLogit: outside", self.outside, 0.0, np.finfo(np.float64).max, strict=True)
        exact = self.weights if abs(total - 1.0) < 1e-15 else self.weights / total
        return {
            "weights": array("MixedLogit: weights", exact),
            "names": check_names(self.names, n),
            "best_set": check_best_set("MixedLogit: best_set", self.best_set, n, k),
        }

    @property
    def n(self) -> int:
        return int(self.values.shape[1])

    def means(self, chosen: Ints, out: Floats) -> None:
        own = np.empty(len(chosen))
        for j in range(len(chosen)):
            out[j] = 0.0
        for c in range(len(self.weights)):
            logit_choice(self.values[c], self.outside, chosen, own)
            for j in range(len(chosen)):
                out[j] += self.weights[c] * own[j]

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        if self.feedback == Feedback.independent:
            self.means(chosen, rewards)
        else:
            # The weights add up to 1 only up to rounding; past the last class, take the last.
            c = min(pick(self.weights, rng.random()), len(self.weights) - 1)
            logit_choice(self.values[c], self.outside, chosen, rewards)
        draw_binary(self.feedback, rewards, rng, rewards)

    def best(self) -> Ints:
        return best_by_enumeration(self) if self.best_set is None else np.array(self.best_set)

    def gaps(self) -> tuple[float, float]:
        return gaps_by_enumeration(self)
