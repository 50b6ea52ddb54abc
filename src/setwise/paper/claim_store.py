"""Cache settled claims on disk, keyed by the digest of the code: a change of the code recomputes them."""

import contextlib
import dataclasses
import json
import os
import re
from collections.abc import Sequence
from typing import Any

from setwise.digests import package_digest, value_digest
from setwise.engines import Job
from setwise.experiments.plays import library_versions
from setwise.files import write_atomic
from setwise.paper.claim import Settled
from setwise.paper.claim_list import expected_seconds, group_of, settle_named

CLAIMS = "claims"  # subfolder of the results


class ClaimStore:
    """A cache of settled claims in a folder, one file each.

    damaged: one message per unreadable file, whose claim is recomputed
    """

    def __init__(self, folder: str, seed: int = 0) -> None:
        self.folder = folder
        self.seed = seed
        self.damaged: list[str] = []

    def path(self, name: str) -> str:
        digest = value_digest((name, self.seed, package_digest(), library_versions()))
        return os.path.join(self.folder, f"{name}-{self.seed}-{digest[:16]}.json")

    def load(self, name: str) -> Settled | None:
        """Return the claim if this version of the code has settled it, else None."""
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
            _delete(path)
            return None

    def remove_all(self) -> int:
        """Remove all cached claims of any seed; return their number."""
        files = (
            [file for file in os.listdir(self.folder) if file.endswith(".json")] if os.path.isdir(self.folder) else []
        )
        for file in files:
            _delete(os.path.join(self.folder, file))
        return len(files)

    def save(self, claim: Settled) -> None:
        """Write the claim atomically, and remove results of other versions of the code."""
        os.makedirs(self.folder, exist_ok=True)
        path = self.path(claim.name)
        kept = dataclasses.asdict(claim)
        write_atomic(path, (json.dumps({**kept, "checksum": value_digest(kept)}, ensure_ascii=False) + "\n").encode())
        own = re.compile(rf"{re.escape(claim.name)}-{self.seed}-[0-9a-f]{{16}}\.json")
        for file in os.listdir(self.folder):
            if own.fullmatch(file) and file != os.path.basename(path):
                _delete(os.path.join(self.folder, file))


def _delete(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # another process may have been faster
        os.unlink(path)


def settle_and_save(name: str, folder: str, seed: int) -> Settled:
    """Compute a claim and cache it; can run in a worker process."""
    claim = settle_named(name, seed)
    ClaimStore(folder, seed).save(claim)
    return claim


def claim_jobs(names: Sequence[str], claims: ClaimStore) -> list[Job]:
    """Return the jobs that settle these claims; claims that share a computation go to the same process."""
    return [
        Job(settle_and_save, (name, claims.folder, claims.seed), name, expected_seconds(name), group_of(name))
        for name in names
    ]
