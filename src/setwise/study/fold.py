"""What a study knows: the fold of its journal.

Every row is applied in order. Feedback goes to the policy's own `update`, the one that the simulation compiles, and to
counters of our own. Applying a row has no other inputs, so that every worker that has read as far knows the same.
"""

import contextlib
import gc
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.errors import DamagedFile, InputError, WorkerLost
from setwise.study.definition import Definition
from setwise.study.journal import Row, body_of, check_row, from_runs, new_row
from setwise.study.methods import Methods, can_be_compiled, learn_rounds
from setwise.study.streams import DecisionStreams, learning_stream
from setwise.types import Floats

PENDING, ACTIVE, RETIRED = 0, 1, 2
STATUS = ("pending", "active", "retired")
REMEMBERED = 100_000  # decisions without feedback that are kept at hand; others are looked up
MANY = 50_000  # rows, from which on it pays to compile what learns from them
FEW = 50  # sets that are counted one by one


Told = tuple[list[int], list[float]]  # arms, and what each earned


class Open(NamedTuple):
    """A decision without feedback."""

    round: int
    arms: tuple[int, ...]
    time: int
    position: int


def _damaged(position: int) -> DamagedFile:
    return DamagedFile(f"the journal is damaged: position {position} cannot be understood")


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Leave garbage collection for later: going through many rows, it takes a third of the time and finds nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Fold:
    """The state of a study at a position of its journal."""

    def __init__(self, definition: Definition) -> None:
        n = len(definition.arms)
        self.definition = definition
        self.policy = definition.player
        self.ordered = bool(getattr(self.policy, "ordered_sets", True))
        self.methods = Methods(self.policy, definition.k)
        self.names = list(definition.arms)
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.learning = learning_stream(definition.seed)
        self.streams = DecisionStreams(definition.seed)
        self.state = self.policy.init(n, definition.k, definition.horizon or 1, self.learning)
        self.status = np.full(n, ACTIVE, np.int8)
        self.pulls = np.zeros(n, np.int64)
        self.reward = np.zeros(n)
        self.shown = np.zeros(n, np.int64)
        self.active = n
        self.position = 0
        self.digest = bytes(16)
        self.time = 0
        self.created = 0
        self.rounds = 0
        self.told = 0
        self.closed = 0
        self.late = 0
        self.earned = 0.0
        self.open: dict[str, Open] = {}
        self.written: list[Row] = []
        self.unsettled = False  # whether rows were written that are not committed yet

    @property
    def n(self) -> int:
        """How many arms there are, retired ones included."""
        return len(self.names)

    def apply(self, rows: Iterable[Row], compiled: bool = False) -> None:
        """Go on through the journal."""
        with uncollected():
            asked: list[int] = []
            told: list[Told] = []
            for row in rows:
                check_row(row, self.position, self.digest)
                try:
                    body = body_of(row)
                    if row.kind == "ask":
                        asked += body["arms"]
                    elif row.kind == "tell":
                        told.append((body["arms"], body["rewards"]))
                    elif row.kind == "arms":
                        self._count(asked, told)
                        self._learn(told, compiled)
                        asked, told = [], []
                    self._note(row, body)
                except (KeyError, IndexError, TypeError, ValueError) as error:
                    raise _damaged(row.position) if not isinstance(error, InputError) else error from error
                self.position, self.digest, self.time = row.position, row.digest, row.time
            try:
                self._count(asked, told)
            except (IndexError, TypeError, ValueError) as error:
                raise _damaged(self.position) from error
            self._learn(told, compiled)

    def write(self, kind: str, decision: str | None, now: int, body: dict[str, Any]) -> Row:
        """Add a row of our own, and apply it; it is in `written` until it is stored."""
        self.unsettled = True
        row = new_row(self.position, self.digest, kind, decision, max(now, self.time), body)
        if kind == "tell":
            told = [(body["arms"], body["rewards"])]
            self._learn(told, False)
            self._count([], told)
        elif kind == "ask":
            self._count(body["arms"], [])
        self._note(row, body)
        self.position, self.digest, self.time = row.position, row.digest, row.time
        self.written.append(row)
        return row

    def _count(self, asked: list[int], told: Sequence[Told]) -> None:
        """Count the arms of sets, and what was told of them; in their order, so that sums have the same bits."""
        if len(asked) + len(told) < FEW:
            for arm in asked:
                self.shown[arm] += 1
            for arms, rewards in told:
                for arm, reward in zip(arms, rewards, strict=True):
                    self.pulls[arm] += 1
                    self.reward[arm] += reward
        else:
            np.add.at(self.shown, np.array(asked, np.int64), 1)
            chosen = np.array([arm for arms, _ in told for arm in arms], np.int64)
            np.add.at(self.pulls, chosen, 1)
            np.add.at(self.reward, chosen, np.array([reward for _, rewards in told for reward in rewards], float))

    def _note(self, row: Row, body: dict[str, Any]) -> None:
        """Whatever a row changes but the counters of the arms and what the policy learns."""
        if row.kind == "ask":
            self.rounds += 1
            self.open[row.decision or ""] = Open(body["round"], tuple(body["arms"]), row.time, row.position)
            if self.definition.window is None and len(self.open) > REMEMBERED:
                del self.open[next(iter(self.open))]
        elif row.kind == "tell":
            self.open.pop(row.decision or "", None)
            if body.get("closed"):
                self.closed += 1
            else:
                self.told += 1
            for reward in body["rewards"]:
                self.earned += reward
        elif row.kind == "late":
            self.late += 1
        elif row.kind == "arms":
            self._change_arms(body)
        elif row.kind == "create":
            self.created = row.time
        else:
            raise DamagedFile(f"the journal is damaged: position {row.position} has the unknown kind {row.kind!r}")

    def _change_arms(self, body: dict[str, Any]) -> None:
        status = STATUS.index(body["status"])
        if "add" in body:
            more, before = len(body["add"]), self.state
            self.state = self.policy.grow(before, self.n + more, self.learning)
            self.methods.grown(before, self.state)
            for name in body["add"]:
                self.numbers[name] = len(self.names)
                self.names.append(name)
            self.status = np.concatenate((self.status, np.full(more, status, np.int8)))
            for counter in ("pulls", "reward", "shown"):
                before = getattr(self, counter)
                setattr(self, counter, np.concatenate((before, np.zeros(more, before.dtype))))
        else:
            self.status[body["set"]] = status
        self.active = int((self.status == ACTIVE).sum())

    def _learn(self, told: Sequence[Told], compiled: bool) -> None:
        if compiled and len(told) > 1 and self._learn_compiled(told):
            return
        for arms, rewards in told:
            self.methods.update(self.state, arms, rewards, self.learning)

    def _learn_compiled(self, told: Sequence[Told]) -> bool:
        """Learn from many rounds at compiled speed, with the same bits; False if the policy cannot be compiled."""
        if not can_be_compiled(self.policy):
            return False
        from setwise.compiled import compile_for, plain

        sizes = np.array([len(arms) for arms, _ in told], np.int64)
        arms = np.array([arm for chosen, _ in told for arm in chosen], np.int64)
        rewards = np.array([reward for _, earned in told for reward in earned], float)
        given = (plain(self.policy), self.state, sizes, arms, rewards, self.learning)
        try:
            learn = compile_for(learn_rounds, *given)
        except (InputError, WorkerLost):
            return False
        learn(*given)
        return True

    def available(self, names: Sequence[str] | None) -> Any:
        """Which arms may be chosen, as a mask; None if all of them may."""
        if names is None:
            return None if self.active == self.n else self.status == ACTIVE
        mask = np.zeros(self.n, np.bool_)
        mask[[self.number(name) for name in names]] = True
        mask &= self.status == ACTIVE
        return None if mask.all() else mask

    def number(self, name: Any) -> int:
        """The number of the arm of that name."""
        found = self.numbers.get(name) if isinstance(name, str) else None
        if found is None:
            raise InputError(f"there is no arm {name!r}; `arms()` lists those there are")
        return found

    def select(self, round: int, mask: Any) -> list[int]:
        """The set of a round: a function of what is known, the seed, the round and the arms that may be chosen."""
        arms = self.methods.select(self.state, self.streams.of(round), mask)
        return arms if self.ordered else sorted(arms)

    def mask_of(self, runs: Any) -> Any:
        """The mask that the runs in a journal stand for."""
        if runs is None:
            return self.available(None)
        mask = np.zeros(self.n, np.bool_)
        mask[from_runs(runs)] = True
        return None if mask.all() else mask

    def indices(self) -> Floats | None:
        """The policy's index of every arm, if it has one."""
        if not hasattr(self.policy, "indices"):
            return None
        out = np.zeros(self.n)
        self.policy.indices(self.state, out)
        return out
