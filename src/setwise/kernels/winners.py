"""Who won a round, and what is known of pairs of arms.

`wins[i, j]` is how often arm i was recorded as beating arm j.
"""

from setwise.types import Floats, Ints

Matrix = Floats  # of two dimensions


def winner_of(rewards: Floats) -> int:
    """The place in the set of the arm that was rewarded, or -1 if none was."""
    for j in range(len(rewards)):
        if rewards[j] > 0.0:
            return j
    return -1


def beat_all_others(wins: Matrix, chosen: Ints, winner: int) -> None:
    """Record that the arm in that place beat every other arm of the set (rank breaking of one winner)."""
    for j in range(len(chosen)):
        if j != winner:
            wins[chosen[winner], chosen[j]] += 1.0
