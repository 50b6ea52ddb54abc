"""Validate the arguments of a simulation, and derive the parameters of its loop."""

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise.declare import check_object, largest_total
from setwise.environments.enumeration import has_value, stated_best, tolerance_of
from setwise.once import once_per_object
from setwise.places import explained_place
from setwise.policies._sets import count_sets, most_in_a_round
from setwise.simulation.failures import means_of, value_of
from setwise.simulation.play import Task
from setwise.simulation.trial import check_randomness, is_tested
from setwise.types import Feedback, InputError, Ints
from setwise.validation import exactly, number, whole_number, yes_or_no

LONGEST = 10**12


@dataclasses.dataclass(frozen=True)
class Request:
    """What to play, checked: the arguments of `simulate` that determine the runs.

    n, k: of the environment
    rounds: the checkpoints
    fast: whether to fast-forward
    common: whether the world's random numbers are common to all policies
    certificate: confidence of the test of weak optimal set consistency, or None
    """

    policy: Any
    environment: Any
    n: int
    k: int
    horizon: int
    runs: int
    seed: int
    rounds: Ints
    fast: bool
    record_indices: bool
    first_run: int
    tabulate: bool
    compiled: bool | None
    check_bounds: bool
    common: bool = False
    certificate: float | None = None


def check_request(
    policy: Any, environment: Any, horizon: Any, runs: Any, seed: Any, checkpoints: int | Sequence[int] | Ints,
    spacing: str, fast_forward: bool | None, record_indices: bool, first_run: Any, tabulate: bool,
    compiled: bool | None, check_bounds: bool, common: bool = False, certificate: Any = None,
) -> Request:  # fmt: skip
    """Return the valid request, or raise an error of one sentence."""
    n, k = check_pair(policy, environment)
    if not is_tested(policy, environment):
        check_randomness(policy, environment)
    horizon = whole_number("horizon", horizon, 1)
    if horizon > LONGEST:
        raise InputError(f"horizon is {horizon}; it can be at most 10^12")
    runs = whole_number("runs", runs, 1)
    first_run = whole_number("first_run", first_run, 0)
    seed = whole_number("seed", seed, 0)
    rounds = check_points(checkpoints, horizon, spacing)
    able = can_fast_forward(policy, environment)
    if record_indices and not hasattr(policy, "indices"):
        raise InputError(
            f"{type(policy).__name__} has no method indices(state, out), so its indices cannot be recorded"
        )
    if record_indices and fast_forward:
        raise InputError("record_indices needs every round, so fast_forward has to be off; leave one of them out")
    common = yes_or_no("common", common)
    if common and fast_forward:
        raise InputError("common draws every round by itself, so fast_forward has to be off; leave one of them out")
    certificate = check_certificate(environment, certificate)
    fast = able and (not (record_indices or common) if fast_forward is None else fast_forward)
    return Request(
        policy, environment, n, k, horizon, runs, seed, rounds, fast, record_indices, first_run, tabulate, compiled,
        check_bounds, common, certificate,
    )  # fmt: skip


def check_pair(policy: Any, environment: Any) -> tuple[int, int]:
    """Return n and k; raise if the policy cannot play in the environment."""
    for thing, kind in ((policy, "policy"), (environment, "environment")):
        check_object(thing, kind)
    for size in ("n", "k"):
        with explained_place(type(environment)):
            if not hasattr(environment, size):
                raise InputError(
                    f"{type(environment).__name__} has no {size}; give it a field or a property of that name"
                )
    accepted = getattr(policy, "feedback", ("choice", "independent"))
    accepted = (accepted,) if isinstance(accepted, str) else accepted
    feedback = getattr(environment, "feedback", None)
    if feedback is not None and not any(feedback == kind for kind in accepted):
        others = "policies over whole sets take" if feedback == Feedback.total else "UCB and others take"
        raise InputError(
            f"{type(policy).__name__} learns from {' or '.join(accepted)} feedback; "
            f"{type(environment).__name__} gives {feedback} feedback, which {others}"
        )
    if getattr(policy, "over_sets", False) and has_value(environment):
        raise InputError(
            f"{type(policy).__name__} learns how much a set earns in all; {type(environment).__name__} counts regret "
            "by its own value, of which the total says nothing"
        )
    if tuple(accepted) == ("choice",) and getattr(environment, "rewards", "binary") != "binary":
        raise InputError(
            f"{type(policy).__name__} learns only who was chosen, not what was paid, so rewards have to be 0 or 1; "
            f"{type(environment).__name__} does not say rewards='binary': use UCB or another that learns from amounts"
        )
    if getattr(policy, "needs_outside_option", False) and not getattr(environment, "outside_option", True):
        raise InputError(
            f"{type(policy).__name__} needs an outside option in every set; {type(environment).__name__} has a set in "
            "which an arm is rewarded in every round, so that an epoch would never end"
        )
    if getattr(environment, "missing", False) and not getattr(policy, "missing", False):
        raise InputError(
            f"{type(policy).__name__} learns from every reward of a set; {type(environment).__name__} does not show "
            "all of them: use UCB or another policy that accepts missing rewards"
            + (", or missing=False" if "missing" in environment._fields else "")
        )
    if plays_smaller(policy) and not getattr(environment, "smaller_sets", False):
        raise InputError(
            f"{type(policy).__name__} with pad=False plays sets of fewer than k arms, of which "
            f"{type(environment).__name__} says nothing; leave pad=False out"
        )
    most, bound = getattr(environment, "bound", 1.0), getattr(policy, "bound", None)
    if bound is not None and most > bound:
        name = type(policy).__name__
        better = f"{name}(bound={exactly(most)})"
        if "bound" not in policy._fields:
            better = f"{name} with a policy of bound={exactly(most)}"
        raise InputError(f"{name} has bound={exactly(bound)}, but a reward can be {exactly(most)} here: use {better}")
    n, k = int(environment.n), int(environment.k)
    if getattr(policy, "over_sets", False):
        count_sets(type(policy).__name__, n, k)
        check_largest_total(policy, environment)
    return n, k


def check_largest_total(policy: Any, environment: Any) -> None:
    """Raise if a set can earn more in a round than a policy over sets reckons with."""
    most, total = most_in_a_round(environment), largest_total(policy)
    if most > total * (1.0 + 1e-9):
        name, unsaid = type(policy).__name__, getattr(environment, "feedback", None) is None
        raise InputError(
            f"{name} has total={total:g}, but a set can earn {most:g} in a round here: use {name}(total={most:g})"
            + (", or say feedback='choice' if at most one arm is rewarded" if unsaid else "")
        )


def check_confidence(confidence: Any) -> float | None:
    """Return the confidence of the certificate, or None if there is to be none; raise if it is no probability."""
    if confidence is None:
        return None
    stated = number("certificate", confidence)
    if not 0.0 < stated < 1.0:
        raise InputError(
            f"certificate is {stated:g}; it is the confidence of the test, above 0 and below 1, such as 0.95"
        )
    return stated


def check_certificate(environment: Any, confidence: Any) -> float | None:
    """Return the confidence of the certificate; raise if it is no probability or the world cannot be tested."""
    stated = check_confidence(confidence)
    if stated is not None:
        check_testable(environment)
    return stated


def check_testable(environment: Any) -> None:
    """Raise if weak optimal set consistency cannot be tested in the world, or says nothing about its regret."""
    name = type(environment).__name__
    if getattr(environment, "missing", False):
        reason = f"needs the reward of every arm, and {name} hides some"
    elif getattr(environment, "feedback", None) == "total":
        reason = f"needs the reward of every arm, and {name} gives totals"
    elif has_value(environment):
        reason = f"tests what sets earn, and {name} counts regret by a value of its own"
    elif getattr(environment, "ordered_sets", False):
        reason = f"tests what arms earn in a set, and in {name} that depends on the order of the set"
    elif not math.isfinite(bound_of(environment)):
        reason = f"needs the largest reward there can be, and {name} has bound={bound_of(environment):g}"
    else:
        return
    raise InputError(f"certificate {reason}; leave certificate out")


def bound_of(environment: Any) -> float:
    """Return the largest reward of an arm in one round."""
    return float(getattr(environment, "bound", 1.0))


def check_points(checkpoints: Any, horizon: int, spacing: str = "log") -> Ints:
    """Return the rounds to record at: a number of them, spaced evenly or logarithmically, or a list; plus the horizon.

    >>> check_points(4, 1000).tolist(), check_points(4, 1000, "linear").tolist(), check_points([10, 20], 50).tolist()
    ([1, 10, 100, 1000], [250, 500, 750, 1000], [10, 20, 50])
    """
    if spacing not in ("log", "linear"):
        raise InputError(f"spacing is {spacing!r}; it can be 'log' or 'linear'")
    if np.ndim(checkpoints) == 0:
        points = _spaced(whole_number("checkpoints", checkpoints, 1), horizon, spacing)
    else:
        points = np.array([whole_number("a checkpoint", point, 1) for point in checkpoints], dtype=np.int64)
        if (np.diff(points) <= 0).any():
            raise InputError("checkpoints have to be in rising order, each once")
        if points.size and points[-1] > horizon:
            raise InputError(f"checkpoint {points[-1]} lies beyond the horizon {horizon}")
    if points.size == 0 or points[-1] != horizon:
        points = np.append(points, horizon)
    return points.astype(np.int64)


@functools.lru_cache(maxsize=64)
def _spaced(count: int, horizon: int, spacing: str) -> Ints:
    if spacing == "log":
        points = np.rint(np.geomspace(1, horizon, count)) if count > 1 else np.array([horizon])
    else:
        points = np.rint(np.linspace(0, horizon, count + 1)[1:])
    points = np.unique(points.astype(np.int64))
    return points[points >= 1]


def plays_smaller(policy: Any) -> bool:
    """Whether the policy may play sets of fewer than k arms: its parameter `pad` is False."""
    return not getattr(policy, "pad", True)


def is_binary(environment: Any) -> bool:
    """Whether the class declares that feedback and means determine the rewards' distribution, all of them observed."""
    return (
        getattr(environment, "rewards", None) == "binary"
        and getattr(environment, "feedback", None) is not None
        and not getattr(environment, "missing", False)
    )


def can_fast_forward(policy: Any, environment: Any) -> bool:
    """Whether rounds in which the set is certain can be played at once."""
    return all(hasattr(policy, name) for name in ("certain_rounds", "update_many")) and (
        is_binary(environment) or (draws_many(environment) and not getattr(policy, "binary_blocks", False))
    )


def draws_many(environment: Any) -> bool:
    """Whether the environment, and every one nested in its fields, shows all rewards and can sum them over rounds."""
    inner = (field for field in environment if hasattr(field, "_fields") and hasattr(field, "means"))
    observed = not getattr(environment, "missing", False)
    return observed and hasattr(environment, "draw_many") and all(map(draws_many, inner))


def _feedback(environment: Any) -> Any:
    stated = getattr(environment, "feedback", None)
    return Feedback.choice if stated is None else stated


@once_per_object
def _best_values(environment: Any) -> tuple[float, float]:
    """Return what the best set is worth, and its surrogate, if any."""
    best = stated_best(environment)
    value = value_of(environment, best)
    if not math.isfinite(value):
        raise InputError(f"{type(environment).__name__}.means gives {means_of(environment, best)} for its best set")
    return value, float(environment.surrogate(best)) if hasattr(environment, "surrogate") else 0.0


def task_of(policy: Any, environment: Any, n: int, k: int, fast: bool, record: bool) -> Task:
    """Return the loop's constants for the pair."""
    feedback = Feedback(_feedback(environment))
    best_value, best_surrogate = _best_values(environment)
    binary = is_binary(environment)
    tolerance = k * tolerance_of(environment) + 1e-9 * best_value
    most = (1.0 if binary else float(getattr(environment, "bound", math.inf))) + tolerance
    return Task(
        n=n,
        k=k,
        least=1 if plays_smaller(policy) else k,
        feedback=feedback,
        binary=binary,
        fast_forward=fast,
        epochs=fast and getattr(policy, "epochs", False) and binary and feedback == Feedback.choice,
        record=record,
        has_surrogate=hasattr(environment, "surrogate"),
        has_value=has_value(environment),
        best_value=best_value,
        best_surrogate=best_surrogate,
        tolerance=tolerance,
        checked=not is_tested(policy, environment),
        most_mean=most,
        most_value=most if binary and feedback == Feedback.choice else math.inf,
        most_reward=float(getattr(policy, "bound", largest_total(policy))),
        one_reward=getattr(environment, "feedback", None) == Feedback.choice,
    )
