"""Interpret the first rounds of the user's own classes, where an index out of bounds is an error.

Compiled code does not check indices and would read or write outside the array. These rounds are discarded, so that they
change no result.
"""

import random
import threading
from typing import Any

import numpy as np

from setwise.digests import classes_of, is_own, reachable, references, value_digest
from setwise.places import out_of_bounds, place_of
from setwise.simulation.play import STOPPED, Record, Task, play
from setwise.types import InputError, Ints

ROUNDS = 200
SECONDS = 1.0  # timeout, for policies that are slow to interpret

_tried: set[tuple[Any, ...]] = set()


def try_out(policy: Any, environment: Any, run: tuple[Any, Any, Record], task: Task, horizon: int) -> Exception | None:
    """Play the first rounds of a pair not tried before; raise on an index out of bounds, return other errors.

    Interpreted errors may not occur in compiled code, or it may loop forever.

    run: state, generator and record, not used afterwards
    """
    classes = (*classes_of(policy), *classes_of(environment))
    key = (*classes, value_digest(policy), value_digest(environment), task.fast_forward)
    if key in _tried:
        return None
    state, rng, record = run
    rounds: Ints = np.array([min(horizon, ROUNDS)])
    timer = threading.Timer(SECONDS, record.stop.fill, (STOPPED,))
    timer.daemon = True
    timer.start()
    try:
        with np.errstate(all="ignore"):
            play(policy, environment, state, rng, task, rounds, record)
    except Exception as error:
        if isinstance(error, IndexError) and place_of(error):
            raise InputError(out_of_bounds(error)) from error
        return error
    finally:
        timer.cancel()
    _tried.add(key)
    return None


def check_randomness(policy: Any, environment: Any) -> None:
    """Raise if the user's functions draw from a global generator, which makes runs irreproducible."""
    for function in reachable(*classes_of(policy), *classes_of(environment)):
        for value in [] if is_own(function) else references(function):
            owner = getattr(value, "__self__", None)
            if isinstance(owner, random.Random | np.random.RandomState):
                name = f"{'random' if isinstance(owner, random.Random) else 'np.random'}.{value.__name__}"
                raise InputError(
                    f"{function.__qualname__} draws from {name}, which is not a function of the seed; draw from rng"
                )


def is_tested(policy: Any, environment: Any) -> bool:
    """Whether all classes of the pair belong to Setwise."""
    return all(map(is_own, (*classes_of(policy), *classes_of(environment))))


def prints(policy: Any, environment: Any) -> bool:
    """Whether the pair prints; a trial would print twice."""
    functions = reachable(*classes_of(policy), *classes_of(environment))
    return any("print" in function.__code__.co_names for function in functions)
