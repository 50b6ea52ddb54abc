"""The storage interface, storage in memory, and addresses.

A storage holds the rows of journals in order; it knows nothing of bandits. Writers of a study are serialized: while a
transaction has it locked, nobody else appends to it. So positions are in the order of commits, and a reader that has
seen a position has seen all rows before it.
"""

import os
import re
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

from setwise.errors import DamagedFile, InputError, StorageError
from setwise.study.journal import Row
from setwise.validation import number, shown

SCHEMA = 1  # version of the tables
FULL, NORMAL = "full", "normal"


class LostError(StorageError):
    """The connection was lost; the last commit may or may not have arrived, and a retry may help."""


class DamagedStorage(StorageError, DamagedFile):
    """The database is damaged and cannot be read; no study in it can be used."""


class ExistsError(InputError):
    """A study of that name exists already."""


class StudyName(NamedTuple):
    """A study in a storage: its key, its name, and the time of its creation in microseconds."""

    key: int
    name: str
    created: int


class Storage(Protocol):
    """An open storage. Not thread-safe: one thread at a time, inside a transaction except for `check` and `close`.

    address: without the password
    direct: whether a transaction is free, so that each caller runs its own; otherwise a writer thread groups them
    identity: distinguishes a file from one that replaced it; None if the address suffices
    """

    address: str
    direct: bool
    identity: Any

    def transaction(self, write: bool) -> AbstractContextManager[None]:
        """Commit durably at the end, roll back on an exception; wait for other writers if `write`."""

    def lock(self, key: int) -> None:
        """Lock a study against other writers until the transaction ends; raise InputError if it was deleted."""

    def now(self) -> int:
        """Return the time in microseconds."""

    def studies(self) -> list[StudyName]:
        """Return all studies, sorted by name."""

    def create(self, name: str, rows: Sequence[Row]) -> int:
        """Create a study with its first rows and return its key; raise ExistsError if the name is taken."""

    def delete(self, key: int) -> None:
        """Delete a study with its journal and snapshot."""

    def append(self, key: int, rows: Sequence[Row]) -> None:
        """Append rows to a journal; raise StorageError if a position is taken."""

    def rows(self, key: int, after: int, limit: int) -> list[Row]:
        """Return the next rows after a position."""

    def of_decision(self, key: int, decision: str) -> list[Row]:
        """Return all rows of a decision, in order."""

    def snapshot(self, key: int) -> bytes | None:
        """Return the stored snapshot, if any."""

    def save_snapshot(self, key: int, data: bytes | None) -> None:
        """Replace the stored snapshot; None deletes it."""

    def check(self) -> list[str]:
        """Return the problems of the storage itself. Thread-safe; call it outside a transaction."""

    def close(self) -> None:
        """Close all connections, outside a transaction; the next transaction reopens them."""


class Transaction:
    """Begins a transaction, and commits it at the end or rolls it back. A generator would take twice as long."""

    __slots__ = ("_storage", "_write")

    def __init__(self, storage: "Transactional", write: bool) -> None:
        self._storage, self._write = storage, write

    def __enter__(self) -> None:
        self._storage._begin(self._write)

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is None:
            self._storage._commit()
        else:
            self._storage._rollback()


class Transactional:
    """A storage that begins, commits and rolls back by methods of its own."""

    def transaction(self, write: bool) -> Transaction:
        return Transaction(self, write)

    def _begin(self, write: bool) -> None:
        raise NotImplementedError

    def _commit(self) -> None:
        raise NotImplementedError

    def _rollback(self) -> None:
        raise NotImplementedError


class Memory(Transactional):
    """Journals in memory, for tests and notebooks."""

    def __init__(self) -> None:
        self.address = "memory"
        self.direct = True
        self.identity = None
        self._studies: dict[int, StudyName] = {}
        self._journals: dict[int, list[Row]] = {}
        self._decisions: dict[int, dict[str, list[Row]]] = {}
        self._snapshots: dict[int, bytes] = {}
        self._keys = 0
        self._new: list[tuple[int, Row]] = []

    def _begin(self, write: bool) -> None:
        self._new.clear()

    def lock(self, key: int) -> None:
        if key not in self._journals:
            raise InputError("the study was deleted")

    def _commit(self) -> None:
        for key, row in self._new:
            self._journals[key].append(row)
            if row.decision is not None:
                self._decisions[key].setdefault(row.decision, []).append(row)
        self._new.clear()

    def _rollback(self) -> None:
        self._new.clear()

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

    def check(self) -> list[str]:
        return []

    def close(self) -> None:
        pass


def check_timeout(timeout: object) -> float:
    """Return a timeout in seconds; raise InputError unless it is above 0 and at most 1e6."""
    seconds = number("timeout", timeout)
    if not 0.0 < seconds <= 1e6:
        raise InputError(f"timeout is {shown(timeout)}; it is a number of seconds above 0, up to 1e6")
    return seconds


def absolute(address: "str | Storage") -> "str | Storage":
    """Make the path of a file absolute, so that a change of the working directory does not matter."""
    if isinstance(address, str) and address.startswith("sqlite:///"):
        return "sqlite:///" + os.path.abspath(address.removeprefix("sqlite:///"))
    return address


def check_durability(durability: str) -> str:
    """Return "full" (answers survive a power loss) or "normal" (only a process crash); raise InputError otherwise."""
    if durability not in (FULL, NORMAL):
        raise InputError(f"durability is {shown(durability)}; it can be 'full' or 'normal'")
    return durability


def scheme_of(address: object) -> str:
    """Return "sqlite" or "postgresql"; raise InputError for any other address."""
    how = "write sqlite:///shop.db or postgresql://user@host/database"
    if not isinstance(address, str) or not address:
        raise InputError(f"the address is {shown(address)}; {how}")
    scheme, separator, rest = address.partition("://")
    if not separator:
        if re.fullmatch(r"[\w./ -]+", address):
            raise InputError(f"the address {shown(address)} has no scheme; write sqlite:///{address} for a file")
        raise InputError(f"the address has no scheme; {how}")  # not shown, since it may contain a password
    if scheme in ("postgresql", "postgres"):
        return "postgresql"
    if scheme == "sqlite":
        if rest == "/:memory:":
            raise InputError("the address 'sqlite:///:memory:' is no file; `Study.memory` makes a study in memory")
        if "\0" in rest:
            raise InputError(f"the address {shown(address)} has a NUL character in it; leave it out")
        if not rest.startswith("/") or len(rest) < 2:
            raise InputError(
                f"the address {shown(address)} has no file; write sqlite:///shop.db, or sqlite:////var/shop.db for a "
                "path that begins with /"
            )
        return "sqlite"
    raise InputError(
        f"the address {shown(without_password(address))} has the scheme {scheme!r}; it can be sqlite or postgresql"
    )


def without_password(address: str) -> str:
    """Mask the password of an address: all between the first colon and the last @, and password parameters.

    >>> without_password("postgresql://shop:se/c@ret@db.example/shop?password=other")
    'postgresql://shop:***@db.example/shop?password=***'
    """
    scheme, separator, rest = address.partition("://")
    who, at, where = rest.rpartition("@")
    user, colon, _ = who.partition(":")
    shown_user = f"{user}:***" if colon else user
    if not at and scheme != "sqlite":  # the @ may be missing by mistake
        where = re.sub(r"^([^:/?#]*):(?!\d*([/?#]|$))[^?]*", r"\1:***", where)
    return re.sub(r"(pass\w*=)[^&]*", r"\1***", f"{scheme}{separator}{shown_user}{at}{where}", flags=re.IGNORECASE)


def passwords_in(address: str) -> list[str]:
    """Return all possible passwords in an address, both as written and percent-decoded."""
    found = re.findall(r"pass\w*=([^&]*)", address, re.IGNORECASE)
    rest = address.partition("://")[2]
    found.append((rest.rpartition("@")[0] or rest).partition(":")[2])
    return [piece for word in found for text in (word, unquote(word)) for piece in re.split("[@/:?#]", text) if piece]


def version_of(text: object, place: str) -> int:
    """Parse the stored version of the tables; raise DamagedStorage if it is not a number."""
    if not isinstance(text, str) or not text.isdecimal():
        raise DamagedStorage(f"{place} is damaged: the version of its tables is {shown(text)}")
    return int(text)


def open_storage(address: str, durability: str, timeout: float, create: bool) -> Storage:
    """Open the storage at an address; `create` allows a new one."""
    if scheme_of(address) == "sqlite":
        from setwise.study.sqlite import SQLite

        return SQLite(address, durability, timeout, create)
    from setwise.study.postgresql import PostgreSQL

    return PostgreSQL(address, durability, timeout, create)
