"""Digests that name things: of values, for random streams; of code, for what is compiled; of both, for what is kept."""

import dis
import enum
import functools
import inspect
import numbers
import os
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

NAMED_TUPLE = {"_make", "_replace", "_asdict", "_fields", "_field_defaults"}

# Compiled by Numba itself or written in C: their code is not ours to follow.
FOREIGN = {"builtins", "math", "numpy", "numba", "llvmlite"}

# What a class states that changes how it is played, or what counts as a tie.
FACTS = (
    "feedback", "rewards", "bound", "accuracy", "ordered_sets", "epochs", "binary_blocks", "smaller_sets",
    "outside_option",
)  # fmt: skip


def identity(value: Any) -> str:
    """A name for a policy or an environment and all that its results follow from: the key of everything that is kept.

    That is the module and the name of its class, its values, and the code it runs, also of the policies, environments
    and functions in its fields. `value_digest` alone takes two classes of one name for one: random streams go by it,
    caches must not.
    """
    names = [(cls.__module__, cls.__qualname__) for cls in classes_of(value)]
    codes = [class_digest(cls) for cls in classes_of(value)]
    return value_digest([names, value_digest(value), codes, code_digest(*_field_functions(value)), _contents(value)])


def classes_of(value: Any) -> list[type]:
    """The class of a named tuple and of the named tuples among its fields."""
    return [type(value), *(cls for field in value if hasattr(field, "_fields") for cls in classes_of(field))]


def class_digest(cls: type) -> str:
    """A name for what a class does: its code, its facts, and the constants that it uses, its own and global ones."""
    members = (inspect.unwrap(member) for member in vars(cls).values() if callable(member))
    codes = tuple(member.__code__ for member in members if hasattr(member, "__code__"))
    # What Setwise's own classes refer to stays; what others refer to may be set anew, as in a notebook.
    return _own_class_digest(cls, codes) if is_own(cls) else _class_digest(cls)


def is_own(thing: Any) -> bool:
    """Whether a class or function is one of Setwise's."""
    return (thing.__module__ or "").split(".")[0] == "setwise"


@functools.cache
def _own_class_digest(cls: type, codes: tuple[Any, ...]) -> str:
    return _class_digest(cls)


def _class_digest(cls: type) -> str:
    facts = [(name, _plain(getattr(cls, name, None))) for name in FACTS]
    return value_digest([code_digest(cls, containers=True), facts, _constants(cls)])


def _plain(value: Any) -> Any:
    """The value, if it is one; a property is code, and counted there."""
    return value if isinstance(value, str | int | float | tuple) else None


def _constants(cls: type) -> list[tuple[str, Any]]:
    """The attributes of a class that its methods name, apart from fields and methods."""
    named = {name for function in reachable(cls) for code in _codes(function.__code__) for name in code.co_names}
    members = {name: value for owner in reversed(cls.__mro__) for name, value in vars(owner).items()}
    own = named & members.keys() - set(getattr(cls, "_fields", ())) - NAMED_TUPLE - set(FACTS)
    return [(name, members[name]) for name in sorted(own) if not hasattr(members[name], "__get__")]


def _field_functions(value: Any) -> list[Any]:
    """The functions among the fields of a named tuple, and of the named tuples in there."""
    inner = [function for field in value if hasattr(field, "_fields") for function in _field_functions(field)]
    return [field for field in value if isinstance(field, types.FunctionType)] + inner


PLAIN = (str, bytes, numbers.Number, np.generic, np.ndarray, enum.Enum, range, slice, type, types.FunctionType,
         types.BuiltinFunctionType, types.ModuleType, np.ufunc, types.NoneType)  # fmt: skip


def _contents(value: Any) -> list[str]:
    """What is in the objects that `value_digest` knows only by their words, which may leave out what matters.

    An object that cannot be looked into is like none other, and like itself in this process alone.
    """
    if isinstance(value, PLAIN):
        return []
    if isinstance(value, dict):
        return [part for pair in value.items() for item in pair for part in _contents(item)]
    if isinstance(value, tuple | list | set | frozenset):
        return [part for item in value for part in _contents(item)]
    import pickle
    from hashlib import sha256

    try:
        return [sha256(pickle.dumps(value, 4)).hexdigest()]
    except Exception:  # locks, files, classes of a function: whatever an object may hold
        return [f"{_this_process()} {id(value)}"]


@functools.cache
def _this_process() -> str:
    return os.urandom(16).hex()


def value_digest(value: Any) -> str:
    """A name for a value (numbers, strings, arrays, named tuples of these) that no process or platform changes.

    The names of arms are labels and do not count; nor do fractions whose values are there as floats.

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
    """What tells the value from others, as bytes; those of an array are not copied."""
    if isinstance(value, enum.Enum):
        yield type(value).__qualname__.encode() + b"." + value.name.encode()
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype.newbyteorder('<').str} {value.shape}".encode()
        yield np.ascontiguousarray(value, value.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)
    elif hasattr(value, "_fields"):
        yield type(value).__qualname__.encode()
        for name, field in zip(value._fields, value, strict=True):
            if not _is_label(value, name, field):
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
        # An object without words of its own, such as np.r_, would be told by its address.
        told: Any = type(item).__repr__
        words = "" if told is object.__repr__ else repr(item)
        yield f"{type(item).__name__} {words}".encode()


def _is_label(value: Any, name: str, field: Any) -> bool:
    """Whether a field of an environment says nothing about its rewards: names of arms, or fractions beside floats."""
    if not hasattr(value, "means") or not (field is None or isinstance(field, tuple)):
        return False
    return name == "exact" or (name == "names" and all(isinstance(label, str) for label in field or ()))


def code_digest(*roots: Any, containers: bool = False) -> str:
    """A name for the code of functions and classes and of all the Python functions and constants they reach.

    containers: whether global lists, sets and dictionaries count too, but for Setwise's own, which are caches. Compiled
        code cannot use them, so what is compiled does not go by them; interpreted code can
    """
    from hashlib import sha256

    digest = sha256()
    for root in roots:
        if isinstance(root, type):
            digest.update(f"{root.__module__}.{root.__qualname__} {getattr(root, '_fields', ())}".encode())
    for function, references in _walk(*roots).items():
        digest.update(f"{function.__module__}.{function.__qualname__}".encode())
        digest.update(_code_parts(function.__code__))
        counted = containers and not is_own(function)
        for value in (function.__defaults__, function.__kwdefaults__, *references):
            if value is function.__kwdefaults__ or not isinstance(value, dict | list | set) or counted:
                digest.update(_meaning(value).encode())
                if counted:
                    digest.update(str(_contents(value)).encode())
    return digest.hexdigest()


def _meaning(value: Any) -> str:
    """What a name stands for: a constant by its value; a function by its name, as its code is followed elsewhere."""
    if isinstance(value, enum.EnumMeta):
        members: dict[str, Any] = dict(value.__members__)
        return value_digest([(name, member.value) for name, member in members.items()])
    if callable(value):
        module = getattr(value, "__module__", "numpy")  # which ufuncs lacked up to NumPy 2.1
        return f"{module}.{getattr(value, '__qualname__', getattr(value, '__name__', type(value).__name__))}"
    return value_digest(value)


@functools.cache
def package_digest() -> str:
    """A name for all code of the package."""
    from hashlib import sha256
    from pathlib import Path

    root = Path(__file__).parent
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode())
        digest.update(path.read_bytes())
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
    return dict(sorted(found.items(), key=lambda item: (item[0].__module__ or "", item[0].__qualname__)))


def _functions(value: Any) -> Iterable[Callable[..., Any]]:
    """The functions that a value brings along: itself, or the methods of a class of named tuples."""
    value = getattr(value, "py_func", value)  # a function the user compiled with Numba
    if isinstance(value, types.FunctionType):
        while hasattr(value, "__wrapped__"):
            value = value.__wrapped__
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


def _references(function: Any) -> list[Any]:
    """The values of the global names and closure cells that a function uses, attributes of modules followed."""
    found = []
    for first, *attributes in _names(function.__code__):
        if first in function.__globals__:
            value = function.__globals__[first]
            for attribute in attributes:
                if isinstance(value, types.ModuleType):
                    value = getattr(value, attribute, None)
            found.append(value)
    found.extend(cell.cell_contents for cell in function.__closure__ or ())
    return found


@functools.cache
def _names(code: types.CodeType) -> list[list[str]]:
    """The global names in the code, each with the attributes that are taken from it."""
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
def _code_parts(code: types.CodeType) -> bytes:
    """What the code does, as bytes, that of the functions inside of it included."""
    parts = []
    for part in _codes(code):
        constants = tuple(c for c in part.co_consts if not isinstance(c, types.CodeType))
        parts.append(part.co_code + value_digest((part.co_names, part.co_varnames, constants)).encode())
    return b"".join(parts)
