"""Position-based clicks: an arm is clicked if its position is looked at and the arm attracts.

    P(a_l|s) = w(a_l) e_l

for a set in the order a_1, ..., a_k, where w is the attraction of an arm and e_l the probability that a visitor looks
at position l. Clicks are independent. The best set has the k most attractive arms, the most attractive one in the
position that is looked at most, and so on (rearrangement inequality).

Craswell, Zoeter, Taylor, Ramsey 2008, "An experimental comparison of click position-bias models"; Lagree,
Vernade, Cappe 2016, "Multiple-play bandits in the position-based model".
"""

import itertools
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.ordered import best_by_value
from setwise.kernels.draws import draw_binary, draw_binary_many
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import check_list, check_names, check_range, check_sizes


@environment(
    title="Position-based clicks",
    feedback="independent",
    rewards="binary",
    smaller_sets=True,
    ordered_sets=True,
)
class PositionBased(NamedTuple):
    """Clicks on a list of k arms, position by position.

    attraction: of every arm, the probability of a click if its position is looked at
    examination: of every position, the probability that it is looked at; as many as a set has arms
    names: of the arms, optional

    The first arm that a policy returns is in the first position, and regret counts the order. Most policies return
    their sets in any order: they learn how often an arm is clicked in the positions it happens to get, and keep
    losing what a wrong order costs. A policy that knows the positions has to weigh its clicks by their examination.

    >>> world = PositionBased([0.2, 0.9, 0.5], examination=[0.5, 1.0])
    >>> world.best().tolist()
    [2, 1]
    """

    attraction: Floats
    examination: Floats
    names: tuple[str, ...] | None = None

    def check(self) -> dict[str, Any]:
        check_list("PositionBased: attraction", self.attraction)
        if self.examination.ndim != 1:
            raise InputError(
                f"PositionBased: examination has the shape {self.examination.shape}; give a list with a number for "
                "each position"
            )
        check_sizes(len(self.attraction), len(self.examination))
        check_range("PositionBased: attraction", self.attraction, 0.0, 1.0)
        check_range("PositionBased: examination", self.examination, 0.0, 1.0)
        return {"names": check_names(self.names, len(self.attraction))}

    @property
    def n(self) -> int:
        return len(self.attraction)

    @property
    def k(self) -> int:
        return len(self.examination)

    def means(self, chosen: Ints, out: Floats) -> None:
        for j in range(len(chosen)):
            out[j] = self.attraction[chosen[j]] * self.examination[j]

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)
        draw_binary(Feedback.independent, rewards, rng, rewards)

    def draw_many(self, chosen: Ints, rounds: int, rng: Generator, totals: Floats) -> None:
        self.means(chosen, totals)
        draw_binary_many(Feedback.independent, totals, rounds, rng, totals)

    def best(self) -> Ints:
        chosen = np.zeros(self.k, np.int64)
        chosen[np.argsort(-self.examination, kind="stable")] = best_by_value(self.attraction, self.k)
        return chosen

    def gaps(self) -> tuple[float, float]:
        """Return the least positive and the largest gap between the best ordered set and another.

        Give the arms outside the set positions that nobody looks at. Any order of the arms becomes the best one by
        swaps of neighbouring positions, none of which lowers the value. So the least positive gap is that of a swap of
        two arms across two neighbouring levels of examination. The worst order is the reverse of the best.
        """
        arms = np.sort(self.attraction)[::-1]
        places = np.sort(np.append(self.examination, np.zeros(self.n - self.k)))[::-1]
        levels = np.unique(places)[::-1]
        candidates = []
        for upper, lower in itertools.pairwise(levels):
            differences = np.subtract.outer(arms[places == upper], arms[places == lower])
            candidates += ((upper - lower) * differences[differences > 0.0]).tolist()
        return min(candidates, default=0.0), float(arms @ places - arms[::-1] @ places)
