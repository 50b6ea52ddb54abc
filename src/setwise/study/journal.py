"""The journal: what happened in a study, in order. Everything else follows from it.

A row has a position (1, 2, ... without a hole), a kind, the decision it is about, a time, a body in JSON, and a digest
of itself and of the digest before it. So one digest stands for all that was written up to there.

    kind      body
    create    the definition of the study (`definition.py`)
    arms      {"add": [names], "status": "active" or "pending"}, or {"set": [arm numbers], "status": ...}
    ask       {"round": t, "arms": [numbers]}, and "available": runs of numbers, if only some could be chosen
    tell      {"arms": [numbers], "rewards": [numbers]}, and "closed": true, if the window closed it with zeros
    late      {"arms": [numbers], "rewards": [numbers]}: told after the window had closed the decision; not learned

Times are microseconds since 1970 (UTC), and never go back within a journal.
"""

import hashlib
import json
import os
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from setwise.errors import DamagedFile

START = bytes(16)  # the digest before the first row


_encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def to_text(body: dict[str, Any]) -> str:
    """A body as it is kept; those of sets, which are most, are written faster than JSON's own way, and the same.

    >>> to_text({"round": 7, "arms": [0, 2]}), to_text({"arms": [0, 2], "rewards": [1, 0.5]})
    ('{"round":7,"arms":[0,2]}', '{"arms":[0,2],"rewards":[1,0.5]}')
    """
    keys = tuple(body)
    if keys == ("round", "arms"):
        return f'{{"round":{body["round"]},"arms":[{",".join(map(repr, body["arms"]))}]}}'
    if keys == ("arms", "rewards"):
        arms, rewards = (",".join(map(repr, body[key])) for key in keys)
        return f'{{"arms":[{arms}],"rewards":[{rewards}]}}'
    return _encoder.encode(body)


class Row(NamedTuple):
    """One entry of a journal."""

    position: int
    kind: str
    decision: str | None
    time: int
    body: str
    digest: bytes


def digest_of(before: bytes, position: int, kind: str, decision: str | None, time: int, body: str) -> bytes:
    """The digest of a row."""
    text = f"{position}\n{kind}\n{decision or ''}\n{time}\n{body}"
    return hashlib.blake2b(text.encode(), digest_size=16, key=before).digest()


def new_row(after: int, before: bytes, kind: str, decision: str | None, time: int, body: dict[str, Any]) -> Row:
    """The row that follows a position and its digest."""
    text = to_text(body)
    position = after + 1
    return Row(position, kind, decision, time, text, digest_of(before, position, kind, decision, time, text))


def first_row(definition: dict[str, Any], time: int) -> Row:
    """The row that a journal begins with."""
    return new_row(0, START, "create", None, time, definition)


def check_row(row: Row, after: int, before: bytes) -> None:
    """Refuse a row that does not follow."""
    if row.position != after + 1:
        raise DamagedFile(f"the journal is damaged: position {after + 1} is missing, the next one is {row.position}")
    if row.digest != digest_of(before, row.position, row.kind, row.decision, row.time, row.body):
        raise DamagedFile(f"the journal is damaged: position {row.position} is not as it was written")


def body_of(row: Row) -> dict[str, Any]:
    """What a row says."""
    found: dict[str, Any] = json.loads(row.body)
    return found


def new_id() -> str:
    """A name for a decision that nobody can guess: 12 digits of the time, so that it sorts well, and 80 random bits."""
    return f"{time.time_ns() // 1_000_000 & 0xFFFFFFFFFFFF:012x}{os.urandom(10).hex()}"


def to_runs(numbers: Sequence[int]) -> list[list[int]]:
    """Rising numbers as runs: first and length of each.

    >>> to_runs([0, 1, 2, 7]), from_runs([[0, 3], [7, 1]])
    ([[0, 3], [7, 1]], [0, 1, 2, 7])
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][0] + runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return runs


def from_runs(runs: Sequence[Sequence[int]]) -> list[int]:
    """The numbers that runs stand for."""
    return [number for first, length in runs for number in range(first, first + length)]
