"""Compile plain Python with Numba, by its public interface.

A policy is a NamedTuple with plain methods. Each method of the contract is registered with Numba once, for all named
tuples; the class of the tuple decides which function is called. Plain functions that the methods call are found by
following global names. Importing this module imports Numba, so import it only where something is compiled.
"""

import contextlib
import enum
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numba
from numba.extending import (
    NativeValue,
    models,
    overload,
    overload_method,
    register_model,
    typeof_impl,
    unbox,
)

from setwise.compile_errors import HIDDEN, explain
from setwise.declare import CONTRACTS, methods_of
from setwise.digests import code_digest, is_own, reachable, undeclared, walk
from setwise.forks import ForkedLock
from setwise.kernels.ranking import Ranking
from setwise.numba_internals import Toolkit
from setwise.types import InputError

types: Any = numba.types

_toolkit: Toolkit | None = None
borrow: Any = None  # of the toolkit; a global name, because a closure's intrinsic has another cache key in each process


def toolkit() -> Toolkit:
    """Return the options to compile with; the first call tests Numba's internals if no process did so before."""
    global _toolkit, borrow
    with _compiling:
        if _toolkit is None:
            from setwise.numba_self_test import choose_toolkit

            chosen = choose_toolkit()
            for contracts in (*CONTRACTS.values(), (Ranking,)):
                for name, default in methods_of(*contracts).items():
                    _register_method(name, default, chosen)
            _toolkit, borrow = chosen, chosen.borrow
        return _toolkit


def _register_method(name: str, default: Callable[..., Any], tools: Toolkit) -> None:
    """Let Numba call a contract method on any named tuple: the class's own, or the contract's default."""

    def choose(self: Any, *args: Any) -> Any:
        cls = getattr(self, "instance_class", None)
        return None if cls is None else undeclared(getattr(cls, name, default))

    choose.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(annotation=p.empty) for p in inspect.signature(default).parameters.values()]
    )
    # Registered for all tuples, not for named ones: there a method takes precedence and would hide a field of the
    # same name, such as the `means` of a user's state.
    overload_method(types.BaseTuple, name, strict=False, jit_options=tools.inlined)(choose)


class FieldlessType(types.NamedTuple):  # type: ignore[misc]
    """Numba type of a named tuple without fields.

    Numba tests the truth value of a method's receiver, and a type of length 0 is false: without fields, no `self`.
    """

    def __bool__(self) -> bool:
        return True


register_model(FieldlessType)(models.TupleModel)


def _register_fieldless(value: Any) -> None:
    """Let Numba call methods on a named tuple without fields, given to compiled code or constructed there."""
    cls = value if isinstance(value, type) else type(value)
    if issubclass(cls, tuple) and getattr(cls, "_fields", None) == () and id(cls) not in _registered:
        _registered[id(cls)] = cls
        instance = tuple.__new__(cls)
        typeof_impl.register(cls)(lambda value, context: FieldlessType((), cls))
        overload(cls, strict=False)(lambda: lambda: instance)


_typeof_class = typeof_impl.dispatch(type)


def _typeof_class_or_overload(value: Any, context: Any) -> Any:
    """Return Numba's type of a class, or None for a class without fields: Numba then looks for an overload."""
    return None if id(value) in _registered else _typeof_class(value, context)


typeof_impl.register(type)(_typeof_class_or_overload)


_registered: dict[int, Any] = {}  # functions and classes by id


def _register_function(function: Callable[..., Any], tools: Toolkit) -> None:
    """Let Numba call a plain function by its global name."""
    if id(function) not in _registered:
        _registered[id(function)] = function

        def choose_inlined(*args: Any) -> Any:
            return function if any(isinstance(arg, types.BaseTuple) for arg in args) else None

        def choose(*args: Any) -> Any:
            return None if any(isinstance(arg, types.BaseTuple) for arg in args) else function

        overload(function, strict=False, jit_options=tools.inlined)(choose_inlined)
        overload(function, strict=False, jit_options=tools.options)(choose)


class Hidden:
    """Placeholder for a field that compiled code cannot use; it can only be passed on."""


class HiddenType(types.Type):  # type: ignore[misc]
    """Numba type of `Hidden`; it has no operations, so using it is an error and never a wrong result."""

    def __init__(self) -> None:
        super().__init__(HIDDEN)


hidden, hidden_type = Hidden(), HiddenType()
typeof_impl.register(Hidden)(lambda value, context: hidden_type)
register_model(HiddenType)(models.OpaqueModel)
unbox(HiddenType)(lambda kind, value, context: NativeValue(context.context.get_dummy_value()))


def plain(value: Any, hide: Any = None) -> Any:
    """Return the named tuple without fields that compiled code cannot use: strings, plain tuples and functions.

    They become None in Setwise's own classes, which do not use them, and `hidden` in others.
    """
    if not hasattr(value, "_fields"):
        return hide if isinstance(value, str | tuple) or callable(value) else value
    if not any(isinstance(field, str | tuple) or callable(field) for field in value):
        return value
    hide = None if is_own(type(value)) else hidden
    return tuple.__new__(type(value), [plain(field, hide) for field in value])


def _classes(value: Any) -> list[type]:
    if isinstance(value, enum.Enum):
        return [type(value)]
    if not hasattr(value, "_fields"):
        return []
    return [type(value)] + [cls for field in value for cls in _classes(field)]


_compiling = ForkedLock("compiling")
_compiled: dict[tuple[Any, ...], Any] = {}
_digests: dict[Any, str] = {}  # of each compiled class and function of the user's: Numba compiles it once


def compile_for(
    function: Callable[..., Any], *args: Any, checked: bool = True, check_bounds: bool = False
) -> Callable[..., Any]:
    """Compile the function for arguments of these types, or load it from the disk cache.

    The compiled function borrows its arguments: it must not keep or return their arrays.

    checked: whether every call checks its argument types, which takes Numba 0.2 ms with tuples and a generator;
        otherwise a call takes microseconds, and arguments of other types are misread
    check_bounds: whether an index out of bounds raises IndexError; otherwise it reads or writes outside the array
    """
    args = tuple(map(plain, args))
    with _compiling:
        tools = toolkit()
        classes = [cls for arg in args for cls in _classes(arg)]
        key = (function, check_bounds, *classes)
        _check_unchanged(classes)
        if key not in _compiled:
            _compiled[key] = _entry(function, classes, check_bounds, tools)
        dispatcher = _compiled[key]
        known = len(dispatcher.overloads)
        try:
            tools.bounds.on = check_bounds
            entry = dispatcher.compile((numba.typeof(args),))
        except Exception as error:  # Numba's own errors, and any that its passes let through
            raise InputError(explain(error, classes)) from None
        finally:
            tools.bounds.on = False
        if len(dispatcher.overloads) > known:
            tools.link(dispatcher)
    run = dispatcher if checked else entry
    return lambda *args: run(tuple(map(plain, args)))


def find_compiled(function: Callable[..., Any], *args: Any) -> Callable[..., Any] | None:
    """Return the function if it was compiled in this process for arguments of these types."""
    args = tuple(map(plain, args))
    classes = [cls for arg in args for cls in _classes(arg)]
    dispatcher = _compiled.get((function, False, *classes))
    if dispatcher is None or (numba.typeof(args),) not in dispatcher.overloads:
        return None
    return lambda *args: dispatcher(tuple(map(plain, args)))


def _check_unchanged(classes: list[type]) -> None:
    """Raise if the classes use code that changed since Numba compiled it."""
    things: list[Any] = [*classes, *reachable(*classes)]
    for thing in dict.fromkeys(things):
        if not is_own(thing):
            digest = code_digest(thing)
            if _digests.setdefault(thing, digest) != digest:
                name = thing.__qualname__
                raise InputError(f"{name} uses code that has changed since it was compiled: define {name} again")


def _entry(function: Callable[..., Any], classes: list[type], check_bounds: bool, tools: Toolkit) -> Any:
    for cls in classes:
        _register_fieldless(cls)
    for reached, values in walk(function, *classes).items():
        _register_function(reached, tools)
        for value in values:
            _register_fieldless(value)

    def entry(args: Any) -> Any:
        return function(*args)

    def borrowing_entry(args: Any) -> Any:
        return function(*borrow(args))

    # Numba's cache detects changes only in the file of the cached function, which is this one. The digest covers all
    # code that can run and is part of the name that keys the cache, so changed code is a cache miss. It also keeps
    # classes that no longer exist out of the index that Numba reads for others. The tag keeps apart code compiled with
    # other internals.
    chosen = entry if borrow is None else borrowing_entry
    digest = code_digest(function, *classes)[:24]
    name = f"{function.__name__}_{digest}_{tools.tag}{'_checked' * check_bounds}"
    chosen.__qualname__ = chosen.__name__ = name
    options = {"nogil": True, "error_model": "numpy", "boundscheck": check_bounds}
    if all(map(_importable, classes)):
        with contextlib.suppress(RuntimeError):  # no folder for the cache is writable
            return numba.njit(cache=True, **options)(chosen)
    return numba.njit(**options)(chosen)


def _importable(cls: type) -> bool:
    """Whether another process can find the class: not in `__main__`, not inside a function."""
    module = sys.modules.get(cls.__module__)
    return cls.__module__ != "__main__" and getattr(module, cls.__qualname__, None) is cls
