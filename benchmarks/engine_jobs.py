"""Jobs for the workers of benchmarks/engines.py, in a module that other processes can import."""

import functools

import numpy as np

from setwise.simulation.result import Result


def nothing() -> None:
    """Do nothing."""


@functools.cache
def answer(runs: int, points: int, n: int) -> Result:
    """Return incompressible bytes, as many as the result of a chunk has."""
    rng = np.random.default_rng(0)
    regret, pulls = rng.random((runs, points)), rng.integers(0, 10**5, (runs, n))
    return Result("policy", "environment", points, 0, True, np.arange(1, points + 1), regret, pulls)
