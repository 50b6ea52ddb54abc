"""Journals in memory: for tests and notebooks, and gone with the process."""

import time
from collections.abc import Iterator, Sequence

from setwise.errors import InputError, StorageError
from setwise.study.journal import Row
from setwise.study.storage import ExistsError, StudyName


class Memory:
    """Journals in lists."""

    def __init__(self) -> None:
        self.address = "memory"
        self._studies: dict[int, StudyName] = {}
        self._journals: dict[int, list[Row]] = {}
        self._decisions: dict[int, dict[str, list[Row]]] = {}
        self._snapshots: dict[int, bytes] = {}
        self._keys = 0
        self._new: list[tuple[int, Row]] = []

    def begin(self, write: bool) -> None:
        self._new = []

    def lock(self, key: int) -> None:
        if key not in self._journals:
            raise InputError("the study was deleted")

    def commit(self) -> None:
        for key, row in self._new:
            self._journals[key].append(row)
            if row.decision is not None:
                self._decisions[key].setdefault(row.decision, []).append(row)
        self._new = []

    def rollback(self) -> None:
        self._new = []

    def now(self) -> int:
        return time.time_ns() // 1000

    def studies(self) -> list[StudyName]:
        return sorted(self._studies.values(), key=lambda study: study.name)

    def create(self, name: str, rows: Sequence[Row]) -> int:
        if any(study.name == name for study in self._studies.values()):
            raise ExistsError(f"there is a study {name!r} in memory already; open it, or give another name")
        self._keys += 1
        self._studies[self._keys] = StudyName(self._keys, name, rows[0].time)
        self._journals[self._keys] = []
        self._decisions[self._keys] = {}
        self.append(self._keys, rows)
        return self._keys

    def delete(self, key: int) -> None:
        for part in (self._studies, self._journals, self._decisions, self._snapshots):
            part.pop(key, None)

    def append(self, key: int, rows: Sequence[Row]) -> None:
        taken = len(self._journals[key]) + sum(other == key for other, _ in self._new)
        if rows[0].position != taken + 1:
            raise StorageError(f"position {rows[0].position} of the journal is taken, or others before it are missing")
        self._new += [(key, row) for row in rows]

    def rows(self, key: int, after: int, limit: int) -> list[Row]:
        self.lock(key)
        return self._journals[key][after : after + limit]

    def of_decision(self, key: int, decision: str) -> list[Row]:
        return list(self._decisions[key].get(decision, ()))

    def snapshot(self, key: int) -> bytes | None:
        return self._snapshots.get(key)

    def save_snapshot(self, key: int, data: bytes | None) -> None:
        if data is None:
            self._snapshots.pop(key, None)
        else:
            self._snapshots[key] = data

    def pages(self, key: int, after: int, until: int, size: int = 10_000) -> Iterator[list[Row]]:
        for start in range(after, until, size):
            yield self.rows(key, start, min(size, until - start))

    def check(self) -> list[str]:
        return []

    def close(self) -> None:
        pass
