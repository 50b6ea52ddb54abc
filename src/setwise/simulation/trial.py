"""The first rounds of a pair with a class of the user's own, interpreted: there an index out of bounds is an error.

Compiled code does not check indices. It would read or write whatever lies beside the array. What is played here is
thrown away, so that it changes no result.
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
SECONDS = 1.0  # at most, for policies that are slow to interpret

_tried: set[tuple[Any, ...]] = set()


def try_out(policy: Any, environment: Any, run: tuple[Any, Any, Record], task: Task, horizon: int) -> Exception | None:
    """Play the first rounds of a pair that was not played before; refuse an index out of bounds, return other errors.

    What is an error interpreted may be none in compiled code, or worse: it may never end.

    run: state, generator and record, of which nothing is used afterwards
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
    """Refuse functions of the user's that draw from a generator of the whole process: no seed would give them again."""
    for function in reachable(*classes_of(policy), *classes_of(environment)):
        for value in [] if is_own(function) else references(function):
            owner = getattr(value, "__self__", None)
            if isinstance(owner, random.Random | np.random.RandomState):
                name = f"{'random' if isinstance(owner, random.Random) else 'np.random'}.{value.__name__}"
                raise InputError(
                    f"{function.__qualname__} draws from {name}, which is not a function of the seed; draw from rng"
                )


def is_tested(policy: Any, environment: Any) -> bool:
    """Whether all classes of the pair are Setwise's own."""
    return all(map(is_own, (*classes_of(policy), *classes_of(environment))))


def prints(policy: Any, environment: Any) -> bool:
    """Whether the pair prints, so that what is played twice would be seen twice."""
    functions = reachable(*classes_of(policy), *classes_of(environment))
    return any("print" in function.__code__.co_names for function in functions)
