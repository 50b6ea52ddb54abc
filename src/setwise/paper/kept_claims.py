"""Claims that were settled, kept by the digest of the code, so that they are computed again only when it changes."""

import contextlib
import dataclasses
import json
import os
import re
from collections.abc import Sequence
from typing import Any

from setwise.digests import package_digest, value_digest
from setwise.engines import Job
from setwise.experiments.play import library_versions
from setwise.paper.claim import Settled
from setwise.paper.ledger import expected_seconds, group_of, settle_named
from setwise.simulation.result import write_whole

CLAIMS = "claims"  # the folder among the results


class ClaimStore:
    """Settled claims in a folder, one file each.

    damaged: a sentence for each file that could not be read, and whose claim is computed again
    """

    def __init__(self, folder: str, seed: int = 0) -> None:
        self.folder = folder
        self.seed = seed
        self.damaged: list[str] = []

    def path(self, name: str) -> str:
        digest = value_digest((name, self.seed, package_digest(), library_versions()))
        return os.path.join(self.folder, f"{name}-{self.seed}-{digest[:16]}.json")

    def load(self, name: str) -> Settled | None:
        """The claim, if it was settled by this code."""
        path = self.path(name)
        try:
            with open(path, encoding="utf-8") as file:
                kept: dict[str, Any] = json.load(file)
            if kept.pop("checksum") != value_digest(kept):
                raise ValueError("checksum")
            return Settled(**kept)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, AttributeError):
            self.damaged.append(f"{path} was damaged, and the claim was computed again")
            _let_go(path)
            return None

    def remove_all(self) -> int:
        """Remove what is kept, whatever the seed; return how many claims that were."""
        files = (
            [file for file in os.listdir(self.folder) if file.endswith(".json")] if os.path.isdir(self.folder) else []
        )
        for file in files:
            _let_go(os.path.join(self.folder, file))
        return len(files)

    def keep(self, claim: Settled) -> None:
        """Write it, whole or not at all; what other code had found is let go."""
        os.makedirs(self.folder, exist_ok=True)
        path = self.path(claim.name)
        kept = dataclasses.asdict(claim)
        write_whole(path, (json.dumps({**kept, "checksum": value_digest(kept)}, ensure_ascii=False) + "\n").encode())
        own = re.compile(rf"{re.escape(claim.name)}-{self.seed}-[0-9a-f]{{16}}\.json")
        for file in os.listdir(self.folder):
            if own.fullmatch(file) and file != os.path.basename(path):
                _let_go(os.path.join(self.folder, file))


def _let_go(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # another process may have been faster
        os.unlink(path)


def settle_and_keep(name: str, folder: str, seed: int) -> Settled:
    """Compute a claim, in whatever process this is, and keep it."""
    claim = settle_named(name, seed)
    ClaimStore(folder, seed).keep(claim)
    return claim


def claim_jobs(names: Sequence[str], claims: ClaimStore) -> list[Job]:
    """The work of settling these claims; those that share a computation go to the same process."""
    return [
        Job(settle_and_keep, (name, claims.folder, claims.seed), name, expected_seconds(name), group_of(name))
        for name in names
    ]
