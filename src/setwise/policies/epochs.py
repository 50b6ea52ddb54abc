"""Epochs: what the policies for multinomial logit share.

A set is kept until a round rewards no arm; that round ends the epoch. If the choice model is the multinomial logit with
an outside option of weight 1, the purchases of an arm in an epoch are geometric with its weight as their mean, whatever
else is offered.
"""

from setwise.kernels.winners import winner_of
from setwise.types import Floats, Ints


def is_held(held: Ints, chosen: Ints) -> bool:
    """Whether two lists of distinct arms are the same set."""
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


def ends_epoch(offers: Ints, purchases: Floats, bought: Floats, held: Ints, chosen: Ints, rewards: Floats) -> bool:
    """Count the purchase of one round, or else close the epoch, and return whether it is over.

    offers, purchases: of every arm, the finished epochs that offered it, and its purchases in them
    bought: of every arm, its purchases in the epoch under way
    held: the set of the epoch

    A round of another set, told of late, is ignored: it belongs to no epoch.
    """
    if not is_held(held, chosen):
        return False
    winner = winner_of(rewards)
    if winner >= 0:
        bought[chosen[winner]] += 1.0
        return False
    for j in range(len(chosen)):
        arm = chosen[j]
        offers[arm] += 1
        purchases[arm] += bought[arm]
        bought[arm] = 0.0
    return True


def add_purchases(bought: Floats, held: Ints, chosen: Ints, totals: Floats) -> None:
    """Count the purchases of several rounds inside an epoch."""
    if is_held(held, chosen):
        for j in range(len(chosen)):
            bought[chosen[j]] += totals[j]
