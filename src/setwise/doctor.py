"""Check that this machine has everything that studies and simulations need, with advice if not."""

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, NamedTuple

from setwise.errors import SetwiseError
from setwise.study.storage import scheme_of, without_password

OK, WARNING, PROBLEM = "ok", "warning", "problem"
OLDEST_SQLITE = (3, 8, 2)  # the first with tables WITHOUT ROWID
FIXED_SQLITE = (
    (3, 44, 6),
    (3, 50, 7),
    (3, 51, 3),
)  # the WAL-reset bug: fixed in two branches, and from the last on
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
LOW_SPACE, MIN_SPACE = 1_000_000_000, 50_000_000  # bytes of free space
STORAGE_TIMEOUT = 10.0  # seconds


class HealthCheck(NamedTuple):
    """Outcome of one check.

    name: of the thing checked
    verdict: ok, warning or problem
    found: the version, path or setting found
    advice: how to fix it; empty if there is nothing to do
    """

    name: str
    verdict: str
    found: str
    advice: str = ""


def examine(address: str | None = None) -> list[HealthCheck]:
    """Run all checks; with an address, also those of that storage."""
    scheme = None if address is None else scheme_of(address)
    checks = [_python(), _package("numpy", "NumPy"), _package("numba", "Numba"), _compiler(), _cache()]
    checks += [*_internals(), _numba_cache(), _sqlite(), _psycopg(scheme)]
    if address is None or scheme is None:
        return [*checks, _space(os.getcwd())]
    if scheme == "sqlite":
        folder = os.path.dirname(os.path.realpath(address.removeprefix("sqlite:///")))
        if os.path.isdir(folder):
            checks += [_space(folder), *_filesystem(folder)]
    elif importlib.util.find_spec("psycopg") is not None:
        checks += server_checks(address)
    return [*checks, _studies(address)]


def _python() -> HealthCheck:
    return HealthCheck("Python", OK, f"{sys.version.partition(' ')[0]} at {sys.executable}")


def _package(name: str, title: str) -> HealthCheck:
    """Check that a package is installed in a version that Setwise supports, without importing it."""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return HealthCheck(title, PROBLEM, "not installed", f"Install it: pip install {name}")
    least = _least(name)
    if least is not None and numbers_of(version) < numbers_of(least):
        return HealthCheck(title, PROBLEM, f"{version}, and {least} is needed", f"Upgrade it: pip install -U {name}")
    return HealthCheck(title, OK, version)


def _internals() -> list[HealthCheck]:
    """Check which of Numba's internals are in use; the first time on a machine this compiles a small program."""
    name = "Numba's internals"
    try:
        from setwise.numba_self_test import allowed_pieces, find_verdict, is_disabled
    except Exception as error:  # another check tells if Numba is not installed
        missing = isinstance(error, ModuleNotFoundError) and error.name == "numba"
        told = f"{type(error).__name__}: {error}".splitlines()[0]
        return [] if missing else [HealthCheck(name, PROBLEM, told, "Install Numba again.")]
    if is_disabled():
        return [HealthCheck(name, OK, "nothing is compiled: NUMBA_DISABLE_JIT is set")]
    allowed = allowed_pieces()
    return [judge_internals(allowed, find_verdict() if allowed else {})]


def judge_internals(allowed: Sequence[str], verdict: Mapping[str, str]) -> HealthCheck:
    """Check that all of Numba's internals are allowed and pass the self-test."""
    from setwise.numba_internals import PIECES
    from setwise.numba_self_test import NEWEST_TRIED, VARIABLE

    name, costs = "Numba's internals", "Results are the same; compiling takes longer, and compiled code is slower."
    failed = [f"{piece} ({reason})" for piece, reason in verdict.items() if reason]
    if failed:
        advice = f"{costs} Install a version of Numba that was tried: {NEWEST_TRIED} is the newest."
        return HealthCheck(name, WARNING, f"failing the self-test: {'; '.join(failed)}", advice)
    off = [piece for piece in PIECES if piece not in allowed]
    if off:
        return HealthCheck(name, OK, f"not in use: {', '.join(off)}", f"{costs} Unset {VARIABLE} to use them.")
    return HealthCheck(name, OK, f"in use (newest Numba tried: {NEWEST_TRIED})")


def _least(name: str) -> str | None:
    """Return the minimum version that Setwise requires."""
    try:
        needed = metadata.requires("setwise") or []
    except metadata.PackageNotFoundError:
        return None
    found = [re.fullmatch(rf"{name}\s*>=\s*([\d.]+)", line) for line in needed]
    return next((match[1] for match in found if match), None)


def numbers_of(version: str) -> tuple[int, ...]:
    """Parse a version into numbers, for comparison.

    >>> numbers_of("3.51.3"), numbers_of("0.61.0rc1")
    ((3, 51, 3), (0, 61, 0))
    """
    leading = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in leading[0].split(".")) if leading else ()


def _sqlite() -> HealthCheck:
    import sqlite3

    return judge_sqlite(sqlite3.sqlite_version, importlib.util.find_spec("fcntl") is not None)


def has_wal_reset_bug(version: str) -> bool:
    """Whether that SQLite version can lose a commit that races with a checkpoint (https://sqlite.org/wal.html).

    >>> has_wal_reset_bug("3.51.2"), has_wal_reset_bug("3.51.3"), has_wal_reset_bug("3.50.7")
    (True, False, False)
    """
    number = numbers_of(version)
    if number < (3, 7, 0) or number >= FIXED_SQLITE[-1]:
        return False
    return not any(number[:2] == mended[:2] and number >= mended for mended in FIXED_SQLITE)


def judge_sqlite(version: str, locks: bool) -> HealthCheck:
    """Check the version of SQLite that Python uses; `locks` says whether this system has file locks."""
    if numbers_of(version) < OLDEST_SQLITE:
        return HealthCheck(
            "SQLite", PROBLEM, f"{version}, which is too old", "Use a newer Python, or keep studies in PostgreSQL."
        )
    if not has_wal_reset_bug(version):
        return HealthCheck("SQLite", OK, version)
    mended = "3.51.3 (also 3.50.7 and 3.44.6) has no such bug"
    if locks:
        advice = (
            "Setwise avoids it: its writers and checkpoints share a lock file beside the database. Other programs do "
            "not, so let none write to the file, or use a Python with a newer SQLite: "
            f"{mended}."
        )
    else:
        advice = (
            "Setwise cannot lock files on this system to avoid it: let one process at a time use the file, use a "
            f"Python with a newer SQLite ({mended}), or keep studies in PostgreSQL."
        )
    return HealthCheck("SQLite", WARNING, f"{version}, which has the WAL-reset bug (very rare)", advice)


def _psycopg(scheme: str | None) -> HealthCheck:
    """Check for a PostgreSQL driver, which only a PostgreSQL address needs."""
    try:
        return HealthCheck("psycopg", OK, metadata.version("psycopg"))
    except metadata.PackageNotFoundError:
        verdict = PROBLEM if scheme == "postgresql" else OK
        return HealthCheck("psycopg", verdict, "not installed", "For PostgreSQL: pip install 'psycopg[binary]'")


def _compiler() -> HealthCheck:
    """Compile a small function without Numba, and call it."""
    from setwise.compiler.settings import COMPILER, only_interpreted, only_numba

    if only_interpreted():
        return HealthCheck("compiler", OK, "nothing is compiled: NUMBA_DISABLE_JIT is set")
    if only_numba():
        return HealthCheck(
            "compiler", OK, f"Numba alone: {COMPILER} is set", f"Compiling takes longer. Unset {COMPILER}."
        )
    advice = "Numba compiles instead, which takes about 8 seconds for each policy and kind of world."
    try:
        from setwise.compiler.compile import Compiled, compile_function
        from setwise.compiler.machine import llvm_version

        found = Compiled(compile_function(double, (1.5,), {}), checked=True)(1.5)
    except Exception as error:
        told = f"{type(error).__name__}: {error}".splitlines()[0]
        return HealthCheck("compiler", WARNING, f"LLVM does not work: {told}", advice)
    if found != 3.0:
        return HealthCheck(
            "compiler", PROBLEM, f"LLVM computes 2 * 1.5 = {found}", f"Set {COMPILER}=numba, and report it."
        )
    return HealthCheck("compiler", OK, f"LLVM {llvm_version()}")


def double(x: float) -> float:
    """Return 2 x: compiled by `_compiler`."""
    return 2.0 * x


def _cache() -> HealthCheck:
    """Check that machine code can be stored."""
    from setwise.compiler.settings import FOLDER, cache_folder

    advice = f"Every process compiles again: set {FOLDER} to a folder that can be written to."
    try:
        folder = str(cache_folder())
    except RuntimeError:
        return HealthCheck("cache", PROBLEM, "there is no home folder for it", advice)
    if not is_writable(folder):
        return HealthCheck("cache", PROBLEM, f"{folder} cannot be written", advice)
    return HealthCheck("cache", OK, folder)


def _numba_cache() -> HealthCheck:
    """Find Numba's cache: the first writable folder of those it tries."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    tried = [given] if given else []
    tried += [os.path.join(os.path.dirname(os.path.abspath(__file__)), "__pycache__"), _users_cache()]
    for folder in tried:
        if is_writable(folder):
            return HealthCheck("Numba's cache", OK, folder)
    advice = "Every process compiles again: set NUMBA_CACHE_DIR to a folder that can be written to."
    return HealthCheck("Numba's cache", PROBLEM, f"{tried[0]} cannot be written", advice)


def _users_cache() -> str:
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "numba")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA", home), "numba", "Cache")
    return os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.join(home, ".cache")), "numba")


def is_writable(folder: str) -> bool:
    """Whether a file can be created in the folder, or in its closest existing parent."""
    while not os.path.exists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _space(folder: str) -> HealthCheck:
    return judge_space(shutil.disk_usage(folder).free, folder)


def judge_space(free: int, folder: str) -> HealthCheck:
    """Check the free disk space."""
    found = f"{free / 1e9:,.1f} GB free in {folder}"
    if free >= LOW_SPACE:
        return HealthCheck("disk", OK, found)
    advice = "Make room: a decision with its feedback takes about 500 bytes, and nothing is written to a full disk."
    return HealthCheck("disk", PROBLEM if free < MIN_SPACE else WARNING, found, advice)


def _filesystem(folder: str) -> list[HealthCheck]:
    """Check the type of filesystem, if the system reports it."""
    try:
        with open("/proc/mounts", encoding="utf-8", errors="surrogateescape") as file:
            return [judge_filesystem(folder, file.read())]
    except OSError:
        return []


def judge_filesystem(folder: str, mounts: str) -> HealthCheck:
    """Check that the folder's filesystem supports WAL; `mounts` is the text of /proc/mounts."""
    place, kind = "", "not known"
    for line in mounts.splitlines():
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), words[1])
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(place):  # of two mounts at one point, the later one is on top
            place, kind = point, words[2]
    if kind in NETWORK or kind.startswith("fuse.sshfs"):
        advice = (
            "SQLite's WAL does not work over a network, where two machines do not share memory: keep the file on a "
            "local disk, or studies in PostgreSQL."
        )
        return HealthCheck("filesystem", WARNING, f"{kind}, a network filesystem", advice)
    return HealthCheck("filesystem", OK, kind)


def server_checks(address: str) -> list[HealthCheck]:
    """Check the version of a PostgreSQL server, and whether its commits survive a power loss."""
    import psycopg

    try:
        with psycopg.connect(address, connect_timeout=int(STORAGE_TIMEOUT), autocommit=True) as connection:
            found = {name: _setting(connection, name) for name in ("server_version", "fsync", "synchronous_commit")}
    except psycopg.Error:
        return []  # `_studies` reports the error
    checks = [HealthCheck("PostgreSQL", OK, found["server_version"].partition(" ")[0])]
    if found["fsync"] == "off":
        advice = "After a power loss the whole database may be damaged: set fsync = on in postgresql.conf."
        checks.append(HealthCheck("fsync", PROBLEM, "off", advice))
    else:
        checks.append(HealthCheck("fsync", OK, found["fsync"]))
    note = (
        " (Setwise turns it on for itself, unless durability is normal)" if found["synchronous_commit"] == "off" else ""
    )
    return [*checks, HealthCheck("synchronous_commit", OK, found["synchronous_commit"] + note)]


def _setting(connection: Any, name: str) -> str:
    return str(connection.execute(f"SHOW {name}").fetchone()[0])


def _studies(address: str) -> HealthCheck:
    """Count the studies, or report why they cannot be counted."""
    from setwise.study import Study

    sqlite = scheme_of(address) == "sqlite"
    place = address if sqlite else without_password(address)
    if sqlite and not os.path.exists(address.removeprefix("sqlite:///")):
        folder = os.path.dirname(os.path.abspath(address.removeprefix("sqlite:///")))
        if not os.path.isdir(folder):
            return HealthCheck("studies", PROBLEM, f"there is no folder {folder}", "Make the folder first.")
        if not is_writable(folder):
            return HealthCheck("studies", PROBLEM, f"{folder} cannot be written", "Make the folder writable.")
        return HealthCheck("studies", OK, f"none at {place}: no such file yet", "`setwise study create` makes it.")
    try:
        count = len(Study.names(address, STORAGE_TIMEOUT))
    except SetwiseError as error:
        if "no studies in it" in str(error):
            return HealthCheck("studies", OK, f"none at {place}", "`setwise study create` makes one.")
        return HealthCheck("studies", PROBLEM, f"not known at {place}", str(error))
    return HealthCheck("studies", OK, f"{count:,} at {place}")
