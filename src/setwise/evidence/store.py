"""Studies by name, and the rows that were computed, kept as JSON."""

import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from setwise.declare import suggestion
from setwise.errors import DamagedFile, InputError

DATA = Path(__file__).parent / "data"

STUDIES = {
    "comparison": "every policy in the paper's five worlds, the trap and a world of topics, at one horizon",
    "gains": "the indices that stay frozen, and Thompson sampling, against Algorithm 1, with intervals",
    "horizons": "how regret grows from 10^4 to 10^8 rounds",
    "weak-worlds": "200 random worlds that satisfy the paper's assumption",
    "adversary": "a search for worlds in which a policy's regret grows linearly, or its worst run is far off",
    "candidates": "other levels, Bernstein forms and posteriors that stay frozen: attempts to do better still",
}

Progress = Callable[[str, float], None]
Row = dict[str, Any]


def compute(name: str, progress: Progress | None = None, quick: bool = False, seed: int = 0) -> list[Row]:
    """The rows of a study, computed now; `quick` plays a small version of it."""
    _check(name)
    module = import_module(f"setwise.evidence.{name.replace('-', '_')}")
    rows: list[Row] = rounded(module.compute(progress=progress, quick=quick, seed=seed))
    return rows


def write(name: str, rows: list[Row], folder: str | os.PathLike[str], quick: bool = False, seed: int = 0) -> Path:
    """Keep the rows in a folder; return the file."""
    target = Path(folder) / f"{name}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    head = {"study": name, "what": STUDIES[name], "quick": quick, "seed": seed}
    body = ",\n".join(json.dumps(row) for row in rows)
    draft = target.with_suffix(".part")
    draft.write_text(f'{{"about": {json.dumps(head)},\n"rows": [\n{body}\n]}}\n', encoding="utf-8")
    os.replace(draft, target)
    return target


def read(name: str, folder: str | os.PathLike[str] = DATA) -> list[Row]:
    """The rows that were kept; none, if the study was never computed there."""
    rows: list[Row] = _kept(name, folder).get("rows", [])
    return rows


def about(name: str, folder: str | os.PathLike[str] = DATA) -> Row:
    """How the rows that were kept had been computed."""
    head: Row = _kept(name, folder).get("about", {})
    return head


def _kept(name: str, folder: str | os.PathLike[str]) -> Row:
    _check(name)
    path = Path(folder) / f"{name}.json"
    try:
        kept: Row = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError:
        raise DamagedFile(f"{path} is damaged: it is no JSON; compute it again, or install Setwise again") from None
    return kept


def _check(name: str) -> None:
    if name not in STUDIES:
        raise InputError(f"there is no study {name!r}; {suggestion(name, STUDIES)}")


def rounded(value: Any) -> Any:
    """The value with its floats cut to 6 digits, which is more than their errors leave certain.

    >>> rounded({"mean": 1234.56789, "runs": 3, "curve": [0.000123456789]})
    {'mean': 1234.57, 'runs': 3, 'curve': [0.000123457]}
    """
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
