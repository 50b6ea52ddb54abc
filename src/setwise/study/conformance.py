"""The conformance suite for storages: memory, SQLite, PostgreSQL, and your own.

Public as `setwise.testing.check_storage`. Each check raises an AssertionError with one sentence.
"""

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from setwise.errors import InputError, StorageError
from setwise.policies.kl_ucb import KLUCB
from setwise.study.journal import Row, first_row, new_id, new_row
from setwise.study.storage import Storage
from setwise.study.study import Study

NAME = "check \u00e9\u4e2d\U0001f600 'quoted' \"twice\" %s ? \\"
THREADS, APPENDS = 8, 25


def run_checks(open_one: Callable[[], Storage]) -> None:
    """Run all checks on a storage; its existing studies are left alone."""
    names = [f"{NAME} {new_id()}" for _ in range(2)]
    first, second = open_one(), open_one()
    try:
        _check_studies(first, second, names)
        _check_rows(first, second, names[0])
        _check_decisions(first, names[0])
        _check_snapshots(first, second, names[0])
        if first is not second:
            _check_concurrent_appends(open_one, names[0])
        before = _last(first, _key(first, names[0]))
        first.close()
        assert _last(first, _key(first, names[0])) == before, (
            "a transaction after close does not open the storage again"
        )
        _check_study(open_one, names[1])
    finally:
        for study in _transact(first, False, first.studies):
            if study.name in names:
                _transact(first, True, first.delete, study.key)
        for storage in {id(first): first, id(second): second}.values():
            storage.close()


class _Rollback(Exception):
    """Roll a transaction back."""


def _transact(storage: Storage, write: bool, do: Callable[..., Any], *given: Any) -> Any:
    """Call a function in a transaction."""
    with storage.transaction(write):
        return do(*given)


def _rows(count: int, after: Row | None = None) -> list[Row]:
    rows = [] if after is not None else [first_row({"k": 1, "\u00e9": '\u2028"'}, 17)]
    last = after or rows[0]
    while len(rows) < count:
        last = new_row(last.position, last.digest, "ask", new_id(), last.time + 1, {"round": 1, "arms": [2, 0]})
        rows.append(last)
    return rows


def _key(storage: Storage, name: str) -> int:
    found: dict[str, int] = {study.name: study.key for study in _transact(storage, False, storage.studies)}
    return found[name]


def _last(storage: Storage, key: int) -> Row:
    rows: list[Row] = _transact(storage, False, storage.rows, key, 0, 10_000)
    return rows[-1]


def _check_studies(first: Storage, second: Storage, names: list[str]) -> None:
    rows = _rows(1)
    keys = [_transact(first, True, first.create, name, rows) for name in names]
    assert len(set(keys)) == 2, "create gave the same key twice"
    found = {study.name: study for study in _transact(second, False, second.studies)}
    assert set(names) <= set(found), "studies does not list a created study"
    assert found[names[0]].created == 17, "studies does not give the time of the first row"
    try:
        _transact(first, True, first.create, names[0], rows)
    except InputError:
        pass
    else:
        raise AssertionError("create takes a name twice; it should raise InputError")
    _transact(first, True, first.delete, keys[1])
    assert names[1] not in [study.name for study in _transact(second, False, second.studies)], (
        "a deleted study is listed"
    )
    again = _transact(first, True, first.create, names[1], rows)
    assert again not in keys, "a new study has the key of a deleted one"
    _transact(first, True, first.delete, again)
    try:
        _transact(second, True, second.lock, again)
    except InputError:
        pass
    else:
        raise AssertionError("lock takes a study that was deleted; it should raise InputError")


def _check_rows(first: Storage, second: Storage, name: str) -> None:
    key = _key(first, name)
    begin = _transact(first, False, first.rows, key, 0, 10)
    more = _rows(30, begin[0])
    _transact(first, True, first.append, key, more)
    for storage in (first, second):
        assert _transact(storage, False, storage.rows, key, 0, 100) == [*begin, *more], "rows differ from those written"
        assert _transact(storage, False, storage.rows, key, 5, 3) == [*begin, *more][5:8], "rows ignores the position"
    extra = _rows(2, more[-1])
    with contextlib.suppress(_Rollback), first.transaction(True):
        first.lock(key)
        first.append(key, extra)
        raise _Rollback
    assert _last(second, key).position == 31, "rows that were rolled back are there"
    try:
        _transact(first, True, first.append, key, more[-1:])
    except (StorageError, InputError):
        pass
    else:
        raise AssertionError("append takes a position twice; it should raise StorageError")
    assert _last(first, key).position == 31, "a refused append has left rows"


def _check_decisions(storage: Storage, name: str) -> None:
    key = _key(storage, name)
    last = _last(storage, key)
    told = new_row(last.position, last.digest, "tell", last.decision, last.time, {"arms": [2, 0], "rewards": [0, 0.1]})
    _transact(storage, True, storage.append, key, [told])
    found = _transact(storage, False, storage.of_decision, key, last.decision or "")
    assert found == [last, told], "of_decision does not give the rows of a decision in order"
    assert _transact(storage, False, storage.of_decision, key, "nobody") == [], "of_decision finds an unknown decision"


def _check_snapshots(first: Storage, second: Storage, name: str) -> None:
    key = _key(first, name)
    assert _transact(first, False, first.snapshot, key) is None, "there is a snapshot before any was saved"
    for data in (bytes(range(256)) * 5000, b"\0'another"):
        _transact(first, True, first.save_snapshot, key, data)
        assert _transact(second, False, second.snapshot, key) == data, "a snapshot differs from the one saved"
    _transact(first, True, first.save_snapshot, key, None)
    assert _transact(second, False, second.snapshot, key) is None, "a deleted snapshot is there"


def _check_concurrent_appends(open_one: Callable[[], Storage], name: str) -> None:
    """Concurrent appends are serialized, and each connection sees the rows of the others."""
    failures: list[BaseException] = []

    def work() -> None:
        storage = open_one()
        try:
            key = _key(storage, name)
            for _ in range(APPENDS):
                _transact(storage, True, lambda: _append_one(storage, key))
        except BaseException as error:
            failures.append(error)
        finally:
            storage.close()

    storage = open_one()
    try:
        key = _key(storage, name)
        before = _last(storage, key).position
        threads = [threading.Thread(target=work) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        rows = _transact(storage, False, storage.rows, key, 0, 10_000)
        assert [row.position for row in rows] == list(range(1, before + THREADS * APPENDS + 1)), "positions have a gap"
    finally:
        storage.close()


def _append_one(storage: Storage, key: int) -> None:
    storage.lock(key)
    last = storage.rows(key, 0, 10_000)[-1]
    storage.append(key, _rows(1, last))


def _check_study(open_one: Callable[[], Storage], name: str) -> None:
    """A study makes the same decisions as one in memory, also after reopening, and verifies."""
    arms = ["Nikon", "Canon", "Sony", "Digital Camera", "Keyboard", "Shoes"]
    twin = Study.memory(arms, 3, KLUCB(), 1000, seed=5)
    study = Study.create(open_one(), name, arms, 3, KLUCB(), 1000, seed=5)
    for played in range(60):
        if played in (20, 40):
            study.close()
            study = Study.open(open_one(), name)
        for own in (study, twin):
            if played == 30:
                own.add_arm("Leica")
                own.retire_arm("Shoes")
        decision, other = study.ask(), twin.ask()
        assert decision.arms == other.arms, f"round {decision.round} shows {decision.arms}, in memory {other.arms}"
        for own, asked in ((study, decision), (twin, other)):
            if played % 4:
                own.tell(asked, {asked.arms[played % 3]: 1})
    assert [(arm.pulls, arm.reward) for arm in study.arms()] == [(arm.pulls, arm.reward) for arm in twin.arms()]
    found = study.verify()
    assert found.ok, found.problems[0]
    study.close()
    twin.close()


def opener(where: Any) -> Callable[[], Storage]:
    """Return a function that opens the storage: the one given, or one for an address or "memory"."""
    if callable(where):
        return where  # type: ignore[no-any-return]
    if where == "memory":
        from setwise.study.storage import Memory

        one = Memory()
        return lambda: one
    from setwise.study.storage import FULL, open_storage

    return lambda: open_storage(where, FULL, 60.0, True)
