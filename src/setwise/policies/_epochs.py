"""Epochs, shared by the policies for the multinomial logit.

A set is kept until a round rewards no arm; that round ends the epoch. In a multinomial logit with an outside option of
weight 1, the purchases of an arm in an epoch are geometric with its weight as mean, whatever else is offered.
"""

from typing import NamedTuple

import numpy as np

from setwise.kernels.winners import winner_of
from setwise.types import Floats, Ints


class EpochState(NamedTuple):
    """State of policies with epochs.

    offers, purchases: of every arm, the finished epochs that offered it, and its purchases in them
    bought: of every arm, its purchases in the current epoch
    indices: of every arm, by which the set of the epoch was chosen
    epochs: finished epochs
    chosen, best: the set of the epoch, and a buffer for its indices
    level: terms of the index that depend on the horizon
    """

    offers: Ints
    purchases: Floats
    bought: Floats
    indices: Floats
    epochs: Ints
    chosen: Ints
    best: Floats
    level: Floats


def new_epochs(n: int, k: int, index: float, *level: float) -> EpochState:
    """Return the state before the first epoch, for which the set is still to be chosen."""
    return EpochState(
        offers=np.zeros(n, np.int64),
        purchases=np.zeros(n),
        bought=np.zeros(n),
        indices=np.full(n, index),
        epochs=np.zeros(1, np.int64),
        chosen=np.arange(k),
        best=np.zeros(k),
        level=np.array(level),
    )


def is_held(held: Ints, chosen: Ints) -> bool:
    """Return whether two lists of distinct arms are the same set."""
    if len(chosen) != len(held):
        return False
    for j in range(len(chosen)):
        if chosen[j] != held[j]:
            i = 0
            while i < len(held) and held[i] != chosen[j]:
                i += 1
            if i == len(held):
                return False
    return True


def ends_epoch(state: EpochState, chosen: Ints, rewards: Floats) -> bool:
    """Count the purchase of one round, or close the epoch if there is none; return whether the epoch is over.

    Late feedback on another set is ignored: it belongs to no epoch.
    """
    if not is_held(state.chosen, chosen):
        return False
    winner = winner_of(rewards)
    if winner >= 0:
        state.bought[chosen[winner]] += 1.0
        return False
    for j in range(len(chosen)):
        arm = chosen[j]
        state.offers[arm] += 1
        state.purchases[arm] += state.bought[arm]
        state.bought[arm] = 0.0
    state.epochs[0] += 1
    return True


def add_purchases(state: EpochState, chosen: Ints, totals: Floats) -> None:
    """Count the purchases of several rounds within an epoch."""
    if is_held(state.chosen, chosen):
        for j in range(len(chosen)):
            state.bought[chosen[j]] += totals[j]
