"""A study: ask for a set, tell what it earned, again and again.

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
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from setwise.declare import shown, whole_number
from setwise.errors import InputError, SetwiseError
from setwise.study import acts, opening
from setwise.study.definition import Definition
from setwise.study.finding import create_once, create_study, find_study, remove_study, studies_of
from setwise.study.fold import ACTIVE, RETIRED
from setwise.study.journal import START, Row, check_row, new_id
from setwise.study.ledger import Ledger
from setwise.study.names import check_name
from setwise.study.opening import connect, connect_memory, disconnect
from setwise.study.policy_json import check_same_policy
from setwise.study.records import Arm, Decision, Summary
from setwise.study.storage import FULL, Storage, absolute
from setwise.study.views import arms_of, best_of, summary_of
from setwise.study.writer import Work, Writer

if TYPE_CHECKING:
    from setwise.study.verify import Verification

Answer = TypeVar("Answer")

TIMEOUT = 120.0  # seconds that a lock or a lost connection is waited for
WORTH_SAVING = 500  # rows since the last snapshot, for which closing makes another


class Study:
    """A study in a storage. Made by `create`, `open` or `memory`; all threads of a process may use one object."""

    def __init__(
        self, writer: Writer, key: int, name: str, policy: Any, reconnect: Callable[[], Writer] | None
    ) -> None:
        self.name = name
        self._key = key
        self._policy = policy
        self._reconnect = reconnect
        self._attach(writer)
        try:
            self._definition: Definition = self._read(lambda ledger: ledger.current().definition)
            if policy is not None:
                check_same_policy(policy, self._definition.policy)
        except BaseException:
            self._closing.detach()  # whoever has connected disconnects
            raise

    def _attach(self, writer: Writer) -> None:
        self._ledger = writer.ledger(self._key, self._policy)
        self._writer = writer
        self._closing = weakref.finalize(self, opening.drop, writer, os.getpid())
        self._closing.atexit = False  # then all writers are stopped
        self._process = os.getpid()

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

        address: sqlite:///shop.db for a file, sqlite:////var/shop.db for a path that begins with /,
            postgresql://user:password@host/database, or a storage of your own (`setwise.testing.check_storage`)
        name: of the study, in that storage
        arms: their names
        k: how many a set has
        policy: who chooses, UCB() by default
        horizon: how many rounds there will be; without, a policy that has to know plays horizons that double
        seed: equal seeds and equal feedback give equal decisions; without, one is drawn and kept
        window: such as "30m": a decision without feedback is closed with zeros after that time
        durability: "full", so that what was answered survives a loss of power, or "normal", which is faster
        timeout: for how many seconds to wait for a lock, or for a lost connection
        exist_ok: open the study if there is one of that name, created with the same arms, k, policy, horizon and window
        """
        name = check_name("the name of the study", name)
        definition = Definition.make(arms, k, policy, horizon, seed, window)
        writer, there = connect(address, durability, timeout, True), absolute(address)
        try:
            key = create_study(writer, name, definition, exist_ok)
            study = cls(writer, key, name, definition.policy, lambda: connect(there, durability, timeout, False))
        except BaseException:
            disconnect(writer, os.getpid())
            raise
        if exist_ok:
            try:
                _check_same(study, definition, seed)
            except InputError:
                study.close()
                raise
        return study

    @classmethod
    def open(
        cls, address: str | Storage, name: str, policy: Any = None, durability: str = FULL, timeout: float = TIMEOUT
    ) -> "Study":
        """Open a study that was created before, here or elsewhere.

        policy: only if its class cannot be imported by its name; it has to be the one that the study was created with
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
        """A study in memory, for tests and notebooks: as `create`, but gone with the process."""
        name = check_name("the name of the study", name)
        definition = Definition.make(arms, k, policy, horizon, seed, window)
        writer = connect_memory()
        return cls(writer, create_study(writer, name, definition, False), name, definition.policy, None)

    @staticmethod
    def names(address: str | Storage, timeout: float = TIMEOUT) -> list[str]:
        """The names of all studies in a storage."""
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
        """Create a study from the journal that `export` wrote to a file ending in .jsonl; `policy` as for `open`."""
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
        """Delete a study with its journal, for good: also one that cannot be opened."""
        writer = connect(address, FULL, timeout, False)
        try:
            remove_study(writer, find_study(writer, name).key)
        finally:
            disconnect(writer, os.getpid())

    def ask(self, available: Sequence[str] | None = None, id: str | None = None) -> Decision:
        """A set to show.

        available: the arms that can be shown now; by default all that are active
        id: a name for the decision, of your own; asked again with the same one, the answer is the same
        """
        if available is not None:
            available = _names_given(available)
        given = id is not None
        name = check_name("the id", id) if given else new_id()
        return self._write(lambda ledger, work: acts.ask(ledger, name, given or work.attempts > 1, available))

    def tell(self, decision: Decision | str, rewards: Any = None, winner: str | None = None) -> Decision:
        """Tell what a set earned: a mapping (arms left out earned 0), a list with a reward for each arm, or a winner.

        Told again with the same content, the answer is the same as before, and it counts once.
        """
        name = decision.id if isinstance(decision, Decision) else decision
        if not isinstance(name, str):
            raise InputError(f"the decision is {shown(name)}; give what `ask` gave, or its id")
        check_name("the id of the decision", name)
        return self._write(lambda ledger, work: acts.tell(ledger, name, rewards, winner))

    def add_arm(self, name: str, active: bool = True) -> Arm:
        """Add an arm, which is tried first; or, not active, one that waits for `activate_arm`."""
        return self._change_arm(lambda ledger, work: acts.add_arm(ledger, name, active, work.attempts > 1))

    def retire_arm(self, name: str) -> Arm:
        """Do not show an arm any more; what it earned is kept."""
        return self._change_arm(lambda ledger, work: acts.set_status(ledger, name, RETIRED))

    def activate_arm(self, name: str) -> Arm:
        """Show an arm that is pending or retired."""
        return self._change_arm(lambda ledger, work: acts.set_status(ledger, name, ACTIVE))

    def arms(self) -> list[Arm]:
        """All arms, with what is known of them."""
        return self._read(lambda ledger: arms_of(ledger.current()))

    def best(self) -> tuple[str, ...]:
        """The k active arms that surely earn most, by a lower confidence bound on their mean reward."""
        return self._read(lambda ledger: best_of(ledger.current()))

    def summary(self) -> Summary:
        """Where the study stands."""
        return self._read(lambda ledger: summary_of(ledger.current(), self.name, self.address))

    def decision(self, id: str) -> Decision:
        """One decision by its id, with what was told of it."""
        check_name("the id of the decision", id)
        return self._read(lambda ledger: acts.look_up(ledger, id))

    def decisions(self, last: int | None = None) -> list[Decision]:
        """All decisions in the order of asking, or the last so many."""
        from setwise.study.transfer import decisions_of

        return decisions_of(self, None if last is None else whole_number("last", last, 0))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write all decisions to a .csv file, a line for each arm of each; or the whole journal to a .jsonl file."""
        from setwise.study.transfer import export

        export(self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """A figure: how often each arm was shown, and what a round earned, over time; also written to a file."""
        from setwise.study.plot import plot_study

        return plot_study(self, path)

    def verify(self, decisions: bool = True, progress: Callable[[float], None] | None = None) -> "Verification":
        """Go through the whole journal: is it whole, and does all that is known follow from it?

        decisions: whether to make every decision again, too
        """
        from setwise.study.verify import verify

        return verify(self, decisions, progress)

    def delete(self) -> None:
        """Delete the study with its journal, for good."""
        self._after_fork()
        remove_study(self._writer, self._key)
        self._ledger.discard()
        self.close()

    def close(self) -> None:
        """Let go of the storage. Nothing is lost without, but a snapshot may make the next opening faster."""
        if self._closing.alive and self._process == os.getpid():
            if self._ledger.wants_snapshot(WORTH_SAVING):
                with contextlib.suppress(SetwiseError):
                    self._writer.do(lambda work: self._ledger.save(), self._ledger, optional=True)
            if self._closing.detach() is not None:  # of two threads, one
                disconnect(self._writer, self._process)

    @property
    def k(self) -> int:
        """How many arms a set has."""
        return self._definition.k

    @property
    def policy(self) -> Any:
        """The policy, as it was given."""
        return self._definition.policy

    @property
    def horizon(self) -> int | None:
        """How many rounds are planned."""
        return self._definition.horizon

    @property
    def seed(self) -> int:
        """Equal seeds and equal feedback give equal decisions."""
        return self._definition.seed

    @property
    def address(self) -> str:
        """Where the study is kept, without a password."""
        return self._writer.storage.address

    def rows(self, until: int | None = None) -> Iterator[list[Row]]:
        """The journal, some rows at a time, each checked against its digest."""
        end = self._read(lambda ledger: ledger.current().position) if until is None else until
        position, digest = 0, START
        for page in self._writer.storage.pages(self._key, 0, end):
            for row in page:
                check_row(row, position, digest)
                position, digest = row.position, row.digest
            yield page

    def read(self, look: Callable[[Any], Any]) -> Any:
        """Whatever a function sees in the fold, brought up to the end of the journal."""
        return self._read(lambda ledger: look(ledger.current()))

    def check(self) -> list[str]:
        """What the storage says is wrong with itself."""
        return self._writer.storage.check()

    def stored_snapshot(self) -> bytes | None:
        """The snapshot that the storage keeps, as bytes."""
        return self._read(lambda ledger: ledger.storage.snapshot(self._key))

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {self.name!r} at {self.address}: k={self.k} by {self.policy!r}>"

    def _change_arm(self, change: Callable[[Ledger, Work], int]) -> Arm:
        def run(ledger: Ledger, work: Work) -> Arm:
            number = change(ledger, work)
            return arms_of(ledger.current(), number)[0]

        return self._write(run)

    def _write(self, run: Callable[[Ledger, Work], Answer]) -> Answer:
        self._after_fork()
        ledger = self._ledger
        return self._writer.do(lambda work: run(ledger, work), ledger)

    def _read(self, run: Callable[[Ledger], Answer]) -> Answer:
        self._after_fork()
        ledger = self._ledger
        return self._writer.do(lambda work: run(ledger), ledger, writes=False)

    def _after_fork(self) -> None:
        """In a process that was forked off, connections and threads are not there: make others."""
        if self._process != os.getpid() and self._reconnect is not None:
            with opening.attaching:
                if self._process != os.getpid():
                    writer, before = self._reconnect(), self._closing
                    closed = not before.alive
                    self._attach(writer)
                    before.detach()
                    if closed:
                        self.close()
        if not self._closing.alive:
            raise InputError(f"the study {self.name!r} was closed; open it again")


def _check_same(study: Study, definition: Definition, seed: Any) -> None:
    """Refuse a study that is there already and is another; a seed that was not given does not matter."""
    import dataclasses

    wanted = definition if seed is not None else dataclasses.replace(definition, seed=study.seed)
    difference = wanted.differs_from(study._definition)
    if difference:
        raise InputError(f"there is a study {study.name!r} at {study.address} already, and another: {difference}")


def _names_given(available: Any) -> list[str]:
    if isinstance(available, str):
        raise InputError(f"available is {shown(available)}; give a list with names of arms")
    try:
        return list(available)
    except TypeError:
        raise InputError(f"available is {shown(available)}; give a list with names of arms") from None
