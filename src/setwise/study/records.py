"""What a study hands out: decisions, arms, and a summary."""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

EPOCH = datetime.datetime.fromtimestamp(0, datetime.UTC)


def moment(microseconds: int) -> datetime.datetime:
    """A time of the journal, in UTC."""
    return EPOCH + datetime.timedelta(0, 0, microseconds)


@dataclasses.dataclass(frozen=True)
class Decision:
    """A set that was asked for, and what it earned.

    id: its name, to tell by
    arms: the names of the arms to show
    round: 1, 2, ... in the order of asking
    position: its place in the journal; it was made from all feedback before that place
    asked: when
    rewards: what each arm earned, or None while nothing was told
    told: when that was told
    status: "open", "told", or "closed" if the window closed it with zeros
    late: what was told after that, which is kept and not learned
    """

    id: str
    arms: tuple[str, ...]
    round: int
    position: int
    asked: datetime.datetime
    rewards: Mapping[str, float] | None = dataclasses.field(default=None, hash=False)
    told: datetime.datetime | None = None
    status: str = "open"
    late: Mapping[str, float] | None = dataclasses.field(default=None, hash=False)

    def to_json(self) -> dict[str, Any]:
        """The decision as JSON can hold it."""
        found = dataclasses.asdict(self)
        for name in ("asked", "told"):
            if found[name] is not None:
                found[name] = found[name].isoformat()
        return found


@dataclasses.dataclass(frozen=True)
class Arm:
    """An arm of a study.

    name, number: its name; its number, which is never given to another
    status: "pending" (not shown yet), "active" or "retired" (no longer shown)
    pulls: the rounds with it that were told or closed
    reward: the sum of what it earned in them
    mean: reward / pulls, or None if it has none
    index: what the policy ranks it by, if it does so: infinite if it is to be tried first, None if there is no index
    shown: the decisions with it, told or not
    """

    name: str
    number: int
    status: str
    pulls: int
    reward: float
    mean: float | None
    index: float | None
    shown: int

    def to_json(self) -> dict[str, Any]:
        """The arm as JSON can hold it: an infinite index as a text."""
        found = dataclasses.asdict(self)
        if self.index is not None and abs(self.index) == float("inf"):
            found["index"] = str(self.index)
        return found


@dataclasses.dataclass(frozen=True)
class Summary:
    """Where a study stands.

    name, address, policy, k, horizon, seed, window: what it is
    created, last: when it was created, and when something happened last
    arms, active: how many arms there are, retired ones included, and how many can be chosen
    rounds: how many decisions were asked for
    told, closed, open, late: with feedback, closed with zeros, with neither, and with feedback after closing
    reward: the sum of all rewards
    mean: reward of a round that was told or closed, or None
    best: the arms that surely earn most, as `best()` gives them
    position: of the journal
    """

    name: str
    address: str
    policy: str
    k: int
    horizon: int | None
    seed: int
    window: str | None
    created: datetime.datetime
    last: datetime.datetime
    arms: int
    active: int
    rounds: int
    told: int
    closed: int
    open: int
    late: int
    reward: float
    mean: float | None
    best: tuple[str, ...]
    position: int

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON can hold it."""
        found = dataclasses.asdict(self)
        for name in ("created", "last"):
            found[name] = found[name].isoformat()
        return found

    def __str__(self) -> str:
        planned = "" if self.horizon is None else f" of {self.horizon:,}"
        mean = "" if self.mean is None else f", {self.mean:.4g} a round"
        beyond = self.horizon is not None and self.rounds > self.horizon
        return "\n".join(
            (
                f"{self.name}: {self.k} of {self.active} arms by {self.policy}, at {self.address}",
                f"rounds: {self.rounds:,}{planned}{' (beyond the horizon)' if beyond else ''}; told {self.told:,}, "
                f"closed {self.closed:,}, open {self.open:,}, late {self.late:,}",
                f"reward: {self.reward:g}{mean}",
                f"best so far: {', '.join(self.best)}",
            )
        )
