"""The list of the paper's claims: select, compute and export them."""

import csv
import dataclasses
import io
import json
import os
from collections.abc import Sequence

from setwise.files import write_atomic
from setwise.paper.claim import VERDICTS, Claim, Settled, settle
from setwise.paper.claims import CLAIMS
from setwise.types import InputError
from setwise.validation import suggestion

__all__ = [
    "CLAIMS", "VERDICTS", "Claim", "Settled", "check_path", "choose", "counts", "expected_seconds", "group_of", "named",
    "settle", "settle_named", "write",
]  # fmt: skip


def choose(text: str = "") -> list[Claim]:
    """Return the claims whose name, place or statement contains the text, in the paper's order."""
    chosen = [c for c in CLAIMS if text.lower() in f"{c.name} {c.place} {c.says}".lower()]
    if not chosen:
        raise InputError(f"no claim has {text!r} in it; `setwise claims --list` shows all")
    return chosen


def named(name: str) -> Claim:
    """Return the claim of that name."""
    for claim in CLAIMS:
        if claim.name == name:
            return claim
    raise InputError(f"there is no claim {name!r}; {suggestion(name, [claim.name for claim in CLAIMS])}")


def settle_named(name: str, seed: int = 0) -> Settled:
    """Compute the claim of that name; can run in a worker process."""
    return settle(named(name), seed)


def group_of(name: str) -> str:
    """Return the group of claims that share a computation; the claim's own name if it has none."""
    return named(name).group or name


def expected_seconds(name: str) -> float:
    """Return the rough time of a claim on one core, without compilation."""
    return named(name).seconds


def counts(settled: Sequence[Settled]) -> dict[str, int]:
    """Count the claims by verdict."""
    return {verdict: sum(claim.verdict == verdict for claim in settled) for verdict in VERDICTS}


def check_path(path: str) -> None:
    """Fail fast if claims cannot be written to this file; an existing file is left as it is."""
    ending = os.path.splitext(path)[1]
    if ending not in (".json", ".csv"):
        raise InputError(f"{path!r} ends in {ending!r}; claims are written to .json or .csv")
    with open(path, "ab"):
        pass


def write(path: str, settled: list[Settled]) -> None:
    """Write the claims to a .json or .csv file, atomically."""
    check_path(path)
    ending = os.path.splitext(path)[1]
    rows = [dataclasses.asdict(claim) for claim in settled]
    text = io.StringIO()
    if ending == ".json":
        json.dump(rows, text, indent=1, ensure_ascii=False)
        text.write("\n")
    else:
        names = [field.name for field in dataclasses.fields(Settled)]
        writer = csv.DictWriter(text, names)
        writer.writeheader()
        writer.writerows(rows)
    write_atomic(path, text.getvalue().encode())
