"""The k best arms by index, updated incrementally: a sorted order for few arms, a tournament tree for many.

For policies that have an index per arm and change only those of the chosen arms. `new_ranking` picks the faster kind,
`top` returns the set, and `moved` reports changed indices.
"""

from typing import NamedTuple, Protocol

import numpy as np

from setwise.kernels.topk import repair_order, share_border, sort_order
from setwise.kernels.tournament import build_tree, change_index, change_set, tree_size
from setwise.types import Floats, Generator, Ints

FEW_ARMS = 128  # a nearly sorted order is faster up to about here: benchmarks/rankings.py


class Ranking(Protocol):
    """The interface of both kinds."""

    def top(self, index: Floats, k: int, rng: Generator) -> Ints:
        """Return the k arms of largest index, ties broken uniformly at random: a view, valid until the next call."""

    def border(self, index: Floats, chosen: Ints) -> float:
        """Return the largest index outside the set that `top` last returned; infinite if there is none or unknown."""
        return np.inf

    def moved(self, index: Floats, chosen: Ints) -> None:
        """Update the ranking after the indices of these arms have changed."""


class Sorted(NamedTuple):
    """A nearly sorted order of all arms.

    order: as in `kernels.topk`
    scratch: buffer for ties
    intact: a flag, whether `order` is sorted except for the arms chosen last
    """

    order: Ints
    scratch: Ints
    intact: Ints

    def top(self, index: Floats, k: int, rng: Generator) -> Ints:
        if self.intact[0] == 0:
            sort_order(index, self.order)
            self.intact[0] = 1
            if k < len(index) and index[self.order[k - 1]] == index[self.order[k]]:
                share_border(index, self.order, k, self.scratch, rng)
        else:
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
    """The arms of the set, and a tournament tree of all others.

    largest, ties: the tree, as in `kernels.tournament`
    held: the arms of the set
    vacant: buffer for the places of the set to fill
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
    """Return a ranking of the arms by the given indices, of the faster kind for this number of arms."""
    n = len(index)
    if n <= FEW_ARMS:
        return Sorted(np.arange(n), np.zeros(2 * n, np.int64), np.zeros(1, np.int64))
    inner, size = tree_size(n)
    ranking = Tournament(np.zeros(size), np.zeros(inner, np.int64), np.arange(k), np.zeros(k, np.int64))
    build_tree(index, ranking.held, ranking.largest, ranking.ties)
    return ranking
