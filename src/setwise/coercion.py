"""From annotations to values: the fields of policies and environments as the types that they state."""

import contextlib
import inspect
import numbers
import sys
import types
import typing
from collections.abc import Collection, Iterable, MutableSequence, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise.types import Feedback, Floats, InputError, Ints
from setwise.validation import ACCEPTED, Range, array, number, shown, whole_number, yes_or_no

# Names that annotations often use but modules import for type checkers only.
USUAL = {"np": np, "numpy": np, "npt": npt, "NDArray": npt.NDArray, "Any": Any, "Floats": Floats, "Ints": Ints}


def hints_of(thing: Any, extras: bool = False) -> dict[str, Any]:
    """Return the annotated types of a class's fields or a function's parameters, as far as they resolve.

    extras: whether to keep `Annotated[...]`, instead of the type in it
    """
    with contextlib.suppress(Exception):  # names imported for type checkers only
        return typing.get_type_hints(thing, include_extras=extras)
    found = {}
    for owner in reversed(thing.__mro__) if isinstance(thing, type) else [thing]:
        module = sys.modules.get(getattr(owner, "__module__", ""))
        space = {**USUAL, **getattr(owner, "__globals__", vars(module) if module else {})}
        for name, hint in _annotations(owner).items():
            with contextlib.suppress(Exception):  # skip this one, others may resolve
                alone = types.SimpleNamespace(__annotations__={name: hint})
                found[name] = typing.get_type_hints(alone, space, include_extras=extras)[name]
    return found


def ranges_of(cls: type) -> dict[str, Range]:
    """Return the range of each field that is annotated with one."""
    marks = {name: getattr(hint, "__metadata__", ()) for name, hint in hints_of(cls, extras=True).items()}
    return {name: mark for name, found in marks.items() for mark in found if isinstance(mark, Range)}


def _annotations(owner: Any) -> dict[str, Any]:
    """Return the unresolved annotations of one class or function."""
    with contextlib.suppress(TypeError):
        return inspect.get_annotations(owner)
    return {}


def field_value(what: str, value: Any, hint: Any) -> Any:
    """Coerce a field's value to its annotated type; raise if a list of numbers would stay a list."""
    made = coerce(what, value, hint)
    if isinstance(made, list) and any(_is_list(kind) for kind in _kinds(hint)) and _is_numbers(made):
        told = "list" if hint is list else str(hint).removeprefix("collections.abc.").removeprefix("typing.")
        raise InputError(
            f"{what} is annotated {told}, and compiled code takes no lists; annotate it np.ndarray, so that a list "
            "becomes an array"
        )
    return made


def coerce(what: str, value: Any, hint: Any) -> Any:
    """Coerce the value to its annotated type: numbers to int or float, lists to read-only contiguous arrays.

    An array gets the annotated dtype, as in `npt.NDArray[np.int64]`. For plain `np.ndarray`, lists of numbers (also of
    ints) become float64 and lists of bools bool; an array keeps its dtype.
    """
    if hint is float:
        return number(what, value)
    if hint is int:
        return whole_number(what, value)
    if hint is bool:
        return yes_or_no(what, value)
    if hint is Feedback:
        return Feedback(value)
    kinds = _kinds(hint)
    if value is None and (hint is Any or types.NoneType in kinds):
        return None
    if Floats in kinds or Ints in kinds:
        return array(what, value, np.float64 if Floats in kinds else np.int64)
    dtypes = [dtype for kind in kinds for dtype in _dtypes(kind)]
    others = [kind for kind in kinds if isinstance(kind, type) and kind not in (list, np.ndarray, types.NoneType)]
    if not dtypes or _is_special(value) or (others and isinstance(value, (*others, numbers.Real))):
        return value
    made = array(what, value, dtypes[0])
    if made.ndim == 0:
        raise InputError(f"{what} is {shown(value)}; give a list of numbers")
    return made


def _kinds(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type itself; type aliases are resolved."""
    hint = getattr(hint, "__value__", hint)
    union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    return tuple(kind for part in typing.get_args(hint) for kind in _kinds(part)) if union else (hint,)


ABSTRACT = {np.floating: np.float64, np.inexact: np.float64, np.integer: np.int64, np.signedinteger: np.int64}


def _dtypes(kind: Any) -> list[Any]:
    """Return the dtype of an annotated array: [] if it is not numeric, [None] if none is named."""
    if kind is np.ndarray:
        return [None]
    if typing.get_origin(kind) is not np.ndarray:
        return []
    scalar: Any = next(iter(typing.get_args(typing.get_args(kind)[-1])), None)
    scalar = ABSTRACT.get(typing.get_origin(scalar) or scalar, scalar)
    if not (isinstance(scalar, type) and issubclass(scalar, np.generic)) or scalar in (np.generic, np.number):
        return [None]
    return [scalar] if np.dtype(scalar).kind in ACCEPTED else []


def _is_list(kind: Any) -> bool:
    return (typing.get_origin(kind) or kind) in (list, Sequence, MutableSequence, Collection, Iterable)


def _is_numbers(value: Any) -> bool:
    """Whether the value is a number or a nested list of numbers."""
    return isinstance(value, numbers.Real) or (isinstance(value, list) and all(map(_is_numbers, value)))


def _is_special(value: Any) -> bool:
    """Whether the value is a non-numeric array, such as one of strings, which is left as it is."""
    return isinstance(value, np.ndarray) and value.dtype.kind not in ACCEPTED
