"""LSBGreedy: sets that cover topics, built arm by arm from what each adds to those before it.

Arm a covers topic j with a known probability c_aj. After the arms a_1, ..., a_l the topic is left uncovered with
probability u_j = (1 - c_a1j) ... (1 - c_alj), and the next arm a adds the gains D_j = u_j c_aj. It earns w . D on
average, with unknown weights w of the topics. The weights are estimated by ridge regression. In each round

1. with M = lam I + the sum of D D' over all plays, b the sum of X D, X the rewards, and w = inverse(M) b, begin with
   the empty set and add k times the arm of largest

       w . D + alpha sqrt(D' inverse(M) D),

   ties broken uniformly at random;
2. for each arm of the set, in its order, add D D' to M and X D to b.

With one topic for each arm, which it alone covers, this is a UCB index for each arm by itself:
C / (N + lam) + alpha / sqrt(N + lam), with its plays N and the sum C of its rewards.

Yue, Guestrin 2011, "Linear submodular bandits and their application to diversified retrieval".

Adaptation: exploration is a constant alpha by default, as in practice. `theoretical` is a reconstruction in the style
of linear bandits, sqrt(2 log(2 sqrt(det M / lam^d) / delta)) + size sqrt(lam), with d topics and |w| at most `size`;
the published constants may differ. Topic coverage is the only kind of gain.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setwise.declare import check_range, policy
from setwise.types import Floats, Generator, InputError, Ints


class LSBGreedyState(NamedTuple):
    """What LSBGreedy knows.

    inverse: of M, a row and a column for each topic
    vector: b
    weights: the estimate of w
    volume: log(det M / lam^d)
    uncovered, gains, scaled: buffers for u, D and inverse(M) D
    taken: buffer that marks arms which cannot be added
    chosen: buffer for a set
    """

    inverse: Floats
    vector: Floats
    weights: Floats
    volume: Floats
    uncovered: Floats
    gains: Floats
    scaled: Floats
    taken: Ints
    chosen: Ints


@policy(
    title="Greedy for linear submodular bandits",
    reference="Yue, Guestrin 2011",
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="expected rewards are linear in known coverage gains",
    regret_bound="O(d sqrt(k T) log(k T)), d topics, against 1 - 1/e of the best set",
    original=False,
    adaptation="Exploration is a constant; theoretical=True is a reconstruction of the published schedule.",
    set_dependent="coverage",
    total_order=False,
    ordered_sets=True,
)
class LSBGreedy(NamedTuple):
    """Build a set from the arms of largest w . D + alpha sqrt(D' inverse(M) D).

    A round costs O(k n d^2) with d topics. The sets are in the order in which they were built.

    covers: a row for every arm, with the probability that it covers each topic
    lam: of the ridge regression, more than 0
    alpha: how much to explore
    theoretical: explore as the analysis asks, instead of alpha
    delta: the chance that the analysis may fail, if theoretical
    size: the largest Euclidean length that the weights of the topics may have, if theoretical
    """

    covers: Floats
    lam: float = 1.0
    alpha: float = 1.0
    theoretical: bool = False
    delta: float = 0.05
    size: float = 1.0

    def check(self) -> None:
        if self.covers.ndim != 2 or self.covers.size == 0:
            raise InputError(
                f"LSBGreedy: covers has the shape {self.covers.shape}; give a row for every arm with a number for "
                "each topic"
            )
        check_range("LSBGreedy: covers", self.covers, 0.0, 1.0)
        check_range("LSBGreedy: lam", self.lam, 0.0, math.inf, strict=True)
        check_range("LSBGreedy: alpha", self.alpha, 0.0, math.inf)
        check_range("LSBGreedy: delta", self.delta, 0.0, 1.0, strict=True)
        check_range("LSBGreedy: size", self.size, 0.0, math.inf)

    @classmethod
    def for_world(cls, environment: Any) -> "LSBGreedy":
        """The policy that is told which topics the arms of a world cover."""
        if not hasattr(environment, "covers"):
            raise InputError(
                f"LSBGreedy needs a world whose arms cover topics, like Coverage; {type(environment).__name__} has none"
            )
        return cls(environment.covers)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> LSBGreedyState:
        rows, topics = self.covers.shape
        if rows != n:
            raise InputError(f"LSBGreedy: covers has {rows} rows for {n} arms; give a row for every arm")
        return LSBGreedyState(
            inverse=np.eye(topics) / self.lam,
            vector=np.zeros(topics),
            weights=np.zeros(topics),
            volume=np.zeros(1),
            uncovered=np.zeros(topics),
            gains=np.zeros(topics),
            scaled=np.zeros(topics),
            taken=np.zeros(n, np.int64),
            chosen=np.arange(k),
        )

    def select(self, state: LSBGreedyState, rng: Generator) -> Ints:
        for arm in range(len(state.taken)):
            state.taken[arm] = 0
        build_set(self.covers, exploration(self, state), state, rng)
        return state.chosen

    def update(self, state: LSBGreedyState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        topics = len(state.gains)
        uncover(state.uncovered)
        for place in range(len(chosen)):
            add_gains(self.covers, chosen[place], state.uncovered, state.gains)
            learn(state, rewards[place])
            cover(self.covers, chosen[place], state.uncovered)
        for i in range(topics):
            weight = 0.0
            for j in range(topics):
                weight += state.inverse[i, j] * state.vector[j]
            state.weights[i] = weight

    def select_from(self, state: LSBGreedyState, available: npt.NDArray[np.bool_], rng: Generator) -> Ints:
        for arm in range(len(state.taken)):
            state.taken[arm] = 0 if available[arm] else 1
        found = build_set(self.covers, exploration(self, state), state, rng)
        return state.chosen[:found]


def exploration(policy: LSBGreedy, state: LSBGreedyState) -> float:
    """How much to explore at the moment."""
    if not policy.theoretical:
        return policy.alpha
    width = math.sqrt(2.0 * math.log(2.0 / policy.delta) + state.volume[0])
    return width + policy.size * math.sqrt(policy.lam)


def build_set(covers: Floats, alpha: float, state: LSBGreedyState, rng: Generator) -> int:
    """Add arms that are not taken to the set, the best first, until it is full; return how many there were."""
    uncover(state.uncovered)
    for place in range(len(state.chosen)):
        most = -np.inf
        added = -1
        ties = 0
        for arm in range(len(state.taken)):
            if state.taken[arm] == 0:
                add_gains(covers, arm, state.uncovered, state.gains)
                score = gain_bound(state.weights, state.inverse, state.gains, alpha)
                if score > most:
                    most = score
                    added = arm
                    ties = 1
                elif score == most:
                    ties += 1
                    if rng.random() * ties < 1.0:
                        added = arm
        if added < 0:
            return place
        state.chosen[place] = added
        state.taken[added] = 1
        cover(covers, added, state.uncovered)
    return len(state.chosen)


def gain_bound(weights: Floats, inverse: Floats, gains: Floats, alpha: float) -> float:
    """w . D + alpha sqrt(D' inverse(M) D)."""
    mean = 0.0
    square = 0.0
    for i in range(len(gains)):
        mean += weights[i] * gains[i]
        row = 0.0
        for j in range(len(gains)):
            row += inverse[i, j] * gains[j]
        square += gains[i] * row
    return mean + alpha * math.sqrt(max(square, 0.0))


def uncover(uncovered: Floats) -> None:
    """Begin with the empty set, which leaves all topics uncovered."""
    for j in range(len(uncovered)):
        uncovered[j] = 1.0


def cover(covers: Floats, arm: int, uncovered: Floats) -> None:
    """Add an arm to the set."""
    for j in range(len(uncovered)):
        uncovered[j] *= 1.0 - covers[arm, j]


def add_gains(covers: Floats, arm: int, uncovered: Floats, gains: Floats) -> None:
    """Write what an arm would add to the set, topic by topic."""
    for j in range(len(gains)):
        gains[j] = uncovered[j] * covers[arm, j]


def learn(state: LSBGreedyState, reward: float) -> None:
    """Add D D' to M, by the formula of Sherman and Morrison for its inverse, and X D to b."""
    gains = state.gains
    scaled = state.scaled
    growth = 1.0
    for i in range(len(gains)):
        row = 0.0
        for j in range(len(gains)):
            row += state.inverse[i, j] * gains[j]
        scaled[i] = row
        growth += gains[i] * row
        state.vector[i] += reward * gains[i]
    for i in range(len(gains)):
        for j in range(len(gains)):
            state.inverse[i, j] -= scaled[i] * scaled[j] / growth
    state.volume[0] += math.log(growth)
