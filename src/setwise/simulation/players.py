"""Play runs one after the other with the same buffers."""

from typing import Any

import numpy as np

from setwise.digests import classes_of, is_own
from setwise.seeding import stream, stream_key, stream_state
from setwise.simulation.checks import Request
from setwise.simulation.play import Record, Task, clear_record, new_record
from setwise.types import Ints

COPIED = 2**20  # bytes of a state up to which it is copied instead of made again


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

        self._first: tuple[Any, ...] | None = None

    def start(self, run: int) -> tuple[Any, Any]:
        """Return state and generator of a run before its first round."""
        own = self.request
        rng = stream(own.seed, self.key, run)
        return own.policy.init(own.n, own.k, own.horizon, rng), rng

    def example(self) -> tuple[Any, ...]:
        """Return arguments of the loop, before the first round, to compile for; `take_first` returns the same ones."""
        if self._first is None:
            self._first = self.arguments(*self.start(self.request.first_run), self.new_record())
        return self._first

    def take_first(self) -> tuple[Any, ...]:
        """Return arguments of the loop that nobody else has."""
        arguments, self._first = self.example(), None
        return arguments

    def new_record(self, stop: Ints | None = None) -> Record:
        """Return an empty record."""
        own = self.request
        stop = self.stop if stop is None else stop
        return new_record(own.n, own.k, len(own.rounds), own.record_indices, self._stretches, stop)

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
        clear_record(self.record)
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
        arrays, own = _arrays(state), game.request
        # The contract lets `init` depend on nothing but its arguments; our own classes are tested for it.
        self._alike = (
            all(map(is_own, classes_of(own.policy)))
            and sum(array.nbytes for array in arrays) <= COPIED
            and rng.bit_generator.state == stream_state(own.seed, game.key, own.first_run)
        )
        self._fresh = [(array, array.copy()) for array in arrays] if self._alike else []

    def play(self, run: int) -> Record:
        game = self._game
        if self._alike:
            for array, before in self._fresh:
                array[...] = before
            self._words.set_generator(stream_state(game.request.seed, game.key, run))
        else:
            self.start = game.start(run)
            self._words.replace(game.arguments(*self.start, self.record))
            self._words.read_generators()
        clear_record(self.record)
        self._loop.run(self._words)
        return self.record


def _arrays(state: Any) -> list[Any]:
    """Return the arrays in a state and in the named tuples of its fields."""
    if isinstance(state, np.ndarray):
        return [state]
    return [array for field in state for array in _arrays(field)] if isinstance(state, tuple) else []
