"""The ledger of the paper's claims: all of them, chosen, computed, and written to a file."""

import csv
import dataclasses
import io
import json
import os
from collections.abc import Sequence

from setwise.declare import suggestion
from setwise.paper.claim import VERDICTS, Claim, Settled, settle
from setwise.paper.claims import CLAIMS
from setwise.simulation.result import write_whole
from setwise.types import InputError

__all__ = [
    "CLAIMS", "VERDICTS", "Claim", "Settled", "check_path", "choose", "counts", "expected_seconds", "group_of", "named",
    "settle", "settle_named", "write",
]  # fmt: skip


def choose(text: str = "") -> list[Claim]:
    """The claims whose name, place or words have the text in them, in the paper's order."""
    chosen = [c for c in CLAIMS if text.lower() in f"{c.name} {c.place} {c.says}".lower()]
    if not chosen:
        raise InputError(f"no claim has {text!r} in it; `setwise claims --list` shows all")
    return chosen


def named(name: str) -> Claim:
    """The claim of that name."""
    for claim in CLAIMS:
        if claim.name == name:
            return claim
    raise InputError(f"there is no claim {name!r}; {suggestion(name, [claim.name for claim in CLAIMS])}")


def settle_named(name: str, seed: int = 0) -> Settled:
    """Compute the claim of that name, in whatever process this is."""
    return settle(named(name), seed)


def group_of(name: str) -> str:
    """What the claim shares with others, which is computed once in a process; its own name if nothing."""
    return named(name).group or name


def expected_seconds(name: str) -> float:
    """How long it takes on one core once everything is compiled, roughly."""
    return named(name).seconds


def counts(settled: Sequence[Settled]) -> dict[str, int]:
    """How many claims have each verdict."""
    return {verdict: sum(claim.verdict == verdict for claim in settled) for verdict in VERDICTS}


def check_path(path: str) -> None:
    """Refuse a file that claims cannot be written to; one that is there keeps what it has."""
    ending = os.path.splitext(path)[1]
    if ending not in (".json", ".csv"):
        raise InputError(f"{path!r} ends in {ending!r}; claims are written to .json or .csv")
    with open(path, "ab"):
        pass


def write(path: str, settled: list[Settled]) -> None:
    """Write the claims to a .json or .csv file, whole or not at all."""
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
    write_whole(path, text.getvalue().encode())
