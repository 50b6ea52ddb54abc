"""A policy as JSON, and back: its class by name, its parameters as values. Nothing that is stored is ever executed.

A class of the library is known by its name, any other as `module:Name`, which is imported when the study is opened.
"""

import base64
import importlib
import math
import sys
from typing import Any

import numpy as np

from setwise import policies
from setwise.declare import check_contract, shown
from setwise.digests import value_digest
from setwise.types import Feedback, InputError


def policy_to_json(policy: Any) -> dict[str, Any]:
    """The class and the parameters of a policy."""
    cls = type(policy)
    parameters = {
        name: _to_json(value, f"{cls.__name__}: {name}") for name, value in zip(policy._fields, policy, strict=True)
    }
    return {"class": class_name(cls), "parameters": parameters}


def class_name(cls: type) -> str:
    """How a class of policies is named in a journal."""
    name: str = cls.__name__
    if getattr(policies, name, None) is cls:
        return name
    return f"{cls.__module__}:{cls.__qualname__}"


def policy_from_json(kept: dict[str, Any], given: Any = None) -> Any:
    """The policy that was kept; one that is given has to be the same, and saves looking for its class."""
    name = kept["class"]
    cls = type(given) if given is not None and class_name(type(given)) == name else _find_class(name)
    policy = cls(**{key: _from_json(value) for key, value in kept["parameters"].items()})
    if given is not None:
        check_same_policy(given, policy)
    return policy


def check_same_policy(given: Any, policy: Any) -> None:
    """Refuse a policy that is not the one that a study was created with."""
    if class_name(type(given)) != class_name(type(policy)) or value_digest(given) != value_digest(policy):
        raise InputError(f"policy is {shown(given)}, but the study was created with {shown(policy)}")


def _find_class(name: str) -> Any:
    module, colon, attribute = name.partition(":")
    if not colon:
        found = getattr(policies, name, None)
        if found is None:
            raise InputError(f"the study plays {name}, a policy that this version of Setwise does not have")
        return found
    how = "open it with policy=, an object of that class"
    try:
        found = sys.modules.get(module) or importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        check_contract(found, "policy")  # type: ignore[arg-type]
    except (ImportError, AttributeError, InputError) as error:
        raise InputError(f"the study plays {name}, which cannot be found here ({error}); {how}") from None
    return found


def _to_json(value: Any, what: str) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Feedback):
        return {"feedback": value.name}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        kept = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        text = base64.b64encode(kept.tobytes()).decode()
        return {"array": text, "dtype": kept.dtype.str, "shape": list(kept.shape)}
    if hasattr(value, "_fields") and hasattr(value, "select"):
        return {"policy": policy_to_json(value)}
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return {"sequence": [_to_json(item, what) for item in value]}
    raise InputError(f"{what} is {shown(value)}, which cannot be kept; numbers, texts, arrays and policies can")


def _from_json(kept: Any) -> Any:
    if not isinstance(kept, dict):
        return kept
    if "feedback" in kept:
        return Feedback(kept["feedback"])
    if "float" in kept:
        return float(kept["float"])
    if "array" in kept:
        flat = np.frombuffer(base64.b64decode(kept["array"]), np.dtype(kept["dtype"]))
        return flat.astype(flat.dtype.newbyteorder("=")).reshape(kept["shape"])
    if "policy" in kept:
        return policy_from_json(kept["policy"])
    return tuple(_from_json(item) for item in kept["sequence"])
