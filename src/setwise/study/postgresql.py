"""Journals in PostgreSQL, for many workers on many machines.

A writer locks the study's row until it commits. So positions are committed in order and without gaps: a reader that has
seen a position has seen all rows before it. A sequence would not guarantee that, since an earlier number may commit
later. Studies are locked in the order of their keys, which rules out deadlocks. Times are the server's.

After a lost connection the writer reconnects and retries: every decision has its id before it is sent.
"""

import contextlib
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

from setwise.errors import InputError, StorageError
from setwise.study.journal import Row
from setwise.study.storage import (
    FULL,
    SCHEMA,
    ExistsError,
    LostError,
    StudyName,
    Transactional,
    passwords_in,
    version_of,
    without_password,
)

COLUMNS = "position, kind, decision, time, body, digest"
TABLES = """
CREATE TABLE IF NOT EXISTS setwise_meta (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS setwise_studies (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, created bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS setwise_journal (
    study bigint NOT NULL, position bigint NOT NULL, kind text NOT NULL, decision text, time bigint NOT NULL,
    body text NOT NULL, digest bytea NOT NULL, PRIMARY KEY (study, position)
);
CREATE UNIQUE INDEX IF NOT EXISTS setwise_journal_decisions ON setwise_journal (study, decision, kind)
    WHERE decision IS NOT NULL;
CREATE TABLE IF NOT EXISTS setwise_snapshots (study bigint PRIMARY KEY, data bytea NOT NULL);
"""
ADVISORY_LOCK = 5_734_829_106  # an arbitrary key, so that one worker at a time creates the tables
NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
MAX_CONNECT_SECONDS = 60  # limit of one attempt to connect, even if the timeout is longer
# Retry on: connection errors, serialization failures, deadlocks, too many connections, a server that starts,
# stops, or ended an idle transaction.
RETRY_CODES = ("08", "40001", "40P01", "53300", "57P01", "57P02", "57P03", "25P03")

# Messages of a server that rejects the address or the password: a mistake of the user.
REFUSALS = ("authentication failed", "does not exist", "no password supplied", "pg_hba.conf", "not permitted to log in")


class PostgreSQL(Transactional):
    """A storage on a PostgreSQL server, with one connection."""

    def __init__(self, address: str, durability: str, timeout: float, create: bool) -> None:
        try:
            import psycopg
        except ImportError:
            raise InputError(
                "PostgreSQL needs the package psycopg, which is not installed: pip install 'psycopg[binary]'"
            ) from None
        self._psycopg = psycopg
        self._secret = address
        self.address = without_password(address)
        self.direct = False
        self.identity = None
        self.timeout = timeout
        self._durability = durability
        self._clock = (0, 0.0)
        self._connection: Any = None
        self._refused = False  # whether the last attempt failed because of the address
        deadline = time.monotonic() + timeout
        while self._connection is None:
            try:
                self._connection = self._connect()
            except LostError as error:
                if self._refused:
                    raise InputError(str(error)) from None
                if "starting up" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
        try:
            with self._translate_errors():
                self._prepare(create)
        except BaseException:
            self._connection.close()
            raise

    def _connect(self) -> Any:
        settings = {
            "lock_timeout": f"{max(1, int(1000 * self.timeout))}",
            # Drop the locks of a dead worker soon, but not those of a busy one.
            "tcp_keepalives_idle": "30",
            "tcp_keepalives_interval": "10",
            "tcp_keepalives_count": "3",
            "idle_in_transaction_session_timeout": "600000",
        }
        seconds = min(max(2, math.ceil(self.timeout)), MAX_CONNECT_SECONDS)  # the driver rounds 1 up to 2
        try:
            connection: Any = self._psycopg.connect(
                self._secret, autocommit=True, connect_timeout=seconds, application_name="setwise",
                keepalives_idle=30, keepalives_interval=10, keepalives_count=3,
            )  # fmt: skip
            now = connection.execute("SHOW synchronous_commit").fetchone()[0]
            if (now == "off") == (self._durability == FULL):  # keep the setting of a server that waits for replicas
                settings["synchronous_commit"] = "on" if self._durability == FULL else "off"
            for name, value in settings.items():
                connection.execute(f"SET {name} = {value}")
        except self._psycopg.Error as error:
            reason = " ".join(str(error).split()).rpartition("failed: ")[2]
            wrong = isinstance(error, self._psycopg.ProgrammingError)
            self._refused = wrong or any(words in str(error) for words in REFUSALS)
            if any(word in reason for word in passwords_in(self._secret)):
                reason = "the server or the driver refused (its message is omitted, since it may contain a password)"
            raise LostError(f"{self.address} cannot be reached: {reason or 'no answer'}") from None
        return connection

    def _prepare(self, create: bool) -> None:
        """Create the tables if there are none, one worker at a time; raise InputError if they are newer."""
        version = self._version()
        if version is None and not create:
            raise InputError(f"{self.address} has no studies in it; create one first (`setwise study create`)")
        if version is None:
            with self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (ADVISORY_LOCK,))
                for statement in filter(str.strip, TABLES.split(";")):
                    self._connection.execute(statement)
                self._connection.execute(
                    "INSERT INTO setwise_meta VALUES ('schema', %s) ON CONFLICT DO NOTHING", (str(SCHEMA),)
                )
            version = self._version()
        if version is not None and version > SCHEMA:
            raise InputError(
                f"{self.address} was written by a newer version of Setwise (its tables are of version {version}, known "
                f"here is {SCHEMA}): upgrade Setwise"
            )

    def _version(self) -> int | None:
        if self._connection.execute("SELECT to_regclass('setwise_meta')").fetchone()[0] is None:
            return None
        found = self._connection.execute("SELECT value FROM setwise_meta WHERE key = 'schema'").fetchone()
        return None if found is None else version_of(found[0], self.address)

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            raise self._explain(error) from None

    def _explain(self, error: Any) -> StorageError:
        """Translate an error of the driver to one sentence."""
        code = error.sqlstate or ""
        reason = " ".join(str(error).split())
        if (not code and isinstance(error, self._psycopg.OperationalError)) or code.startswith(RETRY_CODES):
            return LostError(f"{self.address} was lost: {reason}")
        if self._connection is not None and self._connection.closed:
            return LostError(f"{self.address} was lost: {reason}")
        if code == "53100":
            return StorageError(f"the disk of {self.address} is full; nothing was written: make room, and try again")
        if code == "55P03":
            return StorageError(
                f"a study at {self.address} was locked for {self.timeout:g} s; nothing was written, try again"
            )
        if code == "25006":
            return StorageError(f"{self.address} is read-only; nothing was written")
        return StorageError(f"{self.address} cannot be used now ({reason}); nothing was written")

    def _begin(self, write: bool) -> None:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        self._clock = (0, 0.0)
        with self._translate_errors():
            self._connection.execute("BEGIN" if write else "BEGIN READ ONLY")

    def lock(self, key: int) -> None:
        found = self._query(f"SELECT {NOW} FROM setwise_studies WHERE id = %s FOR NO KEY UPDATE", key)
        if not found:
            raise InputError("the study was deleted")
        self._clock = (self._query(f"SELECT {NOW}")[0][0], time.monotonic())

    def _commit(self) -> None:
        try:
            with self._translate_errors():
                self._connection.execute("COMMIT")
        except BaseException:
            self._rollback()
            raise

    def _rollback(self) -> None:
        if self._connection is None:
            return
        try:
            self._connection.execute("ROLLBACK")
        except self._psycopg.Error:
            with contextlib.suppress(self._psycopg.Error):
                self._connection.close()

    def now(self) -> int:
        if not self._clock[0]:
            self._clock = (self._query(f"SELECT {NOW}")[0][0], time.monotonic())
        told, at = self._clock
        return told + int(1e6 * (time.monotonic() - at))

    def studies(self) -> list[StudyName]:
        rows = self._query("SELECT id, name, created FROM setwise_studies ORDER BY name")
        return [StudyName(*row) for row in rows]

    def create(self, name: str, rows: Sequence[Row]) -> int:
        # RETURNING, since the driver's row count can be -1 here.
        made = self._query(
            "INSERT INTO setwise_studies (name, created) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING id",
            name, rows[0].time,
        )  # fmt: skip
        if not made:
            raise ExistsError(f"there is a study {name!r} at {self.address} already; open it, or give another name")
        self.append(made[0][0], rows)
        return int(made[0][0])

    def delete(self, key: int) -> None:
        with self._translate_errors():
            for table, column in (("snapshots", "study"), ("journal", "study"), ("studies", "id")):
                self._connection.execute(f"DELETE FROM setwise_{table} WHERE {column} = %s", (key,))

    def append(self, key: int, rows: Sequence[Row]) -> None:
        written = self._query(
            f"INSERT INTO setwise_journal (study, {COLUMNS}) "
            "SELECT %s, * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::bigint[], %s::text[], %s::bytea[]) "
            "ON CONFLICT DO NOTHING RETURNING position",
            key, *(list(column) for column in zip(*rows, strict=True)),
        )  # fmt: skip
        if len(written) != len(rows):
            raise LostError(f"{self.address}: another program wrote to the journal without the lock")

    def rows(self, key: int, after: int, limit: int) -> list[Row]:
        return self._rows("position > %s ORDER BY position LIMIT %s", key, after, limit)

    def of_decision(self, key: int, decision: str) -> list[Row]:
        return self._rows("decision = %s ORDER BY position", key, decision)

    def snapshot(self, key: int) -> bytes | None:
        found = self._query("SELECT data FROM setwise_snapshots WHERE study = %s", key)
        return found[0][0] if found else None

    def save_snapshot(self, key: int, data: bytes | None) -> None:
        with self._translate_errors():
            if data is None:
                self._connection.execute("DELETE FROM setwise_snapshots WHERE study = %s", (key,))
            else:
                self._connection.execute(
                    "INSERT INTO setwise_snapshots (study, data) VALUES (%s, %s) "
                    "ON CONFLICT (study) DO UPDATE SET data = excluded.data",
                    (key, data),
                )

    def _rows(self, where: str, key: int, *values: Any) -> list[Row]:
        found = self._query(f"SELECT {COLUMNS} FROM setwise_journal WHERE study = %s AND {where}", key, *values)
        return [Row(*row) for row in found]

    def _query(self, statement: str, *values: Any) -> list[Any]:
        with self._translate_errors():
            found: list[Any] = self._connection.execute(statement, values).fetchall()
            return found

    def check(self) -> list[str]:
        return []

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(self._psycopg.Error):
                self._connection.close()
            self._connection = None
