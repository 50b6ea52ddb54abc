"""Run a policy in a study: interpreted at first, compiled in the background once that pays; and its random streams.

Interpreted and compiled runs give the same bits. Tests check this for the policies of the library, and that they stay
within their arrays, which compiled code does not check; user policies are always interpreted. Compiling takes seconds
in a background thread and blocks nobody. It starts once interpreting has taken about as long.

The random stream of decision t is a function of seed and t alone, so it does not depend on the worker or on restarts.
`init`, `update` and `grow` draw from one stream that continues through the journal; snapshots save its state.
"""

import contextlib
import hashlib
import inspect
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from setwise.lazy_compiler import load_compiler
from setwise.types import Floats, Generator, Ints

MIN_CALL_SECONDS = 3e-5  # compiling a faster call gains nothing
COMPILE_AFTER_SECONDS = 1.0  # total time of interpreted calls, beyond the minimum, before a policy is compiled

_cost: dict[type, float] = {}  # seconds by policy class, over all studies of the process
# Held while compiling. A child forked meanwhile inherits a half-initialized compiler and a lock that nobody releases,
# so it never compiles.
_compile_lock = threading.Lock()


def can_be_compiled(policy: Any) -> bool:
    """Whether a policy may be compiled in a study: it and its parts are of this library, so tests cover them."""
    ours = type(policy).__module__.partition(".")[0] == "setwise"
    return ours and all(can_be_compiled(field) for field in policy if hasattr(field, "_fields"))


class PolicyRunner:
    """Run `select`, `select_from` and `update` of a policy, compiled for the types of its state."""

    def __init__(self, policy: Any, k: int) -> None:
        self.policy = policy
        self._update = inspect.unwrap(type(policy).update)
        self._chosen = np.zeros(k, np.int64)
        self._compiled: dict[str, Callable[..., Any]] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._ours = can_be_compiled(policy)

    def state_changed(self, before: Any, now: Any) -> None:
        """Drop the compiled methods if the new state has other types."""
        if _types(before) != _types(now):
            self._compiled, self._threads = {}, {}

    def wait(self) -> list[str]:
        """Wait for the compiler, and return the names of the compiled methods."""
        for thread in self._threads.values():
            thread.join()
        return sorted(self._compiled)

    def select(self, state: Any, rng: Generator, available: Any = None) -> list[int]:
        """Choose a set, among the arms marked available if a mask is given."""
        if available is None:
            return self._select("select", select_into, state, rng)
        return self._select("select_from", select_from_into, state, rng, available)

    def _select(self, name: str, function: Callable[..., Any], state: Any, rng: Generator, *mask: Any) -> list[int]:
        compiled = self._compiled.get(name)
        if compiled:
            chosen = self._chosen[: compiled(self.policy, state, rng, self._chosen, *mask)]
        else:
            begun = time.thread_time()
            chosen = getattr(self.policy, name)(state, *mask, rng)
            self._record_cost(begun, name, function, state, rng, self._chosen, *mask)
        arms: list[int] = chosen.tolist()
        return arms

    def recommend(self, state: Any, available: Any) -> list[int]:
        """Return the arms that the policy would show if learning stopped now; always interpreted."""
        arms: list[int] = np.asarray(self.policy.recommend(state, available)).tolist()
        return arms

    def update(self, state: Any, arms: list[int], rewards: list[float], rng: Generator) -> None:
        """Learn the rewards of a set."""
        chosen, earned = np.array(arms, np.int64), np.array(rewards, float)
        compiled = self._compiled.get("update")
        if compiled:
            compiled(self.policy, state, chosen, earned, rng)
        else:
            begun = time.thread_time()
            self._update(self.policy, state, chosen, earned, rng)
            self._record_cost(begun, "update", learn, state, chosen, earned, rng)

    def _record_cost(self, begun: float, name: str, function: Callable[..., Any], *given: Any) -> None:
        """Record the time of an interpreted call; compile the method once it adds up, one at a time per process."""
        taken = time.thread_time() - begun
        if taken > MIN_CALL_SECONDS and self._ours:
            cls = type(self.policy)
            _cost[cls] = _cost.get(cls, 0.0) + taken - MIN_CALL_SECONDS
            if (
                _cost[cls] > COMPILE_AFTER_SECONDS
                and name not in self._threads
                and _compile_lock.acquire(blocking=False)
            ):
                arguments = (self._compiled, name, function, given)
                # Not a daemon: ending the process while LLVM works could crash it.
                thread = threading.Thread(target=self._compile, args=arguments, name="setwise-compiler", daemon=False)
                self._threads[name] = thread
                try:
                    thread.start()
                except RuntimeError:  # no thread can be started, as when Python shuts down
                    del self._threads[name]
                    _compile_lock.release()

    def _compile(self, ready: dict[str, Callable[..., Any]], name: str, function: Any, given: tuple[Any, ...]) -> None:
        try:
            with contextlib.suppress(Exception):  # the study stays interpreted
                ready[name] = load_compiler().compile_for(function, self.policy, *given, checked=False)
        finally:
            _compile_lock.release()


def _types(value: Any) -> Any:
    """Return the types of a state that compiled code depends on."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num
    return (type(value), *map(_types, value)) if isinstance(value, tuple) else type(value)


def select_into(policy: Any, state: Any, rng: Generator, out: Ints) -> int:
    """Write the set to `out` and return its size."""
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
    """Learn from many rounds in order; `sizes` has the number of arms of each."""
    start = 0
    for played in range(len(sizes)):
        end = start + sizes[played]
        policy.update(state, arms[start:end], rewards[start:end], rng)
        start = end


def learning_stream(seed: int) -> Generator:
    """Return the generator for `init`, `update` and `grow`."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(0,))))


class DecisionStreams:
    """The generators of all decisions: one object, reseeded, since a new one costs seven times more."""

    def __init__(self, seed: int) -> None:
        self._key = hashlib.sha256(f"setwise {seed}".encode()).digest()
        self._bits = np.random.PCG64(0)
        self._state: Any = dict(self._bits.state)
        self._generator = np.random.Generator(self._bits)

    def of(self, round: int) -> Generator:
        """Return the generator of a round, valid until the next call."""
        drawn = hashlib.blake2b(round.to_bytes(8, "little"), digest_size=32, key=self._key).digest()
        state, step = int.from_bytes(drawn[:16], "little"), int.from_bytes(drawn[16:], "little") | 1
        self._state["state"] = {"state": state, "inc": step}
        self._bits.state = self._state
        return self._generator


def stream_state(generator: Generator) -> dict[str, str]:
    """Return the state of a stream, as strings since the numbers have 128 bits."""
    state: Any = generator.bit_generator.state
    return {name: str(value) for name, value in {**state["state"], **_rest(state)}.items()}


def restore_stream(generator: Generator, place: dict[str, str]) -> None:
    """Restore a state returned by `stream_state`."""
    numbers = {name: int(value) for name, value in place.items()}
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": numbers["state"], "inc": numbers["inc"]},
        "has_uint32": numbers["has_uint32"],
        "uinteger": numbers["uinteger"],
    }


def _rest(state: Any) -> dict[str, Any]:
    return {name: state[name] for name in ("has_uint32", "uinteger")}
