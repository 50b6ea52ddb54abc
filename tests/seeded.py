"""Random numbers for tests: the same in every run."""

import numpy as np


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)
