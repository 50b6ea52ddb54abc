"""What goes wrong, by whose doing: every error that the package raises by itself is a `SetwiseError` of one sentence.

    InputError      a mistake in what was given; also a `ValueError`
    StorageError    a disk, a file or a database that cannot do what it should now; also an `OSError`
    WorkerLost      who was to do the work is gone, or cannot do it; also a `RuntimeError`
    DamagedFile     a result or a journal that is not as it was written

The first asks for other input. After the second and the third the same call may succeed later, and goes on with what is
kept. The fourth asks for a copy, or for the file to be made again. `Interrupted` is none of them, as it is no error: it
is the user's own interruption.
"""

import errno


class SetwiseError(Exception):
    """Anything that the package could not do, told in one sentence."""


class InputError(SetwiseError, ValueError):
    """A mistake of the caller's, told in one sentence: what was given, what is wrong, what would do."""


class StorageError(SetwiseError, OSError):
    """A storage that cannot do what it should now: a full disk, a lock that is never released, a lost connection."""


class WorkerLost(SetwiseError, RuntimeError):
    """Who was to do the work is gone or cannot do it: a killed process, a lost cluster, a machine with other versions.

    What was under way is lost with it. What was taken before is not: who kept it can say where.
    """


class DamagedFile(SetwiseError):
    """A file that is not as it was written: cut short, garbled, or changed by something else."""


def is_misnamed(error: OSError) -> bool:
    """Whether the system refuses the name of a file or folder itself, which is the mistake of who gave it."""
    kinds = (FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError)
    return isinstance(error, kinds) or error.errno in (errno.ENAMETOOLONG, errno.ELOOP)


def unwritable(error: OSError, sentence: str) -> SetwiseError:
    """What to raise where something cannot be written: an `InputError` if the name is the trouble."""
    return InputError(sentence) if is_misnamed(error) else StorageError(sentence)
