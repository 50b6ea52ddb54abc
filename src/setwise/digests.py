"""Digests that name things: of values, for random streams, and of code, for caches and stored results."""

import dis
import enum
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

# Compiled by Numba itself or written in C: their code is not ours to follow.
FOREIGN = {"builtins", "math", "numpy", "numba", "llvmlite"}


def value_digest(value: Any) -> str:
    """A name for a value (numbers, strings, arrays, named tuples of these) that no process or platform changes.

    The names of arms are labels and do not count.

    >>> value_digest((1, 2.5)) == value_digest((1, 2.5)), value_digest(1) == value_digest(1.0)
    (True, False)
    """
    from hashlib import sha256

    digest = sha256()
    for part in _value_parts(value):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _value_parts(value: Any) -> Iterator[bytes]:
    if isinstance(value, enum.Enum):
        yield type(value).__qualname__.encode() + b"." + value.name.encode()
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype.newbyteorder('<').str} {value.shape}".encode()
        yield np.ascontiguousarray(value, value.dtype.newbyteorder("<")).tobytes()
    elif hasattr(value, "_fields"):
        yield type(value).__qualname__.encode()
        for name, field in zip(value._fields, value, strict=True):
            if name != "names":
                yield name.encode()
                yield from _value_parts(field)
    elif isinstance(value, tuple | list):
        yield f"sequence {len(value)}".encode()
        for item in value:
            yield from _value_parts(item)
    elif callable(value):
        yield f"function {getattr(value, '__qualname__', type(value).__qualname__)}".encode()
    else:
        item = value.item() if isinstance(value, np.generic) else value
        yield f"{type(item).__name__} {item!r}".encode()


def code_digest(*roots: Any) -> str:
    """A name for the code of functions and classes and of all the Python functions and constants they reach."""
    from hashlib import sha256

    digest = sha256()
    for root in roots:
        if isinstance(root, type):
            digest.update(f"{root.__module__}.{root.__qualname__} {getattr(root, '_fields', ())}".encode())
    for function, references in _walk(*roots).items():
        digest.update(f"{function.__module__}.{function.__qualname__}".encode())
        for part in _code_parts(function.__code__):
            digest.update(part)
        digest.update(repr(function.__defaults__).encode())
        for value in references:
            if not callable(value):
                digest.update(value_digest(value).encode())
    return digest.hexdigest()


def reachable(*roots: Any) -> list[Callable[..., Any]]:
    """The plain Python functions among the roots, their methods, and whatever those call by a global name."""
    return list(_walk(*roots))


def _walk(*roots: Any) -> dict[Callable[..., Any], list[Any]]:
    """The reachable functions in the order of their names, each with what it refers to."""
    found: dict[Callable[..., Any], list[Any]] = {}
    waiting = [function for root in roots for function in _functions(root)]
    while waiting:
        function = waiting.pop()
        if function not in found:
            found[function] = _references(function)
            waiting.extend(f for value in found[function] for f in _functions(value))
    return dict(sorted(found.items(), key=lambda item: (item[0].__module__, item[0].__qualname__)))


def _functions(value: Any) -> Iterable[Callable[..., Any]]:
    """The functions that a value brings along: itself, or the methods of a class of named tuples."""
    value = getattr(value, "py_func", value)  # a function the user compiled with Numba
    if isinstance(value, types.FunctionType):
        while hasattr(value, "__wrapped__"):
            value = value.__wrapped__
        if (value.__module__ or "").split(".")[0] not in FOREIGN:
            yield value
    elif isinstance(value, type) and hasattr(value, "_fields"):
        for name, member in vars(value).items():
            if not name.startswith("_") and name not in value._fields:
                yield from _functions(member)


def _references(function: Any) -> list[Any]:
    """The values of the global names and closure cells that a function uses, attributes of modules followed."""
    found = []
    for code in _codes(function.__code__):
        module = None
        for instruction in dis.Bytecode(code):
            if instruction.opname == "LOAD_GLOBAL" and instruction.argval in function.__globals__:
                value = function.__globals__[instruction.argval]
            elif module is not None and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                value = getattr(module, instruction.argval, None)
            else:
                if instruction.opname != "CACHE":
                    module = None
                continue
            module = value if isinstance(value, types.ModuleType) else None
            if module is None:
                found.append(value)
    found.extend(cell.cell_contents for cell in function.__closure__ or ())
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _code_parts(code: types.CodeType) -> Iterator[bytes]:
    for part in _codes(code):
        constants = tuple(c for c in part.co_consts if not isinstance(c, types.CodeType))
        yield part.co_code + repr((part.co_names, part.co_varnames, constants)).encode()
