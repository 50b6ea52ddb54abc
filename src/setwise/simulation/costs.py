"""Estimate how long runs take, compiled and interpreted, and how long compiling takes."""

import math
import time
from typing import Any

import numpy as np

from setwise.simulation.checks import Request, can_fast_forward
from setwise.simulation.play import play

COMPILED_ROUND = 2e-7  # seconds of a compiled round before the set settles
LOADING = 0.15  # seconds to load LLVM and stored machine code into a new process
PROBED_ROUNDS = 4


def seconds_of_run(policy: Any, environment: Any, horizon: int, fast_forward: bool | None, record: bool) -> float:
    """Estimate the duration of a compiled run; measured times correct the estimate."""
    rounds = float(horizon)
    if can_fast_forward(policy, environment) and fast_forward is not False and not record:
        later = max(1.0, rounds / 1e5)
        more = 0.15 * math.log10(later) if hasattr(policy, "required_reward") else 0.015 * (math.sqrt(later) - 1.0)
        return COMPILED_ROUND * min(rounds, 1e5) + more
    return 2.0 * COMPILED_ROUND * rounds


def cost_of_run(request: Request) -> tuple[float, int]:
    """Estimate the seconds of a compiled run, and the bytes of its record."""
    own = request
    seconds = seconds_of_run(own.policy, own.environment, own.horizon, own.fast, own.record_indices)
    return seconds, bytes_of_run(own.n, len(own.rounds), own.record_indices)


def bytes_of_run(n: int, points: int, record: bool) -> int:
    """Estimate the size of the record of one run."""
    return 8 * (n + 2 * points + (n * points if record else 0))


def interpreted_seconds(request: Request, arguments: tuple[Any, ...]) -> float:
    """Estimate the duration of one interpreted run, from its first rounds, which are discarded.

    arguments: of the loop, not used afterwards
    """
    policy, world, state, rng, task, _, record = arguments
    rounds = min(PROBED_ROUNDS, request.horizon)
    begun = time.perf_counter()
    with np.errstate(all="ignore"):
        play(policy, world, state, rng, task, np.array([rounds]), record)
    a_round = (time.perf_counter() - begun) / rounds
    if not request.fast:
        return a_round * request.horizon
    return a_round * min(float(request.horizon), cost_of_run(request)[0] / COMPILED_ROUND)
