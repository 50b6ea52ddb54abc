"""Describe a failed run in one sentence that names the class, the round and the arm."""

import math
from typing import Any

import numpy as np

from setwise.digests import is_own
from setwise.environments.enumeration import has_value, stated_best
from setwise.places import out_of_bounds
from setwise.simulation.play import (
    ARM_TWICE,
    BETTER_THAN_BEST,
    NO_SUCH_ARM,
    WRONG_MEAN,
    WRONG_REWARD,
    WRONG_SIZE,
    WRONG_SUM,
    WRONG_TOTAL,
    Record,
    Task,
)
from setwise.types import InputError, Ints
from setwise.validation import refused, shown


def value_of(environment: Any, chosen: Ints) -> float:
    if has_value(environment):
        return float(environment.value(chosen))
    return float(sum(means_of(environment, chosen)))


def means_of(environment: Any, chosen: Ints) -> list[float]:
    means = np.zeros(len(chosen))
    environment.means(chosen, means)
    return means.tolist()


def index_error(policy: Any, environment: Any, error: IndexError, run: int, done: int, compiled: bool) -> str:
    if not compiled:
        return out_of_bounds(error)
    return (
        f"{type(policy).__name__} in {type(environment).__name__}: {error} in run {run}, after round {done}; "
        "compiled=False shows the line"
    )


def check_returns(policy: Any, state: Any, rng: Any) -> None:
    """Raise if `init` or `select` returned a wrong type, which prevents compiling."""
    name = type(policy).__name__
    if not hasattr(state, "_fields"):
        raise InputError(f"{name}.init returned a {type(state).__name__}; it has to return a NamedTuple of arrays")
    try:
        chosen = policy.select(state, rng)
    except Exception:
        return
    if not isinstance(chosen, np.ndarray) or chosen.dtype.kind != "i" or chosen.ndim != 1:
        raise InputError(f"{name}.select returned {shown(chosen)}; it has to return an array of k whole numbers")


STATE_TYPES = ("float64", "int64", "bool")


def check_state_types(policy: Any, state: Any) -> None:
    """Raise if a state of a class that is not ours has numbers with which compiled code computes in another way."""
    for name in () if is_own(type(policy)) else getattr(state, "_fields", ()):
        field = getattr(state, name)
        if hasattr(field, "_fields"):
            check_state_types(policy, field)
        elif isinstance(field, np.ndarray) and field.dtype.kind in "fiu" and field.dtype.name not in STATE_TYPES:
            raise InputError(
                f"{type(policy).__name__}.init returns {name} as an array of {field.dtype}; compiled code takes "
                f"{', '.join(STATE_TYPES)}: use one of these, or compiled=False"
            )


def failure_of(policy: Any, environment: Any, record: Record, task: Task) -> str:
    """Return the error message for the status of a failed run."""
    status, done, found, _ = record.status.tolist()
    if status == BETTER_THAN_BEST:
        played, best = record.last, stated_best(environment)
        return (
            f"{type(environment).__name__}.best() is {best.tolist()}, worth {task.best_value:.6g}, but "
            f"{type(policy).__name__} played {sorted(played.tolist())} in round {done + 1}, which is worth "
            f"{value_of(environment, played):.6g}: regret would be negative, so best() has to be mended"
        )
    if status in (WRONG_MEAN, WRONG_SUM, WRONG_REWARD, WRONG_TOTAL):
        return _impossible_value(environment, record, task)
    what = {
        WRONG_SIZE: f"{found} arms; a set has {'from 1 to ' if task.least < task.k else ''}k={task.k}",
        NO_SUCH_ARM: f"arm {found}; arms are numbered from 0 to {task.n - 1}",
        ARM_TWICE: f"arm {found} twice; a set has distinct arms",
    }[status]
    return f"{type(policy).__name__}.select chose {what} (round {done + 1})"


def _impossible_value(environment: Any, record: Record, task: Task) -> str:
    """Return the error message for invalid means or rewards."""
    status, done, arm, _ = record.status.tolist()
    name, chosen = type(environment).__name__, record.last.tolist()
    if status == WRONG_REWARD:
        reward = record.rewards[chosen.index(arm)]
        return (
            f"{name}: the reward of arm {arm} is {refused(reward, lambda amount: 0.0 <= amount <= task.most_reward)} "
            f"in round {done + 1}; rewards are numbers from 0 to {task.most_reward:g} a round"
        )
    if status == WRONG_TOTAL:
        rewards = record.rewards[: len(chosen)].tolist()
        total = refused(sum(rewards), lambda amount: amount <= task.most_reward)
        return (
            f"{name}: the rewards {', '.join(f'{reward:g}' for reward in rewards)} of the arms "
            f"{', '.join(map(str, chosen))} add up to {total} in round {done + 1}; with choice feedback at most one "
            f"arm is rewarded, with {task.most_reward:g} at most"
        )
    means = ", ".join(f"{mean:g}" for mean in means_of(environment, record.last))
    given = f"{name}.means gives {means} for the arms {', '.join(map(str, chosen))}"
    if status == WRONG_SUM:
        return f"{given}, {sum(means_of(environment, record.last)):g} in all; with choice feedback it is at most 1"
    kind = "means of rewards of 0 and 1 are" if task.binary else "means are"
    most = "1" if task.binary else f"{getattr(environment, 'bound', math.inf):g}"
    return f"{given}, which is wrong for arm {arm}; {kind} numbers from 0 to {most}"
