"""LSBGreedy: sets that cover topics, built greedily by estimated marginal gains.

Arm a covers topic j with a known probability c_aj. After the arms a_1, ..., a_l the topic is uncovered with probability
u_j = (1 - c_a1j) ... (1 - c_alj), and the next arm a adds the gains D_j = u_j c_aj. It earns w . D on average, with
unknown topic weights w, which are estimated by ridge regression. In each round

1. with M = lam I + the sum of D D' over all plays, b the sum of X D, X the rewards, and w = inverse(M) b, start with
   the empty set and add, k times, the arm of largest

       w . D + alpha sqrt(D' inverse(M) D),

   ties broken uniformly at random;
2. for each arm of the set, in its order, add D D' to M and X D to b.

If each arm covers one topic that no other covers, this is a UCB index per arm:
C / (N + lam) + alpha / sqrt(N + lam), with its plays N and the sum C of its rewards.

Yue, Guestrin 2011, "Linear submodular bandits and their application to diversified retrieval".

Adaptation: exploration is a constant alpha by default, as in practice. `theoretical` is a reconstruction in the style
of linear bandits, sqrt(2 log(2 sqrt(det M / lam^d) / delta)) + size sqrt(lam), with d topics and |w| at most `size`;
the published constants may differ. Topic coverage is the only gain function supported.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.types import Bools, Floats, Generator, InputError, Ints
from setwise.validation import NonNegative, Positive, Range, check_range


class LSBGreedyState(NamedTuple):
    """State of LSBGreedy.

    inverse: of M, topics x topics
    vector: b
    weights: the estimate of w
    volume: log(det M / lam^d)
    uncovered, gains, scaled: buffers for u, D and inverse(M) D
    taken: buffer that marks arms that cannot be added
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
    assumptions="expected rewards are linear in known coverage gains",
    regret_bound="O(d sqrt(k T) log(k T)), d topics, against 1 - 1/e of the best set",
    if_assumption_fails="no effect: assumes coverage",
    adaptation="Exploration is a constant; theoretical=True is a reconstruction of the published schedule.",
    set_dependent="coverage",
)
class LSBGreedy(NamedTuple):
    """Build a set from the arms of largest w . D + alpha sqrt(D' inverse(M) D).

    A round costs O(k n d^2) with d topics. Sets are in the order in which they were built.

    covers: a row for every arm, with the probability that it covers each topic
    lam: regularization of the ridge regression, more than 0
    alpha: how much to explore
    theoretical: explore as in the analysis, instead of by alpha
    delta: failure probability of the analysis, if theoretical
    size: bound on the Euclidean norm of the topic weights, if theoretical
    """

    covers: Floats
    lam: Positive = 1.0
    alpha: NonNegative = 1.0
    theoretical: bool = False
    delta: Annotated[float, Range(0.0, 1.0, strict=True)] = 0.05
    size: NonNegative = 1.0

    def check(self) -> None:
        if self.covers.ndim != 2 or self.covers.size == 0:
            raise InputError(
                f"LSBGreedy: covers has the shape {self.covers.shape}; give a row for every arm with a number for "
                "each topic"
            )
        check_range("LSBGreedy: covers", self.covers, 0.0, 1.0)

    @classmethod
    def for_world(cls, environment: Any) -> "LSBGreedy":
        """Return the policy that knows which topics the arms of a world cover."""
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

    def select_from(self, state: LSBGreedyState, available: Bools, rng: Generator) -> Ints:
        for arm in range(len(state.taken)):
            state.taken[arm] = 0 if available[arm] else 1
        found = build_set(self.covers, exploration(self, state), state, rng)
        return state.chosen[:found]


def exploration(policy: LSBGreedy, state: LSBGreedyState) -> float:
    """Return the current exploration factor."""
    if not policy.theoretical:
        return policy.alpha
    width = math.sqrt(2.0 * math.log(2.0 / policy.delta) + state.volume[0])
    return width + policy.size * math.sqrt(policy.lam)


def build_set(covers: Floats, alpha: float, state: LSBGreedyState, rng: Generator) -> int:
    """Fill the set greedily with arms that are not taken; return how many were added."""
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
    """Return w . D + alpha sqrt(D' inverse(M) D)."""
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
    """Reset to the empty set, which leaves all topics uncovered."""
    for j in range(len(uncovered)):
        uncovered[j] = 1.0


def cover(covers: Floats, arm: int, uncovered: Floats) -> None:
    """Update the uncovered probabilities after adding an arm to the set."""
    for j in range(len(uncovered)):
        uncovered[j] *= 1.0 - covers[arm, j]


def add_gains(covers: Floats, arm: int, uncovered: Floats, gains: Floats) -> None:
    """Write the gains of adding an arm to the set, per topic."""
    for j in range(len(gains)):
        gains[j] = uncovered[j] * covers[arm, j]


def learn(state: LSBGreedyState, reward: float) -> None:
    """Add D D' to M, by a Sherman-Morrison update of its inverse, and X D to b."""
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
