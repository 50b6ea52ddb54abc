"""What users tell, as a reward for each arm of a set."""

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from setwise.declare import shown
from setwise.types import InputError


def read_feedback(names: Sequence[str], rewards: Any, winner: Any, policy: Any) -> list[float]:
    """The rewards in the order of the arms: from a mapping, a list, or the name of the one winner."""
    if rewards is not None and winner is not None:
        raise InputError("rewards and winner were both given; give one of them")
    if winner is not None:
        if not isinstance(winner, str):
            raise InputError(f"winner is {shown(winner)}; give the name of an arm")
        _check_shown([winner], names)
        found = [1.0 if name == winner else 0.0 for name in names]
    elif isinstance(rewards, Mapping):
        _check_shown(list(rewards), names)
        found = [_reward(name, rewards.get(name, 0.0)) for name in names]
    elif isinstance(rewards, Sequence | np.ndarray) and not isinstance(rewards, str | bytes) and _has_length(rewards):
        if len(rewards) != len(names):
            raise InputError(
                f"there are {len(rewards)} rewards for the {len(names)} arms {_list(names)}; give one for each"
            )
        found = [_reward(name, reward) for name, reward in zip(names, rewards, strict=True)]
    else:
        raise InputError(
            f"rewards is {shown(rewards)}; give a mapping such as {{{names[0]!r}: 1}} (arms left out earned 0, {{}} if "
            "nothing was earned), a list with a reward for each arm, or winner="
        )
    _check_bounds(names, found, policy)
    return found


def _has_length(rewards: Any) -> bool:
    return getattr(rewards, "ndim", 1) > 0


def _check_shown(given: Sequence[Any], names: Sequence[str]) -> None:
    for name in given:
        if name not in names:
            raise InputError(f"{shown(name)} was not shown; the decision has {_list(names)}")


def _reward(name: str, reward: Any) -> float:
    if isinstance(reward, np.generic):
        reward = reward.item()
    if not isinstance(reward, numbers.Real):
        raise InputError(f"the reward of {name!r} is {shown(reward)}, which is not a number")
    try:
        return float(reward)
    except OverflowError:
        raise InputError(f"the reward of {name!r} is larger than any float can be") from None


def _check_bounds(names: Sequence[str], rewards: Sequence[float], policy: Any) -> None:
    kind = type(policy).__name__
    only_winners = tuple(getattr(policy, "feedback", ())) == ("choice",)
    bound = 1.0 if only_winners else float(getattr(policy, "bound", math.inf))
    for name, reward in zip(names, rewards, strict=True):
        if not 0.0 <= reward <= bound or math.isinf(reward):
            most = "0 or more" if math.isinf(bound) else f"from 0 to {bound:g}"
            raise InputError(f"the reward of {name!r} is {reward:g}; for {kind} rewards are numbers {most}")
        if only_winners and reward not in (0.0, 1.0):
            raise InputError(f"the reward of {name!r} is {reward:g}; {kind} learns who was chosen, so it is 0 or 1")
    winners = [name for name, reward in zip(names, rewards, strict=True) if reward > 0.0]
    if only_winners and len(winners) > 1:
        raise InputError(f"{_list(winners)} are rewarded; {kind} learns from one winner at most")


def _list(names: Sequence[str]) -> str:
    return shown(list(names)) if len(names) > 20 else ", ".join(map(repr, names))
