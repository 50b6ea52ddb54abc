"""Loop over rounds until the time is up, and measure the best time per round."""

import time
from collections.abc import Callable, Iterator

WINDOW = 0.1


class Rounds:
    """An iterator that ends when the time is up.

    It warms up for a fifth of the time and until every arm can have been played once (or, with very many arms, for all
    of the time), then times one window of a tenth of a second after another, with at least one round in each. The best
    window counts: other load on the machine makes a window slower, never faster.

    played: rounds so far
    first_over: when the first round was over, by time.time()
    best: seconds per round in the best window
    """

    def __init__(self, seconds: float, least: int = 1, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds = seconds
        self.least = least
        self.clock = clock
        self.played = 0
        self.first_over = 0.0
        self.best = float("inf")

    def __iter__(self) -> Iterator[int]:
        start = self.clock()
        while not self._warm(self.clock() - start):
            yield self.played
            self.played += 1
            self.first_over = self.first_over or time.time()
        start = self.clock()
        while self.clock() - start < self.seconds or self.best == float("inf"):
            began, before = self.clock(), self.played
            while self.played == before or self.clock() - began < WINDOW:
                yield self.played
                self.played += 1
            self.best = min(self.best, (self.clock() - began) / (self.played - before))

    def _warm(self, elapsed: float) -> bool:
        if self.played == 0:
            return False
        return elapsed >= self.seconds or (elapsed >= self.seconds / 5 and self.played >= self.least)
