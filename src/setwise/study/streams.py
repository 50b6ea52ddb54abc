"""Where a study's randomness comes from: one stream to learn with, and for every decision a stream of its own.

The stream of decision t is a function of the seed and of t alone, so that it does not matter who asks, or how often a
study was closed and opened before. What `init`, `update` and `grow` draw comes from one stream that goes on through the
journal; its place is kept in the snapshot.
"""

import hashlib
from typing import Any

import numpy as np

from setwise.types import Generator


def learning_stream(seed: int) -> Generator:
    """The generator that `init`, `update` and `grow` draw from."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(0,))))


class DecisionStreams:
    """The generators of all decisions: one object that is set to a new place, as a new one costs seven times more."""

    def __init__(self, seed: int) -> None:
        self._key = hashlib.sha256(f"setwise {seed}".encode()).digest()
        self._bits = np.random.PCG64(0)
        self._place: Any = dict(self._bits.state)
        self._generator = np.random.Generator(self._bits)

    def of(self, round: int) -> Generator:
        """The generator of one round; good until the next call."""
        drawn = hashlib.blake2b(round.to_bytes(8, "little"), digest_size=32, key=self._key).digest()
        state, step = int.from_bytes(drawn[:16], "little"), int.from_bytes(drawn[16:], "little") | 1
        self._place["state"] = {"state": state, "inc": step}
        self._bits.state = self._place
        return self._generator


def place_of(generator: Generator) -> dict[str, str]:
    """Where a stream is, as texts: the numbers have 128 bits."""
    state: Any = generator.bit_generator.state
    return {name: str(value) for name, value in {**state["state"], **_rest(state)}.items()}


def put_at(generator: Generator, place: dict[str, str]) -> None:
    """Set a stream to a place that `place_of` gave."""
    numbers = {name: int(value) for name, value in place.items()}
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": numbers["state"], "inc": numbers["inc"]},
        "has_uint32": numbers["has_uint32"],
        "uinteger": numbers["uinteger"],
    }


def _rest(state: Any) -> dict[str, Any]:
    return {name: state[name] for name in ("has_uint32", "uinteger")}
