"""Files that are read and written whole: atomic, with errors that name the file."""

import contextlib
import os
from collections.abc import Iterator

DRAFT = "setwise-"  # prefix of unfinished files, which end in .part


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Read a file; errors name it."""
    with _naming(path), open(path, "rb") as file:
        return file.read()


def write_atomic(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file atomically; errors name it and leave an existing file unchanged."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    with _naming(path), draft_in(folder) as draft:
        with open(draft, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)


@contextlib.contextmanager
def draft_in(folder: str) -> Iterator[str]:
    """Yield a path for an unfinished file in the folder; delete it at the end unless it was renamed."""
    draft = os.path.join(folder, f"{DRAFT}{os.urandom(8).hex()}.part")
    try:
        yield draft
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)


@contextlib.contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = os.fspath(path)
        raise
