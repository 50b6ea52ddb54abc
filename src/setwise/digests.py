"""Digests of values, for random streams, and of code, for the cache of compiled code."""

import contextlib
import dis
import enum
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

NAMED_TUPLE = {"_make", "_replace", "_asdict", "_fields", "_field_defaults"}

# Compiled by Numba itself or written in C: their code is not followed.
FOREIGN = {"builtins", "math", "numpy", "numba", "llvmlite"}


def is_own(thing: Any) -> bool:
    """Whether a class or function belongs to Setwise."""
    return (thing.__module__ or "").split(".")[0] == "setwise"


def classes_of(value: Any) -> list[type]:
    """Return the class of a named tuple and of the named tuples nested in its fields."""
    return [type(value), *(cls for field in value if hasattr(field, "_fields") for cls in classes_of(field))]


def value_digest(value: Any) -> str:
    """Return the digest of a value (numbers, strings, arrays, named tuples of these), the same on every platform.

    Names of arms are labels and do not count; nor do exact fractions that are also stored as floats.

    >>> value_digest((1, 2.5)) == value_digest((1, 2.5)), value_digest(1) == value_digest(1.0)
    (True, False)
    """
    from hashlib import sha256

    digest = sha256()
    for part in _value_parts(value):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _value_parts(value: Any) -> Iterator[Any]:
    """Yield the bytes that identify the value; an array's bytes are not copied."""
    if isinstance(value, enum.Enum):
        yield type(value).__qualname__.encode() + b"." + value.name.encode()
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype.newbyteorder('<').str} {value.shape}".encode()
        yield np.ascontiguousarray(value, value.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)
    elif hasattr(value, "_fields"):
        yield type(value).__qualname__.encode()
        for name, field in zip(value._fields, value, strict=True):
            if not is_label(value, name, field):
                yield name.encode()
                yield from _value_parts(field)
    elif isinstance(value, tuple | list):
        yield f"sequence {len(value)}".encode()
        for item in value:
            yield from _value_parts(item)
    elif isinstance(value, set | frozenset):
        yield f"set {sorted(map(value_digest, value))}".encode()
    elif isinstance(value, dict):
        yield from _value_parts(tuple(value.items()))
    elif callable(value):
        yield f"function {getattr(value, '__qualname__', type(value).__qualname__)}".encode()
    else:
        item = value.item() if isinstance(value, np.generic) else value
        # The default repr, as of np.r_, contains the object's address, and so do those of locks.
        told: Any = type(item).__repr__
        words = "" if told is object.__repr__ else repr(item)
        if not isinstance(item, str | bytes) and " at 0x" in words:
            words = ""
        yield f"{type(item).__name__} {words}".encode()


def is_label(value: Any, name: str, field: Any) -> bool:
    """Whether an environment's field does not affect its rewards: names of arms, or fractions stored beside floats."""
    if not hasattr(value, "means") or not (field is None or isinstance(field, tuple)):
        return False
    return name == "exact" or (name == "names" and all(isinstance(label, str) for label in field or ()))


def code_digest(*roots: Any) -> str:
    """Return the digest of the code of functions and classes and of all Python functions and constants they reach."""
    from hashlib import sha256

    digest = sha256()
    for root in roots:
        if isinstance(root, enum.EnumMeta):
            digest.update(_meaning(root).encode())
        elif isinstance(root, type):
            digest.update(f"{root.__module__}.{root.__qualname__} {getattr(root, '_fields', ())}".encode())
            digest.update(value_digest(_constants(root)).encode())
    for function, references in walk(*roots).items():
        digest.update(f"{function.__module__}.{function.__qualname__}".encode())
        digest.update(code_parts(function.__code__))
        for value in (function.__defaults__, function.__kwdefaults__, *references):
            # Mutable containers are skipped: compiled code cannot use them.
            if value is function.__kwdefaults__ or not isinstance(value, dict | list | set):
                digest.update(_meaning(value).encode())
    return digest.hexdigest()


def _constants(cls: type) -> list[tuple[str, Any]]:
    """Return the numbers and texts among the attributes of a class that is not ours."""
    found = {
        name: value
        for owner in reversed(cls.__mro__)
        if not is_own(owner)
        for name, value in vars(owner).items()
        if isinstance(value, str | int | float) and not name.startswith("_")
    }
    return sorted(found.items())


def _meaning(value: Any) -> str:
    """Identify the object behind a name: a constant by value, a function by name, as its code is followed elsewhere."""
    if isinstance(value, enum.EnumMeta):
        members: dict[str, Any] = dict(value.__members__)
        return value_digest([(name, member.value) for name, member in members.items()])
    if callable(value):
        module = getattr(value, "__module__", "numpy")  # ufuncs have no __module__ up to NumPy 2.1
        return f"{module}.{getattr(value, '__qualname__', getattr(value, '__name__', type(value).__name__))}"
    return value_digest(value)


@functools.cache
def package_digest() -> str:
    """Return the digest of the package's source files."""
    from hashlib import sha256
    from pathlib import Path

    root = Path(__file__).parent
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def reachable(*roots: Any) -> list[Callable[..., Any]]:
    """Return the plain Python functions among the roots, their methods, and all they call by a global name."""
    return list(walk(*roots))


def walk(*roots: Any) -> dict[Callable[..., Any], list[Any]]:
    """Return the reachable functions sorted by name, each with the values it refers to."""
    found: dict[Callable[..., Any], list[Any]] = {}
    waiting = [function for root in roots for function in _functions(root)]
    while waiting:
        function = waiting.pop()
        if function not in found:
            found[function] = references(function)
            waiting.extend(f for value in found[function] for f in _functions(value))
    return dict(sorted(found.items(), key=lambda item: (item[0].__module__ or "", item[0].__qualname__)))


def _functions(value: Any) -> Iterable[Callable[..., Any]]:
    """Yield the functions of a value: itself, or the methods of a NamedTuple class."""
    value = getattr(value, "py_func", value)  # the user's own Numba function
    if isinstance(value, types.FunctionType):
        value = undeclared(value)
        yield from _functions(getattr(value, "__wrapped__", None))
        if (value.__module__ or "").split(".")[0] not in FOREIGN:
            yield value
    elif isinstance(value, property):
        yield from _functions(value.fget)
    elif isinstance(value, staticmethod | classmethod):
        yield from _functions(value.__func__)
    elif hasattr(value, "_fields"):
        cls = value if isinstance(value, type) else type(value)
        for owner in cls.__mro__[: cls.__mro__.index(tuple)] if issubclass(cls, tuple) else [cls]:
            for name, member in vars(owner).items():
                generated = name.startswith("__") or name in NAMED_TUPLE
                if not generated and name not in value._fields:
                    yield from _functions(member)


def undeclared(function: Any) -> Any:
    """Return the method as written, without the wrappers of `policy` and `environment`."""
    while hasattr(function, "__declared__"):  # a method shared by several classes has one wrapper per class
        function = function.__declared__
    return function


def references(function: Any) -> list[Any]:
    """Return the values of the global names and closure cells that a function uses, following module attributes."""
    found = []
    for first, *attributes in _names(function.__code__):
        if first in function.__globals__:
            value = function.__globals__[first]
            for attribute in attributes:
                if isinstance(value, types.ModuleType):
                    value = getattr(value, attribute, None)
            found.append(value)
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # the cell is empty
            found.append(cell.cell_contents)
    return found


@functools.cache
def _names(code: types.CodeType) -> list[list[str]]:
    """Return the global names in the code, each followed by the attributes accessed on it."""
    found: list[list[str]] = []
    for part in _codes(code):
        follows = False
        for instruction in dis.Bytecode(part):
            if instruction.opname == "LOAD_GLOBAL":
                found.append([instruction.argval])
                follows = True
            elif follows and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                found[-1].append(instruction.argval)
            elif instruction.opname != "CACHE":
                follows = False
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


@functools.cache
def code_parts(code: types.CodeType) -> bytes:
    """Return the bytecode, names and constants of a code object and of those nested in it; docstrings do not count."""
    parts = []
    for part in _codes(code):
        constants = tuple(c for c in part.co_consts[_docstrings(part) :] if not isinstance(c, types.CodeType))
        parts.append(part.co_code + value_digest((part.co_names, part.co_varnames, constants)).encode())
    return b"".join(parts)


def _docstrings(code: types.CodeType) -> int:
    """Return 1 if the first constant is a docstring, or stands for there being none, and the code does not use it."""
    if sys.version_info >= (3, 14):
        return int(bool(code.co_flags & inspect.CO_HAS_DOCSTRING))
    is_function = bool(code.co_flags & inspect.CO_NEWLOCALS) and code.co_name[:1] != "<"
    if not is_function or not code.co_consts or not isinstance(code.co_consts[0], str | None):
        return 0
    return int(not any(step.opname.endswith("CONST") and step.arg == 0 for step in dis.Bytecode(code)))
