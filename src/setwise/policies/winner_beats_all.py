"""Winner Beats All: play an anchor with the arms that it has not clearly beaten.

W_ij is how often i won while i and j were in the set and one of them was its anchor; N_ij = W_ij + W_ji. The evidence
that i is worse than j is

    D_ij = N_ij kl(W_ij / N_ij, 1/2) = W_ij log(2 W_ij / N_ij) + W_ji log(2 W_ji / N_ij) if W_ij <= W_ji, else 0,

and D_i is the sum of D_ij over all j. In round t

1. the arms with D_i <= log t + c take turns as the anchor, in an order drawn before the first round; if there is none,
   the anchor is the arm of smallest D_i;
2. the set is the anchor a and up to k - 1 arms i with D_ia <= log t + c, those least compared with a first; ties are
   broken uniformly at random;
3. if the anchor wins, it counts as beating every other arm of the set; if another arm wins, as beating the anchor.

The anchor is the first arm of the set, and `update` takes the first arm it gets as the anchor.

Reconstruction, in the style of Agarwal, Johnson, Agarwal: Choice Bandits (2020). Counting pairs against an anchor,
testing by empirical divergence, and shrinking sets to the best arm are theirs; the details are not.

Adaptation: smaller sets are padded to k arms, with the arms of smallest D_i, unless `pad` is off. Rounds without a
reward teach nothing, but count.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.kernels.pairs import check_pairs, fill
from setwise.kernels.topk import top_k
from setwise.kernels.winners import Matrix, winner_of
from setwise.types import Bools, Floats, Generator, Ints
from setwise.validation import NonNegative


class WinnerBeatsAllState(NamedTuple):
    """State of Winner Beats All.

    wins: W
    evidence: D of every pair
    beaten: D of every arm, the row sums of `evidence`
    rounds: rounds played
    queue: the arms in the order in which they take turns as the anchor
    turn: the place in the queue of the last anchor that had its turn
    anchor: of the coming round
    values, free: buffers for every arm
    chosen, best: buffers for a set and its values
    """

    wins: Matrix
    evidence: Matrix
    beaten: Floats
    rounds: Ints
    queue: Ints
    turn: Ints
    anchor: Ints
    values: Floats
    free: Bools
    chosen: Ints
    best: Floats


def evidence_of_loss(won: float, lost: float) -> float:
    """Return N kl(won / N, 1/2) with N = won + lost, or 0 if more were won than lost.

    >>> round(evidence_of_loss(20.0, 80.0), 4), evidence_of_loss(80.0, 20.0), evidence_of_loss(0.0, 0.0)
    (19.2745, 0.0, 0.0)
    """
    if won >= lost:
        return 0.0
    both = won + lost
    evidence = lost * math.log(2.0 * lost / both)
    if won > 0.0:
        evidence += won * math.log(2.0 * won / both)
    return max(0.0, evidence)


@policy(
    title="Winner Beats All",
    reference="in the style of Agarwal, Johnson, Agarwal 2020",
    feedback=("choice",),
    fixed_size=False,
    assumptions="an arm that is the likeliest winner of every set with it (generalised Condorcet winner)",
    regret_bound="O((n^2 log n + n log T) / epsilon^2) to the best single arm",
    if_assumption_fails="no guarantee for sets either way",
    adaptation="A reconstruction in the style of the original; padded to k arms when fewer are competitive.",
    set_dependent="yes",
)
class WinnerBeatsAll(NamedTuple):
    """Play an anchor with the arms that it has not clearly beaten. A round costs O(n k).

    c: how much evidence beyond log t it takes to drop an arm
    pad: whether every set has k arms; if not, the set shrinks to the anchor as others are clearly beaten
    """

    c: NonNegative = 1.0
    pad: bool = True

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> WinnerBeatsAllState:
        check_pairs("WinnerBeatsAll", k)
        queue = rng.permutation(n)
        return WinnerBeatsAllState(
            wins=np.zeros((n, n)),
            evidence=np.zeros((n, n)),
            beaten=np.zeros(n),
            rounds=np.zeros(1, np.int64),
            queue=queue,
            turn=np.zeros(1, np.int64),
            anchor=queue[:1].copy(),
            values=np.zeros(n),
            free=np.zeros(n, np.bool_),
            chosen=np.arange(k),
            best=np.zeros(k),
        )

    def select(self, state: WinnerBeatsAllState, rng: Generator) -> Ints:
        level = math.log(state.rounds[0] + 1.0) + self.c
        anchor = state.anchor[0]
        state.chosen[0] = anchor
        for arm in range(len(state.values)):
            state.values[arm] = -(state.wins[arm, anchor] + state.wins[anchor, arm])
            state.free[arm] = arm != anchor and state.evidence[arm, anchor] <= level
        size = fill(state.values, state.free, state.chosen, state.best, 1, rng)
        if self.pad and size < len(state.chosen):
            for arm in range(len(state.values)):
                state.values[arm] = -state.beaten[arm]
                state.free[arm] = arm != anchor and state.evidence[arm, anchor] > level
            size = fill(state.values, state.free, state.chosen, state.best, size, rng)
        return state.chosen[:size]

    def update(self, state: WinnerBeatsAllState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        winner = winner_of(rewards)
        if winner == 0:
            for j in range(1, len(chosen)):
                record_win(state, chosen[0], chosen[j])
            add_up(state, chosen[0])
            for j in range(1, len(chosen)):
                add_up(state, chosen[j])
        elif winner > 0:
            record_win(state, chosen[winner], chosen[0])
            add_up(state, chosen[winner])
            add_up(state, chosen[0])
        state.rounds[0] += 1
        next_anchor(state, math.log(state.rounds[0] + 1.0) + self.c, rng)


def record_win(state: WinnerBeatsAllState, arm: int, other: int) -> None:
    """Count a win of `arm` over `other` and update the evidence of the pair."""
    state.wins[arm, other] += 1.0
    state.evidence[arm, other] = evidence_of_loss(state.wins[arm, other], state.wins[other, arm])
    state.evidence[other, arm] = evidence_of_loss(state.wins[other, arm], state.wins[arm, other])


def add_up(state: WinnerBeatsAllState, arm: int) -> None:
    """Sum the evidence against an arm from scratch, so that an arm that leads everywhere has exactly 0."""
    total = 0.0
    for other in range(len(state.beaten)):
        total += state.evidence[arm, other]
    state.beaten[arm] = total


def next_anchor(state: WinnerBeatsAllState, level: float, rng: Generator) -> None:
    """Make the next arm of the queue that may be best the anchor; if there is none, the least beaten arm."""
    n = len(state.queue)
    for step in range(1, n + 1):
        place = (state.turn[0] + step) % n
        if state.beaten[state.queue[place]] <= level:
            state.turn[0] = place
            state.anchor[0] = state.queue[place]
            return
    for arm in range(n):
        state.values[arm] = -state.beaten[arm]
    top_k(state.values, state.anchor, state.best[:1], rng)
