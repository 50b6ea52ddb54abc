"""Export decisions and journals, and import journals."""

import csv
import json
import os
from collections.abc import Iterator
from typing import IO, Any

from setwise.errors import DamagedFile, InputError, StorageError
from setwise.files import draft_in
from setwise.study.definition import Definition
from setwise.study.journal import START, Row, body_of, check_row, to_text
from setwise.study.operations import decision_of
from setwise.study.records import Decision
from setwise.study.replica import COMPILE_ROWS, Replica

COLUMNS = ("round", "decision", "asked", "told", "status", "arm", "reward", "late")
FORMAT = 1


def decisions_of(study: Any, last: int | None = None) -> list[Decision]:
    """Return all decisions of a study in the order of asking, or only the last ones."""
    names, until, rounds = study._read(lambda replica: (list(replica.names), replica.position, replica.rounds))
    first = 0 if last is None else max(0, rounds - last)
    about: dict[str, list[Row]] = {}
    seen = 0
    for page in study._rows(until):
        for row in page:
            if row.decision is None:
                continue
            if row.kind == "ask":
                seen += 1
                if seen > first:
                    about[row.decision] = [row]
            elif row.decision in about:
                about[row.decision].append(row)
    return [decision_of(names, rows) for rows in about.values()]


def export(study: Any, path: str | os.PathLike[str]) -> None:
    """Export decisions as .csv or the journal as .jsonl. Atomic."""
    target = os.fspath(path)
    ending = os.path.splitext(target)[1].lower()
    if ending not in (".csv", ".jsonl"):
        raise InputError(f"{target!r} does not end in .csv (decisions) or .jsonl (the whole journal)")
    folder = os.path.dirname(os.path.abspath(target))
    try:
        with draft_in(folder) as draft:
            with open(draft, "x", newline="", encoding="utf-8") as file:
                (write_csv if ending == ".csv" else write_journal)(study, file)
            os.replace(draft, target)
    except StorageError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, target) from None


def write_csv(study: Any, file: IO[str]) -> None:
    """Write one line per arm of each decision."""
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    for decision in decisions_of(study):
        told = "" if decision.told is None else decision.told.isoformat()
        for arm in decision.arms:
            reward = "" if decision.rewards is None else f"{decision.rewards[arm]!r}"
            late = "" if decision.late is None else f"{decision.late[arm]!r}"
            asked = decision.asked.isoformat()
            table.writerow((decision.round, decision.id, asked, told, decision.status, arm, reward, late))


def write_journal(study: Any, file: IO[str]) -> None:
    """Write a header line, then one line per row."""
    file.write(json.dumps({"setwise": "journal", "format": FORMAT, "study": study.name}) + "\n")
    for page in study._rows():
        for row in page:
            line = {**row._asdict(), "body": body_of(row), "digest": row.digest.hex()}
            file.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")


def read_journal(path: str | os.PathLike[str], policy: Any = None) -> list[Row]:
    """Read an exported journal; raise DamagedFile unless it is intact and replays."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        _check_first(file.readline(), name)
        rows = list(_read_rows(file, name))
    if not rows:
        raise DamagedFile(f"{name} has no rows; a journal begins with the row that creates the study")
    definition = Definition.from_json(body_of(rows[0]), policy)
    Replica.of(definition).apply(rows, compiled=len(rows) >= COMPILE_ROWS)
    return rows


def _check_first(line: bytes, path: str) -> None:
    """Raise InputError if the header line is not that of a journal."""
    try:
        found = json.loads(line.decode())
        ours, newer = found["setwise"] == "journal", found["format"] > FORMAT
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a journal that Setwise exported: it is not text") from None
    except (ValueError, KeyError, TypeError):
        ours = newer = False
    if not ours:
        raise InputError(f"{path} is not a journal that Setwise exported (line 1)")
    if newer:
        raise InputError(f"{path} was written by a newer version of Setwise: upgrade Setwise")


def _read_rows(lines: IO[bytes], path: str) -> Iterator[Row]:
    """Yield the rows after the header line; raise DamagedFile if one does not match its digest."""
    position, digest = 0, START
    for number, line in enumerate(lines, 2):
        try:
            found = json.loads(line.decode())
            body = to_text(found["body"])
            place, kind, decision = found["position"], found["kind"], found["decision"]
            row = Row(place, kind, decision, found["time"], body, bytes.fromhex(found["digest"]))
        except (ValueError, KeyError, TypeError):
            raise DamagedFile(f"{path}, line {number}: the journal is damaged: this is not a row") from None
        try:
            check_row(row, position, digest)
        except DamagedFile as error:
            raise DamagedFile(f"{path}, line {number}: {error}") from None
        position, digest = row.position, row.digest
        yield row
