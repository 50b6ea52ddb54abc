"""Topic coverage: an arm earns only for topics that the arms before it left uncovered.

    P(a_l|s) = sum over topics j of w_j c_(a_l, j) Prod over m < l of (1 - c_(a_m, j))

for a set in the order a_1, ..., a_k, where w_j is the weight of topic j and c_aj the probability that arm a covers it.
This is the probability that a_l is the first arm to please a user who wants topic j with probability w_j. An arm's
reward depends on the order, the reward of the set does not:

    Q(s) = sum over j of w_j (1 - Prod over a in s of (1 - c_aj))

Radlinski, Kleinberg, Joachims 2008, "Learning diverse rankings with multi-armed bandits"; Yue, Guestrin 2011, "Linear
submodular bandits and their application to diversified retrieval".
"""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.best_set import check_best_set
from setwise.environments.enumeration import best_by_enumeration, gaps_by_enumeration
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import array, check_names, check_range, check_sizes


@environment(
    title="Topic coverage",
    rewards="binary",
    smaller_sets=True,
    ordered_sets=True,
)
class Coverage(NamedTuple):
    """Arms that cover topics.

    weights: of the topics, 0 or more, with a sum of at most 1
    covers: a row for every arm, with the probability that it covers each topic
    k: the size of a set; its arms are in the order in which they were chosen
    feedback: `independent`, each arm is drawn independently; or `choice`, only the first arm that pleases is rewarded
    names: of the arms, optional
    best_set: the optimal set; found by enumeration if not given

    >>> world = Coverage([0.5, 0.3], [[1.0, 0.0], [0.9, 0.0], [0.0, 0.5]], k=2)
    >>> world.best().tolist()
    [0, 2]
    """

    weights: Floats
    covers: Floats
    k: int
    feedback: Feedback = Feedback.independent
    names: tuple[str, ...] | None = None
    best_set: Any = None

    def check(self) -> dict[str, Any]:
        if self.weights.ndim != 1 or len(self.weights) == 0:
            raise InputError(
                f"Coverage: weights has the shape {self.weights.shape}; give a list with a number for each topic"
            )
        if self.covers.ndim != 2 or self.covers.shape[1] != len(self.weights):
            raise InputError(
                f"Coverage: covers has the shape {self.covers.shape}; give a row for every arm with "
                f"{len(self.weights)} numbers, one for each topic"
            )
        n, k = check_sizes(len(self.covers), self.k)
        check_range("Coverage: weights", self.weights, 0.0, 1.0)
        check_range("Coverage: covers", self.covers, 0.0, 1.0)
        total = math.fsum(self.weights)
        if total > 1.0 + 1e-9:
            raise InputError(f"Coverage: weights add up to {total:.6g}; their sum has to be at most 1")
        return {
            # A sum above 1 by rounding must not lead to probabilities above 1.
            "weights": self.weights if total <= 1.0 + 1e-15 else array("weights", self.weights / total),
            "names": check_names(self.names, n),
            "best_set": check_best_set("Coverage: best_set", self.best_set, n, k),
        }

    @property
    def n(self) -> int:
        return len(self.covers)

    def means(self, chosen: Ints, out: Floats) -> None:
        for m in range(len(chosen)):
            out[m] = 0.0
        for j in range(len(self.weights)):
            uncovered = self.weights[j]
            for m in range(len(chosen)):
                share = self.covers[chosen[m], j]
                out[m] += uncovered * share
                uncovered *= 1.0 - share

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)
        draw_binary(self.feedback, rewards, rng, rewards)

    def best(self) -> Ints:
        return np.array(self.best_set) if self.best_set is not None else best_by_enumeration(self)

    def gaps(self) -> tuple[float, float]:
        return gaps_by_enumeration(self)

    def greedy(self) -> Ints:
        """Build a set greedily by the largest gain; it earns at least 1 - 1/e of the optimum. Ties go to the first arm.

        If there are too many sets to enumerate, use it as `best_set`: regret is then measured against it.

        >>> Coverage([0.5, 0.3], [[1.0, 0.0], [0.9, 0.0], [0.0, 0.5]], k=2).greedy().tolist()
        [0, 2]
        """
        uncovered = np.array(self.weights)
        chosen: list[int] = []
        for _ in range(self.k):
            gains = self.covers @ uncovered
            gains[chosen] = -1.0
            chosen.append(int(gains.argmax()))
            uncovered *= 1.0 - self.covers[chosen[-1]]
        return np.array(chosen, dtype=np.int64)
