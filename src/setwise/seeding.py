"""One generator for each run, from the seed and from what is run alone."""

from typing import Any

import numpy as np

from setwise.digests import value_digest
from setwise.types import Generator


def stream_key(policy: Any, environment: Any) -> tuple[int, int]:
    """What tells the streams of one policy in one environment from all others."""
    return int(value_digest(policy)[:16], 16), int(value_digest(environment)[:16], 16)


def stream(seed: int, key: tuple[int, int], run: int) -> Generator:
    """The generator of one run: the same whatever else is run, in whatever order, on however many threads."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(*key, run))))
