"""Cache key of a policy or an environment, from all code and values that determine its results.

It keys best sets, gaps, tables and results. It covers values, classes, functions and their references, throughout the
user's own code: two classes of one name, a class redefined in a notebook, or an edited constant never share a cache
entry. A module used as a whole counts by its source file. Setwise's own code is hashed by `code_digest`. The packages
of the class and of the classes in its fields are followed even if installed; other installed packages and the standard
library count by name. An object that cannot be inspected equals only itself, so that the worst case is a cache miss.
Files that code reads at run time do not count.
"""

import dis
import enum
import functools
import importlib
import importlib.util
import inspect
import numbers
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from setwise.digests import NAMED_TUPLE, code_digest, code_parts, is_label, is_own, references, value_digest

SKIPPED = {
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__annotate__",
    "__annotations_cache__", "__annotate_func__", "__orig_bases__", "__match_args__", "__firstlineno__",
    "__static_attributes__", "__parameters__", "__slots__", "__abstractmethods__", "_abc_impl", "__hash__",
    "__slotnames__",
}  # fmt: skip
NAMES_ONLY = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
              types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodWrapperType, np.ufunc)  # fmt: skip


def identity(value: Any) -> str:
    """Return the digest of a policy or an environment, the same in every process for the same code and values."""
    from hashlib import sha256

    digest = sha256()
    for part in _Walk(_homes_of(value)).parts(value):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def class_identity(cls: type) -> str:
    """Return the digest of a class: its code, facts and constants."""
    return _own_class(cls, _codes_of(cls)) if is_own(cls) else identity(cls)


def _codes_of(cls: type) -> tuple[Any, ...]:
    members = (inspect.unwrap(member) for member in vars(cls).values() if callable(member))
    return tuple(member.__code__ for member in members if hasattr(member, "__code__"))


@functools.cache
def _own_class(cls: type, codes: tuple[Any, ...]) -> str:
    plain = {
        name: value
        for owner in reversed(cls.__mro__)
        for name, value in vars(owner).items()
        if isinstance(value, str | int | float | tuple) and name not in SKIPPED | NAMED_TUPLE
    }
    return value_digest([code_digest(cls), sorted(plain.items())])


@functools.cache
def _own_function(function: Callable[..., Any]) -> str:
    return code_digest(function)


HEAP_TYPE = 1 << 9  # flag of a class that is not defined in C
STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"]).resolve()
NUMBERS_AND_TEXTS = (str, bytes, numbers.Number, np.generic, range, slice, types.NoneType)
FIELDS = (tuple, list, dict, enum.Enum)  # of these types are fields that hold classes of the user's own


class _Walk:
    """Walk through a value and its references, visiting each object once."""

    def __init__(self, homes: frozenset[str] = frozenset()) -> None:
        self.homes = homes  # packages to follow even if installed
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # keeps objects alive, so that no id is reused during the walk

    def parts(self, value: Any) -> Iterator[Any]:
        """Yield the bytes that identify the value."""
        if isinstance(value, NUMBERS_AND_TEXTS) and not isinstance(value, enum.Enum):
            item = value.item() if isinstance(value, np.generic) else value
            yield f"{type(item).__name__} {item!r}".encode()
            return
        if isinstance(value, NAMES_ONLY):
            yield _name(value)
            return
        if id(value) in self.seen:
            yield f"again {self.seen[id(value)]}".encode()
            return
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        yield from self._inside(value)

    def _inside(self, value: Any) -> Iterator[Any]:
        if isinstance(value, types.ModuleType):
            yield from self._module(value)
        elif isinstance(value, np.ndarray):
            yield f"array {value.dtype.newbyteorder('<').str} {value.shape}".encode()
            if value.dtype.hasobject:
                yield from self.parts(value.tolist())
            else:
                yield np.ascontiguousarray(value, value.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)
        elif isinstance(value, enum.Enum):
            yield from self.parts(type(value))
            yield f"member {value.name}".encode()
        elif isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, types.MethodType):
            yield from self._all("method", value.__func__, value.__self__)
        elif isinstance(value, property):
            yield from self._all("property", value.fget, value.fset)
        elif isinstance(value, staticmethod | classmethod):
            yield from self._all(type(value).__name__, value.__func__)
        elif hasattr(value, "py_func"):  # the user's own Numba function
            yield from self._all("compiled", value.py_func)
        elif callable(value) and isinstance(getattr(value, "__wrapped__", None), types.FunctionType):
            yield from self._all("wrapper", type(value), value.__wrapped__)  # such as functools.cache
        elif isinstance(value, types.MappingProxyType):
            yield from self._all("mapping", *(part for pair in value.items() for part in pair))
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            yield from self.parts(type(value))
            fields = zip(value._fields, value, strict=True)
            yield from self._all("fields", *(part for name, part in fields if not is_label(value, name, part)))
        elif type(value) in (tuple, list):
            yield from self._all(type(value).__name__, *value)
        elif type(value) in (set, frozenset):
            yield f"set {sorted(map(identity, value))}".encode()
        elif type(value) is dict:
            yield from self._all("dict", *(part for pair in value.items() for part in pair))
        else:
            yield from self._object(value)

    def _all(self, kind: str, *values: Any) -> Iterator[Any]:
        yield f"{kind} {len(values)}".encode()
        for value in values:
            yield from self.parts(value)

    def _module(self, module: Any) -> Iterator[Any]:
        """Yield the source of a module used as a whole, and of the user's modules that it imports."""
        yield f"module {module.__name__}".encode()
        file = getattr(module, "__file__", None)
        if not self._is_followed(module.__name__, True):
            return
        with suppress(OSError):
            yield Path(file).read_bytes() if file else b""
        yield from self._all("modules", *(part for part in vars(module).values() if isinstance(part, types.ModuleType)))

    def _is_followed(self, module: str | None, by_python: bool) -> bool:
        top = (module or "").split(".")[0]
        return (top in self.homes and top != "setwise") or _is_followed(module, by_python)

    def _function(self, function: Any) -> Iterator[Any]:
        yield _name(function)
        if hasattr(function, "__wrapped__"):
            yield from self.parts(function.__wrapped__)
        if isinstance(getattr(function, "registry", None), types.MappingProxyType):  # functools.singledispatch
            yield from self.parts(function.registry)
        if is_own(function):
            if not hasattr(function, "__wrapped__"):  # our wrapper is the same for all methods
                yield _own_function(function).encode()
        elif self._is_followed(function.__module__, True):
            yield code_parts(function.__code__)
            yield from self._all("function", function.__defaults__, function.__kwdefaults__, *references(function))
            yield from self._all("imports", *self._imported(function))
            given = {name: value for name, value in vars(function).items() if not name.startswith("__")}
            yield from self._all("attributes", *(part for pair in sorted(given.items()) for part in pair))

    def _class(self, cls: type) -> Iterator[Any]:
        yield _name(cls)
        if is_own(cls):
            yield class_identity(cls).encode()
        elif self._is_followed(cls.__module__, bool(cls.__flags__ & HEAP_TYPE)):
            yield from self._all("bases", *cls.__bases__, getattr(cls, "_field_defaults", None))
            if isinstance(cls, enum.EnumMeta):
                members: dict[str, Any] = dict(cls.__members__)
                yield from self._all("members", *((name, member.value) for name, member in members.items()))
            for name, member in sorted(vars(cls).items()):
                if not _is_generated(cls, name, member):
                    yield from self._all(name, member)

    def _object(self, value: Any) -> Iterator[Any]:
        """Yield the pickle state (`__reduce_ex__`) of an object of any other class."""
        yield from self.parts(type(value))
        try:
            reduced = value.__reduce_ex__(4)
            if isinstance(reduced, tuple):
                reduced = tuple(list(part) if hasattr(part, "__next__") else part for part in reduced)
                made = list(self._all("object", *reduced))
            else:
                made = [f"object {reduced}".encode()]
        except Exception:  # locks, files, generators and the like
            _unlike_others.setdefault(id(value), value)
            made = [f"{_this_process()} {id(value)}".encode()]
        yield from made

    def _imported(self, function: Any) -> list[Any]:
        """Return the user's own modules, and names from them, that a function imports in its body."""
        found: list[Any] = []
        module, wants = None, False
        for instruction in dis.Bytecode(function.__code__):
            if instruction.opname == "IMPORT_NAME":
                module, wants = instruction.argval, True
            elif not module or not self._is_followed(module, True):
                continue
            with suppress(Exception):  # a failed import is reported when the function is called
                if instruction.opname == "IMPORT_FROM":
                    found.append(getattr(importlib.import_module(module), instruction.argval))
                    wants = False
                elif wants and instruction.opname.startswith("STORE"):  # the module itself
                    found.append(importlib.import_module(module))
                    wants = False
        return found


def _is_generated(cls: Any, name: str, member: Any) -> bool:
    """Whether Python generated a class attribute from something already counted."""
    if isinstance(cls, enum.EnumMeta) and (
        name in cls.__members__ or not (callable(member) or hasattr(member, "__get__"))
    ):
        return True
    fields = getattr(cls, "_fields", None)
    return name in SKIPPED or (fields is not None and (name in fields or name in NAMED_TUPLE or name == "__new__"))


_unlike_others: dict[int, Any] = {}  # kept alive, so that no id is reused


@functools.cache
def _this_process() -> str:
    return os.urandom(16).hex()


def _name(thing: Any) -> bytes:
    name = getattr(thing, "__qualname__", getattr(thing, "__name__", type(thing).__name__))
    return f"{getattr(thing, '__module__', '')}.{name}".encode()


def _homes_of(value: Any) -> frozenset[str]:
    """Return the top-level packages of a class, or of a value's class and of the classes in its fields."""
    cls = value if isinstance(value, type) else type(value)
    homes = frozenset([(getattr(cls, "__module__", "") or "").split(".")[0]])
    if isinstance(value, tuple | list | dict):
        fields = value.values() if isinstance(value, dict) else value
        return homes.union(*(_homes_of(field) for field in fields if isinstance(field, FIELDS)))
    return homes


@functools.cache
def _is_followed(module: str | None, by_python: bool) -> bool:
    """Whether a module is the user's own code, not the standard library or an installed package.

    by_python: whether it is Python code; code that `exec` runs without a `__name__` has the module `builtins`
    """
    top = (module or "").split(".")[0]
    if top in ("__main__", "", "setwise") or top.startswith("namedtuple_"):
        return top != "setwise"
    if top == "builtins":
        return by_python
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        with suppress(Exception):  # not a module's name, as in notebook cells, or not found
            file = getattr(importlib.util.find_spec(top), "origin", None)
    if file is None or not os.path.isabs(file):
        return top not in sys.stdlib_module_names  # a C or frozen module
    if top in sys.stdlib_module_names and Path(file).resolve().is_relative_to(STANDARD_LIBRARY):
        return False
    return not ("site-packages" in file or "dist-packages" in file)
