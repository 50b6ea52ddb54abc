"""The definition of a study, which never changes: arms, set size, policy, horizon, seed and window.

A policy is stored as JSON: the name of its class and the values of its parameters. Nothing stored is ever executed.
A class of Setwise is stored as `Name`, any other as `module:Name`, which is imported when the study is opened.
"""

import base64
import dataclasses
import importlib
import inspect
import math
import secrets
import sys
from typing import Any

import numpy as np

from setwise import policies
from setwise.declare import check_contract, check_object
from setwise.digests import value_digest
from setwise.policies.doubling import NEEDED, Doubling
from setwise.policies.robust_ucb import RobustUCB
from setwise.study.names import check_arms, check_window
from setwise.study.policy_runner import learning_stream
from setwise.types import Feedback, InputError
from setwise.validation import check_sizes, shown, whole_number

VERSION = 1  # of the stored format; newer ones are refused
LARGEST_SEED = 1 << 63


@dataclasses.dataclass(frozen=True)
class Definition:
    """The definition of a study.

    arms: names of the initial arms
    k: number of arms in a set
    policy: as given by the user
    horizon: number of planned rounds, or None if unknown
    seed: equal seeds and equal feedback give equal decisions
    window: microseconds after which a decision without feedback is closed, or None for never
    """

    arms: tuple[str, ...]
    k: int
    policy: Any
    horizon: int | None
    seed: int
    window: int | None

    @classmethod
    def make(cls, arms: Any, k: Any, policy: Any, horizon: Any, seed: Any, window: Any) -> "Definition":
        """Check all arguments and return the definition."""
        names = check_arms(arms)
        _, k = check_sizes(len(names), k)
        policy = RobustUCB() if policy is None else policy
        check_object(policy, "policy")
        horizon = None if horizon is None else whole_number("horizon", horizon, 1)
        seed = secrets.randbits(32) if seed is None else whole_number("seed", seed, 0)
        if seed >= LARGEST_SEED:
            raise InputError(f"seed is {seed}, which is too large; it has to be below 2^63")
        made = cls(names, k, policy, horizon, seed, check_window(window))
        made.first_state()  # raises if the policy cannot play here
        policy_to_json(policy)
        return made

    @property
    def player(self) -> Any:
        """The policy that plays: wrapped in `Doubling` if it depends on the horizon and none was given."""
        if self.horizon is not None or not self._asks_for_horizon():
            return self.policy
        lacking = [name for name in NEEDED if not hasattr(self.policy, name)]
        if lacking:
            raise InputError(
                f"{type(self.policy).__name__} has to know how many rounds there will be, and cannot change that "
                "later: give horizon=, or take a policy that does without, such as RobustUCB(), Thompson() or "
                "SetThompson()"
            )
        return Doubling(base=self.policy)

    def first_state(self) -> Any:
        """Return the state of the player before the first round."""
        return self.player.init(len(self.arms), self.k, self.horizon or 1, learning_stream(self.seed))

    def _asks_for_horizon(self) -> bool:
        """Whether the policy depends on the horizon: its initial states for two horizons differ."""
        init = inspect.unwrap(type(self.policy).init)
        first, second = (
            init(self.policy, len(self.arms), self.k, horizon, learning_stream(0)) for horizon in (10, 10_000)
        )
        return value_digest(first) != value_digest(second)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "arms": list(self.arms),
            "k": self.k,
            "policy": policy_to_json(self.policy),
            "horizon": self.horizon,
            "seed": self.seed,
            "window": self.window,
        }

    @classmethod
    def from_json(cls, kept: dict[str, Any], policy: Any = None) -> "Definition":
        if kept["version"] > VERSION:
            raise InputError(
                f"the study was created by a newer version of Setwise (its format is {kept['version']}, "
                f"known here is {VERSION}): upgrade Setwise"
            )
        return cls(
            tuple(kept["arms"]),
            kept["k"],
            policy_from_json(kept["policy"], policy),
            kept["horizon"],
            kept["seed"],
            kept["window"],
        )

    def differs_from(self, other: "Definition") -> str | None:
        """Describe the first difference between two definitions, or return None."""
        for field in dataclasses.fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if value_digest(mine) != value_digest(theirs):
                return f"{field.name} is {shown(theirs)} there and {shown(mine)} here"
        return None


def policy_to_json(policy: Any) -> dict[str, Any]:
    """Return the class and the parameters of a policy."""
    cls = type(policy)
    parameters = {
        name: _to_json(value, f"{cls.__name__}: {name}") for name, value in zip(policy._fields, policy, strict=True)
    }
    return {"class": class_name(cls), "parameters": parameters}


def class_name(cls: type) -> str:
    """Return the name of a policy class in a journal."""
    name: str = cls.__name__
    if getattr(policies, name, None) is cls:
        return name
    return f"{cls.__module__}:{cls.__qualname__}"


def policy_from_json(kept: dict[str, Any], given: Any = None) -> Any:
    """Return the stored policy. A policy that is given must be equal, and then its class need not be imported."""
    name = kept["class"]
    cls = type(given) if given is not None and class_name(type(given)) == name else _find_class(name)
    policy = cls(**{key: _from_json(value) for key, value in kept["parameters"].items()})
    if given is not None:
        check_same_policy(given, policy)
    return policy


def check_same_policy(given: Any, policy: Any) -> None:
    """Raise InputError if a policy is not the one that the study was created with."""
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
    raise InputError(f"{what} is {shown(value)}, which cannot be stored; numbers, strings, arrays and policies can")


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
