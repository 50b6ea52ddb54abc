"""Journals in a SQLite file: WAL mode, one writer at a time, many processes.

Writers and checkpoints hold a lock on a file beside the database. So a writer waits in the kernel, without polling, and
no commit races with a checkpoint of another connection, which in SQLite 3.7.0 to 3.51.2 can, very rarely, lose the
commit (the WAL-reset bug, sqlite.org/wal.html). Windows has no such locks; there SQLite's own are used.
"""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from setwise.errors import InputError, StorageError
from setwise.study.journal import Row
from setwise.study.storage import FULL, SCHEMA, DamagedStorage, ExistsError, StudyName, Transactional, version_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

CHECKPOINT_PAGES = 1000  # WAL pages after which a commit runs a checkpoint, still under the lock
DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError, OverflowError)  # the last two from damaged text or numbers
COLUMNS = "position, kind, decision, time, body, digest"
# Without INDEXED BY, SQLite scans the whole study.
OF_DECISION = (
    f"SELECT {COLUMNS} FROM setwise_journal INDEXED BY setwise_journal_decisions WHERE study = ? AND decision = ?"
)
INSERT = f"INSERT INTO setwise_journal (study, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
TABLES = """
CREATE TABLE IF NOT EXISTS setwise_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS setwise_studies (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, created INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS setwise_journal (
    study INTEGER NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL, decision TEXT, time INTEGER NOT NULL,
    body TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (study, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS setwise_journal_decisions ON setwise_journal (study, decision, kind)
    WHERE decision IS NOT NULL;
CREATE TABLE IF NOT EXISTS setwise_snapshots (study INTEGER PRIMARY KEY, data BLOB NOT NULL);
"""


class SQLite(Transactional):
    """A storage in a database file."""

    def __init__(self, address: str, durability: str, timeout: float, create: bool) -> None:
        self.address = address
        self.direct = False
        self.path = os.path.realpath(address.removeprefix("sqlite:///"))
        self.timeout = timeout
        self._durability = durability
        if not create and not os.path.exists(self.path):
            raise InputError(f"there is no file {self.path}; create a study first (`setwise study create`)")
        folder = os.path.dirname(self.path)
        if not os.path.isdir(folder):
            raise InputError(f"there is no folder {folder} for the file {os.path.basename(self.path)}; make it first")
        if os.path.isdir(self.path):
            raise InputError(f"{self.path} is a folder; give the name of a file")
        self._lock: int | None = None
        self._reading = threading.Lock()
        self._open: sqlite3.Connection | None = None
        try:
            with self._translate_errors():
                self._open = self._connect(CHECKPOINT_PAGES, "rwc" if create else "rw")
                self._prepare(create)
        except BaseException:
            self.close()
            raise
        found = os.stat(self.path)
        self.identity = (found.st_dev, found.st_ino)

    @property
    def _connection(self) -> sqlite3.Connection:
        """The writer's connection; reopened if it was closed."""
        if self._open is None:
            self._open = self._connect(CHECKPOINT_PAGES, "rw")
        return self._open

    def _connect(self, checkpoint: int, mode: str) -> sqlite3.Connection:
        """Open a connection whose commits run a checkpoint at that number of WAL pages; never if 0."""
        connection = sqlite3.connect(
            f"file:{quote(self.path)}?mode={mode}",
            uri=True,
            timeout=self.timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
        )
        try:
            connection.execute(f"PRAGMA wal_autocheckpoint = {checkpoint}")
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._durability == FULL else 'NORMAL'}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, create: bool) -> None:
        """Turn on WAL and create the tables if there are none, one process at a time."""
        self._connection.execute("PRAGMA schema_version")  # raises if the file is not a database
        version = self._version()
        if version is None and not create:
            raise InputError(f"{self.path} has no studies in it; create one first (`setwise study create`)")
        if version == SCHEMA and self._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            return
        self._acquire_lock(time.monotonic() + self.timeout)
        try:
            for attempt in range(100):
                try:
                    self._connection.execute("PRAGMA journal_mode = WAL")
                    break
                except sqlite3.OperationalError as error:
                    if attempt == 99 or "locked" not in str(error):
                        raise
                    time.sleep(0.05)  # turning WAL on ignores the busy timeout
            version = self._version()
            if version is None:
                self._connection.execute("BEGIN IMMEDIATE")
                for statement in TABLES.split(";"):
                    self._connection.execute(statement)
                self._connection.execute("INSERT OR IGNORE INTO setwise_meta VALUES ('schema', ?)", (str(SCHEMA),))
                self._connection.execute("COMMIT")
            elif version > SCHEMA:
                raise InputError(
                    f"{self.path} was written by a newer version of Setwise (its tables are of version {version}, "
                    f"known here is {SCHEMA}): upgrade Setwise"
                )
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._release_lock()

    def _version(self) -> int | None:
        tables = self._connection.execute(
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'setwise_meta'"
        ).fetchone()
        if not tables[0]:
            return None
        found = self._connection.execute("SELECT value FROM setwise_meta WHERE key = 'schema'").fetchone()
        return None if found is None else version_of(found[0], self.path)

    def _acquire_lock(self, deadline: float | None = None) -> None:
        """Wait until no other process writes: in the kernel, or by polling if there is a deadline."""
        if fcntl is None:
            return
        if self._lock is None:
            self._lock = self._open_lock()
        while deadline is not None:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise StorageError(locked(self.path, self.timeout)) from None
                time.sleep(0.01)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as error:
            raise StorageError(f"{self.path} cannot be locked: {error.strerror}") from None

    def _open_lock(self) -> int:
        """Open the lock file, creating it with the permissions of the database."""
        path = f"{self.path}-lock"
        try:
            with contextlib.suppress(FileExistsError):
                made = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
                os.fchmod(made, os.stat(self.path).st_mode & 0o666)
                os.close(made)
            return os.open(path, os.O_RDONLY)
        except OSError as error:
            raise StorageError(f"{self.path} cannot be written: {error.strerror}; {path} is needed") from None

    def _release_lock(self) -> None:
        if fcntl is not None and self._lock is not None:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except DATABASE_ERRORS as error:
            raise explain(error, self.path, self.timeout) from None

    def _begin(self, write: bool) -> None:
        if write:
            self._acquire_lock()
        try:
            self._connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        except DATABASE_ERRORS as error:
            self._release_lock()
            raise explain(error, self.path, self.timeout) from None

    def lock(self, key: int) -> None:
        if not self._query("SELECT 1 FROM setwise_studies WHERE id = ?", key):
            raise InputError("the study was deleted")

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except DATABASE_ERRORS as error:
            self._rollback()
            raise explain(error, self.path, self.timeout) from None
        self._release_lock()

    def _rollback(self) -> None:
        try:
            if self._open is not None and self._open.in_transaction:
                with contextlib.suppress(*DATABASE_ERRORS):
                    self._open.execute("ROLLBACK")
        finally:
            self._release_lock()

    def now(self) -> int:
        return time.time_ns() // 1000

    def studies(self) -> list[StudyName]:
        rows = self._query("SELECT id, name, created FROM setwise_studies ORDER BY name")
        return [StudyName(key, str(name), created) for key, name, created in rows]

    def create(self, name: str, rows: Sequence[Row]) -> int:
        try:
            made = self._connection.execute(
                "INSERT INTO setwise_studies (name, created) VALUES (?, ?)", (name, rows[0].time)
            )
        except sqlite3.IntegrityError:
            raise ExistsError(
                f"there is a study {name!r} in {self.path} already; open it, or give another name"
            ) from None
        except DATABASE_ERRORS as error:
            raise explain(error, self.path, self.timeout) from None
        key = int(made.lastrowid or 0)
        self.append(key, rows)
        return key

    def delete(self, key: int) -> None:
        for table, column in (("snapshots", "study"), ("journal", "study"), ("studies", "id")):
            self._query(f"DELETE FROM setwise_{table} WHERE {column} = ?", key)

    def append(self, key: int, rows: Sequence[Row]) -> None:
        try:
            self._connection.executemany(INSERT, [(key, *row) for row in rows])
        except DATABASE_ERRORS as error:
            raise explain(error, self.path, self.timeout) from None

    def rows(self, key: int, after: int, limit: int) -> list[Row]:
        return self._rows("position > ? ORDER BY position LIMIT ?", key, after, limit)

    def of_decision(self, key: int, decision: str) -> list[Row]:
        found = self._query(OF_DECISION, key, decision)
        return sorted(Row(*row) for row in found)

    def snapshot(self, key: int) -> bytes | None:
        found = self._query("SELECT data FROM setwise_snapshots WHERE study = ?", key)
        return found[0][0] if found and isinstance(found[0][0], bytes) else None

    def save_snapshot(self, key: int, data: bytes | None) -> None:
        if data is None:
            self._query("DELETE FROM setwise_snapshots WHERE study = ?", key)
        else:
            self._query("INSERT OR REPLACE INTO setwise_snapshots (study, data) VALUES (?, ?)", key, data)

    def check(self) -> list[str]:
        """Check all pages and that the index of decisions agrees with the journal."""
        with self._reading, self._translate_errors(), contextlib.closing(self._connect(0, "rw")) as connection:
            found = connection.execute("PRAGMA integrity_check(10)").fetchall()
        return [f"{self.path} is damaged: {line}" for (line,) in found if line != "ok"]

    def _rows(self, where: str, key: int, *values: Any) -> list[Row]:
        found = self._query(f"SELECT {COLUMNS} FROM setwise_journal WHERE study = ? AND {where}", key, *values)
        return [Row(*row) for row in found]

    def _query(self, statement: str, *values: Any) -> list[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except DATABASE_ERRORS as error:
            raise explain(error, self.path, self.timeout) from None

    def close(self) -> None:
        """Run a checkpoint, unless another process is writing, and close the connection and the lock file.

        Also called before a fork, since SQLite's locks do not survive one.
        """
        with self._reading:
            if self._open is not None:
                if fcntl is not None and self._lock is not None:
                    with contextlib.suppress(OSError, *DATABASE_ERRORS):
                        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        self._open.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                with contextlib.suppress(*DATABASE_ERRORS):
                    self._open.close()
                self._open = None
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None


def locked(path: str, timeout: float) -> str:
    """Return the message for a lock timeout."""
    return f"{path} was locked by another program for {timeout:g} s; nothing was written, try again"


def explain(error: Exception, path: str, timeout: float) -> Exception:
    """Translate an error of SQLite to one sentence."""
    text = str(error)
    if "not a database" in text:
        return InputError(f"{path} is not a SQLite database; give the name of another file")
    if "locked" in text or "busy" in text:
        return StorageError(locked(path, timeout))
    if "disk is full" in text:
        return StorageError(f"the disk with {path} is full; nothing was written: make room, and try again")
    if "readonly" in text:
        return StorageError(f"{path} is read-only; nothing was written: make the file and its folder writable")
    if "malformed" in text or not isinstance(error, sqlite3.Error) or "decode" in text:
        return DamagedStorage(f"{path} is damaged ({text}); restore it from a backup")
    if "unable to open" in text:
        return StorageError(f"{path} cannot be opened; it and its folder have to be readable and writable")
    return StorageError(f"{path} cannot be used now ({text}); nothing was written")
