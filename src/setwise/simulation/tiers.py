"""Choose how runs are played: interpreted at once, compiled, or first the one and then the other.

Interpreted and compiled runs have the same bits, so only time decides, and a run is never split. For code that was not
compared (see `comparisons`) the choice depends on the job alone, never on the machine: in compiled code, `np.sum` or
`argsort` of a user's class may differ in the last bit.
"""

import math
import sys
from typing import Any

import numpy as np

from setwise.comparisons import is_compared
from setwise.compiler.settings import NUMBA_SECONDS, SECONDS, only_interpreted
from setwise.lazy_compiler import load_compiler
from setwise.places import place_of
from setwise.simulation.background import Compilation
from setwise.simulation.costs import LOADING, cost_of_run, interpreted_seconds
from setwise.simulation.failures import check_returns, check_state_types
from setwise.simulation.play import play
from setwise.simulation.players import CompiledPlayer, Game, Player
from setwise.simulation.trial import is_tested, prints, try_out
from setwise.types import InputError

SMALL_JOB = 1000  # rounds in all; code that was not compared is interpreted up to here


_spent: dict[tuple[type, type], float] = {}  # seconds of interpreted runs in this process so far


class Tiers:
    """The way runs are played, which may change between two of them.

    compiled: whether the runs are compiled now
    run_seconds: estimated duration of a run now
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        own = game.request
        self.compiled = False
        self.run_seconds = math.inf
        self._loop: Any = play
        self._background: Compilation | None = None
        if own.compiled or own.check_bounds:
            self._compile()
        elif own.compiled is None and not only_interpreted():
            if is_compared(own.policy, own.environment):
                self._choose_by_time()
            elif own.horizon * own.runs > SMALL_JOB:
                self._compile()

    def new_player(self) -> Player:
        """Return a player, for one thread."""
        return (CompiledPlayer if hasattr(self._loop, "prepare") else Player)(self._game, self._loop)

    def advance(self, done: int) -> int:
        """Return how many runs to play next in the same way, after so many are done."""
        if self._background is not None:
            if done == 0 or not self._background.is_ready():
                return 1
            self.close()
            self._compile()
        return self._game.request.runs - done

    def close(self) -> None:
        """Stop compiling in the background."""
        if self._background is not None:
            self._background.close()
            self._background = None

    def _choose_by_time(self) -> None:
        game, own = self._game, self._game.request
        if own.runs * cost_of_run(own)[0] > SECONDS:
            self._compile()
            return
        if "setwise.compiled" in sys.modules:  # else nothing is compiled, and importing it takes time
            ready = load_compiler().find_compiled(play, *game.example())
            if ready is not None:
                self._take(ready)
                return
        self.run_seconds = interpreted_seconds(own, game.take_first())
        pair = type(own.policy), type(game.world)
        seconds = _spent[pair] = own.runs * self.run_seconds + _spent.get(pair, 0.0)
        if (seconds > LOADING and self._is_stored()) or (seconds > SECONDS and self._compiles_fast()):
            self._compile()
        elif seconds > NUMBA_SECONDS and not own.common:
            if own.runs > 1 and self.run_seconds < NUMBA_SECONDS:
                self._background = Compilation.start(own)
            if self._background is None:
                self._compile()

    def _is_stored(self) -> bool:
        """Whether machine code of the loop is in the cache on disk."""
        stored: bool = load_compiler().is_stored(play, *self._game.example())
        return stored

    def _compiles_fast(self) -> bool:
        """Whether the loop can be compiled without Numba; if so, compile it."""
        fast: bool = load_compiler().is_fast(play, *self._game.example(), what=self._names())
        return fast

    def _names(self) -> str:
        own = self._game.request
        return f"{type(own.policy).__name__} for {type(own.environment).__name__}"

    def _take(self, loop: Any) -> None:
        self._loop, self.compiled = loop, True
        self.run_seconds = cost_of_run(self._game.request)[0]

    def _compile(self) -> None:
        """Compile the loop, after a trial of classes that are not ours, which may explain a failure."""
        game, own = self._game, self._game.request
        pair, check_bounds, trouble = (own.policy, game.world), own.check_bounds, None
        if own.common and (check_bounds or prints(*pair) or not self._compiles_fast()):
            return  # Numba cannot compile it; the interpreter gives the same bits, and checks all indices
        check_state_types(own.policy, game.example()[2])
        if not check_bounds and not is_tested(*pair):
            check_bounds = prints(*pair)
            if not check_bounds:
                trial = (*game.start(own.first_run), game.new_record(np.zeros(1, np.int64)))
                trouble = try_out(*pair, trial, game.task, own.horizon)
        try:
            compile_for = load_compiler().compile_for
            self._take(compile_for(play, *game.example(), check_bounds=check_bounds, what=self._names()))
        except InputError:
            check_returns(own.policy, *game.example()[2:4])
            place = trouble and place_of(trouble)
            if not place or isinstance(trouble, InputError):
                raise
            raise InputError(f"{place} raised {type(trouble).__name__}: {trouble}") from trouble
        if trouble is not None:
            raise trouble
