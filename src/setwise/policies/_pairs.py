"""State of the policies that compare the arms of a set in pairs, with upper bounds on how often one beats another."""

from typing import NamedTuple

import numpy as np

from setwise.kernels.pairs import check_pairs, learn_winner, new_pairs
from setwise.kernels.winners import Matrix
from setwise.types import Bools, Floats, Ints

NOBODY = -1


class PairState(NamedTuple):
    """State of a policy that compares pairs.

    wins: W
    share, spread: of every pair, as in `kernels.pairs`
    rounds: rounds played
    beaten: by how many others each arm is clearly beaten; 0 for potential winners
    hypothesis: the hypothesised best arm of the coming round, or NOBODY
    standing, values, least, free: buffers for every arm
    chosen, best: buffers for a set and its values
    """

    wins: Matrix
    share: Matrix
    spread: Matrix
    rounds: Ints
    beaten: Ints
    hypothesis: Ints
    standing: Ints
    values: Floats
    least: Floats
    free: Bools
    chosen: Ints
    best: Floats


def new_state(name: str, n: int, k: int, unseen: float) -> PairState:
    """Return the state before the first round; `unseen` is the bound of a pair that was never compared."""
    check_pairs(name, k)
    wins, share, spread = new_pairs(n, unseen)
    return PairState(
        wins=wins,
        share=share,
        spread=spread,
        rounds=np.zeros(1, np.int64),
        beaten=np.zeros(n, np.int64),
        hypothesis=np.full(1, NOBODY),
        standing=np.zeros(n, np.int64),
        values=np.zeros(n),
        least=np.zeros(n),
        free=np.zeros(n, np.bool_),
        chosen=np.arange(k),
        best=np.zeros(k),
    )


def learn_round(state: PairState, chosen: Ints, rewards: Floats) -> None:
    """Count a round; its winner, if any, beat every other arm of the set."""
    learn_winner(state.wins, state.share, state.spread, chosen, rewards)
    state.rounds[0] += 1
