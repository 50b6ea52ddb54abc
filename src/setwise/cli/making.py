"""From what was typed to objects: `name:parameter=value,...`."""

import importlib
import inspect
import math
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from setwise.declare import nearest, shown, suggestion, whole_number
from setwise.types import InputError

ANSWERS = {"true": True, "yes": True, "false": False, "no": False}


def policy_classes() -> Mapping[str, Any]:
    from setwise.policies import POLICIES

    return POLICIES


def environments() -> Mapping[str, Any]:
    from setwise.environments import PRESETS
    from setwise.paper import INSTANCES, LOWER_BOUNDS

    return {**INSTANCES, **LOWER_BOUNDS, **PRESETS}


def _soc(path: str) -> Callable[..., Any]:
    """A maker of the world that a file of strict orders describes."""
    from setwise.environments import Rankings

    def read(k: int = 0, outside: int = 0) -> Any:
        if not (k and outside):
            raise InputError(f"{path} needs k and outside, for example {path}:k=2,outside=1")
        return Rankings.read_soc(path, k, outside)

    return read


def make_policy(text: str, world: Any) -> Any:
    """The policy that the text describes; one that has to know something of its world is made for that."""
    return make(text, policy_classes(), "policy", world)


def make(text: str, known: Mapping[str, Any], kind: str, world: Any = None) -> Any:
    """The object that `name:parameter=value,...` describes.

    A name with a dot is a class, a function or an object of a module; one that ends in .soc is a file of rankings. A
    class with a method `for_world` is asked for the object that goes with the world.
    """
    name, _, parameters = text.partition(":")
    if name.endswith(".soc") and kind == "environment":
        maker = _soc(name)
    elif "." in name:
        maker = _imported(name, kind)
    elif name in known:
        maker = known[name]
    else:
        raise InputError(f"there is no {kind} {name!r}; {suggestion(name, known)}")
    values: dict[str, Any] = {}
    for part in filter(None, parameters.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{part!r} in {text!r} is not of the form parameter=value")
        values[key.strip()] = _value(value.strip(), text, known, kind, world)
    if hasattr(maker, "_fields") and not isinstance(maker, type):
        if values:
            raise InputError(f"{name} is an object already, and takes no parameters")
        return maker
    if not callable(maker):
        raise InputError(f"{name} is not a class or function that makes a {kind}")
    accepted = inspect.signature(maker).parameters if not hasattr(maker, "_fields") else maker._fields
    for key in values:
        if key not in accepted:
            raise InputError(f"{name} has no parameter {key!r}; {suggestion(key, accepted)}")
    hints = getattr(maker, "__annotations__", {})
    given = {key: whole_number(key, v) if hints.get(key) is int else v for key, v in values.items()}
    try:
        if world is not None and hasattr(maker, "for_world"):
            made = maker.for_world(world)._replace(**given)
        else:
            made = maker(**given)
    except TypeError as error:
        raise InputError(f"{name} cannot be made: {error}") from None
    if not hasattr(made, "means" if kind == "environment" else "select"):
        raise InputError(f"{name} makes {shown(made)}, which is not a {kind}")
    return made


def _value(value: str, text: str, known: Mapping[str, Any], kind: str, world: Any) -> Any:
    """What stands behind the equals sign: a number, yes or no, or another policy."""
    try:
        found = float(value)
        if not math.isnan(found):
            return found
    except ValueError:
        pass
    if value.lower() in ANSWERS:
        return ANSWERS[value.lower()]
    if kind == "policy" and value.partition(":")[0] in known:
        return make(value, known, kind, world)
    near = nearest(value.partition(":")[0], known) if kind == "policy" else None
    wanted = "a number, yes or no, or a policy" if kind == "policy" else "a number, yes or no"
    raise InputError(f"{value!r} in {text!r} is not {wanted}" + (f"; did you mean {near!r}?" if near else ""))


def _imported(name: str, kind: str) -> Any:
    module, _, attribute = name.rpartition(".")
    sys.path.insert(0, os.getcwd())
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"the {kind} {name!r} cannot be imported: {error}") from None
    finally:
        sys.path.pop(0)
