"""Declare a class as a policy or an environment: names checked, fields coerced, mistakes refused early."""

import contextlib
import functools
import inspect
import math
import numbers
import os
import sys
import types
import typing
from collections import Counter
from collections.abc import Callable, Collection, Iterable, MutableSequence, Sequence
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from setwise.types import (
    Environment,
    EnvironmentOptions,
    Feedback,
    Floats,
    InputError,
    Ints,
    Policy,
    PolicyOptions,
)

Class = TypeVar("Class", bound=type)


POLICY_FACTS = {
    "title": None,
    "reference": "",
    "feedback": ("choice", "independent"),
    "needs_outside_option": False,
    "fixed_size": True,
    "assumptions": "",
    "regret_bound": "",
    "original": True,
    "adaptation": "",
    "set_dependent": "",
    "total_order": False,
    "ordered_sets": True,
    "epochs": False,
    "binary_blocks": False,
}

ENVIRONMENT_FACTS = {
    "title": None,
    "feedback": None,
    "rewards": "bounded",
    "bound": 1.0,
    "outside_option": True,
    "ordered_sets": False,
    "smaller_sets": False,
    "accuracy": 1e-12,
    "weak_consistency": "sometimes",
    "total_order": "sometimes",
    "proof": "",
    "derived": (),
}


@overload
def policy(cls: Class) -> Class: ...
@overload
def policy(cls: None = None, **facts: Any) -> Callable[[Class], Class]: ...
def policy(cls: Any = None, **facts: Any) -> Any:
    """Declare a NamedTuple class as a policy: `@policy`, or `@policy(feedback=..., reference=..., ...)`.

    Checks the names of the methods and of their parameters, coerces the fields to their annotated types, calls the
    class's own `check` on every new object, and checks what `init` and `update` are given when called by hand.

    Fields are annotated float, int, bool or np.ndarray. A list becomes an array that cannot be written to: of the dtype
    that the annotation names (`npt.NDArray[np.int64]` for arms), and of float64 where it is plain `np.ndarray`.

    The facts become attributes of the class, for tables, checks and docs:

    title, reference: what it is called, and where it is from
    feedback: what it learns from, ("choice", "independent") or one of them
    needs_outside_option: whether it cannot play where every round rewards an arm
    fixed_size: whether its sets have exactly k arms of its own accord
    assumptions: what its guarantee asks of the world
    regret_bound: the guarantee
    original: whether it is as published, not an adaptation
    adaptation: what differs from what was published
    set_dependent: what rewards that depend on the set the guarantee allows: "no", "MNL", "yes"
    total_order: whether the guarantee asks for a total order of the arms
    ordered_sets: whether `update` may depend on the order of the set; if not, a study sorts the arms by their numbers
    epochs: whether it keeps its set until a round rewards no arm, so that such rounds can be played at once
    binary_blocks: whether `absorb` is right only where rewards are 0 or 1
    """

    def declare(cls: Any) -> Any:
        check_contract(cls, "policy")
        _state_facts(cls, POLICY_FACTS, facts)
        _wrap_construction(cls)
        _wrap_method(cls, "init", _check_init)
        _wrap_method(cls, "update", _check_update)
        return cls

    return declare if cls is None else declare(cls)


@overload
def environment(cls: Class) -> Class: ...
@overload
def environment(cls: None = None, **facts: Any) -> Callable[[Class], Class]: ...
def environment(cls: Any = None, **facts: Any) -> Any:
    """Declare a NamedTuple class as an environment: `@environment`, or `@environment(rewards="binary", ...)`.

    Does what `policy` does, with the methods of an environment. The facts, each of which may be a field or a property
    of the class instead:

    title: what it is called
    feedback: what a round shows, "choice" or "independent"
    rewards: "binary", 0 or 1, so that feedback and means say all about them; or "bounded"
    bound: the largest reward
    outside_option: whether a round may reward no arm
    ordered_sets: whether the means depend on the order in which the arms of a set stand
    smaller_sets: whether the means are also right for sets of fewer than k arms
    accuracy: by how much its means may be off, in shares of the bound; differences up to that count as ties
    weak_consistency: whether it satisfies the paper's Assumption 1: "always", "sometimes" or "never"
    total_order: whether its arms have a total order: "always", "sometimes" or "never"
    proof: why the two are "always", if they are
    derived: fields that follow from the others, left out when it is printed
    """

    def declare(cls: Any) -> Any:
        check_contract(cls, "environment")
        _state_facts(cls, ENVIRONMENT_FACTS, facts)
        _wrap_construction(cls)
        return cls

    return declare if cls is None else declare(cls)


def _state_facts(cls: Any, known: dict[str, Any], facts: dict[str, Any]) -> None:
    for name in facts:
        if name not in known:
            raise InputError(f"{cls.__name__}: there is no fact {name!r}; {suggestion(name, known)}")
    for name, default in {**known, **facts}.items():
        if name in facts or not hasattr(cls, name):
            setattr(cls, name, cls.__name__ if name == "title" and default is None else default)


def methods_of(*contracts: type) -> dict[str, Callable[..., Any]]:
    """The methods that a contract names, with their signatures."""
    return {
        name: member
        for contract in contracts
        for name, member in vars(contract).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


CONTRACTS = {"policy": (Policy, PolicyOptions), "environment": (Environment, EnvironmentOptions)}


def parameters(function: Any) -> list[str]:
    """The names of a plain function's parameters."""
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


_checked: set[tuple[type, str]] = set()


def check_contract(cls: type, kind: str) -> None:
    """Refuse, in one sentence, a class whose methods do not have the names and parameters of the contract."""
    if (cls, kind) in _checked:
        return
    if not (isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")):
        name = getattr(cls, "__name__", repr(cls))
        raise InputError(f"{name} is not a NamedTuple: write class {name}(NamedTuple) with its parameters as fields")
    required, optional = (methods_of(contract) for contract in CONTRACTS[kind])
    own = {name: inspect.unwrap(f) for name, f in vars(cls).items() if inspect.isfunction(f)}
    for name, model in {**required, **optional}.items():
        wanted = parameters(model)
        if name in own:
            given = parameters(own[name])
            if given != wanted:
                raise InputError(
                    f"{cls.__name__}.{name} ({_place(own[name])}) has the parameters ({', '.join(given)}); "
                    f"the contract has ({', '.join(wanted)})"
                )
            continue
        near = nearest(name, [other for other in own if other not in required and other not in optional], 0.7)
        if near:
            raise InputError(f"{cls.__name__}.{near} ({_place(own[near])}) should be called {name}")
        if name in required:
            inherited = f"; an inherited one does not count: write {name} = Base.{name}" if hasattr(cls, name) else ""
            raise InputError(
                f"{cls.__name__} has no method {name}({', '.join(wanted)}), which every {kind} needs{inherited} "
                f"({_place(cls)})"
            )
    for pair, what in ((("hold", "absorb"), "fast-forward needs"), (("rival", "demand"), "long stretches need")):
        if (pair[0] in own) != (pair[1] in own):
            has, lacks = pair if pair[0] in own else pair[::-1]
            raise InputError(f"{cls.__name__} has {has} but not {lacks}; {what} both ({_place(own[has])})")
    if "demand" in own and "hold" not in own:
        raise InputError(f"{cls.__name__} has demand but not hold, which says when to ask ({_place(own['demand'])})")
    _checked.add((cls, kind))


def nearest(name: str, known: Iterable[str], alike: float = 0.5) -> str | None:
    """The name that is most like a misspelt one, if any is."""
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), 1, alike)
    return found[0] if found else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """What to answer to a name that is not known.

    >>> suggestion("alfa", ["alpha", "bound"]), suggestion("x", ["alpha", "bound"]), suggestion("x", [])
    ("did you mean 'alpha'?", 'there are alpha, bound', 'there are none')
    """
    known = list(known)
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near else f"there are {', '.join(known) or 'none'}"


def _place(thing: Any) -> str:
    try:
        file = os.path.basename(inspect.getsourcefile(thing) or "?")
        line = inspect.getsourcelines(thing)[1]
    except (OSError, TypeError):
        return f"module {getattr(thing, '__module__', '?')}"
    return f"{file}, line {line}"


def _wrap_construction(cls: Any) -> None:
    plain_new = cls.__new__

    @functools.wraps(plain_new)
    def __new__(klass: Any, *args: Any, **kwargs: Any) -> Any:
        unknown = [name for name in kwargs if name not in klass._fields]
        if unknown:
            hint = suggestion(unknown[0], klass._fields)
            raise InputError(f"{klass.__name__} has no parameter {unknown[0]!r}; {hint}")
        try:
            given = plain_new(klass, *args, **kwargs)
        except TypeError as error:
            raise InputError(f"{klass.__name__}: {str(error).removeprefix(klass.__name__ + '.__new__() ')}") from None
        hints = _hints(klass)
        made = tuple.__new__(
            klass,
            [_field(f"{klass.__name__}: {f}", v, hints.get(f)) for f, v in zip(klass._fields, given, strict=True)],
        )
        derived = made.check() if hasattr(klass, "check") else None
        if derived:
            made = tuple.__new__(klass, [derived.get(f, v) for f, v in zip(klass._fields, made, strict=True)])
        return made

    cls.__new__ = __new__
    cls._make = classmethod(lambda klass, values: klass(*values))
    cls._replace = lambda self, /, **changes: type(self)(**{**self._asdict(), **changes})
    cls.__repr__ = _short_repr


# What annotations are likely to name that were imported for type checkers only.
USUAL = {"np": np, "numpy": np, "npt": npt, "NDArray": npt.NDArray, "Any": Any, "Floats": Floats, "Ints": Ints}


def hints_of(thing: Any) -> dict[str, Any]:
    """The types that a class or function states for its fields or parameters, as far as they can be known."""
    with contextlib.suppress(Exception):  # names that exist for type checkers only
        return typing.get_type_hints(thing)
    found = {}
    for owner in reversed(thing.__mro__) if isinstance(thing, type) else [thing]:
        module = sys.modules.get(getattr(owner, "__module__", ""))
        space = {**USUAL, **getattr(owner, "__globals__", vars(module) if module else {})}
        for name, hint in _annotations(owner).items():
            with contextlib.suppress(Exception):  # this one is not known, the others may be
                alone = types.SimpleNamespace(__annotations__={name: hint})
                found[name] = typing.get_type_hints(alone, space)[name]
    return found


_hints = functools.cache(hints_of)


def _annotations(owner: Any) -> dict[str, Any]:
    """The annotations of one class or function as they are written."""
    with contextlib.suppress(TypeError):
        return inspect.get_annotations(owner)
    return {}


LONG = 32  # a tuple of more entries is cut where it is printed, as names of a million arms are


def _short_repr(self: Any) -> str:
    """The class with the fields that differ from their defaults; what is long is cut, derived fields left out."""
    derived = getattr(type(self), "derived", ())
    parts = []
    for name, value in zip(self._fields, self, strict=True):
        default = self._field_defaults.get(name, math.nan)
        as_default = not isinstance(value, np.ndarray) and type(value) is type(default) and value == default
        if name in derived or as_default:
            continue
        if isinstance(value, np.ndarray):
            flat = [_short_number(x) for x in value.ravel()[:4].tolist()] + ["..."] * (value.size > 4)
            shape = f" {' x '.join(map(str, value.shape))}" if value.size > 4 else ""
            parts.append(f"{name}=[{', '.join(flat)}{shape}]")
        elif type(value) is tuple and len(value) > LONG:
            parts.append(f"{name}=({', '.join(map(repr, value[:4]))}, ... {len(value)})")
        else:
            parts.append(f"{name}={value!r}")
    return f"{type(self).__name__}({', '.join(parts)})"


def _short_number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else repr(value)


def _field(what: str, value: Any, hint: Any) -> Any:
    """A field's value as the annotated type; a list of numbers that would stay one is refused."""
    made = coerce(what, value, hint)
    if isinstance(made, list) and any(_is_list(kind) for kind in _kinds(hint)) and _is_numbers(made):
        told = "list" if hint is list else str(hint).removeprefix("collections.abc.").removeprefix("typing.")
        raise InputError(
            f"{what} is annotated {told}, and compiled code takes no lists; annotate it np.ndarray, so that a list "
            "becomes an array"
        )
    return made


def coerce(what: str, value: Any, hint: Any) -> Any:
    """The value as the annotated type: numbers to int or float, lists to read-only contiguous arrays.

    An array has the dtype that its annotation names, as `npt.NDArray[np.int64]` does. For plain `np.ndarray` numbers
    become float64, also whole ones, and truths bool; what is an array already keeps its dtype.
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
    """The types of a union, or the one there is; of a name for a type, what it stands for."""
    hint = getattr(hint, "__value__", hint)
    union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    return tuple(kind for part in typing.get_args(hint) for kind in _kinds(part)) if union else (hint,)


ABSTRACT = {np.floating: np.float64, np.inexact: np.float64, np.integer: np.int64, np.signedinteger: np.int64}


def _dtypes(kind: Any) -> list[Any]:
    """What the annotation of an array says of its dtype: [] if it is none of numbers, [None] if it names none."""
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
    """Whether it is a number, or a list of numbers or of such lists."""
    return isinstance(value, numbers.Real) or (isinstance(value, list) and all(map(_is_numbers, value)))


def _is_special(value: Any) -> bool:
    """Whether it is an array of something else than numbers, as texts, which is nobody's list."""
    return isinstance(value, np.ndarray) and value.dtype.kind not in ACCEPTED


def shown(value: Any) -> str:
    """The value on one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:60]}... ({type(value).__name__})"


def number(what: str, value: Any) -> float:
    """The value as a float, if it is a number."""
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
    """The value as an int, if it is a whole number (1e6 is one).

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
    """The value as a bool, if it is one (or 0 or 1)."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, numbers.Real) and value in (0, 1)):
        return bool(value)
    raise InputError(f"{what} is {shown(value)}; it can be True or False")


ACCEPTED = {  # by the kind of an array that is made: the kinds it is made of, and what these are called
    "f": ("biuf", "numbers"),
    "i": ("iu", "whole numbers"),
    "u": ("iu", "whole numbers"),
    "b": ("b", "truths, True or False"),
}


def array(what: str, value: Any, dtype: Any = np.float64) -> Any:
    """A read-only contiguous copy of the value, without NaN.

    dtype: of the copy; None for what an array has already, and else float64, or bool for truths
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
    """Where numbers are too large for the dtype of the array that was made of them."""
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
    """Refuse numbers outside [low, high], or outside (low, high] if strict, and infinite ones, naming the first."""
    values = np.asarray(values)
    wrong = ~((values > low if strict else values >= low) & (values <= high)) | np.isinf(values)
    if wrong.any():
        found = values[tuple(np.argwhere(wrong)[0])].item()
        where = f" at {_position(wrong)}" if values.ndim else ""
        if math.isinf(high):
            wanted = f"{'more than' if strict else 'at least'} {low:g}{' and finite' if math.isinf(found) else ''}"
        else:
            wanted = f"{'above' if strict else 'from'} {low:g} {'and at most' if strict else 'to'} {high:g}"
        raise InputError(f"{what} is {found:g}{where}; it has to be {wanted}")


def check_list(what: str, values: Any) -> None:
    """Refuse what is not one number for each arm."""
    if values is None or values.ndim != 1:
        given = "no" if values is None else values.ndim
        raise InputError(f"{what} has {given} dimensions; give a list with a number for each arm")


def check_sizes(n: Any, k: Any) -> tuple[int, int]:
    """n and k as ints, 1 <= k <= n."""
    n, k = whole_number("n", n, 1), whole_number("k", k, 1)
    if k > n:
        raise InputError(f"k={k} is more than the {n} arms there are")
    return n, k


def check_names(names: Any, n: int) -> tuple[str, ...] | None:
    """The names of the n arms as a tuple, or None."""
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


def _wrap_method(cls: Any, name: str, check: Callable[..., Any]) -> None:
    plain = vars(cls)[name]
    wanted = len(parameters(inspect.unwrap(plain))) - 1

    @functools.wraps(plain)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != wanted:
            args = inspect.signature(plain).bind(self, *args, **kwargs).args[1:]
        return plain(self, *check(self, *args))

    checked.__declared__ = plain  # type: ignore[attr-defined]
    setattr(cls, name, checked)


def _check_init(self: Any, n: Any, k: Any, horizon: Any, rng: Any) -> tuple[Any, ...]:
    n, k = check_sizes(n, k)
    return n, k, whole_number("horizon", horizon, 1), rng


BY_ARM = ("pulls", "offers", "successes", "wins", "samples", "indices")  # fields of a state with an entry for each arm


def _check_update(self: Any, state: Any, chosen: Any, rewards: Any, rng: Any) -> tuple[Any, ...]:
    chosen, rewards = np.asarray(chosen), np.asarray(rewards)
    if chosen.dtype.kind not in "iu" or (chosen < 0).any():
        wrong = chosen[chosen < 0][0] if chosen.dtype.kind in "iu" else shown(chosen.tolist())
        raise InputError(f"arm {wrong} is chosen; arms are whole numbers from 0")
    if rewards.dtype.kind not in "biuf":
        raise InputError(f"rewards is {shown(rewards.tolist())}; a reward is a number for each chosen arm")
    if rewards.shape != chosen.shape:
        raise InputError(f"there are {rewards.size} rewards for {chosen.size} chosen arms; give one for each")
    if len(set(chosen.tolist())) < chosen.size:
        raise InputError(f"{chosen.tolist()} has an arm twice; the arms of a set are distinct")
    known = next((getattr(state, name).shape[-1] for name in BY_ARM if hasattr(state, name)), None)
    if known is not None and chosen.size and chosen.max() >= known:
        raise InputError(f"arm {chosen.max()} is chosen; there are {known} arms, numbered from 0")
    winners = int((rewards > 0).sum())
    if winners > 1 and tuple(getattr(self, "feedback", ())) == ("choice",):
        raise InputError(f"{winners} arms are rewarded; {type(self).__name__} learns from one winner at most")
    bound = getattr(self, "bound", math.inf)
    wrong = np.flatnonzero(~((rewards >= 0) & (rewards <= bound)))
    if wrong.size:
        arm, reward = chosen[wrong[0]], rewards[wrong[0]]
        raise InputError(f"the reward of arm {arm} is {reward:g}; rewards are numbers from 0 to {bound:g}")
    return state, chosen, rewards, rng
