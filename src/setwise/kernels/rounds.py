"""Random numbers by round and place: whoever asks for the same place of the same round gets the same number.

The numbers of a round are those of one PCG64, NumPy's generator, from draw round * STRIDE on. Its state is an LCG, so
that m draws ahead are one step of another one (NumPy's `advance`):

    x -> M^m x + (1 + M + ... + M^(m-1)) c  mod 2^128.

STRIDE is odd, so that all bits of the state change from round to round, and the rounds of a run of 10^12 rounds do not
overlap. `start` has the words of the state and of the increment c at the start of a round.

The compiler of Setwise has these functions in LLVM's language; Numba does not compile them.

Brown 1994, "Random number generation with arbitrary strides".
"""

import functools

import numpy as np

from setwise.types import Generator, Ints

STRIDE = 0x4F1BBCDCBFA53E0B  # 2^63 over the golden ratio
MULTIPLIER, WHOLE, HALF = 47026247687942121848144207491837523525, (1 << 128) - 1, (1 << 64) - 1


@functools.lru_cache(maxsize=4096)
def jump(draws: int) -> tuple[int, int]:
    """Return the factors of x and c that take the state as many draws ahead.

    >>> jump(1) == (MULTIPLIER, 1)
    True
    """
    power = pow(MULTIPLIER, draws, (MULTIPLIER - 1) << 128)
    return power & WHOLE, (power - 1) // (MULTIPLIER - 1) & WHOLE


def write_start(start: Ints, state: int, increment: int) -> None:
    """Write the start of the first round: the state and the increment of a PCG64."""
    start.view(np.uint64)[:] = (state & HALF, state >> 64, increment & HALF, increment >> 64)


def _numbers(start: Ints) -> tuple[int, int]:
    low, high, odd, upper = start.view(np.uint64).tolist()
    return low | high << 64, odd | upper << 64


def next_round(start: Ints) -> None:
    """Go on to the next round, in place."""
    state, increment = _numbers(start)
    factor, shift = jump(STRIDE)
    write_start(start, factor * state + shift * increment & WHOLE, increment)


def uniform_at(start: Ints, place: int) -> float:
    """Return the number that a generator at the start of the round draws after `place` others, uniform on [0, 1)."""
    state, increment = _numbers(start)
    factor, shift = jump(int(place) + 1)
    state = factor * state + shift * increment & WHOLE
    mixed, turn = (state >> 64) ^ (state & HALF), state >> 122
    return float(((mixed >> turn | mixed << (64 - turn)) & HALF) >> 11) * 2.0**-53


def begin_round(rng: Generator, start: Ints) -> None:
    """Put a generator of PCG64 to the start of the round."""
    state, increment = _numbers(start)
    numbers = {"state": state, "inc": increment}
    rng.bit_generator.state = {"bit_generator": "PCG64", "state": numbers, "has_uint32": 0, "uinteger": 0}
