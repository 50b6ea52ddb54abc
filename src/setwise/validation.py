"""Check what users give: return the value in the right type, or raise one sentence that says what would do."""

import math
import numbers
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NamedTuple

import numpy as np

from setwise.types import InputError


def nearest(name: str, known: Iterable[str], alike: float = 0.5) -> str | None:
    """Return the closest match for a misspelt name, or None."""
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), 1, alike)
    return found[0] if found else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name.

    >>> suggestion("alfa", ["alpha", "bound"]), suggestion("x", ["alpha", "bound"]), suggestion("x", [])
    ("did you mean 'alpha'?", 'there are alpha, bound', 'there are none')
    """
    known = list(known)
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near else f"there are {', '.join(known) or 'none'}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 decision` or `1,200 decisions`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shown(value: Any) -> str:
    """Return the value's repr on one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:60]}... ({type(value).__name__})"


def exactly(value: float) -> str:
    """Return a number with six digits, or with all that it has, so that it can be pasted.

    >>> exactly(3.0), exactly(0.861819476)
    ('3', '0.861819476')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def refused(value: float, valid: Callable[[float], bool]) -> str:
    """Return a number that is not valid, with all digits if it would be with fewer.

    >>> refused(1.5, lambda x: x <= 1), refused(1 + 1e-12, lambda x: x <= 1)
    ('1.5', '1.000000000001')
    """
    short = f"{value:g}"
    return repr(float(value)) if valid(float(short)) else short


def number(what: str, value: Any) -> float:
    """Return the value as a float; raise if it is not a number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InputError(f"{what} is {shown(value)}, which is not a number")
    try:
        result = float(value)
    except OverflowError:
        raise InputError(f"{what} is larger than any float can be") from None
    if math.isnan(result):
        raise InputError(f"{what} is not a number (NaN)")
    return result


def whole_number(what: str, value: Any, least: int | None = None) -> int:
    """Return the value as an int; raise if it is not a whole number (1e6 is one).

    >>> whole_number("horizon", 1e6)
    1000000
    """
    result = number(what, value)
    if not result.is_integer():
        raise InputError(f"{what} is {value!r}, which is not a whole number")
    if least is not None and result < least:
        raise InputError(f"{what} is {int(value)}, which is less than {least}")
    return int(value)


def yes_or_no(what: str, value: Any) -> bool:
    """Return the value as a bool; raise unless it is a bool, 0 or 1."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, numbers.Real) and value in (0, 1)):
        return bool(value)
    raise InputError(f"{what} is {shown(value)}; it can be True or False")


ACCEPTED = {  # by the kind of the new array: the kinds it accepts, and their name in messages
    "f": ("biuf", "numbers"),
    "i": ("iu", "whole numbers"),
    "u": ("iu", "whole numbers"),
    "b": ("b", "truths, True or False"),
}


def array(what: str, value: Any, dtype: Any = np.float64) -> Any:
    """Return a read-only contiguous copy of the value; raise if it has NaN.

    dtype: of the copy; None keeps the dtype of an array, and takes bool for a list of bools, else float64
    """
    try:
        given = np.array(value)
    except ValueError:  # ragged
        given = np.array(None)
    if dtype is None:
        kept = isinstance(value, np.ndarray) or (given.dtype.kind == "b" and given.size)
        dtype = given.dtype.newbyteorder("=") if kept else np.float64
    wanted = np.dtype(dtype)
    accepted, called = ACCEPTED[wanted.kind]
    if given.size and given.dtype.kind not in accepted:
        raise InputError(f"{what} is {shown(value)}, which is not a list of {called}")
    with np.errstate(over="ignore"):
        result = np.array(given, dtype=wanted, order="C")
    if result.dtype.kind == "f" and np.isnan(result).any():
        raise InputError(f"{what} has a NaN at {_position(np.isnan(result))}")
    beyond = _beyond(given, result)
    if beyond.any():
        raise InputError(f"{what} is {given[beyond][0]} at {_position(beyond)}, which does not fit into {wanted}")
    result.setflags(write=False)
    return result


def _beyond(given: Any, made: Any) -> Any:
    """Return a mask of the numbers that overflow the dtype of the converted array."""
    if made.size and made.dtype.kind in "iu":
        limits = np.iinfo(made.dtype)
        return (given < limits.min) | (given > limits.max)
    if made.size and made.dtype.kind == "f":
        return np.isinf(made) & ~np.isinf(given)
    return np.zeros(made.shape, np.bool_)


def _position(wrong: Any) -> str:
    place = np.argwhere(wrong)[0]
    return f"position {', '.join(map(str, place.tolist()))}"


def check_range(what: str, values: Any, low: float, high: float, strict: bool = False) -> None:
    """Raise, naming the first, for numbers outside [low, high], or (low, high] if strict, and for infinite ones."""
    values = np.asarray(values)

    def valid(value: Any) -> Any:
        return (value > low if strict else value >= low) & (value <= high) & ~np.isinf(value)

    wrong = ~valid(values)
    if wrong.any():
        found = values[tuple(np.argwhere(wrong)[0])].item()
        where = f" at {_position(wrong)}" if values.ndim else ""
        if math.isinf(high):
            wanted = f"{'more than' if strict else 'at least'} {low:g}{' and finite' if math.isinf(found) else ''}"
        else:
            wanted = f"{'above' if strict else 'from'} {low:g} {'and at most' if strict else 'to'} {high:g}"
        raise InputError(f"{what} is {refused(found, valid)}{where}; it has to be {wanted}")


class Range(NamedTuple):
    """Limits of a number, stated where a field is annotated: `share: Annotated[float, Range(0.0, 1.0)]`."""

    low: float
    high: float = math.inf
    strict: bool = False  # whether `low` itself is excluded


Positive = Annotated[float, Range(0.0, strict=True)]
NonNegative = Annotated[float, Range(0.0)]


def check_list(what: str, values: Any) -> None:
    """Raise unless the array has one dimension, with a number for each arm."""
    if values is None or values.ndim != 1:
        given = "no" if values is None else values.ndim
        raise InputError(f"{what} has {given} dimensions; give a list with a number for each arm")


def check_sizes(n: Any, k: Any) -> tuple[int, int]:
    """Return n and k as ints; raise unless 1 <= k <= n."""
    n, k = whole_number("n", n, 1), whole_number("k", k, 1)
    if k > n:
        raise InputError(f"k={k} is more than the {n} arms there are")
    return n, k


def check_names(names: Any, n: int) -> tuple[str, ...] | None:
    """Return the names of the n arms as a tuple, or None; raise if they are not n distinct strings."""
    if names is None:
        return None
    if isinstance(names, str) or not np.iterable(names):
        raise InputError(f"names is {shown(names)}; give a list with one string for each arm")
    result = tuple(names)
    if len(result) != n or not all(isinstance(name, str) and name for name in result):
        raise InputError(f"names has {len(result)} entries for {n} arms; give one non-empty string for each arm")
    if len(set(result)) < n:
        twice = next(name for name, count in Counter(result).items() if count > 1)
        raise InputError(f"names has {twice!r} more than once")
    return result
