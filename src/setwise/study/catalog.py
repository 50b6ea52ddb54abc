"""Find, create and remove the studies of a storage by name. Idempotent: a retry has no further effect."""

from setwise.study.definition import Definition
from setwise.study.journal import Row, first_row
from setwise.study.storage import ExistsError, StudyName
from setwise.study.writer import Work, Writer
from setwise.types import InputError
from setwise.validation import shown, suggestion


def studies_of(writer: Writer) -> list[StudyName]:
    """Return all studies of a storage."""
    return writer.do(lambda work: writer.storage.studies(), writes=False)


def find_study(writer: Writer, name: str) -> StudyName:
    """Return the study of that name; raise InputError if there is none."""
    studies = studies_of(writer)
    for study in studies:
        if study.name == name:
            return study
    hint = suggestion(name, [study.name for study in studies]) if isinstance(name, str) else "a name is a string"
    raise InputError(f"there is no study {shown(name)} at {writer.storage.address}; {hint}")


def create_study(writer: Writer, name: str, definition: Definition, exist_ok: bool) -> int:
    """Create a study and return its key; with `exist_ok`, return the key of an existing one."""
    rows = [first_row(definition.to_json(), writer.do(lambda work: writer.storage.now(), writes=False))]

    def run(work: Work) -> int:
        found = {study.name: study.key for study in writer.storage.studies()} if exist_ok else {}
        return found[name] if name in found else create_once(writer, name, rows, work.attempts > 1, exist_ok)

    return writer.do(run)


def create_once(writer: Writer, name: str, rows: list[Row], again: bool, exist_ok: bool = False) -> int:
    """Create a study. Accept an existing one with `exist_ok`, or on a retry if the first attempt created it."""
    try:
        return writer.storage.create(name, rows)
    except ExistsError:
        key = next((study.key for study in writer.storage.studies() if study.name == name), None)
        if key is not None and (exist_ok or (again and writer.storage.rows(key, 0, 1) == rows[:1])):
            return key
        raise


def remove_study(writer: Writer, key: int) -> None:
    """Delete a study; on a retry it may be gone already."""

    def run(work: Work) -> None:
        try:
            writer.storage.lock(key)
        except InputError:
            if work.attempts > 1:
                return
            raise
        writer.storage.delete(key)
        writer.mark_deleted(key)

    writer.do(run)
