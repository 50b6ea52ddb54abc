"""Orders of runs, and their results."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from setwise.experiments.plays import Play
from setwise.simulation.result import Result


class Order(NamedTuple):
    """A play, and the number of runs wanted."""

    play: Play
    runs: int


class Outcome:
    """Results of plays: `outcome[play]` has all runs, `outcome.take(play, runs)` the first ones.

    played, kept: number of runs played now, and read from the store
    claims: the claims settled beside the plays, if any
    """

    def __init__(self, results: Mapping[str, Result], played: int = 0, kept: int = 0) -> None:
        self.results = dict(results)
        self.played = played
        self.kept = kept
        self.claims: list[Any] = []

    def __getitem__(self, play: Play) -> Result:
        return self.results[play.digest]

    def __contains__(self, play: Play) -> bool:
        return play.digest in self.results

    def take(self, play: Play, runs: int) -> Result:
        """Return the first `runs` runs."""
        return self[play].take(runs)


def merged(orders: Iterable[Order]) -> list[Order]:
    """Merge the orders: each play once, with the largest number of runs ordered."""
    found: dict[str, Order] = {}
    for order in orders:
        known = found.get(order.play.digest)
        if known is None or known.runs < order.runs:
            found[order.play.digest] = order
    return list(found.values())
