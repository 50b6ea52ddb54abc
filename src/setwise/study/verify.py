"""Does everything follow from the journal? Go through it from the beginning, and compare."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from setwise.errors import DamagedFile, InputError, StorageError
from setwise.study.definition import Definition
from setwise.study.fold import Fold
from setwise.study.journal import Row, body_of
from setwise.study.snapshot import COUNTERS, NUMBERS, read_header, restore

MOST = 20  # problems that are told


@dataclasses.dataclass(frozen=True)
class Verification:
    """What was found.

    rows, decisions, told, closed, late: how many there are in the journal
    remade: how many decisions were made again from what was known before them
    problems: what is wrong, in words; none if all is well
    """

    rows: int
    decisions: int
    told: int
    closed: int
    late: int
    remade: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """The findings as JSON can hold them."""
        return {**dataclasses.asdict(self), "ok": self.ok}

    def __str__(self) -> str:
        checked = f"{self.rows:,} rows, {self.decisions:,} decisions, {self.told:,} told, {self.remade:,} made again"
        return "\n".join((f"{checked}: {'all is well' if self.ok else 'NOT as it should be'}", *self.problems))


def verify(study: Any, decisions: bool = True, progress: Callable[[float], None] | None = None) -> Verification:
    """Check digests and order, that every decision was told once and about its own arms, and all that follows."""
    try:
        position = study.read(lambda fold: fold.position)
    except DamagedFile as error:
        return Verification(0, 0, 0, 0, 0, 0, (str(error),))
    fold: Fold | None = None
    sets: dict[str, tuple[list[int], set[str]]] = {}
    problems: list[str] = []
    remade = 0
    try:
        for page in study.rows(position):
            if fold is None:
                fold = Fold(Definition.from_json(body_of(page[0]), study.policy))
            if decisions:
                for row in page:
                    if row.kind == "ask":
                        remade += 1
                        problems += _remake(fold, row)
                    problems += _check_decision(sets, row)
                    fold.apply([row])
            else:
                for row in page:
                    problems += _check_decision(sets, row)
                fold.apply(page, compiled=position > len(page))
            if progress is not None:
                progress(fold.position / position)
    except DamagedFile as error:
        problems.append(str(error))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        at = 0 if fold is None else fold.position
        problems.append(f"the journal is damaged: after position {at} it cannot be understood ({error})")
    if fold is not None and not problems:
        if fold.position < position:
            problems.append(
                f"the journal is damaged: it ends at position {fold.position}, and {position} was read before"
            )
        else:
            problems += study.read(lambda known: _compare(fold, known))
            problems += _check_snapshot(study, fold)
    try:
        problems += study.check()
    except StorageError as error:
        problems.append(str(error))
    known = fold if fold is not None else Fold(study._definition)
    more = [f"... and {len(problems) - MOST} more"] if len(problems) > MOST else []
    return Verification(
        known.position, known.rounds, known.told, known.closed, known.late, remade, (*problems[:MOST], *more)
    )


def _remake(fold: Fold, row: Row) -> list[str]:
    """Decide again, from what was known then."""
    body = body_of(row)
    try:
        arms = fold.select(body["round"], fold.mask_of(body.get("available")))
    except (InputError, IndexError) as error:
        return [f"position {row.position}: round {body['round']} cannot be decided again: {error}"]
    if arms == body["arms"]:
        return []
    return [f"position {row.position}: round {body['round']} chose {body['arms']}, and would choose {arms} now"]


def _check_decision(sets: dict[str, tuple[list[int], set[str]]], row: Row) -> list[str]:
    """Every decision is asked once, then told once about its own arms, and late only once, after it was closed."""
    if row.decision is None:
        return []
    body = body_of(row)
    where = f"position {row.position}: decision {row.decision}"
    if row.kind == "ask":
        if row.decision in sets:
            return [f"{where} is there twice"]
        sets[row.decision] = (body["arms"], set())
        return []
    if row.decision not in sets:
        return [f"{where} was told and never asked for"]
    arms, seen = sets[row.decision]
    if row.kind in seen:
        return [f"{where} was told twice"]
    if row.kind == "late" and "closed" not in seen:
        return [f"{where} was told late, and never closed"]
    if body["arms"] != arms:
        return [f"{where} was told about {body['arms']} and had {arms}"]
    seen.add(row.kind)
    if body.get("closed"):
        seen.add("closed")
    return []


def _compare(own: Fold, known: Fold) -> list[str]:
    """Whether what is known in this process is what follows from the journal, if nobody has gone on since."""
    if own.digest != known.digest:
        return []
    problems = [
        f"{name} of the arms is not what follows from the journal"
        for name in COUNTERS
        if not np.array_equal(getattr(own, name), getattr(known, name))
    ]
    problems += [
        f"{name} is {getattr(known, name)}, and {getattr(own, name)} follows from the journal"
        for name in NUMBERS
        if getattr(own, name) != getattr(known, name)
    ]
    one, other = own.indices(), known.indices()
    if one is not None and other is not None and not np.array_equal(one, other):
        problems.append("the policy's indices are not what follows from the journal")
    return problems


def _check_snapshot(study: Any, fold: Fold) -> list[str]:
    """A snapshot of this very position has to hold the same; one of a later position says that rows were lost."""
    data = study.stored_snapshot()
    header = None if data is None else read_header(data)
    if data is None or header is None:
        return []
    later = header.get("position", 0) if isinstance(header, dict) else 0
    if later > study.read(lambda known: known.position):
        return [
            f"the journal ends at position {fold.position}, and a snapshot knows {later}: rows at its end were lost"
        ]
    kept = restore(fold.definition, data)
    if kept is None or kept.digest != fold.digest:
        return []
    return [f"the snapshot: {problem}" for problem in _compare(fold, kept)]
