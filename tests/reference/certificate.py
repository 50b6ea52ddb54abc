"""The test of weak optimal set consistency, plain: sets as frozensets in dictionaries, bounds by bisection."""

import math
from collections.abc import Sequence
from typing import NamedTuple

WAITING = 8


class Witness(NamedTuple):
    """A set, the lower bound of its total, and for each of the k largest bounds its value, arm and company."""

    better: frozenset[int]
    lower: float
    bounds: list[tuple[float, int, frozenset[int] | None]]


class PlainCertificate:
    """The test after some rounds; arguments as for `new_watch`."""

    def __init__(self, n: int, k: int, bound: float, most: float, values: int, delta: float) -> None:
        self.n, self.k, self.bound, self.most, self.values, self.delta = n, k, bound, most, values, delta
        self.rounds, self.next_test = 0, 4
        self.pulls, self.reward = [0] * n, [0.0] * n
        self.waiting: dict[frozenset[int], int] = {}
        self.number: dict[frozenset[int], int] = {}
        self.plays: dict[frozenset[int], int] = {}
        self.earned: dict[frozenset[int], dict[int, float]] = {}
        self.refuted: int | None = None
        self.witness: Witness | None = None

    def add(self, arms: Sequence[int], totals: Sequence[float], rounds: int) -> None:
        """Count rounds of one set with these sums of rewards."""
        self.rounds += rounds
        if self.refuted is not None or len(arms) < self.k:
            return
        for arm, total in zip(arms, totals, strict=True):
            self.pulls[arm] += rounds
            self.reward[arm] += total / self.bound
        chosen = frozenset(arms)
        if chosen in self.number:
            self.plays[chosen] += rounds
            for arm, total in zip(arms, totals, strict=True):
                self.earned[chosen][arm] += total / self.bound
        else:
            self.waiting[chosen] = self.waiting.get(chosen, 0) + rounds
            if self.waiting[chosen] >= WAITING:
                self.number[chosen] = len(self.number) + 1
                self.plays[chosen] = 0
                self.earned[chosen] = dict.fromkeys(arms, 0.0)
        if self.rounds >= self.next_test:
            self.decide()
            self.next_test = self.rounds + 1 + self.rounds // 16

    def decide(self) -> None:
        """Compare the lower bound of every set with the sum of the k largest upper bounds."""
        largest = sorted(map(self.least_bound, range(self.n)), key=lambda found: (-found[0], found[1]))[: self.k]
        limit = sum(value for value, _, _ in largest)
        lower = {chosen: self.lower_bound(chosen) for chosen in self.number}
        better = max(lower, key=lower.__getitem__, default=None)
        if better is not None and lower[better] > limit:
            self.refuted, self.witness = self.rounds, Witness(better, lower[better], largest)

    def least_bound(self, arm: int) -> tuple[float, int, frozenset[int] | None]:
        """The least upper bound of what an arm earns in the optimal set, and in which company it did."""
        share = self.delta / (4 * self.k)
        found = [(self.bound * upper(self.reward[arm], self.pulls[arm], share), arm, None)]
        for chosen, m in self.number.items():
            if arm in chosen:
                own = upper(self.earned[chosen][arm], self.plays[chosen], share / (m * (m + 1)))
                found.append((self.bound * own, arm, chosen))
        return min(found, key=lambda bound: bound[0])

    def lower_bound(self, chosen: frozenset[int]) -> float:
        """The lower bound of the expected total of a set."""
        m = self.number[chosen]
        values = self.values * self.plays[chosen]
        missed = values * 1.0 - self.values * sum(self.earned[chosen].values()) * self.bound / self.most
        return self.most * (1.0 - upper(missed, values, self.delta / (2 * m * (m + 1))))


def upper(total: float, rounds: int, delta: float) -> float:
    """The upper bound of the mean: the largest mu with (N + 1) kl((C + 1) / (N + 1), mu) at most the level."""
    more, longer = total + 1.0, rounds + 1.0
    share = (longer + 0.177) / (2 * math.pi * (more + 0.159) * (longer - more + 0.159))
    level = math.log(2 * more / delta) + min(0.0, math.log(share) / 2)
    low, high = more / longer, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if longer * divergence(more / longer, middle) <= level else (low, middle)
    return low


def divergence(p: float, q: float) -> float:
    """kl(p, q)."""
    if q >= 1.0:
        return 0.0 if p >= 1.0 else math.inf
    first = 0.0 if p <= 0.0 else p * math.log(p / q)
    return first + (0.0 if p >= 1.0 else (1 - p) * math.log((1 - p) / (1 - q)))
