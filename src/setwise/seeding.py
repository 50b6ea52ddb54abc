"""One generator per run, derived only from the seed, the policy, the environment and the run's number.

NumPy derives the state of a run's generator from the seed and a key that ends in the run's number, which takes 20 us.
Only the last steps depend on the number; `first_states` does these for many runs at once.
"""

from typing import Any

import numpy as np

from setwise.digests import value_digest
from setwise.once import once_per_object
from setwise.types import Generator

# Constants of NumPy's SeedSequence, which keeps its streams in all versions.
POOL = 4  # words of 32 bits
INIT_A, MULT_A, INIT_B, MULT_B = 0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED
MIX_LEFT, MIX_RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
SHIFT = np.uint32(16)
WORD = (1 << 32) - 1
# Constants of NumPy's PCG64.
MULTIPLIER, WHOLE = 47026247687942121848144207491837523525, (1 << 128) - 1


@once_per_object
def _number_of(value: Any) -> int:
    return int(value_digest(value)[:16], 16)


def stream_key(policy: Any, environment: Any) -> tuple[int, int]:
    """Return the key that separates the streams of a policy in an environment from all others."""
    return _number_of(policy), _number_of(environment)


def world_key(environment: Any) -> tuple[int, int]:
    """Return the key of an environment's own streams, which all policies share.

    No policy has the number 0, except with a probability of 2^-64.
    """
    return 0, _number_of(environment)


def stream(seed: int, key: tuple[int, int], run: int) -> Generator:
    """Return the generator of one run, independent of other runs, their order and the number of threads."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(*key, run))))


def first_states(seed: int, key: tuple[int, int], runs: range) -> list[tuple[int, int]]:
    """Return state and increment of the generators that `stream` returns for these runs.

    >>> state = stream(0, (1, 2), 3).bit_generator.state["state"]
    >>> first_states(0, (1, 2), range(3, 4)) == [(state["state"], state["inc"])]
    True
    """
    if len(runs) == 1 or runs[-1] > WORD:
        return [_state(stream(seed, key, run)) for run in runs]
    pool = np.random.SeedSequence(seed, spawn_key=key).pool
    mixed = max(_words(seed), POOL) + sum(map(_words, key))  # words so far
    return list(map(_start, _generate(_mix(pool, mixed, np.array(runs, np.uint32))).tolist()))


def _words(number: int) -> int:
    """Return how many words of 32 bits a number has."""
    return max(1, -(-number.bit_length() // 32))


def _mix(pool: Any, mixed: int, numbers: Any) -> list[Any]:
    """Mix the last word, one for every run, into the pool."""
    calls = POOL * POOL + POOL * (mixed - POOL)  # of the hash function, so far
    constant = INIT_A * pow(MULT_A, calls, WORD + 1) & WORD
    pools = []
    for word in pool:
        hashed = numbers ^ np.uint32(constant)
        constant = constant * MULT_A & WORD
        hashed = hashed * np.uint32(constant)
        hashed ^= hashed >> SHIFT
        left = np.uint32(int(MIX_LEFT) * int(word) & WORD)
        found = left - MIX_RIGHT * hashed
        pools.append(found ^ (found >> SHIFT))
    return pools


def _generate(pools: list[Any]) -> Any:
    """Return four words of 64 bits for every run."""
    constant, words = INIT_B, []
    for place in range(2 * POOL):
        found = pools[place % POOL] ^ np.uint32(constant)
        constant = constant * MULT_B & WORD
        found = found * np.uint32(constant)
        words.append((found ^ (found >> SHIFT)).astype(np.uint64))
    return np.stack([low | high << np.uint64(32) for low, high in zip(words[::2], words[1::2])], axis=1)


def _start(words: list[int]) -> tuple[int, int]:
    """Return state and increment of a PCG64 that starts with these words."""
    increment = (words[2] << 64 | words[3]) << 1 & WHOLE | 1
    return ((words[0] << 64 | words[1]) + increment) * MULTIPLIER + increment & WHOLE, increment


def _state(generator: Generator) -> tuple[int, int]:
    found: Any = generator.bit_generator.state["state"]
    return found["state"], found["inc"]
