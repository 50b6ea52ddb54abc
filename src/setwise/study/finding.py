"""Studies of a storage by their names: found, created and removed, each once, however often it is tried."""

from setwise.declare import shown, suggestion
from setwise.study.definition import Definition
from setwise.study.journal import Row, first_row
from setwise.study.storage import ExistsError, StudyName
from setwise.study.writer import Work, Writer
from setwise.types import InputError


def studies_of(writer: Writer) -> list[StudyName]:
    """All studies of a storage."""
    return writer.do(lambda work: writer.storage.studies(), writes=False)


def find_study(writer: Writer, name: str) -> StudyName:
    """The study of that name."""
    studies = studies_of(writer)
    for study in studies:
        if study.name == name:
            return study
    hint = suggestion(name, [study.name for study in studies]) if isinstance(name, str) else "a name is a text"
    raise InputError(f"there is no study {shown(name)} at {writer.storage.address}; {hint}")


def create_study(writer: Writer, name: str, definition: Definition, exist_ok: bool) -> int:
    """Begin the journal of a study, or find the one there is; return its key."""
    rows = [first_row(definition.to_json(), writer.do(lambda work: writer.storage.now(), writes=False))]

    def run(work: Work) -> int:
        found = {study.name: study.key for study in writer.storage.studies()} if exist_ok else {}
        return found[name] if name in found else create_once(writer, name, rows, work.attempts > 1, exist_ok)

    return writer.do(run)


def create_once(writer: Writer, name: str, rows: list[Row], again: bool, exist_ok: bool = False) -> int:
    """Create a study; the second time, it may be there from the first time, and with `exist_ok` from anybody."""
    try:
        return writer.storage.create(name, rows)
    except ExistsError:
        key = next((study.key for study in writer.storage.studies() if study.name == name), None)
        if key is not None and (exist_ok or (again and writer.storage.rows(key, 0, 1) == rows[:1])):
            return key
        raise


def remove_study(writer: Writer, key: int) -> None:
    """Delete a study; the second time, it may be gone."""

    def run(work: Work) -> None:
        try:
            writer.storage.lock(key)
        except InputError:
            if work.attempts > 1:
                return
            raise
        writer.storage.delete(key)
        writer.forget(key)

    writer.do(run)
