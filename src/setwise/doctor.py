"""Is everything here that studies and simulations need? Checks, each with what to do if it is not."""

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from importlib import metadata
from typing import Any, NamedTuple

from setwise.errors import SetwiseError
from setwise.study.storage import scheme_of, without_password

OK, WARNING, PROBLEM = "ok", "warning", "problem"
OLDEST_SQLITE = (3, 8, 2)  # before, there are no tables WITHOUT ROWID
MENDED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))  # the releases without the WAL-reset bug: two branches, and all after
NETWORK = {
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "lustre",
    "beegfs",
    "gpfs",
    "ncpfs",
}
LITTLE, TOO_LITTLE = 1_000_000_000, 50_000_000  # bytes of free space
PATIENCE = 10.0  # seconds that a storage may take


class Check(NamedTuple):
    """What was found.

    name: what was looked at
    verdict: ok, warning or problem
    found: what is there
    advice: what to do; empty if there is nothing to do
    """

    name: str
    verdict: str
    found: str
    advice: str = ""


def examine(address: str | None = None) -> list[Check]:
    """All checks; with an address, also those of that storage."""
    scheme = None if address is None else scheme_of(address)
    checks = [_python(), _package("numpy", "NumPy"), _package("numba", "Numba"), _cache(), _sqlite(), _psycopg(scheme)]
    if address is None or scheme is None:
        return [*checks, _space(os.getcwd())]
    if scheme == "sqlite":
        folder = os.path.dirname(os.path.realpath(address.removeprefix("sqlite:///")))
        if os.path.isdir(folder):
            checks += [_space(folder), *_filesystem(folder)]
    elif importlib.util.find_spec("psycopg") is not None:
        checks += server_checks(address)
    return [*checks, _studies(address)]


def _python() -> Check:
    return Check("Python", OK, f"{sys.version.partition(' ')[0]} at {sys.executable}")


def _package(name: str, title: str) -> Check:
    """Whether a package is there, in a version that Setwise can do with; it is not imported."""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Check(title, PROBLEM, "not installed", f"Install it: pip install {name}")
    least = _least(name)
    if least is not None and numbers_of(version) < numbers_of(least):
        return Check(title, PROBLEM, f"{version}, and {least} is needed", f"Upgrade it: pip install -U {name}")
    return Check(title, OK, version)


def _least(name: str) -> str | None:
    """The oldest version that Setwise says it needs."""
    try:
        needed = metadata.requires("setwise") or []
    except metadata.PackageNotFoundError:
        return None
    found = [re.fullmatch(rf"{name}\s*>=\s*([\d.]+)", line) for line in needed]
    return next((match[1] for match in found if match), None)


def numbers_of(version: str) -> tuple[int, ...]:
    """The numbers of a version, to compare it by.

    >>> numbers_of("3.51.3"), numbers_of("0.61.0rc1")
    ((3, 51, 3), (0, 61, 0))
    """
    leading = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in leading[0].split(".")) if leading else ()


def _sqlite() -> Check:
    import sqlite3

    return judge_sqlite(sqlite3.sqlite_version, importlib.util.find_spec("fcntl") is not None)


def has_wal_reset_bug(version: str) -> bool:
    """Whether SQLite of that version can lose a commit that meets a checkpoint (https://sqlite.org/wal.html).

    >>> has_wal_reset_bug("3.51.2"), has_wal_reset_bug("3.51.3"), has_wal_reset_bug("3.50.7")
    (True, False, False)
    """
    number = numbers_of(version)
    if number < (3, 7, 0) or number >= MENDED[-1]:
        return False
    return not any(number[:2] == mended[:2] and number >= mended for mended in MENDED)


def judge_sqlite(version: str, locks: bool) -> Check:
    """The version of SQLite that Python uses; `locks` says whether Setwise can lock a file here."""
    if numbers_of(version) < OLDEST_SQLITE:
        return Check(
            "SQLite", PROBLEM, f"{version}, which is too old", "Use a newer Python, or keep studies in PostgreSQL."
        )
    if not has_wal_reset_bug(version):
        return Check("SQLite", OK, version)
    mended = "3.51.3 (also 3.50.7 and 3.44.6) has no such bug"
    if locks:
        advice = (
            "Setwise avoids what sets it off: its writers and checkpoints take turns by a lock on a file beside the "
            "database. Other programs do not, so let none write to the file, or let Python have a newer SQLite: "
            f"{mended}."
        )
    else:
        advice = (
            "Setwise cannot lock files on this system to avoid it: let one process at a time use the file, let Python "
            f"have a newer SQLite ({mended}), or keep studies in PostgreSQL."
        )
    return Check("SQLite", WARNING, f"{version}, which has the WAL-reset bug (very rare)", advice)


def _psycopg(scheme: str | None) -> Check:
    """Whether there is a driver for PostgreSQL; without an address there nobody needs it."""
    try:
        return Check("psycopg", OK, metadata.version("psycopg"))
    except metadata.PackageNotFoundError:
        verdict = PROBLEM if scheme == "postgresql" else OK
        return Check("psycopg", verdict, "not installed", "For PostgreSQL: pip install 'setwise[study]'")


def _cache() -> Check:
    """Where Numba keeps compiled code: the first folder of those it tries that can be written to."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    tried = [given] if given else []
    tried += [os.path.join(os.path.dirname(os.path.abspath(__file__)), "__pycache__"), _users_cache()]
    for folder in tried:
        if is_writable(folder):
            return Check("Numba's cache", OK, folder)
    advice = "Nothing can be compiled without: set NUMBA_CACHE_DIR to a folder that can be written to."
    return Check("Numba's cache", PROBLEM, f"{tried[0]} cannot be written", advice)


def _users_cache() -> str:
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "numba")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA", home), "numba", "Cache")
    return os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.join(home, ".cache")), "numba")


def is_writable(folder: str) -> bool:
    """Whether a file can be made in a folder, or in the one in which the folder would be made."""
    while not os.path.exists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _space(folder: str) -> Check:
    return judge_space(shutil.disk_usage(folder).free, folder)


def judge_space(free: int, folder: str) -> Check:
    """Whether there is room for more."""
    found = f"{free / 1e9:,.1f} GB free in {folder}"
    if free >= LITTLE:
        return Check("disk", OK, found)
    advice = "Make room: a decision with its feedback takes about 500 bytes, and nothing is written to a full disk."
    return Check("disk", PROBLEM if free < TOO_LITTLE else WARNING, found, advice)


def _filesystem(folder: str) -> list[Check]:
    """The kind of filesystem, where the system says it."""
    try:
        with open("/proc/mounts", encoding="utf-8", errors="surrogateescape") as file:
            return [judge_filesystem(folder, file.read())]
    except OSError:
        return []


def judge_filesystem(folder: str, mounts: str) -> Check:
    """Whether the filesystem of a folder can do what WAL needs; `mounts` is the text of /proc/mounts."""
    place, kind = "", "not known"
    for line in mounts.splitlines():
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), words[1])
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(place):  # of two at the same place the later one lies on top
            place, kind = point, words[2]
    if kind in NETWORK or kind.startswith("fuse.sshfs"):
        advice = (
            "SQLite's WAL does not work over a network, where two machines do not share memory: keep the file on a "
            "local disk, or studies in PostgreSQL."
        )
        return Check("filesystem", WARNING, f"{kind}, a network filesystem", advice)
    return Check("filesystem", OK, kind)


def server_checks(address: str) -> list[Check]:
    """The version of a PostgreSQL server, and whether what it has committed survives a loss of power."""
    import psycopg

    try:
        with psycopg.connect(address, connect_timeout=int(PATIENCE), autocommit=True) as connection:
            found = {name: _setting(connection, name) for name in ("server_version", "fsync", "synchronous_commit")}
    except psycopg.Error:
        return []  # counting the studies says why
    checks = [Check("PostgreSQL", OK, found["server_version"].partition(" ")[0])]
    if found["fsync"] == "off":
        advice = "After a loss of power the whole database may be damaged: set fsync = on in postgresql.conf."
        checks.append(Check("fsync", PROBLEM, "off", advice))
    else:
        checks.append(Check("fsync", OK, found["fsync"]))
    note = (
        " (Setwise turns it on for itself, unless durability is normal)" if found["synchronous_commit"] == "off" else ""
    )
    return [*checks, Check("synchronous_commit", OK, found["synchronous_commit"] + note)]


def _setting(connection: Any, name: str) -> str:
    return str(connection.execute(f"SHOW {name}").fetchone()[0])


def _studies(address: str) -> Check:
    """How many studies there are, or why that cannot be said."""
    from setwise.study import Study

    sqlite = scheme_of(address) == "sqlite"
    place = address if sqlite else without_password(address)
    if sqlite and not os.path.exists(address.removeprefix("sqlite:///")):
        folder = os.path.dirname(os.path.abspath(address.removeprefix("sqlite:///")))
        if not os.path.isdir(folder):
            return Check("studies", PROBLEM, f"there is no folder {folder}", "Make the folder first.")
        if not is_writable(folder):
            return Check("studies", PROBLEM, f"{folder} cannot be written", "Make the folder writable.")
        return Check("studies", OK, f"none at {place}: no such file yet", "`setwise study create` makes it.")
    try:
        count = len(Study.names(address, PATIENCE))
    except SetwiseError as error:
        if "no studies in it" in str(error):
            return Check("studies", OK, f"none at {place}", "`setwise study create` makes one.")
        return Check("studies", PROBLEM, f"not known at {place}", str(error))
    return Check("studies", OK, f"{count:,} at {place}")
