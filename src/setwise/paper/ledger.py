"""The ledger of the paper's claims: all of them, chosen, computed, and written to a file."""

import csv
import dataclasses
import json
import os

from setwise.paper.claim import VERDICTS, Claim, Settled, settle
from setwise.paper.claims import CLAIMS
from setwise.types import InputError

__all__ = ["CLAIMS", "VERDICTS", "Claim", "Settled", "choose", "settle", "write"]


def choose(text: str = "") -> list[Claim]:
    """The claims whose name, place or words have the text in them, in the paper's order."""
    chosen = [c for c in CLAIMS if text.lower() in f"{c.name} {c.place} {c.says}".lower()]
    if not chosen:
        raise InputError(f"no claim has {text!r} in it; `setwise claims --list` shows all")
    return chosen


def write(path: str, settled: list[Settled]) -> None:
    """Write the claims to a .json or .csv file."""
    ending = os.path.splitext(path)[1]
    if ending not in (".json", ".csv"):
        raise InputError(f"{path!r} ends in {ending!r}; claims are written to .json or .csv")
    rows = [dataclasses.asdict(claim) for claim in settled]
    with open(path, "w", newline="", encoding="utf-8") as file:
        if ending == ".json":
            json.dump(rows, file, indent=1, ensure_ascii=False)
            file.write("\n")
        else:
            names = [field.name for field in dataclasses.fields(Settled)]
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
