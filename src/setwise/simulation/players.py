"""Play runs one after the other with the same buffers."""

import contextlib
import threading
from typing import Any

import numpy as np

from setwise.digests import classes_of, is_own
from setwise.errors import InputError
from setwise.kernels.rounds import write_start
from setwise.seeding import first_states, stream, stream_key, world_key
from setwise.simulation.certificate import watch_of
from setwise.simulation.checks import Request
from setwise.simulation.common import new_common
from setwise.simulation.play import Record, Task, clear_record, new_record, play
from setwise.types import Ints

COPIED = 2**20  # bytes of a state up to which it is copied instead of made again
BLOCK = 256  # runs whose generators are seeded at once


class Game:
    """What all runs of a request have in common.

    world: the environment that is played, possibly as a table
    task: constants of the loop
    stop: set to stop all runs
    """

    def __init__(self, request: Request, world: Any, task: Task) -> None:
        self.request, self.world, self.task = request, world, task
        self.stop = np.zeros(1, np.int64)
        self.key = stream_key(request.policy, request.environment)
        # Also without fast-forward, so that both share compiled code.
        self._stretches = task.binary and hasattr(request.policy, "required_reward")
        self._seeded: dict[tuple[int, int], tuple[int, list[tuple[int, int]]]] = {}  # a block of generators by key
        self._first: tuple[Any, ...] | None = None
        self._lock = threading.Lock()

    def start(self, run: int) -> tuple[Any, Any]:
        """Return state and generator of a run before its first round."""
        own = self.request
        rng = stream(own.seed, self.key, run)
        return own.policy.init(own.n, own.k, own.horizon, rng), rng

    def generator_state(self, run: int) -> tuple[int, int]:
        """Return state and increment of a run's generator before its first round."""
        return self._generator_state(self.key, run)

    def _generator_state(self, key: tuple[int, int], run: int) -> tuple[int, int]:
        own = self.request
        number, place = divmod(run - own.first_run, BLOCK)
        seeded, block = self._seeded.get(key, (-1, []))
        if seeded != number:
            first = own.first_run + number * BLOCK
            runs = range(first, min(first + BLOCK, own.first_run + own.runs))
            block = first_states(own.seed, key, runs)
            self._seeded[key] = number, block  # threads play runs of about the same number
        return block[place]

    def example(self) -> tuple[Any, ...]:
        """Return arguments of the loop, before the first round, to compile for; `take_first` returns the same ones."""
        if self._first is None:
            self._first = self.arguments(*self.start(self.request.first_run), self.new_record())
        return self._first

    def take_first(self) -> tuple[Any, ...]:
        """Return arguments of the loop that nobody else has."""
        with self._lock:
            arguments, self._first = self.example(), None
        return arguments

    def new_record(self, stop: Ints | None = None) -> Record:
        """Return an empty record for the first run."""
        own = self.request
        stop = self.stop if stop is None else stop
        common = new_common(own.k, bool(getattr(own.environment, "ordered_sets", False))) if own.common else None
        missing = bool(getattr(own.environment, "missing", False))
        record = new_record(
            own.n, own.k, len(own.rounds), own.record_indices, self._stretches, stop, common, missing, watch_of(own)
        )
        self._start_world(record, own.first_run)
        return record

    def clear(self, record: Record, run: int) -> None:
        """Empty a record for a run."""
        clear_record(record)
        self._start_world(record, run)

    def _start_world(self, record: Record, run: int) -> None:
        if record.common is not None:
            write_start(record.common.start, *self._generator_state(world_key(self.request.environment), run))

    def arguments(self, state: Any, rng: Any, record: Record) -> tuple[Any, ...]:
        """Return the arguments of the loop."""
        own = self.request
        return own.policy, self.world, state, rng, self.task, own.rounds, record


class Player:
    """Play runs by a function, interpreted or compiled by Numba."""

    def __init__(self, game: Game, loop: Any) -> None:
        self._game, self._loop = game, loop
        self.record: Record = game.new_record()
        self.start: tuple[Any, Any] = (None, None)

    def play(self, run: int) -> Record:
        """Play a run from its start; return its record, valid until the next call."""
        self.start = self._game.start(run)
        self._game.clear(self.record, run)
        self._loop(*self._game.arguments(*self.start, self.record))
        return self.record


class CompiledPlayer(Player):
    """Play runs by machine code, whose arguments stay in place from run to run."""

    def __init__(self, game: Game, loop: Any) -> None:
        self._game, self._loop = game, loop
        arguments = game.take_first()
        _, _, state, rng, _, _, self.record = arguments
        self.start = state, rng
        self._words = loop.prepare(*arguments)
        self._kind = loop.kind_of(state)
        self._first: int | None = game.request.first_run  # the run that is ready to be played
        self._before: list[tuple[Any, Any]] | None = None  # arrays of the state, as `init` returned them
        if game.request.runs > 1:
            self._before = self._copies()

    def _copies(self) -> list[tuple[Any, Any]] | None:
        """Copy the state, if it is the same in all runs; None if not.

        The contract lets `init` depend on nothing but its arguments; our own classes are tested for it.
        """
        own, arrays = self._game.request, _arrays(self.start[0])
        found = self.start[1].bit_generator.state["state"]
        if (
            all(map(is_own, classes_of(own.policy)))
            and sum(array.nbytes for array in arrays) <= COPIED
            and (found["state"], found["inc"]) == self._game.generator_state(own.first_run)
        ):
            return [(array, array.copy()) for array in arrays if array.flags.writeable]
        return None

    def _check_state(self) -> None:
        """Raise if `init` returned arrays of other types than in the first run, which compiled code would misread."""
        policy, found = self._game.request.policy, None
        if is_own(type(policy)):
            return
        with contextlib.suppress(InputError):
            found = self._loop.kind_of(self.start[0])
        if found != self._kind:
            name = type(policy).__name__
            raise InputError(f"{name}.init returns arrays of other types than in the first run; return the same in all")

    def play(self, run: int) -> Record:
        game = self._game
        if run == self._first:
            pass
        elif self._before is not None:
            for array, before in self._before:
                array[...] = before
            self._words.set_generator(*game.generator_state(run))
            game.clear(self.record, run)
        else:
            self.start = game.start(run)
            self._check_state()
            self._words.replace(game.arguments(*self.start, self.record))
            self._words.read_generators()
            game.clear(self.record, run)
        self._first = None
        if not self._loop.run(self._words):  # the interpreter does it right, or tells what is wrong
            self.start = game.start(run)
            game.clear(self.record, run)
            with np.errstate(all="ignore"):
                play(*game.arguments(*self.start, self.record))
        return self.record


def _arrays(state: Any) -> list[Any]:
    """Return the arrays in a state and in the named tuples of its fields."""
    if isinstance(state, np.ndarray):
        return [state]
    return [array for field in state for array in _arrays(field)] if isinstance(state, tuple) else []
