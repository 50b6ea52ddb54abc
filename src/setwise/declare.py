"""Declare a class as a policy or an environment: check names, coerce fields, report mistakes early."""

import functools
import inspect
import math
import os
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from setwise.coercion import field_value, hints_of, ranges_of
from setwise.digests import undeclared
from setwise.kernels.draws import draw_binary_many
from setwise.types import (
    Environment,
    EnvironmentOptions,
    Feedback,
    Floats,
    Generator,
    InputError,
    Ints,
    Policy,
    PolicyOptions,
)
from setwise.validation import Range, check_range, check_sizes, nearest, refused, shown, suggestion, whole_number

Class = TypeVar("Class", bound=type)


POLICY_FACTS = {
    "title": None,
    "reference": "",
    "feedback": ("choice", "independent"),
    "needs_outside_option": False,
    "fixed_size": True,
    "assumptions": "",
    "regret_bound": "",
    "if_assumption_fails": "",
    "original": None,
    "adaptation": "",
    "set_dependent": "",
    "total_order": False,
    "ordered_sets": True,
    "missing": False,
    "epochs": False,
    "binary_blocks": False,
    "over_sets": False,
}

ENVIRONMENT_FACTS = {
    "title": None,
    "feedback": None,
    "rewards": "bounded",
    "bound": 1.0,
    "outside_option": True,
    "ordered_sets": False,
    "smaller_sets": False,
    "missing": False,
    "accuracy": 1e-12,
    "weak_consistency": "sometimes",
    "total_order": "sometimes",
    "proof": "",
    "derived": (),
}

AMOUNTS = dict.fromkeys(("bound", "total"), Range(1e-50, 1e50))  # so that their squares, and sums of these, are numbers

ALLOWED = {"feedback": ("choice", "independent", "total"), "rewards": ("binary", "bounded")}


@overload
def policy(cls: Class) -> Class: ...
@overload
def policy(cls: None = None, **facts: Any) -> Callable[[Class], Class]: ...
def policy(cls: Any = None, **facts: Any) -> Any:
    """Declare a NamedTuple class as a policy: `@policy`, or `@policy(feedback=..., reference=..., ...)`.

    Checks the names of methods and parameters, coerces fields to their annotated types, calls the class's own `check`
    on every new object, and checks the arguments of `init` and `update` when they are called directly.

    Annotate fields as float, int, bool or np.ndarray. A list becomes a read-only array, of the annotated dtype
    (`npt.NDArray[np.int64]` for arms), or of float64 for plain `np.ndarray`. The types `Positive`, `NonNegative` and
    `Annotated[float, Range(...)]` of `setwise.validation` also state which numbers are accepted.

    The facts become attributes of the class, for tables, checks and docs:

    title, reference: name and publication
    feedback: kinds it learns from, of "choice", "independent" and "total"; by default the first two
    needs_outside_option: whether it cannot play where every round rewards an arm
    fixed_size: whether the original plays exactly k arms
    assumptions: conditions of its guarantee on the environment
    regret_bound: the guarantee
    if_assumption_fails: its regret, in a few words, where weak optimal set consistency fails
    adaptation: differences from the publication
    original: whether it is as published; by default if no adaptation is stated
    set_dependent: set-dependent rewards that the guarantee allows: "no", "MNL", "yes"
    total_order: whether the guarantee needs a total order of the arms
    ordered_sets: whether `update` may depend on the order of the set; if not, a study sorts the arms by number
    missing: whether `update` may get fewer arms than were chosen, because some rewards were not observed; such an arm
        counts as not played
    epochs: whether it keeps its set until a round rewards no arm, so that these rounds can be played at once
    binary_blocks: whether `update_many` is correct only for rewards of 0 or 1
    over_sets: whether it learns about every set by itself, of which there may be 100,000; a field `total` is then the
        largest total reward of a set in one round
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

    Like `policy`, for the methods of an environment. With `rewards="binary"` and a field `feedback: Feedback`, a class
    without `draw_many` gets one that draws from its means. Each fact may be a field or a property of the class instead:

    title: its name
    feedback: "choice" (at most one arm is rewarded), "independent", or "total" (all arms get the same share of what the
        set earned)
    rewards: "binary" (0 or 1, so feedback and means determine their distribution) or "bounded"
    bound: the largest reward
    outside_option: whether a round may reward no arm
    ordered_sets: whether the means depend on the order of the arms in a set
    smaller_sets: whether the means are also correct for sets of fewer than k arms
    missing: whether `draw` may write NaN for an arm whose reward is not observed; `means` are those of all rewards
    accuracy: error of its means, as a share of the bound; differences up to that count as ties
    weak_consistency: whether it satisfies the paper's Assumption 1: "always", "sometimes" or "never"
    total_order: whether its arms have a total order: "always", "sometimes" or "never"
    proof: why the two are "always", if they are
    derived: fields computed from the others, omitted from the repr
    """

    def declare(cls: Any) -> Any:
        check_contract(cls, "environment")
        _state_facts(cls, ENVIRONMENT_FACTS, facts)
        if cls.rewards == "binary" and hints_of(cls).get("feedback") is Feedback and not hasattr(cls, "draw_many"):
            cls.draw_many = draw_many
        _wrap_construction(cls)
        return cls

    return declare if cls is None else declare(cls)


def draw_many(self: Any, chosen: Ints, rounds: int, rng: Generator, totals: Floats) -> None:
    """Write the sum of the 0/1 rewards of many rounds, drawn from the means: the default of environments."""
    self.means(chosen, totals)
    draw_binary_many(self.feedback, totals, rounds, rng, totals)


def shares(other: type, *names: str) -> Callable[[Class], Class]:
    """Give a policy some methods of another one: `@shares(KLUCB, "indices", "grow")`, below `@policy(...)`.

    Share optional methods only: type checkers do not see them. (They take `grow = KLUCB.grow` in the body of a
    NamedTuple for a field.)
    """

    def declare(cls: Class) -> Class:
        for name in names:
            if name not in vars(other):
                raise InputError(f"{cls.__name__}: {other.__name__} has no method {name} to share")
            setattr(cls, name, undeclared(vars(other)[name]))
        return cls

    return declare


def _state_facts(cls: Any, known: dict[str, Any], facts: dict[str, Any]) -> None:
    for name in facts:
        if name not in known:
            raise InputError(f"{cls.__name__}: there is no fact {name!r}; {suggestion(name, known)}")
        allowed = ALLOWED.get(name, ())
        for value in facts[name] if isinstance(facts[name], tuple) else (facts[name],):
            if allowed and isinstance(value, str) and value not in allowed:
                raise InputError(f"{cls.__name__}: {name} is {value!r}; {suggestion(value, allowed)}")
    for name, default in {**known, **facts}.items():
        if name in facts or not hasattr(cls, name):
            setattr(cls, name, default)
    if cls.title is None:
        cls.title = cls.__name__
    if "original" in known and cls.original is None:
        cls.original = not cls.adaptation


def methods_of(*contracts: type) -> dict[str, Callable[..., Any]]:
    """Return the methods of the contracts by name."""
    return {
        name: member
        for contract in contracts
        for name, member in vars(contract).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


CONTRACTS = {"policy": (Policy, PolicyOptions), "environment": (Environment, EnvironmentOptions)}


def parameters(function: Any) -> list[str]:
    """Return the parameter names of a plain function."""
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


_checked: set[tuple[type, str]] = set()


def check_contract(cls: type, kind: str) -> None:
    """Raise if the class's methods do not have the names and parameters of the contract."""
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
        others = [other for other in own if other not in required and other not in optional]
        if name == "value":  # a usual name for a method of one's own: only one with its parameter is meant
            others = [other for other in others if parameters(own[other]) == wanted]
        near = nearest(name, others, 0.7)
        if near:
            raise InputError(f"{cls.__name__}.{near} ({_place(own[near])}) should be called {name}")
        if name in required:
            inherited = f"; an inherited one does not count: write {name} = Base.{name}" if hasattr(cls, name) else ""
            raise InputError(
                f"{cls.__name__} has no method {name}({', '.join(wanted)}), which every {kind} needs{inherited} "
                f"({_place(cls)})"
            )
    for pair, what in (
        (("certain_rounds", "update_many"), "fast-forward needs"),
        (("threshold", "required_reward"), "long stretches need"),
    ):
        if (pair[0] in own) != (pair[1] in own):
            has, lacks = pair if pair[0] in own else pair[::-1]
            raise InputError(f"{cls.__name__} has {has} but not {lacks}; {what} both ({_place(own[has])})")
    if "required_reward" in own and "certain_rounds" not in own:
        place = _place(own["required_reward"])
        raise InputError(f"{cls.__name__} has required_reward but not certain_rounds, which says when to ask ({place})")
    _checked.add((cls, kind))


def check_object(thing: Any, kind: str) -> None:
    """Raise if the thing is no policy or environment: a class, a function, a name, or one of the other kind."""
    if (type(thing), kind) in _checked:
        return
    example = "sw.UCB()" if kind == "policy" else "sw.paper.camera()"
    if isinstance(thing, type):
        raise InputError(f"{thing.__name__} is a class; give an object of it, for example {thing.__name__}()")
    if isinstance(thing, str):
        raise InputError(f"the {kind} is the string {thing!r}; give an object, such as {example}")
    if inspect.isroutine(thing):
        raise InputError(f"the {kind} is the function {thing.__name__}; call it: {thing.__name__}()")
    other = "environment" if kind == "policy" else "policy"
    if all(hasattr(thing, name) for name in methods_of(CONTRACTS[other][0])):
        name = type(thing).__name__
        raise InputError(f"the {kind} is {name}, which is {'an' if other[0] == 'e' else 'a'} {other}; give {example}")
    check_contract(type(thing), kind)


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
            [field_value(f"{klass.__name__}: {f}", v, hints.get(f)) for f, v in zip(klass._fields, given, strict=True)],
        )
        for name, limits in _ranges(klass).items():
            check_range(f"{klass.__name__}: {name}", getattr(made, name), *limits)
            if name in AMOUNTS:
                check_range(f"{klass.__name__}: {name}", getattr(made, name), *AMOUNTS[name])
        derived = made.check() if hasattr(klass, "check") else None
        if getattr(klass, "rewards", None) == "binary" and getattr(made, "feedback", None) == "total":
            raise InputError(
                f"{klass.__name__}: feedback is 'total'; rewards of 0 and 1 have feedback 'choice' or 'independent': "
                "put the world into FullBandit to show only totals"
            )
        if derived:
            made = tuple.__new__(klass, [derived.get(f, v) for f, v in zip(klass._fields, made, strict=True)])
        return made

    cls.__new__ = __new__
    cls._make = classmethod(lambda klass, values: klass(*values))
    cls._replace = lambda self, /, **changes: type(self)(**{**self._asdict(), **changes})
    cls.__repr__ = _short_repr


_hints = functools.cache(hints_of)
_ranges = functools.cache(ranges_of)


LONG = 32  # longer tuples, such as the names of a million arms, are cut in the repr


def _short_repr(self: Any) -> str:
    """Show the class with its non-default fields; cut long values and omit derived fields."""
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


def _wrap_method(cls: Any, name: str, check: Callable[..., Any]) -> None:
    plain = undeclared(vars(cls)[name])
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


BY_ARM = ("pulls", "offers", "successes", "wins", "samples", "indices")  # state fields with one entry per arm


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
    if known is None and hasattr(state, "choose"):
        known = len(state.choose)
    if known is not None and chosen.size and chosen.max() >= known:
        raise InputError(f"arm {chosen.max()} is chosen; there are {known} arms, numbered from 0")
    winners = int((rewards > 0).sum())
    if winners > 1 and tuple(getattr(self, "feedback", ())) == ("choice",):
        raise InputError(f"{winners} arms are rewarded; {type(self).__name__} learns from one winner at most")
    bound = getattr(self, "bound", math.inf)
    wrong = np.flatnonzero(~((rewards >= 0) & (rewards <= bound)))
    if wrong.size:
        found = refused(rewards[wrong[0]], lambda reward: 0.0 <= reward <= bound)
        raise InputError(f"the reward of arm {chosen[wrong[0]]} is {found}; rewards are numbers from 0 to {bound:g}")
    check_total(self, rewards)
    return state, chosen, rewards, rng


def largest_total(policy: Any) -> float:
    """Return the largest total reward of a set that a policy over sets reckons with; infinite if it does not."""
    return float(getattr(policy, "total", math.inf)) if getattr(policy, "over_sets", False) else math.inf


def largest_accepted_total(policy: Any) -> float:
    """Return the largest total reward that `check_total` accepts: the policy's, up to rounding."""
    return largest_total(policy) * (1.0 + 1e-9)


def check_total(policy: Any, rewards: Any) -> None:
    """Raise if the rewards of a round add up to more than a policy over sets reckons with."""
    most = largest_total(policy)
    if most < math.inf and (earned := float(np.sum(rewards))) > largest_accepted_total(policy):
        name, found = type(policy).__name__, refused(earned, lambda total: total <= most)
        raise InputError(
            f"the rewards add up to {found}; {name} has total={most:g}, the largest total of a set: use "
            f"{name}(total={max(earned, len(rewards)):g})"
        )
