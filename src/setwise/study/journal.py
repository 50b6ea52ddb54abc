"""The journal: the events of a study, in order. Everything else is derived from it.

A row has a position (1, 2, ... without gaps), a kind, the id of its decision, a time, a JSON body, and a digest of
itself and the digest before it. So one digest covers all rows up to its own.

    kind      body
    create    the definition of the study (`definition.py`)
    arms      {"add": [names], "status": "active" or "pending"}, or {"set": [arm numbers], "status": ...}
    ask       {"round": t, "arms": [numbers]}, with "available": runs of numbers, if the caller restricted the arms
    tell      {"arms": [numbers], "rewards": [numbers]}, with "closed": true, if the window closed it with zeros
    late      {"arms": [numbers], "rewards": [numbers]}: feedback after the window closed the decision; not learned

Times are microseconds since 1970 (UTC) and never decrease within a journal.
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
    """Encode a body as compact JSON; the two most frequent kinds by hand, which is faster and gives the same text.

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
    """Return the digest of a row; `before` is the digest of the row before it."""
    text = f"{position}\n{kind}\n{decision or ''}\n{time}\n{body}"
    return hashlib.blake2b(text.encode(), digest_size=16, key=before).digest()


def new_row(after: int, before: bytes, kind: str, decision: str | None, time: int, body: dict[str, Any]) -> Row:
    """Return the row that follows position `after` with digest `before`."""
    text = to_text(body)
    position = after + 1
    return Row(position, kind, decision, time, text, digest_of(before, position, kind, decision, time, text))


def first_row(definition: dict[str, Any], time: int) -> Row:
    """Return the first row of a journal."""
    return new_row(0, START, "create", None, time, definition)


def check_row(row: Row, after: int, before: bytes) -> None:
    """Raise DamagedFile if a row does not follow position `after` with digest `before`."""
    if row.position != after + 1:
        raise DamagedFile(f"the journal is damaged: position {after + 1} is missing, the next one is {row.position}")
    if row.digest != digest_of(before, row.position, row.kind, row.decision, row.time, row.body):
        raise DamagedFile(f"the journal is damaged: position {row.position} does not match its digest")


def body_of(row: Row) -> dict[str, Any]:
    """Decode the body of a row."""
    found: dict[str, Any] = json.loads(row.body)
    return found


def new_id() -> str:
    """Return an unguessable id for a decision: 12 hex digits of the time, so that ids sort, then 80 random bits."""
    return f"{time.time_ns() // 1_000_000 & 0xFFFFFFFFFFFF:012x}{os.urandom(10).hex()}"


def to_runs(numbers: Sequence[int]) -> list[list[int]]:
    """Encode increasing numbers as runs [first, length].

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
    """Decode runs to numbers."""
    return [number for first, length in runs for number in range(first, first + length)]
