"""One generator per run, derived only from the seed, the policy, the environment and the run's number."""

from typing import Any

import numpy as np

from setwise.digests import value_digest
from setwise.types import Generator


def stream_key(policy: Any, environment: Any) -> tuple[int, int]:
    """Return the key that separates the streams of a policy in an environment from all others."""
    return int(value_digest(policy)[:16], 16), int(value_digest(environment)[:16], 16)


def stream_state(seed: int, key: tuple[int, int], run: int) -> Any:
    """Return the first state of the generator of one run, as NumPy describes it."""
    return np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(*key, run))).state


def stream(seed: int, key: tuple[int, int], run: int) -> Generator:
    """Return the generator of one run, independent of other runs, their order and the number of threads."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(*key, run))))
