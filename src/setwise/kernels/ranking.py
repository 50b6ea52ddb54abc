"""The k best arms by index, kept up to date as indices change: a sorted order for few arms, a heap for many.

A policy that has an index for every arm, and changes only those of the arms it was told about, keeps a ranking in its
state: `new_ranking` makes the right kind, `top` gives the set, and `moved` is told which indices have changed.
"""

from typing import NamedTuple, Protocol

import numpy as np

from setwise.kernels.heap import WIDTH, build_heap, change_value, heap_top
from setwise.kernels.topk import repair_order, sort_order
from setwise.types import Floats, Generator, Ints

FEW_ARMS = 384  # up to about here a nearly sorted order is faster than a heap: benchmarks/rankings.py


class Ranking(Protocol):
    """What both kinds do."""

    def top(self, index: Floats, k: int, rng: Generator) -> Ints:
        """The k arms of largest index, ties broken uniformly at random; a view, good until the next call."""

    def border(self, index: Floats, chosen: Ints) -> float:
        """The largest index outside the set that `top` just gave; infinite if that is not known."""
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
        if self.intact[0] == 0:
            return np.inf
        for j in range(len(chosen)):
            if chosen[j] != self.order[j]:
                return np.inf
        return float(index[self.order[len(chosen)]])

    def moved(self, index: Floats, chosen: Ints) -> None:
        for j in range(len(chosen)):
            if chosen[j] != self.order[j]:
                self.intact[0] = 0


class Heap(NamedTuple):
    """A heap of all arms.

    arms, places, values, equals: as `kernels.heap` keeps them
    chosen, scratch: buffers for a set and for the search
    theta: the largest index outside the set that was searched last; infinite once an index has changed
    """

    arms: Ints
    places: Ints
    values: Floats
    equals: Ints
    chosen: Ints
    scratch: Ints
    theta: Floats

    def top(self, index: Floats, k: int, rng: Generator) -> Ints:
        self.theta[0] = heap_top(self.arms, self.values, self.equals, self.chosen, self.scratch, rng)
        return self.chosen

    def border(self, index: Floats, chosen: Ints) -> float:
        for j in range(len(chosen)):
            if chosen[j] != self.chosen[j]:
                return np.inf
        return float(self.theta[0])

    def moved(self, index: Floats, chosen: Ints) -> None:
        self.theta[0] = np.inf
        for j in range(len(chosen)):
            change_value(self.arms, self.places, self.values, self.equals, chosen[j], index[chosen[j]])


def new_ranking(index: Floats, k: int) -> Sorted | Heap:
    """A ranking of the arms by the given indices, of the kind that is faster for so many."""
    n = len(index)
    if n <= FEW_ARMS:
        return Sorted(np.arange(n), np.zeros(2 * n, np.int64), np.zeros(1, np.int64))
    ranking = Heap(
        arms=np.zeros(n, np.int64),
        places=np.zeros(n, np.int64),
        values=np.zeros(n),
        equals=np.zeros(n, np.int64),
        chosen=np.zeros(k, np.int64),
        scratch=np.zeros((WIDTH + 1) * k + 1, np.int64),
        theta=np.full(1, np.inf),
    )
    build_heap(index, ranking.arms, ranking.places, ranking.values, ranking.equals)
    return ranking
