"""Pass Python's values to compiled code: a list of words with the parts of all arguments."""

import ctypes
import enum
import struct
from typing import Any

import numpy as np

from setwise.compiler.generator import WORDS
from setwise.compiler.kinds import BOOL, FLOAT, GENERATOR, INT, Array, Fixed, Record, Unsupported
from setwise.compiler.program import element_code
from setwise.errors import InputError

HALF = (1 << 64) - 1


def kind_of(value: Any) -> Any:
    """Return the kind of a value; strings, functions and the like are opaque."""
    if type(value) is np.ndarray:
        # Looked up by type alone where the array is contiguous and aligned, which takes a tenth of the time.
        found = ARRAYS.get((value.dtype, value.ndim)) if value.flags.num & PLAIN == PLAIN else None
        return found or _array_kind(value)
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            return Record(type(value), value._fields, tuple(map(kind_of, value)))
        return Record(None, (), tuple(map(kind_of, value))) if all(map(_is_number, value)) else OPAQUE
    if isinstance(value, bool | np.bool_):
        return BOOL
    if isinstance(value, int | np.int64):
        if not -(2**63) <= value < 2**63:
            raise InputError(f"the whole number {value} has more than 64 bits, which compiled code does not take")
        return INT
    if isinstance(value, float | np.float64):
        return FLOAT
    if isinstance(value, np.integer | np.floating):
        raise Unsupported(f"a number of type {type(value).__name__}")
    if isinstance(value, np.ndarray):
        return _array_kind(value)
    if isinstance(value, np.random.Generator):
        if type(value.bit_generator) is not np.random.PCG64:
            raise Unsupported(f"a generator of {type(value.bit_generator).__name__}")
        return GENERATOR
    return Fixed(None) if value is None else OPAQUE


PLAIN = 0x1 | 0x100  # NumPy's flags of contiguous and of aligned arrays
ARRAYS: dict[tuple[Any, int], Array] = {}


def _array_kind(value: Any) -> Array:
    kind = Array(element_code(value), value.ndim)
    ARRAYS[value.dtype, value.ndim] = kind
    return kind


OPAQUE = Fixed(Ellipsis)  # a field that compiled code cannot use


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.generic) and not isinstance(value, enum.Enum)


def _address_of(array: Any) -> int:
    try:  # a fifth of the time, if the array is writable and has elements
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):
        return int(array.ctypes.data)


class Words:
    """Arguments of a compiled function, in memory.

    address: of the words
    generators: with the states that compiled code uses in their place
    """

    def __init__(self, args: tuple[Any, ...]) -> None:
        self.generators: list[tuple[Any, Any]] = []
        self._args = args  # kept, so that no address becomes invalid
        words: list[int] = []
        self._ends = [0]
        for arg in args:
            self._add(arg, words)
            self._ends.append(len(words))
        self._words = np.array([*words, 0, 0], dtype=np.uint64)  # and the result, and whether it gave up
        self.address = self._words.ctypes.data

    def replace(self, args: tuple[Any, ...]) -> None:
        """Take other arguments of the same kinds; those that are the same objects stay."""
        for place, (arg, before) in enumerate(zip(args, self._args, strict=True)):
            if arg is not before:
                if self.generators:
                    self.generators = [pair for pair in self.generators if pair[0] is not before]
                words: list[int] = []
                self._add(arg, words)
                self._words[self._ends[place] : self._ends[place + 1]] = words
        self._args = args

    def _add(self, value: Any, words: list[int]) -> None:
        if isinstance(value, np.ndarray):
            words.append(_address_of(value))
            words += value.shape
        elif isinstance(value, tuple):
            if hasattr(value, "_fields") or all(map(_is_number, value)):
                for field in value:
                    self._add(field, words)
        elif isinstance(value, bool | int | np.bool_ | np.integer):
            words.append(int(value) & HALF)
        elif isinstance(value, float | np.floating):
            words.append(struct.unpack("<Q", struct.pack("<d", value))[0])
        elif isinstance(value, np.random.Generator):
            state = np.zeros(WORDS, np.uint64)
            self.generators.append((value, state))
            words.append(state.ctypes.data)

    def read_generators(self) -> None:
        """Copy the states of the generators for compiled code."""
        for generator, state in self.generators:
            write_state(generator.bit_generator.state, state)

    def set_generator(self, state: int, increment: int) -> None:
        """Give the first generator another state, in which no bits are left over."""
        numbers = (state & HALF, state >> 64, increment & HALF, increment >> 64, 0, 0)
        struct.pack_into("<6Q", self.generators[0][1], 0, *numbers)

    def write_generators(self) -> None:
        """Give the generators the states that compiled code left."""
        for generator, state in self.generators:
            low, high, odd, upper, has, bits = state[:6].tolist()
            found = generator.bit_generator.state
            found["state"] = {"state": low | high << 64, "inc": odd | upper << 64}
            found["has_uint32"], found["uinteger"] = has, bits
            generator.bit_generator.state = found

    def result(self, kind: Any) -> Any:
        """Return the result that compiled code wrote."""
        word = self._words[-2:-1]
        if kind == FLOAT:
            return float(word.view(np.float64)[0])
        if kind == BOOL:
            return bool(word[0])
        return int(word.view(np.int64)[0]) if kind == INT else None


def write_state(found: Any, state: Any) -> None:
    """Write the state of a PCG64, as NumPy describes it, for compiled code."""
    number, increment = found["state"]["state"], found["state"]["inc"]
    numbers = (number & HALF, number >> 64, increment & HALF, increment >> 64, found["has_uint32"], found["uinteger"])
    struct.pack_into("<6Q", state, 0, *numbers)
