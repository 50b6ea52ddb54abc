"""Verify a study: replay its journal from the beginning and compare."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from setwise.errors import DamagedFile, InputError, StorageError
from setwise.study.definition import Definition
from setwise.study.journal import Row, body_of
from setwise.study.replica import Replica
from setwise.study.snapshot import COUNTERS, NUMBERS, read_header, restore
from setwise.validation import counted

MAX_PROBLEMS = 20  # problems listed


@dataclasses.dataclass(frozen=True)
class Verification:
    """The outcome of a verification.

    rows, decisions, told, closed, late: their numbers in the journal
    recomputed: number of decisions recomputed from the state before them
    problems: one sentence each; empty if there are none
    """

    rows: int
    decisions: int
    told: int
    closed: int
    late: int
    recomputed: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as a dictionary for JSON."""
        return {**dataclasses.asdict(self), "ok": self.ok}

    def __str__(self) -> str:
        checked = (
            f"{counted(self.rows, 'row')}, {counted(self.decisions, 'decision')}, {self.told:,} told, "
            f"{self.recomputed:,} recomputed"
        )
        return "\n".join((f"{checked}: {'no problems' if self.ok else 'PROBLEMS FOUND'}", *self.problems))


def verify(study: Any, decisions: bool = True, progress: Callable[[float], None] | None = None) -> Verification:
    """Check digests, order, feedback, decisions, the state of this process, the snapshot, and the storage."""
    try:
        position = study._read(lambda replica: replica.position)
    except DamagedFile as error:
        return Verification(0, 0, 0, 0, 0, 0, (str(error),))
    replica: Replica | None = None
    sets: dict[str, tuple[list[int], set[str]]] = {}
    problems: list[str] = []
    recomputed = 0
    try:
        for page in study._rows(position):
            if replica is None:
                replica = Replica.of(Definition.from_json(body_of(page[0]), study.policy))
            if decisions:
                for row in page:
                    if row.kind == "ask":
                        recomputed += 1
                        problems += _recompute(replica, row)
                    problems += _check_decision(sets, row)
                    replica.apply([row])
            else:
                for row in page:
                    problems += _check_decision(sets, row)
                replica.apply(page, compiled=position > len(page))
            if progress is not None:
                progress(replica.position / position)
    except DamagedFile as error:
        problems.append(str(error))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        at = 0 if replica is None else replica.position
        problems.append(f"the journal is damaged: after position {at} it cannot be understood ({error})")
    if replica is not None and not problems:
        if replica.position < position:
            problems.append(
                f"the journal is damaged: it ends at position {replica.position}, but {position} was read before"
            )
        else:
            problems += study._read(lambda known: _compare(replica, known))
            problems += _check_snapshot(study, replica)
    try:
        problems += study._check()
    except StorageError as error:
        problems.append(str(error))
    known = replica if replica is not None else Replica.of(study._definition)
    more = [f"... and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else []
    return Verification(
        known.position,
        known.rounds,
        known.told,
        known.closed,
        known.late,
        recomputed,
        (*problems[:MAX_PROBLEMS], *more),
    )


def _recompute(replica: Replica, row: Row) -> list[str]:
    """Recompute a decision from the state before it."""
    body = body_of(row)
    try:
        arms = replica.select(body["round"], replica.mask_of(body.get("available")))
    except (InputError, IndexError) as error:
        return [f"position {row.position}: round {body['round']} cannot be recomputed: {error}"]
    if arms == body["arms"]:
        return []
    return [f"position {row.position}: round {body['round']} chose {body['arms']}, but a replay chooses {arms}"]


def _check_decision(sets: dict[str, tuple[list[int], set[str]]], row: Row) -> list[str]:
    """Check that a decision is asked once, then told once for its own arms, and late once, only after closing."""
    if row.decision is None:
        return []
    body = body_of(row)
    where = f"position {row.position}: decision {row.decision}"
    if row.kind == "ask":
        if row.decision in sets:
            return [f"{where} was asked twice"]
        sets[row.decision] = (body["arms"], set())
        return []
    if row.decision not in sets:
        return [f"{where} was told but never asked"]
    arms, seen = sets[row.decision]
    if row.kind in seen:
        return [f"{where} was told twice"]
    if row.kind == "late" and "closed" not in seen:
        return [f"{where} was told late but never closed"]
    if body["arms"] != arms:
        return [f"{where} was told for {body['arms']}, but it had {arms}"]
    seen.add(row.kind)
    if body.get("closed"):
        seen.add("closed")
    return []


def _compare(own: Replica, known: Replica) -> list[str]:
    """Compare a replayed state with another at the same position; no problems if the positions differ."""
    if own.digest != known.digest:
        return []
    problems = [
        f"{name} of the arms differs from the replayed journal"
        for name in COUNTERS
        if not np.array_equal(getattr(own, name), getattr(known, name))
    ]
    problems += [
        f"{name} is {getattr(known, name)}, but the replayed journal gives {getattr(own, name)}"
        for name in NUMBERS
        if getattr(own, name) != getattr(known, name)
    ]
    one, other = own.indices(), known.indices()
    if one is not None and other is not None and not np.array_equal(one, other):
        problems.append("the policy's indices differ from the replayed journal")
    return problems


def _check_snapshot(study: Any, replica: Replica) -> list[str]:
    """Compare the snapshot if it is of this position; one of a later position means that rows were lost."""
    data = study._snapshot()
    header = None if data is None else read_header(data)
    if data is None or header is None:
        return []
    later = header.get("position", 0) if isinstance(header, dict) else 0
    if later > study._read(lambda known: known.position):
        return [
            f"the journal ends at position {replica.position}, but a snapshot has {later}: rows at its end were lost"
        ]
    kept = Replica()
    if not restore(kept, replica.definition, data) or kept.digest != replica.digest:
        return []
    return [f"the snapshot: {problem}" for problem in _compare(replica, kept)]
