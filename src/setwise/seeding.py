"""One generator for each run, from the seed and from what is run alone."""

from typing import Any

import numpy as np

from setwise.digests import value_digest
from setwise.types import Generator


def stream(seed: int, policy: Any, environment: Any, run: int) -> Generator:
    """The generator of one run: the same whatever else is run, in whatever order, on however many threads."""
    key = [int(value_digest(part)[:16], 16) for part in (policy, environment)]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(*key, run))))
