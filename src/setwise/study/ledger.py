"""One study as one process knows it: its fold, kept up with the journal, and saved as a snapshot now and then."""

from typing import Any

from setwise.study.definition import Definition
from setwise.study.fold import MANY, Fold
from setwise.study.journal import START, Row, body_of, check_row
from setwise.study.snapshot import restore, take_snapshot
from setwise.study.storage import Storage
from setwise.types import InputError

PAGE = 100_000  # rows that are read at a time
EVERY = 10_000  # rows between two snapshots, at the least
WORTH = 1_000  # bytes of a snapshot that are worth going through one more row


class Ledger:
    """What a process knows of one study. Only used inside a transaction of its storage."""

    def __init__(self, storage: Storage, key: int, policy: Any = None) -> None:
        self.storage = storage
        self.key = key
        self.policy = policy
        self._fold: Fold | None = None
        self.deleted = False
        self._saved = 0
        self._size = 0

    def fold(self) -> Fold:
        """What is known, up to the end of the journal."""
        if self._fold is None:
            self._fold = self._open()
        while True:
            known = self._fold.position
            rows = self.storage.rows(self.key, max(0, known - 1), PAGE)
            if known and (not rows or rows[0].digest != self._fold.digest):  # another journal, as from a copy, or none
                self._fold = self._open()
                continue
            new = rows[1:] if known else rows
            try:
                if new:
                    self._fold.apply(new, compiled=len(new) >= MANY)
            except BaseException:
                self._fold = None  # it is neither here nor there
                raise
            if len(rows) < PAGE:
                return self._fold

    def current(self) -> Fold:
        """What is known, after `fold` in the same transaction."""
        if self.deleted or self._fold is None:
            raise InputError("the study was deleted")
        return self._fold

    def is_open(self) -> bool:
        """Whether anything is known."""
        return self._fold is not None

    def _open(self) -> Fold:
        """The fold at the last snapshot that fits the journal, or at its beginning."""
        first = self.storage.rows(self.key, 0, 1)
        if not first:
            raise InputError("the study was deleted")
        check_row(first[0], 0, START)
        definition = Definition.from_json(body_of(first[0]), self.policy)
        data = self.storage.snapshot(self.key)
        fold = None if data is None else restore(definition, data)
        if fold is not None and self._fits(fold):
            self._saved, self._size = fold.position, len(data or b"")
            return fold
        self._saved, self._size = 0, 0
        return Fold(definition)

    def _fits(self, fold: Fold) -> bool:
        """Whether a snapshot is of this journal: the digest at its position stands for all that was before it."""
        found: list[Row] = self.storage.rows(self.key, fold.position - 1, 1)
        return bool(found) and found[0].position == fold.position and found[0].digest == fold.digest

    def store(self) -> None:
        """Append what was written since the last time to the journal."""
        fold = self._fold
        if fold is not None and fold.written and not self.deleted:
            self.storage.append(self.key, fold.written)
            fold.written = []

    def settle(self) -> None:
        """What was stored is committed."""
        if self._fold is not None:
            self._fold.unsettled = False

    def undo(self) -> None:
        """The transaction came to nothing: forget what is known, if any of it was written in there."""
        self.deleted = False
        if self._fold is not None and self._fold.unsettled:
            self._fold = None

    def discard(self) -> None:
        """Forget everything."""
        self._fold = None

    def wants_snapshot(self, at_least: int | None = None) -> bool:
        """Whether going through the rows since the last snapshot would cost more than a new one."""
        fold = self._fold
        least = max(EVERY if at_least is None else at_least, self._size // WORTH)
        return fold is not None and fold.position - self._saved >= least

    def save(self) -> None:
        """Keep a snapshot."""
        fold = self._fold
        if fold is None:
            return
        data = take_snapshot(fold)
        self._saved = fold.position
        if data is not None:
            self._size = len(data)
            self.storage.save_snapshot(self.key, data)
