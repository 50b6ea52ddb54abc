"""Compute something once for each object that cannot change."""

import numbers
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from setwise.digests import is_own

KEPT = 8  # objects, the last ones used

Answer = TypeVar("Answer")


class _Memory(OrderedDict[int, tuple[Any, Any]]):
    """Objects and answers by the objects' ids, last used last; a dict, which does not count in digests of code."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


def once_per_object(function: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """Remember the answers for the last few objects; only of Setwise's own classes, with numbers and read-only arrays.

    An object is known by its identity, so that looking it up takes no longer for a million arms.
    """
    memory = _Memory()

    def call(thing: Any) -> Answer:
        with memory.lock:
            found = memory.get(id(thing))
            if found is not None and found[0] is thing:
                memory.move_to_end(id(thing))
                answer: Answer = found[1]
                return answer
        answer = function(thing)
        if is_constant(thing):
            with memory.lock:
                memory[id(thing)] = thing, answer
                if len(memory) > KEPT:
                    memory.popitem(last=False)
        return answer

    return call


def is_constant(value: Any) -> bool:
    """Whether a value cannot change: numbers, strings, arrays that are read-only, and tuples of these.

    >>> is_constant((1, "a", 2.5)), is_constant(np.zeros(3)), is_constant([1])
    (True, False, False)
    """
    if isinstance(value, np.ndarray):
        return value.base is None and not value.flags.writeable and not value.dtype.hasobject
    if isinstance(value, tuple):
        return (type(value) is tuple or is_own(type(value))) and all(map(is_constant, value))
    return value is None or isinstance(value, str | numbers.Number)
