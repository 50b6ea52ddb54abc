"""A study: ask for a set, tell its rewards, repeat.

>>> import setwise as sw
>>> study = sw.Study.memory(["Nikon", "Canon", "Sony", "Shoes"], k=2, policy=sw.UCB(), horizon=1000, seed=0)
>>> decision = study.ask()
>>> len(decision.arms), decision.round
(2, 1)
>>> told = study.tell(decision, {decision.arms[0]: 1})
>>> told.status, study.summary().reward
('told', 1.0)
"""

import contextlib
import dataclasses
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from setwise.errors import InputError, SetwiseError
from setwise.study import connections, operations
from setwise.study.catalog import create_once, create_study, find_study, remove_study, studies_of
from setwise.study.certificate import Certifier
from setwise.study.connections import connect, connect_memory, disconnect
from setwise.study.definition import Definition, check_same_policy
from setwise.study.journal import START, Row, check_row, new_id
from setwise.study.names import check_available, check_name
from setwise.study.records import Arm, Decision, Summary, arms_of, best_of, summary_of
from setwise.study.replica import ACTIVE, RETIRED, Replica
from setwise.study.storage import FULL, Storage, absolute
from setwise.study.writer import Work, Writer
from setwise.validation import shown, whole_number

if TYPE_CHECKING:
    from setwise.simulation.certificate import Certificate
    from setwise.study.verify import Verification

Answer = TypeVar("Answer")

TIMEOUT = 120.0  # seconds to wait for a lock or a lost connection
PAGE_ROWS = 10_000  # rows per read
CLOSE_SNAPSHOT_ROWS = 500  # minimum number of new rows for a snapshot in `close`


class Study:
    """A study in a storage, from `create`, `open` or `memory`. Thread-safe."""

    def __init__(
        self, writer: Writer, key: int, name: str, policy: Any, reconnect: Callable[[], Writer] | None
    ) -> None:
        self.name = name
        self._key = key
        self._policy = policy
        self._reconnect = reconnect
        self._attach(writer)
        try:
            self._definition: Definition = self._read(lambda replica: replica.definition)
            if policy is not None:
                check_same_policy(policy, self._definition.policy)
        except BaseException:
            self._finalizer.detach()  # the caller disconnects
            raise

    def _attach(self, writer: Writer) -> None:
        self._replica = writer.replica(self._key, self._policy)
        self._writer = writer
        self._finalizer = weakref.finalize(self, connections.drop, writer, os.getpid())
        self._finalizer.atexit = False  # all writers are stopped at exit anyway
        self._process = os.getpid()
        self._certifier = Certifier()

    @classmethod
    def create(
        cls,
        address: str | Storage,
        name: str,
        arms: Sequence[str],
        k: int,
        policy: Any = None,
        horizon: int | None = None,
        seed: int | None = None,
        window: Any = None,
        durability: str = FULL,
        timeout: float = TIMEOUT,
        exist_ok: bool = False,
    ) -> "Study":
        """Create a study.

        address: sqlite:///shop.db for a relative path, sqlite:////var/shop.db for an absolute one,
            postgresql://user:password@host/database, or a storage of your own (`setwise.testing.check_storage`)
        name: unique in the storage
        arms: names of the arms
        k: number of arms in a set
        policy: RobustUCB() by default
        horizon: number of planned rounds; without one, a policy that needs it plays doubling horizons
        seed: equal seeds and equal feedback give equal decisions; drawn and stored by default
        window: a duration such as "30m", after which a decision without feedback is closed with zeros
        durability: "full" (answers survive a power loss) or "normal" (faster; they survive only a process crash)
        timeout: seconds to wait for a lock or a lost connection
        exist_ok: open an existing study of that name if its definition is equal (policy and seed count only if given)
        """
        name = check_name("the name of the study", name)
        definition = Definition.make(arms, k, policy, horizon, seed, window)
        writer, there = connect(address, durability, timeout, True), absolute(address)
        try:
            key = create_study(writer, name, definition, exist_ok)
            study = cls(writer, key, name, policy, lambda: connect(there, durability, timeout, False))
        except BaseException:
            disconnect(writer, os.getpid())
            raise
        if exist_ok:
            try:
                _check_same(study, definition, policy, seed)
            except InputError:
                study.close()
                raise
        return study

    @classmethod
    def open(
        cls, address: str | Storage, name: str, policy: Any = None, durability: str = FULL, timeout: float = TIMEOUT
    ) -> "Study":
        """Open an existing study; raise InputError if there is none of that name.

        policy: the policy of the study; needed only if its class cannot be imported by name
        """
        writer, there = connect(address, durability, timeout, False), absolute(address)
        try:
            key = find_study(writer, name).key
            return cls(writer, key, name, policy, lambda: connect(there, durability, timeout, False))
        except BaseException:
            disconnect(writer, os.getpid())
            raise

    @classmethod
    def memory(
        cls,
        arms: Sequence[str],
        k: int,
        policy: Any = None,
        horizon: int | None = None,
        seed: int | None = None,
        window: Any = None,
        name: str = "study",
    ) -> "Study":
        """Create a study in memory, for tests and notebooks; it ends with the process."""
        name = check_name("the name of the study", name)
        definition = Definition.make(arms, k, policy, horizon, seed, window)
        writer = connect_memory()
        return cls(writer, create_study(writer, name, definition, False), name, definition.policy, None)

    @staticmethod
    def names(address: str | Storage, timeout: float = TIMEOUT) -> list[str]:
        """Return the names of all studies in a storage."""
        writer = connect(address, FULL, timeout, False)
        try:
            return [study.name for study in studies_of(writer)]
        finally:
            disconnect(writer, os.getpid())

    @classmethod
    def load(
        cls,
        address: str | Storage,
        name: str,
        path: str | os.PathLike[str],
        policy: Any = None,
        timeout: float = TIMEOUT,
    ) -> "Study":
        """Create a study from a journal exported as .jsonl; `policy` as for `open`."""
        from setwise.study.transfer import read_journal

        name = check_name("the name of the study", name)
        rows = read_journal(path, policy)
        writer, there = connect(address, FULL, timeout, True), absolute(address)
        try:
            key = writer.do(lambda work: create_once(writer, name, rows, work.attempts > 1))
            return cls(writer, key, name, policy, lambda: connect(there, FULL, timeout, False))
        except BaseException:
            disconnect(writer, os.getpid())
            raise

    @staticmethod
    def remove(address: str | Storage, name: str, timeout: float = TIMEOUT) -> None:
        """Delete a study with its journal permanently, even if it cannot be opened."""
        writer = connect(address, FULL, timeout, False)
        try:
            remove_study(writer, find_study(writer, name).key)
        finally:
            disconnect(writer, os.getpid())

    def ask(self, available: Sequence[str] | None = None, id: str | None = None) -> Decision:
        """Choose a set to show.

        available: names of the arms that can be shown now; by default all active arms
        id: your own id for the decision. Idempotent: repeating an id returns the same decision
        """
        if available is not None:
            available = check_available(available)
        given = id is not None
        name = check_name("the id", id) if given else new_id()
        return self._write(lambda replica, work: operations.ask(replica, name, given or work.attempts > 1, available))

    def tell(self, decision: Decision | str, rewards: Any = None, winner: str | None = None) -> Decision:
        """Tell the rewards of a set: a mapping (missing arms earned 0), a list with a reward per arm, or a winner.

        Idempotent: repeating the same feedback counts once. Raise InputError if it contradicts earlier feedback.
        """
        name = decision.id if isinstance(decision, Decision) else decision
        if not isinstance(name, str):
            raise InputError(f"the decision is {shown(name)}; give what `ask` gave, or its id")
        check_name("the id of the decision", name)
        return self._write(lambda replica, work: operations.tell(replica, name, rewards, winner))

    def add_arm(self, name: str, active: bool = True) -> Arm:
        """Add an arm, which is tried first; with `active=False` it is not shown until `activate_arm`."""
        return self._change_arm(lambda replica, work: operations.add_arm(replica, name, active, work.attempts > 1))

    def retire_arm(self, name: str) -> Arm:
        """Stop showing an arm; its counts are kept."""
        return self._change_arm(lambda replica, work: operations.set_status(replica, name, RETIRED))

    def activate_arm(self, name: str) -> Arm:
        """Activate a pending or retired arm."""
        return self._change_arm(lambda replica, work: operations.set_status(replica, name, ACTIVE))

    def arms(self) -> list[Arm]:
        """Return all arms with their statistics."""
        return self._read(lambda replica: arms_of(replica))

    def best(self) -> tuple[str, ...]:
        """Return the k active arms to show if learning stopped now.

        Policies that learn about sets name the one of largest mean total among those that were shown; for others these
        are the arms with the largest lower confidence bound on their mean reward.
        """
        return self._read(lambda replica: best_of(replica))

    def summary(self) -> Summary:
        """Return a summary of the study."""
        return self._read(lambda replica: summary_of(replica, self.name, self.address))

    def decision(self, id: str) -> Decision:
        """Return a decision by its id, with its rewards; raise InputError if there is none."""
        check_name("the id of the decision", id)
        return self._read(lambda replica: operations.look_up(replica, id))

    def decisions(self, last: int | None = None) -> list[Decision]:
        """Return all decisions in the order of asking, or only the last ones."""
        from setwise.study.transfer import decisions_of

        return decisions_of(self, None if last is None else whole_number("last", last, 0))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Export all decisions to a .csv file, one line per arm, or the whole journal to a .jsonl file. Atomic."""
        from setwise.study.transfer import export

        export(self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot how often each arm was shown and the mean reward over time; save it if a path is given."""
        from setwise.study.plot import plot_study

        return plot_study(self, path)

    def verify(self, decisions: bool = True, progress: Callable[[float], None] | None = None) -> "Verification":
        """Check that the journal is intact and that replaying it gives the same state.

        decisions: whether to recompute every decision, too
        progress: called with the fraction done
        """
        from setwise.study.verify import verify

        return verify(self, decisions, progress)

    def certificate(self, confidence: float = 0.95, progress: Callable[[float], None] | None = None) -> "Certificate":
        """Test weak optimal set consistency by all feedback so far; the next call reads only what is new.

        Sets of fewer than k arms do not count: the assumption says nothing about them. docs/study.md has the rest.

        confidence: with at least this probability, a world that satisfies the assumption is never refuted
        progress: called with the fraction done
        """
        self._ensure_connected()  # a forked process gets a certifier of its own
        return self._certifier.certify(self, confidence, progress)

    def delete(self) -> None:
        """Delete the study with its journal permanently."""
        self._ensure_connected()
        remove_study(self._writer, self._key)
        self._replica.discard()
        self.close()

    def close(self) -> None:
        """Close the study. Optional: nothing is lost without it, but its snapshot may make the next opening faster."""
        if self._finalizer.alive and self._process == os.getpid():
            if self._replica.wants_snapshot(CLOSE_SNAPSHOT_ROWS):
                with contextlib.suppress(SetwiseError):
                    self._writer.do(lambda work: self._replica.save_snapshot(), self._replica, optional=True)
            if self._finalizer.detach() is not None:  # only one of concurrent threads
                disconnect(self._writer, self._process)

    @property
    def k(self) -> int:
        """The number of arms in a set."""
        return self._definition.k

    @property
    def policy(self) -> Any:
        """The policy as given at creation."""
        return self._definition.policy

    @property
    def horizon(self) -> int | None:
        """The number of planned rounds, or None."""
        return self._definition.horizon

    @property
    def seed(self) -> int:
        """The seed: equal seeds and equal feedback give equal decisions."""
        return self._definition.seed

    @property
    def address(self) -> str:
        """The address of the storage, without the password."""
        return self._writer.storage.address

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {self.name!r} at {self.address}: k={self.k} by {self.policy!r}>"

    def _change_arm(self, change: Callable[[Replica, Work], int]) -> Arm:
        def run(replica: Replica, work: Work) -> Arm:
            number = change(replica, work)
            return arms_of(replica, number)[0]

        return self._write(run)

    def _write(self, run: Callable[[Replica, Work], Answer]) -> Answer:
        self._ensure_connected()
        replica = self._replica
        return self._writer.do(lambda work: run(replica, work), replica)

    def _read(self, run: Callable[[Replica], Answer]) -> Answer:
        self._ensure_connected()
        replica = self._replica

        def look(work: Work) -> Answer:
            replica.check_open()
            return run(replica)

        return self._writer.do(look, replica, writes=False)

    def _rows(self, until: int | None = None, position: int = 0, digest: bytes = START) -> Iterator[list[Row]]:
        """Yield the journal after a position in pages, checking each row against its digest."""
        end = self._read(lambda replica: replica.position) if until is None else until
        while position < end:
            page = self._page(position, end)
            if not page:
                return
            for row in page:
                check_row(row, position, digest)
                position, digest = row.position, row.digest
            yield page

    def _page(self, after: int, end: int) -> list[Row]:
        storage, limit = self._writer.storage, min(PAGE_ROWS, end - after)
        return self._writer.do(lambda work: storage.rows(self._key, after, limit), writes=False)

    def _check(self) -> list[str]:
        """Return the problems of the storage itself."""
        return self._writer.storage.check()

    def _snapshot(self) -> bytes | None:
        """Return the stored snapshot."""
        return self._read(lambda replica: replica.storage.snapshot(self._key))

    def _ensure_connected(self) -> None:
        """Reconnect after a fork, which keeps neither connections nor threads; raise InputError if closed."""
        if self._process != os.getpid() and self._reconnect is not None:
            with connections.attaching:
                if self._process != os.getpid():
                    writer, before = self._reconnect(), self._finalizer
                    closed = not before.alive
                    self._attach(writer)
                    before.detach()
                    if closed:
                        self.close()
        if not self._finalizer.alive:
            raise InputError(f"the study {self.name!r} was closed; open it again")


def _check_same(study: Study, definition: Definition, policy: Any, seed: Any) -> None:
    """Raise InputError if an existing study has another definition; what was not given is not compared."""
    own = {"policy": study.policy} if policy is None else {}
    wanted = dataclasses.replace(definition, **own, seed=study.seed if seed is None else definition.seed)
    difference = wanted.differs_from(study._definition)
    if difference:
        raise InputError(f"there is a study {study.name!r} at {study.address} already, but it differs: {difference}")
