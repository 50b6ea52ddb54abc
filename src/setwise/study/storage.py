"""Where journals are kept: what a storage does, and how one is found by its address.

A storage keeps rows in order and hands them out; it knows nothing of bandits. Writers of one study go one after the
other: between `begin` and `commit` nobody else appends to any study that is locked. So positions are in the order of
their commits, and whoever has read up to one has missed nothing.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

from setwise.declare import number, shown
from setwise.errors import DamagedFile, InputError, StorageError
from setwise.study.journal import Row

SCHEMA = 1  # the version of the tables
FULL, NORMAL = "full", "normal"


class LostError(StorageError):
    """A connection was lost: whether the last commit arrived is not known, and asking again may help."""


class DamagedStorage(StorageError, DamagedFile):
    """A database that cannot be read for damage: no study in it can be used."""


class ExistsError(InputError):
    """A study of that name is there already."""


class StudyName(NamedTuple):
    """A study in a storage: its key there, its name, and when it was created, in microseconds."""

    key: int
    name: str
    created: int


class Storage(Protocol):
    """One open storage; one thread at a time uses it, but for `pages`. Before a process forks, it is closed."""

    address: str  # as it may be shown: without a password

    def begin(self, write: bool) -> None:
        """Begin a transaction; one that writes waits for those of others."""

    def lock(self, key: int) -> None:
        """Let nobody else append to a study until the transaction ends; refuse one that is gone. Only if it writes."""

    def commit(self) -> None:
        """Make all that was done durable."""

    def rollback(self) -> None:
        """Undo it."""

    def now(self) -> int:
        """The time in microseconds."""

    def studies(self) -> list[StudyName]:
        """All studies by name."""

    def create(self, name: str, rows: Sequence[Row]) -> int:
        """Begin a journal; return the key of the study. An `ExistsError` if the name is taken."""

    def delete(self, key: int) -> None:
        """Forget a study and all that belongs to it."""

    def append(self, key: int, rows: Sequence[Row]) -> None:
        """Add rows to a journal."""

    def rows(self, key: int, after: int, limit: int) -> list[Row]:
        """The next rows after a position."""

    def of_decision(self, key: int, decision: str) -> list[Row]:
        """All rows about a decision."""

    def snapshot(self, key: int) -> bytes | None:
        """The snapshot that is kept, if any."""

    def save_snapshot(self, key: int, data: bytes | None) -> None:
        """Keep this snapshot instead of the one before; None for none."""

    def pages(self, key: int, after: int, until: int, size: int = 10_000) -> Iterator[list[Row]]:
        """All rows between two positions, some at a time; from any thread, in no transaction."""

    def check(self) -> list[str]:
        """What is wrong with the storage itself, as far as it can tell; from any thread, in no transaction."""

    def close(self) -> None:
        """Let go of all connections, in no transaction; `begin` and `pages` make them again."""


def check_timeout(timeout: object) -> float:
    """The seconds to wait, if they are a number that can be waited for."""
    seconds = number("timeout", timeout)
    if not 0.0 < seconds <= 1e6:
        raise InputError(f"timeout is {shown(timeout)}; it is a number of seconds above 0, up to 1e6")
    return seconds


def absolute(address: "str | Storage") -> "str | Storage":
    """The address with the whole path of a file, so that it stays the same wherever the process goes."""
    if isinstance(address, str) and address.startswith("sqlite:///"):
        return "sqlite:///" + os.path.abspath(address.removeprefix("sqlite:///"))
    return address


def check_durability(durability: str) -> str:
    """`full`: what was answered survives a loss of power; `normal`: it survives the process, but not always that."""
    if durability not in (FULL, NORMAL):
        raise InputError(f"durability is {shown(durability)}; it can be 'full' or 'normal'")
    return durability


def scheme_of(address: object) -> str:
    """The scheme of an address, if it is one that is known."""
    how = "write sqlite:///shop.db or postgresql://user@host/database"
    if not isinstance(address, str) or not address:
        raise InputError(f"the address is {shown(address)}; {how}")
    scheme, separator, rest = address.partition("://")
    if not separator:
        if re.fullmatch(r"[\w./ -]+", address):
            raise InputError(f"the address {shown(address)} has no scheme; write sqlite:///{address} for a file")
        raise InputError(f"the address has no scheme; {how}")  # it may have a password in it, so it is not shown
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
    """The address as it may be shown; whatever stands between the first colon and the last @ may be a password.

    >>> without_password("postgresql://shop:se/c@ret@db.example/shop?password=other")
    'postgresql://shop:***@db.example/shop?password=***'
    """
    scheme, separator, rest = address.partition("://")
    who, at, where = rest.rpartition("@")
    user, colon, _ = who.partition(":")
    shown_user = f"{user}:***" if colon else user
    if not at and scheme != "sqlite":  # it may have been forgotten
        where = re.sub(r"^([^:/?#]*):(?!\d*([/?#]|$))[^?]*", r"\1:***", where)
    return re.sub(r"(pass\w*=)[^&]*", r"\1***", f"{scheme}{separator}{shown_user}{at}{where}", flags=re.IGNORECASE)


def passwords_in(address: str) -> list[str]:
    """All that an address may have for a password, as it is written and as it is meant."""
    found = re.findall(r"pass\w*=([^&]*)", address, re.IGNORECASE)
    rest = address.partition("://")[2]
    found.append((rest.rpartition("@")[0] or rest).partition(":")[2])
    return [piece for word in found for text in (word, unquote(word)) for piece in re.split("[@/:?#]", text) if piece]


def paged(fetch: Callable[[int], list[tuple[Any, ...]]], after: int, until: int) -> Iterator[list[Row]]:
    """All rows between two positions, as `fetch` gives the next ones after a position."""
    while after < until:
        found = fetch(after)
        if not found:
            return
        yield [Row(*row) for row in found]
        after = found[-1][0]


def version_of(text: object, place: str) -> int:
    """The version of the tables, as they say themselves."""
    if not isinstance(text, str) or not text.isdecimal():
        raise DamagedStorage(f"{place} is damaged: the version of its tables is {shown(text)}")
    return int(text)


def open_storage(address: str, durability: str, timeout: float, create: bool) -> Storage:
    """The storage at an address; a new one is made only if asked for."""
    if scheme_of(address) == "sqlite":
        from setwise.study.sqlite import SQLite

        return SQLite(address, durability, timeout, create)
    from setwise.study.postgresql import PostgreSQL

    return PostgreSQL(address, durability, timeout, create)
