"""What every storage has to do: one suite for memory, SQLite, PostgreSQL, and storages of your own.

Each check raises an AssertionError with one sentence. It is handed to users by `setwise.testing.check_storage`.
"""

import threading
from collections.abc import Callable
from typing import Any

from setwise.errors import InputError, StorageError
from setwise.policies.kl_ucb import KLUCB
from setwise.study.journal import Row, first_row, new_id, new_row
from setwise.study.storage import Storage
from setwise.study.study import Study

NAME = "check \u00e9\u4e2d\U0001f600 'quoted' \"twice\" %s ? \\"
THREADS, EACH = 8, 25


def run_checks(open_one: Callable[[], Storage]) -> None:
    """Run all checks on one storage, opened once or twice; its studies of other names are left alone."""
    names = [f"{NAME} {new_id()}" for _ in range(2)]
    first, second = open_one(), open_one()
    try:
        _check_studies(first, second, names)
        _check_rows(first, second, names[0])
        _check_decisions(first, names[0])
        _check_snapshots(first, second, names[0])
        if first is not second:
            _check_turns(open_one, names[0])
        before = _last(first, _key(first, names[0]))
        first.close()
        assert _last(first, _key(first, names[0])) == before, "begin after close does not open the storage again"
        _check_study(open_one, names[1])
    finally:
        for study in _in(first, False, first.studies):
            if study.name in names:
                _in(first, True, first.delete, study.key)
        for storage in {id(first): first, id(second): second}.values():
            storage.close()


def _in(storage: Storage, write: bool, do: Callable[..., Any], *given: Any) -> Any:
    """Do something in a transaction."""
    storage.begin(write)
    try:
        done = do(*given)
        storage.commit()
        return done
    except BaseException:
        storage.rollback()
        raise


def _rows(count: int, after: Row | None = None) -> list[Row]:
    rows = [] if after is not None else [first_row({"k": 1, "\u00e9": '\u2028"'}, 17)]
    last = after or rows[0]
    while len(rows) < count:
        last = new_row(last.position, last.digest, "ask", new_id(), last.time + 1, {"round": 1, "arms": [2, 0]})
        rows.append(last)
    return rows


def _key(storage: Storage, name: str) -> int:
    found: dict[str, int] = {study.name: study.key for study in _in(storage, False, storage.studies)}
    return found[name]


def _last(storage: Storage, key: int) -> Row:
    rows: list[Row] = _in(storage, False, storage.rows, key, 0, 10_000)
    return rows[-1]


def _check_studies(first: Storage, second: Storage, names: list[str]) -> None:
    rows = _rows(1)
    keys = [_in(first, True, first.create, name, rows) for name in names]
    assert len(set(keys)) == 2, "create gave the same key twice"
    found = {study.name: study for study in _in(second, False, second.studies)}
    assert set(names) <= set(found), "studies does not list what was created"
    assert found[names[0]].created == 17, "studies does not give the time of the first row"
    try:
        _in(first, True, first.create, names[0], rows)
    except InputError:
        pass
    else:
        raise AssertionError("create takes a name twice; it should raise InputError")
    _in(first, True, first.delete, keys[1])
    assert names[1] not in [study.name for study in _in(second, False, second.studies)], "a deleted study is listed"
    again = _in(first, True, first.create, names[1], rows)
    assert again not in keys, "a new study has the key of one that was deleted"
    _in(first, True, first.delete, again)
    try:
        _in(second, True, second.lock, again)
    except InputError:
        pass
    else:
        raise AssertionError("lock takes a study that was deleted; it should raise InputError")


def _check_rows(first: Storage, second: Storage, name: str) -> None:
    key = _key(first, name)
    begin = _in(first, False, first.rows, key, 0, 10)
    more = _rows(30, begin[0])
    _in(first, True, first.append, key, more)
    for storage in (first, second):
        assert _in(storage, False, storage.rows, key, 0, 100) == [*begin, *more], "rows are not as written"
        assert _in(storage, False, storage.rows, key, 5, 3) == [*begin, *more][5:8], "rows after a position"
        pages = list(storage.pages(key, 2, 30, 7))
        assert [row for page in pages for row in page] == [*begin, *more][2:30], "pages are not the rows between"
    extra = _rows(2, more[-1])
    first.begin(True)
    first.lock(key)
    first.append(key, extra)
    first.rollback()
    assert _last(second, key).position == 31, "what was rolled back is there"
    try:
        _in(first, True, first.append, key, more[-1:])
    except (StorageError, InputError):
        pass
    else:
        raise AssertionError("append takes a position twice; it should raise StorageError")
    assert _last(first, key).position == 31, "an append that was refused has left something"


def _check_decisions(storage: Storage, name: str) -> None:
    key = _key(storage, name)
    last = _last(storage, key)
    told = new_row(last.position, last.digest, "tell", last.decision, last.time, {"arms": [2, 0], "rewards": [0, 0.1]})
    _in(storage, True, storage.append, key, [told])
    found = _in(storage, False, storage.of_decision, key, last.decision or "")
    assert found == [last, told], "of_decision does not give the rows of a decision in order"
    assert _in(storage, False, storage.of_decision, key, "nobody") == [], "of_decision finds what is not there"


def _check_snapshots(first: Storage, second: Storage, name: str) -> None:
    key = _key(first, name)
    assert _in(first, False, first.snapshot, key) is None, "there is a snapshot that nobody saved"
    for data in (bytes(range(256)) * 5000, b"\0'another"):
        _in(first, True, first.save_snapshot, key, data)
        assert _in(second, False, second.snapshot, key) == data, "a snapshot is not as it was saved"
    _in(first, True, first.save_snapshot, key, None)
    assert _in(second, False, second.snapshot, key) is None, "a snapshot that was dropped is there"


def _check_turns(open_one: Callable[[], Storage], name: str) -> None:
    """Connections that append at the same time go one after the other, and miss nothing of each other."""
    failures: list[BaseException] = []

    def work() -> None:
        storage = open_one()
        try:
            key = _key(storage, name)
            for _ in range(EACH):
                _in(storage, True, lambda: _append_one(storage, key))
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
        rows = _in(storage, False, storage.rows, key, 0, 10_000)
        assert [row.position for row in rows] == list(range(1, before + THREADS * EACH + 1)), "positions have a hole"
    finally:
        storage.close()


def _append_one(storage: Storage, key: int) -> None:
    storage.lock(key)
    last = storage.rows(key, 0, 10_000)[-1]
    storage.append(key, _rows(1, last))


def _check_study(open_one: Callable[[], Storage], name: str) -> None:
    """A study decides as one in memory does, also after it was opened again; and all follows from its journal."""
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
    """How to open a storage: by a function of yours, or at an address; "memory" for one in memory."""
    if callable(where):
        return where  # type: ignore[no-any-return]
    if where == "memory":
        from setwise.study.memory import Memory

        one = Memory()
        return lambda: one
    from setwise.study.storage import FULL, open_storage

    return lambda: open_storage(where, FULL, 60.0, True)
