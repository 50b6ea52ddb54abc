"""Errors of the package, by cause; each is a `SetwiseError` with a message of one sentence.

    InputError      invalid input; also a `ValueError`
    StorageError    a disk, file or database fails; also an `OSError`
    WorkerLost      a worker died or cannot do its job; also a `RuntimeError`
    DamagedFile     a result or journal is corrupt

Fix the input after an InputError. Retry after a StorageError or WorkerLost: the call resumes from stored results.
Restore a damaged file from a backup, or create it again. `Interrupted` is not an error: the user pressed Ctrl-C.
"""

import errno


class SetwiseError(Exception):
    """Base class of the package's errors; the message is one sentence."""


class InputError(SetwiseError, ValueError):
    """Invalid input; the message names the given value, the mistake, and a valid value."""


class StorageError(SetwiseError, OSError):
    """The storage fails: a full disk, a lock that is never released, a lost connection."""


class WorkerLost(SetwiseError, RuntimeError):
    """A worker died or cannot do its job: a killed process, a lost cluster, a machine with other versions.

    Its unfinished jobs are lost. Delivered results are safe; the caller that stored them can say where.
    """


class DamagedFile(SetwiseError):
    """A corrupt file: truncated, garbled, or changed by another program."""


def is_misnamed(error: OSError) -> bool:
    """Whether the path itself is invalid, which is the caller's mistake."""
    kinds = (FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError)
    return isinstance(error, kinds) or error.errno in (errno.ENAMETOOLONG, errno.ELOOP)


def unwritable(error: OSError, sentence: str) -> SetwiseError:
    """Return the error for a failed write: `InputError` if the path is invalid, else `StorageError`."""
    return InputError(sentence) if is_misnamed(error) else StorageError(sentence)
