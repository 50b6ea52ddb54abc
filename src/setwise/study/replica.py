"""The state of a study in one process, derived from the journal.

Rows are applied in order, whoever wrote them. Feedback goes to the policy's own `update`, the one that the simulation
compiles, and to counters. Nothing else changes the state, so workers that have read the same rows have the same state.
"""

import contextlib
import gc
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.errors import DamagedFile, InputError, SetwiseError, WorkerLost
from setwise.lazy_compiler import load_compiler
from setwise.study.definition import Definition
from setwise.study.journal import START, Row, body_of, check_row, from_runs, new_row
from setwise.study.policy_runner import DecisionStreams, PolicyRunner, can_be_compiled, learn_rounds, learning_stream
from setwise.study.storage import Memory, Storage
from setwise.types import Floats

PENDING, ACTIVE, RETIRED = 0, 1, 2
STATUS = ("pending", "active", "retired")
MAX_OPEN = 100_000  # open decisions in memory; older ones are looked up in the journal
COMPILE_ROWS = 50_000  # minimum replay that is worth compiling the policy
BULK_COUNT = 50  # from here on NumPy counts faster than a loop
PAGE_ROWS = 100_000  # rows per read
SNAPSHOT_ROWS = 10_000  # minimum number of rows between two snapshots
BYTES_PER_ROW = 1_000  # bytes of a snapshot that cost as much as replaying a row

ArmRewards = tuple[list[int], list[float]]  # arms and their rewards


class Open(NamedTuple):
    """A decision without feedback."""

    round: int
    arms: tuple[int, ...]
    time: int
    position: int


class UpdateFailed(SetwiseError):
    """A new row could not be applied, so the state is invalid; the cause says why."""


@contextlib.contextmanager
def paused_gc() -> Iterator[None]:
    """Pause garbage collection, which takes a third of the time of a replay and frees nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Replica:
    """The state of a study at a position of its journal. Use it only inside a transaction of its storage.

    `Replica.of(definition)` starts before the first row, without a storage, to replay rows from elsewhere.
    """

    def __init__(self, storage: Storage | None = None, key: int = 0, given: Any = None) -> None:
        self.storage: Storage = Memory() if storage is None else storage
        self.key = key
        self.given = given  # the policy, if the user gave it because its class cannot be imported
        self.loaded = False
        self.deleted = False
        self._saved = 0  # position and, below, size of the last snapshot
        self._size = 0

    @classmethod
    def of(cls, definition: Definition) -> "Replica":
        """Return a replica before the first row."""
        replica = cls()
        replica.start(definition)
        return replica

    def start(self, definition: Definition) -> None:
        """Set the state to that before the first row."""
        n = len(definition.arms)
        self.definition = definition
        self.policy = definition.player
        self.ordered = bool(getattr(self.policy, "ordered_sets", True))
        self.runner = PolicyRunner(self.policy, definition.k)
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
        self.written: list[Row] = []  # new rows that are not stored yet
        self.uncommitted = False  # whether rows were written since the last commit
        self.loaded = True

    @property
    def n(self) -> int:
        """The number of arms, including retired ones."""
        return len(self.names)

    # Apply rows: read or new, they take the same path.

    def apply(self, rows: Iterable[Row], compiled: bool = False) -> None:
        """Check and apply rows read from the journal, in order."""
        with paused_gc():
            self._advance(map(self._checked, rows), compiled)

    def write(self, kind: str, decision: str | None, now: int, body: dict[str, Any]) -> Row:
        """Create a row, apply it, and keep it in `written` until `store`."""
        self.uncommitted = True
        row = new_row(self.position, self.digest, kind, decision, max(now, self.time), body)
        try:
            self._advance([(row, body)], False)
        except Exception as error:
            raise UpdateFailed from error
        self.written.append(row)
        return row

    def _checked(self, row: Row) -> tuple[Row, dict[str, Any]]:
        check_row(row, self.position, self.digest)
        try:
            return row, body_of(row)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(row.position) from error

    def _advance(self, rows: Iterable[tuple[Row, dict[str, Any]]], compiled: bool) -> None:
        """Apply rows with their bodies; count and learn in bulk up to each change of the arms."""
        asked: list[int] = []
        told: list[ArmRewards] = []
        for row, body in rows:
            try:
                if row.kind == "ask":
                    asked += body["arms"]
                elif row.kind == "tell":
                    told.append((body["arms"], body["rewards"]))
                elif row.kind == "arms":
                    self._count(asked, told)
                    self._learn(told, compiled)
                    asked, told = [], []
                self._record(row, body)
            except (KeyError, IndexError, TypeError, ValueError) as error:
                raise _damaged(row.position) if not isinstance(error, InputError) else error from error
            self.position, self.digest, self.time = row.position, row.digest, row.time
        try:
            self._count(asked, told)
        except (IndexError, TypeError, ValueError) as error:
            raise _damaged(self.position) from error
        if told:
            self._learn(told, compiled)

    def _count(self, asked: list[int], told: Sequence[ArmRewards]) -> None:
        """Count plays and rewards in the order of the rows, so that sums have the same bits in bulk or one by one."""
        if len(asked) + len(told) < BULK_COUNT:
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

    def _record(self, row: Row, body: dict[str, Any]) -> None:
        """Record a row, except for the arms' counters and the policy's learning."""
        if row.kind == "ask":
            self.rounds += 1
            self.open[row.decision or ""] = Open(body["round"], tuple(body["arms"]), row.time, row.position)
            if self.definition.window is None and len(self.open) > MAX_OPEN:
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
            self.runner.state_changed(before, self.state)
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

    def _learn(self, told: Sequence[ArmRewards], compiled: bool) -> None:
        if compiled and len(told) > 1 and self._learn_compiled(told):
            return
        for arms, rewards in told:
            self.runner.update(self.state, arms, rewards, self.learning)

    def _learn_compiled(self, told: Sequence[ArmRewards]) -> bool:
        """Learn many rounds at compiled speed, with the same bits; return False if the policy cannot be compiled."""
        if not can_be_compiled(self.policy):
            return False
        sizes = np.array([len(arms) for arms, _ in told], np.int64)
        arms = np.array([arm for chosen, _ in told for arm in chosen], np.int64)
        rewards = np.array([reward for _, earned in told for reward in earned], float)
        given = (self.policy, self.state, sizes, arms, rewards, self.learning)
        try:
            learn = load_compiler().compile_for(learn_rounds, *given)
        except (InputError, WorkerLost):
            return False
        learn(*given)
        return True

    # Query the state.

    def available(self, names: Sequence[str] | None) -> Any:
        """Return a mask of the arms that may be chosen, or None for all; raise InputError for an unknown name."""
        if names is None:
            return None if self.active == self.n else self.status == ACTIVE
        mask = np.zeros(self.n, np.bool_)
        mask[[self.number(name) for name in names]] = True
        mask &= self.status == ACTIVE
        return None if mask.all() else mask

    def mask_of(self, runs: Any) -> Any:
        """Decode the mask of available arms from a journal's runs; None for all arms."""
        if runs is None:
            return self.available(None)
        mask = np.zeros(self.n, np.bool_)
        mask[from_runs(runs)] = True
        return None if mask.all() else mask

    def number(self, name: Any) -> int:
        """Return the number of an arm; raise InputError if there is none of that name."""
        found = self.numbers.get(name) if isinstance(name, str) else None
        if found is None:
            raise InputError(f"there is no arm {name!r}; `arms()` lists those there are")
        return found

    def select(self, round: int, mask: Any) -> list[int]:
        """Choose the set of a round: a function of state, seed, round and available arms."""
        arms = self.runner.select(self.state, self.streams.of(round), mask)
        return arms if self.ordered else sorted(arms)

    def recommend(self) -> list[int]:
        """Return the active arms that the policy recommends; none if it cannot say."""
        k, active = self.definition.k, self.status == ACTIVE
        if self.active < k or not hasattr(self.policy, "recommend"):
            return []
        arms = self.runner.recommend(self.state, active)
        if arms and (len(set(arms)) != k or len(arms) != k or not set(arms) <= set(np.flatnonzero(active).tolist())):
            raise InputError(
                f"{type(self.policy).__name__}.recommend gave {arms}, which is not a set of {k} active arms"
            )
        return arms

    def indices(self) -> Floats | None:
        """Return the policy's index of every arm, or None if it has no indices."""
        if not hasattr(self.policy, "indices"):
            return None
        out = np.zeros(self.n)
        self.policy.indices(self.state, out)
        return out

    # Synchronize with the storage.

    def catch_up(self) -> None:
        """Apply the rows of other workers, up to the end of the journal."""
        if not self.loaded:
            self._load()
        while True:
            known = self.position
            rows = self.storage.rows(self.key, max(0, known - 1), PAGE_ROWS)
            if known and (not rows or rows[0].digest != self.digest):  # restored from a backup, or deleted
                self._load()
                continue
            new = rows[1:] if known else rows
            try:
                if new:
                    self.apply(new, compiled=len(new) >= COMPILE_ROWS)
            except BaseException:
                self.loaded = False  # a row may be applied in part
                raise
            if len(rows) < PAGE_ROWS:
                return

    def check_open(self) -> None:
        """Raise InputError if the study was deleted."""
        if self.deleted or not self.loaded:
            raise InputError("the study was deleted")

    def _load(self) -> None:
        """Restore the last snapshot if it fits the journal, else start before the first row."""
        from setwise.study.snapshot import restore

        self.loaded = False
        first = self.storage.rows(self.key, 0, 1)
        if not first:
            raise InputError("the study was deleted")
        check_row(first[0], 0, START)
        definition = Definition.from_json(body_of(first[0]), self.given)
        data = self.storage.snapshot(self.key)
        if data is not None and restore(self, definition, data) and self._fits_journal():
            self._saved, self._size = self.position, len(data)
            return
        self._saved, self._size = 0, 0
        self.start(definition)

    def _fits_journal(self) -> bool:
        """Whether the restored snapshot is of this journal: the digest at its position covers all rows before."""
        found = self.storage.rows(self.key, self.position - 1, 1)
        return bool(found) and found[0].position == self.position and found[0].digest == self.digest

    def store(self) -> None:
        """Append the new rows to the journal."""
        if self.loaded and self.written and not self.deleted:
            self.storage.append(self.key, self.written)
            self.written = []

    def committed(self) -> None:
        """Mark the stored rows as durable."""
        self.uncommitted = False

    def roll_back(self) -> None:
        """Discard the state if the failed transaction wrote rows."""
        self.deleted = False
        if self.loaded and self.uncommitted:
            self.discard()

    def discard(self) -> None:
        """Discard the state; the next `catch_up` reloads it."""
        self.loaded = False

    def wants_snapshot(self, at_least: int | None = None) -> bool:
        """Whether replaying the rows since the last snapshot would cost more than writing a new one."""
        least = max(SNAPSHOT_ROWS if at_least is None else at_least, self._size // BYTES_PER_ROW)
        return self.loaded and self.position - self._saved >= least

    def save_snapshot(self) -> None:
        """Store a snapshot of the state."""
        from setwise.study.snapshot import take_snapshot

        if self.loaded:
            data = take_snapshot(self)
            self._saved = self.position
            if data is not None:
                self._size = len(data)
                self.storage.save_snapshot(self.key, data)


def _damaged(position: int) -> DamagedFile:
    return DamagedFile(f"the journal is damaged: position {position} cannot be understood")
