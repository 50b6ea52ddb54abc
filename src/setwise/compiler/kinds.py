"""Types of compiled values, here called kinds, and the values themselves.

A value is a list of parts, each a register or a constant of LLVM: an array is a pointer and its lengths, a named tuple
the parts of all its fields. Things that are known while compiling (None, functions, modules, classes) have no parts.
"""

import struct
from typing import Any, NamedTuple

from setwise.errors import InputError


class Unsupported(InputError):
    """The compiler does not know how to translate something; Numba may."""


class Scalar(NamedTuple):
    """A number: its name, its LLVM type, and its order, so that the larger of two kinds holds both."""

    name: str
    llvm: str
    order: int


class Array(NamedTuple):
    """A contiguous array, by NumPy's code of its elements and its number of dimensions; a constant is never written."""

    element: str
    dimensions: int
    constant: bool = False


class Record(NamedTuple):
    """A tuple; named if it has a class."""

    cls: type | None
    names: tuple[str, ...]
    fields: tuple[Any, ...]


class Fixed:
    """Something that is known while compiling; two are equal if they are the same object."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __repr__(self) -> str:
        return f"Fixed({self.thing!r})"


class GeneratorKind(NamedTuple):
    """A generator, by a pointer to its state; see `generator`."""

    name: str = "generator"


BOOL, INT, FLOAT = Scalar("bool", "i1", 0), Scalar("int", "i64", 1), Scalar("float", "double", 2)
GENERATOR = GeneratorKind()
NOTHING = Fixed(None)

Kind = Scalar | Array | Record | Fixed | GeneratorKind

# NumPy's code of an element: LLVM type in memory, and kind of the loaded value.
ELEMENTS: dict[str, tuple[str, Scalar]] = {
    "f8": ("double", FLOAT),
    "i8": ("i64", INT),
    "i4": ("i32", INT),
    "i2": ("i16", INT),
    "i1": ("i8", INT),
    "b1": ("i8", BOOL),
}
SIZES = {"double": 8, "i64": 8, "i32": 4, "i16": 2, "i8": 1}


ANY, INDEX, NATURAL = range(3)


class Value(NamedTuple):
    """A compiled value.

    kind: its type
    parts: registers or constants
    sign: what is known of the sign of a whole number: `ANY`; `INDEX`, from 0 on where it is an index, because Setwise's
        own code stored it; `NATURAL`, from 0 on
    known: the number itself, if it is known while compiling
    numpy: whether it is certainly one of NumPy's numbers, which divide by 0, and not one of Python's, which do not
    """

    kind: Any
    parts: tuple[str, ...] = ()
    sign: int = 0
    known: Any = None
    numpy: bool = False


def llvm_types(kind: Any) -> list[str]:
    """Return the LLVM types of the parts of a kind."""
    if isinstance(kind, Scalar):
        return [kind.llvm]
    if isinstance(kind, Array):
        return ["ptr"] + ["i64"] * kind.dimensions
    if isinstance(kind, Record):
        return [part for field in kind.fields for part in llvm_types(field)]
    return ["ptr"] if isinstance(kind, GeneratorKind) else []


def unify(one: Any, other: Any) -> Any:
    """Return the kind that holds values of both."""
    if one == other:
        return one
    if isinstance(one, Scalar) and isinstance(other, Scalar):
        return max(one, other, key=lambda kind: kind.order)
    if isinstance(one, Record) and isinstance(other, Record) and one[:2] == other[:2]:
        if len(one.fields) != len(other.fields):
            raise Unsupported("tuples of different lengths")
        return Record(one.cls, one.names, tuple(map(unify, one.fields, other.fields)))
    raise Unsupported(f"a variable that is {describe(one)} and {describe(other)}")


def field_of(value: Value, name: str) -> Value | None:
    """Return a field of a named tuple, or None if it has no such field."""
    kind: Record = value.kind
    return item_of(value, kind.names.index(name)) if name in kind.names else None


def item_of(value: Value, position: int) -> Value:
    """Return an item of a tuple."""
    kind: Record = value.kind
    start = sum(len(llvm_types(field)) for field in kind.fields[:position])
    return Value(kind.fields[position], value.parts[start : start + len(llvm_types(kind.fields[position]))])


def items_of(value: Value) -> list[Value]:
    """Return the items of a tuple."""
    return [item_of(value, position) for position in range(len(value.kind.fields))]


def tuple_of(items: list[Value], cls: type | None = None) -> Value:
    """Return a tuple of values."""
    names = tuple(getattr(cls, "_fields", ()))
    return Value(Record(cls, names, tuple(item.kind for item in items)), tuple(p for item in items for p in item.parts))


def constant(thing: Any) -> Value:
    """Return a number or another thing that is known while compiling."""
    if isinstance(thing, bool):
        return Value(BOOL, ("true" if thing else "false",), NATURAL, thing)
    if isinstance(thing, int):
        if not -(2**63) <= thing < 2**63:
            raise InputError(f"the whole number {thing} has more than 64 bits, which compiled code does not take")
        return Value(INT, (str(int(thing)),), NATURAL if thing >= 0 else ANY, int(thing))
    if isinstance(thing, float):
        return Value(FLOAT, (f"0x{struct.unpack('<Q', struct.pack('<d', thing))[0]:016X}",), ANY, float(thing))
    return Value(Fixed(thing))


def describe(kind: Any) -> str:
    """Name a kind in an error message."""
    if isinstance(kind, Record):
        return kind.cls.__name__ if kind.cls else "a tuple"
    if isinstance(kind, Fixed):
        return repr(kind.thing)
    return "an array" if isinstance(kind, Array) else kind.name
