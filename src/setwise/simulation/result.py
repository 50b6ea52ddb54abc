"""What a simulation found: arrays, with the description of what was run; saved without pickle."""

import dataclasses
import os
from typing import Any

import numpy as np

from setwise.types import Floats, InputError, Ints

FORMAT = 1


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of some runs of one policy in one environment.

    policy, environment: what was run, in words
    horizon, seed, fast_forward: how it was run
    rounds: the checkpoints
    regret: cumulative regret, runs x checkpoints, from the true means
    pulls: how often each arm was chosen, runs x n
    surrogate_regret: regret by the environment's surrogate value, runs x checkpoints, if it has one
    indices: every arm's index after each checkpoint, runs x checkpoints x n, if recorded
    rho: the least index of a chosen arm so far, runs x checkpoints, if recorded
    names: of the arms, if they have any
    smaller: in how many rounds of each run the set had fewer than k arms, if the policy may play such sets
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

    @property
    def runs(self) -> int:
        return len(self.regret)

    def mean_regret(self) -> Floats:
        """The mean over the runs, at each checkpoint."""
        return np.asarray(self.regret.mean(axis=0))

    def standard_error(self) -> Floats:
        """The standard error of the mean, at each checkpoint; NaN for a single run."""
        if self.runs < 2:
            return np.full(len(self.rounds), np.nan)
        return np.asarray(self.regret.std(axis=0, ddof=1) / np.sqrt(self.runs))

    def __repr__(self) -> str:
        error = "" if self.runs < 2 else f" +- {self.standard_error()[-1]:.3g}"
        return (
            f"Result({self.policy} in {self.environment}: {self.runs} runs of {self.horizon:,} rounds, "
            f"final regret {self.mean_regret()[-1]:.6g}{error})"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to an .npz file, whole or not at all."""
        import json
        import tempfile

        arrays: dict[str, Any] = {}
        texts: dict[str, Any] = {"format": FORMAT}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            (arrays if isinstance(value, np.ndarray) else texts)[field.name] = value
        folder = os.path.dirname(os.path.abspath(path))
        os.makedirs(folder, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, about=np.array(json.dumps(texts)), allow_pickle=False, **arrays)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Result":
        """Read what `save` wrote."""
        import json
        import zipfile

        try:
            with np.load(path, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                arrays = {name: file[name] for name in file.files if name != "about"}
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise InputError(f"{os.fspath(path)} is not a result that Setwise saved") from None
        version = about.pop("format")
        if version > FORMAT:
            raise InputError(f"{os.fspath(path)} has format {version}, newer than the {FORMAT} this version reads")
        if about["names"] is not None:
            about["names"] = tuple(about["names"])
        return cls(**about, **arrays)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each run and checkpoint."""
        try:
            import pandas
        except ImportError:
            raise InputError("to_frame needs pandas, which is not installed: pip install pandas") from None
        columns = {
            "policy": self.policy,
            "environment": self.environment,
            "run": np.repeat(np.arange(self.runs), len(self.rounds)),
            "round": np.tile(self.rounds, self.runs),
            "regret": self.regret.ravel(),
        }
        if self.surrogate_regret is not None:
            columns["surrogate_regret"] = self.surrogate_regret.ravel()
        return pandas.DataFrame(columns)

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw regret against rounds, the mean and its 95 % confidence band, to a PNG, SVG or PDF file."""
        from setwise.simulation.plot import plot_regret

        plot_regret([self], path)
