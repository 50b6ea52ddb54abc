"""The records that a study returns: decisions, arms, the best set, and a summary."""

import dataclasses
import datetime
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from setwise.study.names import window_text
from setwise.study.replica import ACTIVE, STATUS, Replica

EPOCH = datetime.datetime.fromtimestamp(0, datetime.UTC)


def moment(microseconds: int) -> datetime.datetime:
    """Convert a time of the journal to a datetime in UTC."""
    return EPOCH + datetime.timedelta(0, 0, microseconds)


@dataclasses.dataclass(frozen=True)
class Decision:
    """A chosen set and its rewards.

    id: to be given to `tell`
    arms: names of the arms to show
    round: 1, 2, ... in the order of asking
    position: position in the journal; all feedback before it was used
    asked: time of `ask`
    rewards: reward of each arm, or None before feedback
    told: time of the feedback
    status: "open", "told", or "closed" if the window closed it with zeros
    late: rewards told after closing, which are stored but not learned
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
        """Return the decision as a dictionary for JSON."""
        found = dataclasses.asdict(self)
        for name in ("asked", "told"):
            if found[name] is not None:
                found[name] = found[name].isoformat()
        return found


@dataclasses.dataclass(frozen=True)
class Arm:
    """An arm of a study.

    name: unique in the study
    number: 0, 1, ...; never reused
    status: "pending" (not shown yet), "active" or "retired" (no longer shown)
    pulls: number of told or closed rounds with the arm
    reward: sum of its rewards in them
    mean: reward / pulls, or None without pulls
    index: the policy's index; infinite if the arm is to be tried first, None if the policy has no indices
    shown: number of decisions with the arm, with or without feedback
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
        """Return the arm as a dictionary for JSON, an infinite index as a string."""
        found = dataclasses.asdict(self)
        if self.index is not None and abs(self.index) == float("inf"):
            found["index"] = str(self.index)
        return found


@dataclasses.dataclass(frozen=True)
class Summary:
    """The definition and the counters of a study.

    name, address, policy, k, horizon, seed, window: the definition
    created, last: time of the first and of the last event
    arms, active: number of arms, including retired ones, and of active arms
    rounds: number of decisions
    told, closed, open, late: decisions with feedback, closed with zeros, without either, with feedback after closing
    reward: sum of all rewards
    mean: mean reward of the told or closed rounds, or None if there are none
    best: as `Study.best` returns it
    position: last position of the journal
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
        """Return the summary as a dictionary for JSON."""
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


def arms_of(replica: Replica, only: int | None = None) -> list[Arm]:
    """Return all arms in the order of their numbers, or only one."""
    indices = replica.indices()
    found = []
    for number in range(replica.n) if only is None else [only]:
        pulls, reward = int(replica.pulls[number]), float(replica.reward[number])
        found.append(
            Arm(
                replica.names[number],
                number,
                STATUS[replica.status[number]],
                pulls,
                reward,
                reward / pulls if pulls else None,
                None if indices is None else float(indices[number]),
                int(replica.shown[number]),
            )
        )
    return found


def best_of(replica: Replica) -> tuple[str, ...]:
    """Return the k active arms that the policy recommends, or if it cannot say, the best ones by their own means."""
    return tuple(replica.names[arm] for arm in replica.recommend() or best_one_by_one(replica))


def best_one_by_one(replica: Replica) -> list[int]:
    """Return the k active arms with the largest lower confidence bound C/N - B sqrt(log(t) / (2 N)) after t rounds.

    Ties, as before any feedback, go to the arm that was added first.
    """
    bound = float(getattr(replica.policy, "bound", 1.0))
    rounds = max(2, replica.told + replica.closed)
    with np.errstate(divide="ignore", invalid="ignore"):
        sure = replica.reward / replica.pulls - bound * np.sqrt(math.log(rounds) / (2.0 * replica.pulls))
    sure = np.where(replica.pulls == 0, -np.inf, sure)
    candidates = np.flatnonzero(replica.status == ACTIVE)
    order = candidates[np.argsort(-sure[candidates], kind="stable")]
    best: list[int] = order[: replica.definition.k].tolist()
    return best


def summary_of(replica: Replica, name: str, address: str) -> Summary:
    """Return the summary of a study."""
    definition = replica.definition
    finished = replica.told + replica.closed
    return Summary(
        name=name,
        address=address,
        policy=repr(definition.policy),
        k=definition.k,
        horizon=definition.horizon,
        seed=definition.seed,
        window=window_text(definition.window),
        created=moment(replica.created),
        last=moment(replica.time),
        arms=replica.n,
        active=replica.active,
        rounds=replica.rounds,
        told=replica.told,
        closed=replica.closed,
        open=replica.rounds - finished,
        late=replica.late,
        reward=float(replica.earned),
        mean=float(replica.earned) / finished if finished else None,
        best=best_of(replica),
        position=replica.position,
    )
