"""Machine code on disk, in a file for every program, named by the digest of the program itself.

A file can therefore not be out of date. Files are written atomically and checked when they are read: a damaged one is
ignored and replaced. Where no folder can be written, nothing is stored.
"""

import contextlib
import json
import os
from hashlib import sha256
from pathlib import Path

from setwise.compiler.settings import cache_folder
from setwise.files import read_file, write_atomic

MOST_FILES = 4000  # about 100 MB; beyond that, the older half is deleted
SUFFIX = ".setwise-code"


def _path(key: str) -> Path | None:
    with contextlib.suppress(RuntimeError):  # there is no home
        return cache_folder() / f"{key}{SUFFIX}"
    return None


def has_code(key: str) -> bool:
    """Whether machine code is stored."""
    path = _path(key)
    try:
        return path is not None and path.exists()
    except OSError:
        return False


def read_code(key: str) -> tuple[bytes, dict[str, str]] | None:
    """Return stored machine code and the functions it calls, or None."""
    path = _path(key)
    try:
        data = read_file(path) if path is not None else b""
        digest, head, code = data.split(b"\n", 2)
        if sha256(head + b"\n" + code).hexdigest().encode() != digest:
            return None
        externals = json.loads(head)
    except (OSError, ValueError):
        return None
    with contextlib.suppress(OSError):  # the folder may be read-only
        os.utime(path)  # type: ignore[arg-type]
    return code, dict(externals)


def write_code(key: str, code: bytes, externals: dict[str, str]) -> None:
    """Store machine code; without a writable folder, do nothing."""
    path = _path(key)
    rest = json.dumps(externals, sort_keys=True).encode() + b"\n" + code
    with contextlib.suppress(OSError):
        if path is not None:
            write_atomic(path, sha256(rest).hexdigest().encode() + b"\n" + rest)
            _delete_oldest(path.parent)


def _delete_oldest(folder: Path) -> None:
    """Delete the older half of the files if there are too many."""
    with os.scandir(folder) as entries:
        files = [entry for entry in entries if entry.name.endswith(SUFFIX)]
    if len(files) > MOST_FILES:
        for entry in sorted(files, key=lambda entry: entry.stat().st_mtime)[: MOST_FILES // 2]:
            with contextlib.suppress(OSError):  # another process deleted it
                os.unlink(entry)
