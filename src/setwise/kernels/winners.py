"""The winner of a round, and the matrix of wins: `wins[i, j]` is how often arm i beat arm j."""

from setwise.types import Floats, Ints

Matrix = Floats  # two-dimensional


def winner_of(rewards: Floats) -> int:
    """Return the place in the set of the rewarded arm, or -1 if there is none."""
    for j in range(len(rewards)):
        if rewards[j] > 0.0:
            return j
    return -1


def beat_all_others(wins: Matrix, chosen: Ints, winner: int) -> None:
    """Record that the arm in place `winner` beat every other arm of the set (rank breaking of one winner)."""
    for j in range(len(chosen)):
        if j != winner:
            wins[chosen[winner], chosen[j]] += 1.0
