"""The k best arms by index, kept up to date as indices change: a sorted order for few arms, a tournament for many.

A policy that has an index for every arm, and changes only those of the arms it was told about, keeps a ranking in its
state: `new_ranking` makes the right kind, `top` gives the set, and `moved` is told which indices have changed.
"""

from typing import NamedTuple, Protocol

import numpy as np

from setwise.kernels.topk import repair_order, sort_order
from setwise.kernels.tournament import build_tree, change_index, change_set, tree_size
from setwise.types import Floats, Generator, Ints

FEW_ARMS = 128  # up to about here a nearly sorted order is faster: benchmarks/rankings.py


class Ranking(Protocol):
    """What both kinds do."""

    def top(self, index: Floats, k: int, rng: Generator) -> Ints:
        """The k arms of largest index, ties broken uniformly at random; a view, good until the next call."""

    def border(self, index: Floats, chosen: Ints) -> float:
        """The largest index outside the set that `top` just gave; infinite if there is none, or it is not known."""
        return np.inf

    def moved(self, index: Floats, chosen: Ints) -> None:
        """The indices of these arms have changed."""


class Sorted(NamedTuple):
    """A nearly sorted order of all arms.

    order: as `kernels.topk` keeps it
    scratch: buffer for ties
    intact: one flag, whether `order` is still sorted but for the arms chosen last
    """

    order: Ints
    scratch: Ints
    intact: Ints

    def top(self, index: Floats, k: int, rng: Generator) -> Ints:
        if self.intact[0] == 0:
            sort_order(index, self.order)
            self.intact[0] = 1
        repair_order(index, self.order, k, self.scratch, rng)
        return self.order[:k]

    def border(self, index: Floats, chosen: Ints) -> float:
        if self.intact[0] == 0 or len(chosen) == len(index):
            return np.inf
        for j in range(len(chosen)):
            if chosen[j] != self.order[j]:
                return np.inf
        return float(index[self.order[len(chosen)]])

    def moved(self, index: Floats, chosen: Ints) -> None:
        for j in range(len(chosen)):
            if chosen[j] != self.order[j]:
                self.intact[0] = 0


class Tournament(NamedTuple):
    """The arms of the set apart, and a tree of all others.

    largest, ties: of the tree, as `kernels.tournament` keeps it
    held: the arms of the set
    vacant: buffer for the places in the set that have to be filled
    """

    largest: Floats
    ties: Ints
    held: Ints
    vacant: Ints

    def top(self, index: Floats, k: int, rng: Generator) -> Ints:
        change_set(index, self.held, self.vacant, self.largest, self.ties, rng)
        return self.held

    def border(self, index: Floats, chosen: Ints) -> float:
        if len(chosen) == len(index):
            return np.inf
        for j in range(len(chosen)):
            if chosen[j] != self.held[j]:
                return np.inf
        return float(self.largest[0])

    def moved(self, index: Floats, chosen: Ints) -> None:
        for j in range(len(chosen)):
            change_index(self.largest, self.ties, chosen[j], index[chosen[j]])


def new_ranking(index: Floats, k: int) -> Sorted | Tournament:
    """A ranking of the arms by the given indices, of the kind that is faster for so many."""
    n = len(index)
    if n <= FEW_ARMS:
        return Sorted(np.arange(n), np.zeros(2 * n, np.int64), np.zeros(1, np.int64))
    inner, size = tree_size(n)
    ranking = Tournament(np.zeros(size), np.zeros(inner, np.int64), np.arange(k), np.zeros(k, np.int64))
    build_tree(index, ranking.held, ranking.largest, ranking.ties)
    return ranking
