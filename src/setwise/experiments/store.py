"""Store of results, in files named by the play's digest, so that no run is played twice.

A file `<digest>-<first>-<last>.npz` has the runs first to last of one play. Files are created atomically by renaming
and never change, so that any number of threads and processes can share a folder.
"""

import contextlib
import dataclasses
import importlib
import operator
import os
import re
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from setwise.errors import DamagedFile, unwritable
from setwise.experiments.plays import STORE, Play, code_of, library_versions
from setwise.files import DRAFT, draft_in, read_file, write_atomic
from setwise.identity import identity
from setwise.simulation.checks import check_points
from setwise.simulation.result import Result, unpack
from setwise.types import InputError
from setwise.validation import nearest, suggestion, whole_number

NAME = re.compile(r"([0-9a-f]{32})-(\d{6,})-(\d{6,})\.npz")
LEFT_OVER = 3600.0  # seconds after which a draft is from a killed process
SETTLED = 3.0  # seconds after which a further change alters the folder's mtime on any file system
SHORT = 12  # displayed characters of a digest


class StoredResult(NamedTuple):
    """The stored runs of one play.

    digest: of the play
    policy, environment: their reprs; empty if no file is readable
    world: the environment's identity
    horizon, seed, checkpoints, record, common, certificate: of the play; checkpoints is their number
    runs: number of runs
    size: bytes of all files
    written: when the last file was written, in seconds since 1970
    current: whether the installed code and libraries would give these runs; None if unknown
    """

    digest: str
    policy: str
    environment: str
    world: str
    horizon: int
    seed: int
    checkpoints: int
    record: bool
    common: bool
    certificate: float | None
    runs: int
    size: int
    written: float
    current: bool | None


class Kept(NamedTuple):
    """A stored file, parsed from its name."""

    digest: str
    first: int
    last: int
    path: str


class Store:
    """A folder of results.

    damaged: a sentence for each damaged file found
    """

    def __init__(self, folder: str | os.PathLike[str], create: bool = True) -> None:
        """Open a folder: create it, test writing, and delete drafts of killed processes; or only read it."""
        self.folder = os.fspath(folder)
        self.damaged: list[str] = []
        self._listing: tuple[float, float, dict[str, list[Kept]]] | None = None
        if create:
            try:
                os.makedirs(self.folder, exist_ok=True)
                with draft_in(self.folder) as draft, open(draft, "xb") as file:
                    file.write(bytes(4096))
                self._sweep()
            except OSError as error:
                why = f"{error.strerror}; give a folder that can be written"
                raise unwritable(error, f"results cannot be kept in {self.folder}: {why}") from None

    def load(self, play: Play, runs: int) -> Result | None:
        """Return the stored runs from 0 on, up to `runs` or a few more; None if there are none."""
        parts = self._from_the_first(play.digest, runs, discard=True)
        return _join(parts, play.policy, play.environment) if parts else None

    def missing(self, play: Play, runs: int, chunk: int) -> list[tuple[int, int]]:
        """Return the missing runs as pairs of first run and count, each of at most `chunk` runs."""
        needed = [kept for kept in self._files(play.digest) if kept.first < runs]
        sound = [kept for kept in needed if self._read(kept, discard=True) is not None]
        chunk, done = whole_number("chunk", chunk, 1), 0
        found: list[tuple[int, int]] = []
        for first, last in [*((kept.first, kept.last) for kept in sound), (runs, runs)]:
            found.extend((start, min(chunk, first - start)) for start in range(done, first, chunk))
            done = max(done, last + 1)
        return found

    def keep(self, play: Play, result: Result) -> str:
        """Write runs of a play atomically; return the path."""
        rounds = check_points(play.checkpoints, play.horizon).tolist()
        if (result.horizon, result.seed, result.rounds.tolist()) != (play.horizon, play.seed, rounds):
            raise InputError(f"{result!r} is not a result of the play {play.digest}")
        last = result.first + result.runs - 1
        path = os.path.join(self.folder, f"{play.digest}-{result.first:06d}-{last:06d}.npz")
        result.save(path, notes=_notes(play))
        return path

    def entries(self) -> list[StoredResult]:
        """List the stored plays, sorted by environment and policy."""
        known: dict[str, str | None] = {}
        entries = [self._entry(digest, known) for digest in self._all_files()]
        return sorted(entries, key=lambda e: (e.environment, e.policy, e.horizon, e.seed, e.digest))

    def remove(self, digests: Sequence[str] = (), stale: bool = False, everything: bool = False) -> list[StoredResult]:
        """Remove plays by the beginning of their digests, stale ones, or all; return them."""
        named = {self.find(digest) for digest in digests}
        chosen = [e for e in self.entries() if everything or e.digest in named or (stale and e.current is False)]
        for entry in chosen:
            for kept in self._files(entry.digest):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(kept.path)
        return chosen

    def export(self, digest: str, path: str | os.PathLike[str]) -> Result:
        """Export the runs from 0 on of one play to a .npz, .csv or .json file; return them."""
        ending = os.path.splitext(path)[1].lower()
        if ending not in (".npz", ".csv", ".json"):
            raise InputError(f"{os.fspath(path)} does not end in .npz, .csv or .json")
        digest = self.find(digest)
        parts = self._from_the_first(digest, sys.maxsize, discard=False)
        if not parts:
            raise DamagedFile(f"of {digest} there is no run 0 that can be read in {self.folder}; play it again")
        result = _join(parts)
        if ending == ".npz":
            result.save(path)
        else:
            write_atomic(path, (as_csv(result) if ending == ".csv" else as_json(result)).encode())
        return result

    def find(self, beginning: str) -> str:
        """Return the one digest with this beginning."""
        if len(beginning) < 4:
            raise InputError(f"{beginning!r} is too short for a digest; give at least 4 characters of it")
        digests = list(self._all_files())
        found = [digest for digest in digests if digest.startswith(beginning.lower())]
        if len(found) > 1:
            raise InputError(f"{beginning!r} begins {len(found)} digests, {', '.join(found[:3])}; give more of it")
        if not found:
            short = [digest[:SHORT] for digest in digests]
            few = len(short) <= 10 or nearest(beginning, short) is not None
            hint = suggestion(beginning, short) if few else f"`setwise results list` shows the {len(short)} there are"
            raise InputError(f"there is no result {beginning!r} in {self.folder}; {hint}")
        return found[0]

    def _from_the_first(self, digest: str, runs: int, discard: bool) -> list[Result]:
        """Read consecutive results from run 0 on, from as few files as possible."""
        parts: list[Result] = []
        waiting, done = list(self._files(digest)), 0
        while done < runs:
            fitting = [kept for kept in waiting if kept.first <= done <= kept.last]
            if not fitting:
                break
            longest = max(fitting, key=lambda kept: kept.last)
            waiting.remove(longest)
            found = self._read(longest, discard)
            if found is not None:
                parts.append(found[0].drop(done - longest.first))
                done = longest.last + 1
        return parts

    def _read(self, kept: Kept, discard: bool) -> tuple[Result, dict[str, Any]] | None:
        """Read a file's result and notes; None if it is missing or damaged. `discard` deletes a damaged file."""
        try:
            result, notes = unpack(read_file(kept.path))
            if (notes.get("digest"), result.first, result.first + result.runs - 1) != kept[:3]:
                raise DamagedFile("is damaged: it is not what its name says")
            return result, notes
        except FileNotFoundError:
            return None
        except (DamagedFile, InputError) as error:
            if discard:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(kept.path)
            then = "it was removed, and its runs are played again" if discard else "its runs will be played again"
            sentence = f"{kept.path} {error}; {then}"
            if sentence not in self.damaged:
                self.damaged.append(sentence)
            return None

    def _files(self, digest: str) -> list[Kept]:
        return self._all_files().get(digest, [])

    def _all_files(self) -> dict[str, list[Kept]]:
        """Return the files by digest, sorted by first run; the listing is cached until the folder may have changed."""
        try:
            changed = os.stat(self.folder).st_mtime
        except FileNotFoundError:
            return {}
        if self._listing is not None:
            listed, then, files = self._listing
            if changed == then and listed - changed > SETTLED:
                return files
        listed, files = time.time(), {}
        for name in sorted(os.listdir(self.folder)):
            found = NAME.fullmatch(name)
            if found and int(found[2]) <= int(found[3]):
                kept = Kept(found[1], int(found[2]), int(found[3]), os.path.join(self.folder, name))
                files.setdefault(kept.digest, []).append(kept)
        for same in files.values():
            same.sort()
        self._listing = listed, changed, files
        return files

    def _entry(self, digest: str, known: dict[str, str | None]) -> StoredResult:
        files = self._files(digest)
        found = next(filter(None, (self._read(kept, discard=False) for kept in files)), None)
        size = runs = done = 0
        written = 0.0
        for kept in files:
            runs += max(0, kept.last + 1 - max(kept.first, done))
            done = max(done, kept.last + 1)
            with contextlib.suppress(FileNotFoundError):
                facts = os.stat(kept.path)
                size, written = size + facts.st_size, max(written, facts.st_mtime)
        if found is None:
            return StoredResult(digest, "", "", "", 0, 0, 0, False, False, None, runs, size, written, current=None)
        result, notes = found
        classes = str(notes["classes"])
        if classes not in known:
            known[classes] = _code_today(notes["classes"])
        now = known[classes], list(library_versions())
        current = None if now[0] is None else now == (notes["code"], notes["versions"])
        if notes.get("store") != STORE:
            current = False
        return StoredResult(
            digest,
            result.policy,
            result.environment,
            notes["world"],
            result.horizon,
            result.seed,
            checkpoints=len(result.rounds),
            record=notes["record"],
            common=result.common,
            certificate=result.certificate,
            runs=runs,
            size=size,
            written=written,
            current=current,
        )

    def _sweep(self) -> None:
        for name in os.listdir(self.folder):
            if name.startswith(DRAFT) and name.endswith(".part"):
                path = os.path.join(self.folder, name)
                with contextlib.suppress(FileNotFoundError):
                    if time.time() - os.stat(path).st_mtime > LEFT_OVER:
                        os.unlink(path)


def _join(parts: Sequence[Result], policy: Any = None, environment: Any = None) -> Result:
    """Join the parts, with the reprs and names of this pair or of the first part: names of arms are not in a digest."""
    first = parts[0]
    if environment is not None:
        names = getattr(environment, "names", None)
        first = dataclasses.replace(first, policy=repr(policy), environment=repr(environment), names=names)
    rest = [dataclasses.replace(part, policy=first.policy, environment=first.environment) for part in parts[1:]]
    return Result.join([first, *rest])


def _notes(play: Play) -> dict[str, Any]:
    """Return the metadata of the play that a file stores beside the result."""
    return {
        "digest": play.digest,
        "store": STORE,
        "world": identity(play.environment),
        "record": play.record,
        "classes": [[cls.__module__, cls.__qualname__] for cls in play.classes],
        "code": play.code,
        "versions": list(library_versions()),
    }


def _code_today(classes: list[list[str]]) -> str | None:
    """Return the current code digest of these classes: "none" if one is gone, None if unknown.

    Only Setwise's own modules are imported: a file must not choose which other code runs.
    """
    found = []
    for module, name in classes:
        own = module.partition(".")[0] == "setwise"
        if "<locals>" in name or "__main__" in module or not (own or module in sys.modules):
            return None
        try:
            found.append(operator.attrgetter(name)(importlib.import_module(module)))
        except (ImportError, AttributeError):
            return "none"
    return code_of(*found)


def as_csv(result: Result) -> str:
    """Return CSV with a line for each run and checkpoint, numbers in full precision."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    curves = {"regret": result.regret, "surrogate_regret": result.surrogate_regret}
    given = {name: curve.tolist() for name, curve in curves.items() if curve is not None}
    writer.writerow(["run", "round", *given])
    for run in range(result.runs):
        rows = zip(result.rounds.tolist(), *(curve[run] for curve in given.values()), strict=True)
        writer.writerows([result.first + run, *row] for row in rows)
    return text.getvalue()


def as_json(result: Result) -> str:
    """Return JSON with all fields, numbers in full precision, non-finite ones as null."""
    import json
    import math

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(item) for item in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    values = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return json.dumps({name: plain(v.tolist() if hasattr(v, "tolist") else v) for name, v in values.items()}) + "\n"
