"""What a policy does in a study: interpreted at first, and compiled as soon as that pays.

Both have the same bits, so nobody can tell from a decision which it was. Our tests make sure of that for the policies
of this library, and that they stay within their arrays, which compiled code does not check; a user's own policies are
always interpreted. Compiling takes seconds and is done beside the work, by one thread of the process; nobody waits for
it. It pays once interpreting has taken about as long.
"""

import contextlib
import inspect
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from setwise.types import Floats, Generator, Ints

CALL = 3e-5  # seconds: what takes no longer gains nothing
PATIENCE = 1.0  # seconds that interpreting may cost in all, beyond that, before a policy is compiled

_cost: dict[type, float] = {}  # of a policy's class, in all studies of this process
# Held while something is compiled. A process that is forked meanwhile has half of what is needed, and a lock that
# nobody releases: it never compiles.
_busy = threading.Lock()


def can_be_compiled(policy: Any) -> bool:
    """Whether this library answers for what the compiled policy does."""
    ours = type(policy).__module__.partition(".")[0] == "setwise"
    return ours and all(can_be_compiled(field) for field in policy if hasattr(field, "_fields"))


class Methods:
    """`select`, `select_from` and `update` of a policy, for states of the same types."""

    def __init__(self, policy: Any, k: int) -> None:
        self.policy = policy
        self._update = inspect.unwrap(type(policy).update)
        self._chosen = np.zeros(k, np.int64)
        self._bare: Any = None
        self._ready: dict[str, Callable[..., Any]] = {}
        self._begun: dict[str, threading.Thread] = {}
        self._ours = can_be_compiled(policy)

    def grown(self, before: Any, now: Any) -> None:
        """There is another state from now on: if it has other types, nothing is compiled for it yet."""
        if _types(before) != _types(now):
            self._ready, self._begun = {}, {}

    def wait(self) -> list[str]:
        """Wait until what is being compiled is compiled; the names of all that is."""
        for thread in self._begun.values():
            thread.join()
        return sorted(self._ready)

    def select(self, state: Any, rng: Generator, available: Any = None) -> list[int]:
        """The set; among the arms marked available, if some are not."""
        if available is None:
            return self._select("select", select_into, state, rng)
        return self._select("select_from", select_from_into, state, rng, available)

    def _select(self, name: str, function: Callable[..., Any], state: Any, rng: Generator, *mask: Any) -> list[int]:
        compiled = self._ready.get(name)
        if compiled:
            chosen = self._chosen[: compiled(self._bare, state, rng, self._chosen, *mask)]
        else:
            begun = time.thread_time()
            chosen = getattr(self.policy, name)(state, *mask, rng)
            self._note(begun, name, function, state, rng, self._chosen, *mask)
        arms: list[int] = chosen.tolist()
        return arms

    def update(self, state: Any, arms: list[int], rewards: list[float], rng: Generator) -> None:
        """Learn what the arms of a set earned."""
        chosen, earned = np.array(arms, np.int64), np.array(rewards, float)
        compiled = self._ready.get("update")
        if compiled:
            compiled(self._bare, state, chosen, earned, rng)
        else:
            begun = time.thread_time()
            self._update(self.policy, state, chosen, earned, rng)
            self._note(begun, "update", learn, state, chosen, earned, rng)

    def _note(self, begun: float, name: str, function: Callable[..., Any], *given: Any) -> None:
        """Note what interpreting costs; if it is enough, have the method compiled, unless another is just now."""
        taken = time.thread_time() - begun
        if taken > CALL and self._ours:
            cls = type(self.policy)
            _cost[cls] = _cost.get(cls, 0.0) + taken - CALL
            if _cost[cls] > PATIENCE and name not in self._begun and _busy.acquire(blocking=False):
                arguments = (self._ready, name, function, given)
                # The end of the process waits for it: LLVM would not take it well if it were gone while it works.
                thread = threading.Thread(target=self._compile, args=arguments, name="setwise-compiler", daemon=False)
                self._begun[name] = thread
                try:
                    thread.start()
                except RuntimeError:  # there are no more threads, as when Python is about to end
                    del self._begun[name]
                    _busy.release()

    def _compile(self, ready: dict[str, Callable[..., Any]], name: str, function: Any, given: tuple[Any, ...]) -> None:
        try:
            with contextlib.suppress(Exception):  # whatever it is, the study goes on as before
                from setwise.compiled import compile_for, plain

                self._bare = plain(self.policy)
                ready[name] = compile_for(function, self._bare, *given, checked=False)
        finally:
            _busy.release()


def _types(value: Any) -> Any:
    """What compiled code has to know of a state."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num
    return (type(value), *map(_types, value)) if isinstance(value, tuple) else type(value)


def select_into(policy: Any, state: Any, rng: Generator, out: Ints) -> int:
    """Write the set to `out`; return how many arms it has."""
    chosen = policy.select(state, rng)
    for j in range(len(chosen)):
        out[j] = chosen[j]
    return len(chosen)


def select_from_into(policy: Any, state: Any, rng: Generator, out: Ints, available: Any) -> int:
    """As `select_into`, among the arms marked available."""
    chosen = policy.select_from(state, available, rng)
    for j in range(len(chosen)):
        out[j] = chosen[j]
    return len(chosen)


def learn(policy: Any, state: Any, arms: Ints, rewards: Floats, rng: Generator) -> None:
    """Learn from one round."""
    policy.update(state, arms, rewards, rng)


def learn_rounds(policy: Any, state: Any, sizes: Ints, arms: Ints, rewards: Floats, rng: Generator) -> None:
    """Let a policy learn from one round after the other; `sizes` says how many arms each had."""
    start = 0
    for played in range(len(sizes)):
        end = start + sizes[played]
        policy.update(state, arms[start:end], rewards[start:end], rng)
        start = end
