"""Results of a simulation: arrays and a description of the runs, saved without pickle."""

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.errors import DamagedFile, InputError
from setwise.files import read_file, write_atomic
from setwise.types import Floats, Ints
from setwise.validation import counted, whole_number

if TYPE_CHECKING:
    from setwise.simulation.certificate import Certificate

FORMAT = 2  # 1 had no checksum


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Results of some runs of one policy in one environment.

    policy, environment: their reprs
    horizon, seed, fast_forward: as played
    rounds: the checkpoints
    regret: cumulative regret, runs x checkpoints, from the true means
    pulls: number of rounds in which each arm was chosen, runs x n
    surrogate_regret: regret by the environment's surrogate value, runs x checkpoints, if it has one
    indices: index of every arm after each checkpoint, runs x checkpoints x n, if recorded
    rho: the least index of a chosen arm so far, runs x checkpoints, if recorded
    names: of the arms, if any
    smaller: number of rounds of each run with fewer than k arms, if the policy may play such sets
    first: number of the first run
    common: whether the world's random numbers were common to all policies
    certificate: confidence of the test of weak optimal set consistency, if it was made
    refuted: of each run, the round in which that test refuted the assumption, or 0
    witnesses: of each run, the sets by which it was refuted; `certificate_of` reads them
    """

    policy: str
    environment: str
    horizon: int
    seed: int
    fast_forward: bool
    rounds: Ints
    regret: Floats
    pulls: Ints
    surrogate_regret: Floats | None = None
    indices: Floats | None = None
    rho: Floats | None = None
    names: tuple[str, ...] | None = None
    smaller: Ints | None = None
    first: int = 0
    common: bool = False
    certificate: float | None = None
    refuted: Ints | None = None
    witnesses: Floats | None = None

    @property
    def runs(self) -> int:
        return len(self.regret)

    def mean_regret(self) -> Floats:
        """Return the mean over the runs, at each checkpoint."""
        return np.asarray(self.regret.mean(axis=0))

    def standard_error(self) -> Floats:
        """Return the standard error of the mean, at each checkpoint; NaN for a single run."""
        if self.runs < 2:
            return np.full(len(self.rounds), np.nan)
        return np.asarray(self.regret.std(axis=0, ddof=1) / np.sqrt(self.runs))

    def take(self, runs: int) -> "Result":
        """Return the first `runs` runs."""
        if not 1 <= runs <= self.runs:
            raise InputError(f"there are {self.runs} runs, and {runs} were asked for")
        return self._with_runs(lambda values: values[:runs])

    def drop(self, runs: int) -> "Result":
        """Return all but the first `runs` runs."""
        if not 0 <= runs < self.runs:
            raise InputError(f"there are {self.runs} runs, and {runs} cannot be left out")
        return dataclasses.replace(self._with_runs(lambda values: values[runs:]), first=self.first + runs)

    @classmethod
    def join(cls, parts: Sequence["Result"]) -> "Result":
        """Join consecutive runs of one policy in one environment."""
        if not parts:
            raise InputError("there are no runs to join")
        whole, following = parts[0], parts[0].first
        for part in parts:
            if part.first != following:
                raise InputError(f"run {part.first} was to be joined where run {following} follows")
            following += part.runs
            if part._played() != whole._played() or not np.array_equal(part.rounds, whole.rounds):
                raise InputError(f"{part!r} cannot be joined to {whole!r}: what was played differs")
        rows: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in whole._of_runs()
        }
        return dataclasses.replace(whole, **rows)

    def _played(self) -> tuple[Any, ...]:
        """Return the fields that joined runs must share, besides the checkpoints."""
        return (
            self.policy, self.environment, self.horizon, self.seed, self.fast_forward, self.common, self.certificate,
            self._of_runs(),
        )  # fmt: skip

    def _of_runs(self) -> list[str]:
        """Return the names of the fields that have a row for each run."""
        names = ("regret", "pulls", "surrogate_regret", "indices", "rho", "smaller", "refuted", "witnesses")
        return [name for name in names if getattr(self, name) is not None]

    def _with_runs(self, change: Callable[[Any], Any]) -> "Result":
        return dataclasses.replace(self, **{name: change(getattr(self, name)) for name in self._of_runs()})

    def certificate_of(self, run: int) -> "Certificate":
        """Return the certificate against weak optimal set consistency of a run, numbered from 0 in this result."""
        from setwise.simulation.certificate import read_certificate

        if self.certificate is None or self.refuted is None or self.witnesses is None:
            raise InputError("these runs were not tested: play them with certificate=0.95")
        run = whole_number("run", run, 0)
        if run >= self.runs:
            raise InputError(f"run is {run}; there are {counted(self.runs, 'run')}, numbered from 0")
        return read_certificate(self.certificate, self.horizon, int(self.refuted[run]), self.witnesses[run], self.names)

    def __repr__(self) -> str:
        error = "" if self.runs < 2 else f" +- {self.standard_error()[-1]:.3g}"
        return (
            f"Result({self.policy} in {self.environment}: {self.runs} runs of {self.horizon:,} rounds, "
            f"final regret {self.mean_regret()[-1]:.6g}{error})"
        )

    def save(self, path: str | os.PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Write the result to an .npz file with a checksum, atomically; equal contents give equal bytes.

        notes: metadata stored as JSON; `unpack` returns it
        """
        write_atomic(path, pack(self, notes))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Result":
        """Read a file from `save`; raise `DamagedFile` if it is damaged, `InputError` if it is not a result."""
        try:
            return unpack(read_file(path))[0]
        except DamagedFile as error:
            raise DamagedFile(f"{os.fspath(path)} {error}; remove it and make it again") from None
        except InputError as error:
            raise InputError(f"{os.fspath(path)} {error}") from None

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each run and checkpoint."""
        try:
            import pandas
        except ImportError:
            raise InputError("to_frame needs pandas, which is not installed: pip install pandas") from None
        columns = {
            "policy": self.policy,
            "environment": self.environment,
            "run": np.repeat(self.first + np.arange(self.runs), len(self.rounds)),
            "round": np.tile(self.rounds, self.runs),
            "regret": self.regret.ravel(),
        }
        if self.surrogate_regret is not None:
            columns["surrogate_regret"] = self.surrogate_regret.ravel()
        return pandas.DataFrame(columns)

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Plot mean regret against rounds with its 95 % confidence band, to a PNG, SVG or PDF file."""
        from setwise.simulation.plot import plot_regret

        plot_regret([self], path)


NO_RESULT = "is not a result that Setwise saved"


def pack(result: Result, notes: Mapping[str, Any] | None = None) -> bytes:
    """Return the bytes of an .npz file: arrays, other fields as JSON in `about`, notes, and a checksum of all these."""
    import io
    import json
    import zipfile

    arrays: dict[str, Any] = {}
    texts: dict[str, Any] = {"format": FORMAT}
    for field in dataclasses.fields(result):
        value = getattr(result, field.name)
        (arrays if isinstance(value, np.ndarray) else texts)[field.name] = value
    arrays = {"about": np.array(json.dumps(texts)), **arrays}
    if notes is not None:
        arrays["notes"] = np.array(json.dumps(notes))
    members = {name: _array_bytes(value) for name, value in arrays.items()}
    members["checksum"] = _array_bytes(np.array(_checksum(members)))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), data)  # without a date, for equal bytes
    return file.getvalue()


def unpack(data: bytes) -> tuple[Result, dict[str, Any]]:
    """Return the result and the notes of a file from `pack`.

    Raise `DamagedFile` if it is damaged, `InputError` if it is not a result; the message goes after the file's name.
    """
    import json

    if not data:
        raise DamagedFile("is damaged: it is empty")
    if not data.startswith(b"PK"):
        raise InputError(NO_RESULT)
    members = _members(data)
    if "about" not in members:
        raise InputError(NO_RESULT)
    stated = members.pop("checksum", None)
    if stated is not None and str(_array(stated)) != _checksum(members):
        raise DamagedFile("is damaged: its checksum does not match")
    arrays = {name: _array(member) for name, member in members.items()}
    try:
        about, notes = json.loads(str(arrays.pop("about"))), json.loads(str(arrays.pop("notes", "{}")))
        version = about.pop("format")
        if version > FORMAT:
            raise InputError(f"has format {version}, newer than the {FORMAT} this version reads")
        if version > 1 and stated is None:
            raise DamagedFile("is damaged: its checksum is missing")
        names = about.pop("names", None)
        result = Result(**about, **arrays, names=None if names is None else tuple(names))
    except (AttributeError, KeyError, TypeError, json.JSONDecodeError):
        raise InputError(NO_RESULT) from None
    if not _fits_together(result) or not isinstance(notes, dict):
        raise InputError(NO_RESULT)
    return result, notes


def _members(data: bytes) -> dict[str, bytes]:
    """Return the members of an .npz file, by name."""
    import io
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
    except MemoryError:
        raise
    except Exception:  # zipfile raises a dozen kinds of errors for garbled bytes
        raise DamagedFile("is damaged: it is cut short or garbled") from None


def _array_bytes(value: Any) -> bytes:
    import io

    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(value, order="C"), allow_pickle=False)
    return file.getvalue()


def _array(member: bytes) -> Any:
    import io

    try:
        return np.lib.format.read_array(io.BytesIO(member), allow_pickle=False)
    except (ValueError, TypeError, EOFError):
        raise InputError(NO_RESULT) from None


def _checksum(members: Mapping[str, bytes]) -> str:
    """Return the SHA-256 of the members' names and bytes; an array's bytes include its type and shape."""
    from hashlib import sha256

    digest = sha256()
    for name in sorted(members):
        for part in (name.encode(), members[name]):
            digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _fits_together(result: Result) -> bool:
    """Whether the fields have the types and shapes of a result."""
    kinds = {"policy": str, "environment": str, "horizon": int, "seed": int, "fast_forward": bool, "first": int}
    kinds["common"] = bool
    if not all(isinstance(getattr(result, name), kind) for name, kind in kinds.items()):
        return False
    if not all(isinstance(name, str) for name in result.names or ()):
        return False
    tested = [part is not None for part in (result.certificate, result.refuted, result.witnesses)]
    if any(tested) and not (all(tested) and isinstance(result.certificate, float)):
        return False
    arrays = {"rounds", "regret", "pulls", *result._of_runs()}
    if not all(isinstance(getattr(result, name), np.ndarray) for name in arrays):
        return False
    if result.regret.ndim != 2 or result.regret.size == 0 or result.pulls.ndim != 2:
        return False
    (runs, points), n = result.regret.shape, result.pulls.shape[1]
    curves = dict.fromkeys(("regret", "surrogate_regret", "rho"), ("f", (runs, points)))
    counts = {"rounds": ("i", (points,)), "pulls": ("i", (runs, n)), "smaller": ("i", (runs,))}
    counts["refuted"] = ("i", (runs,))
    wanted = {**curves, **counts, "indices": ("f", (runs, points, n))}
    if result.witnesses is not None:
        wanted["witnesses"] = ("f", (runs, *result.witnesses.shape[1:]))
    found = {name: getattr(result, name) for name in arrays}
    return all((value.dtype.kind, value.shape) == wanted[name] for name, value in found.items())
