"""What was ordered, and what came of it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from setwise.experiments.play import Play
from setwise.simulation.result import Result


class Order(NamedTuple):
    """A play, and how many runs of it are wanted."""

    play: Play
    runs: int


class Outcome:
    """The results of plays: `outcome[play]` has all runs there are, `outcome.take(play, runs)` the first so many.

    played, kept: how many runs were played now, and how many were there already
    claims: what was settled beside the plays, if anything was
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
        """The first so many runs."""
        return self[play].take(runs)


def merged(orders: Iterable[Order]) -> list[Order]:
    """Each play once, with the most runs that are asked for."""
    found: dict[str, Order] = {}
    for order in orders:
        known = found.get(order.play.digest)
        if known is None or known.runs < order.runs:
            found[order.play.digest] = order
    return list(found.values())
