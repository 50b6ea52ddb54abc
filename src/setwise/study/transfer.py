"""Decisions and journals, out of a study and into one."""

import contextlib
import csv
import json
import os
from collections.abc import Iterator
from typing import IO, Any

from setwise.study.acts import decision_of
from setwise.study.definition import Definition
from setwise.study.fold import MANY, Fold
from setwise.study.journal import START, DamageError, Row, body_of, check_row, to_text
from setwise.study.records import Decision
from setwise.study.storage import StorageError
from setwise.types import InputError

COLUMNS = ("round", "decision", "asked", "told", "status", "arm", "reward", "late")
FORMAT = 1


def decisions_of(study: Any, last: int | None = None) -> list[Decision]:
    """All decisions of a study in the order of asking, or the last so many."""
    fold = study.read(lambda fold: fold)
    until, rounds = study.read(lambda fold: (fold.position, fold.rounds))
    first = 0 if last is None else max(0, rounds - last)
    about: dict[str, list[Row]] = {}
    seen = 0
    for page in study.rows(until):
        for row in page:
            if row.decision is None:
                continue
            if row.kind == "ask":
                seen += 1
                if seen > first:
                    about[row.decision] = [row]
            elif row.decision in about:
                about[row.decision].append(row)
    return [decision_of(fold, rows) for rows in about.values()]


def export(study: Any, path: str | os.PathLike[str]) -> None:
    """Write decisions as .csv or the journal as .jsonl: whole or not at all."""
    target = os.fspath(path)
    ending = os.path.splitext(target)[1].lower()
    if ending not in (".csv", ".jsonl"):
        raise InputError(f"{target!r} does not end in .csv (decisions) or .jsonl (the whole journal)")
    folder, name = os.path.split(target)
    fresh = os.path.join(folder, f".{name}.{os.getpid()}.new")
    try:
        with open(fresh, "w", newline="", encoding="utf-8") as file:
            (write_csv if ending == ".csv" else write_journal)(study, file)
        os.replace(fresh, target)
    except StorageError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, target) from None
    finally:
        with contextlib.suppress(OSError):
            os.remove(fresh)


def write_csv(study: Any, file: IO[str]) -> None:
    """A line for each arm of each decision."""
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
    """A line that says what it is, and a line for each row."""
    file.write(json.dumps({"setwise": "journal", "format": FORMAT, "study": study.name}) + "\n")
    for page in study.rows():
        for row in page:
            line = {**row._asdict(), "body": body_of(row), "digest": row.digest.hex()}
            file.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")


def read_journal(path: str | os.PathLike[str], policy: Any = None) -> list[Row]:
    """The rows of a journal that was exported, if it is whole and every row can be understood."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = list(_read_rows(file, os.fspath(path)))
    except UnicodeDecodeError:
        raise InputError(f"{os.fspath(path)} is not a journal that Setwise exported: it is not a text") from None
    if not rows:
        raise InputError(f"{os.fspath(path)} has no rows; a journal begins with the row that creates the study")
    definition = Definition.from_json(body_of(rows[0]), policy)
    Fold(definition).apply(rows, compiled=len(rows) >= MANY)
    return rows


def _read_rows(lines: IO[str], path: str) -> Iterator[Row]:
    position, digest = 0, START
    for number, line in enumerate(lines):
        try:
            found = json.loads(line)
            if number == 0:
                if found["setwise"] != "journal":
                    raise KeyError
                if found["format"] > FORMAT:
                    raise InputError(f"{path} was written by a newer version of Setwise: upgrade Setwise")
                continue
            body = to_text(found["body"])
            place, kind, decision = found["position"], found["kind"], found["decision"]
            row = Row(place, kind, decision, found["time"], body, bytes.fromhex(found["digest"]))
        except InputError:
            raise
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path} is not a journal that Setwise exported (line {number + 1})") from None
        try:
            check_row(row, position, digest)
        except DamageError as error:
            raise InputError(f"{path}, line {number + 1}: {error}") from None
        position, digest = row.position, row.digest
        yield row
