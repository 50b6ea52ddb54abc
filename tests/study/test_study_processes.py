"""Forked processes, and studies that are closed, deleted or replaced while others use them."""

import contextlib
import http.server
import importlib
import json
import os
import sqlite3
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import setwise as sw
from setwise.study import operations, snapshot, writer
from setwise.study import replica as replicas
from studies import CAMERAS, GOOD, play

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python warns of the forks tested here


def in_a_child(act):
    """Run a function in a forked child; return whether it succeeded."""
    child = os.fork()
    if child == 0:
        try:
            act()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def test_a_forked_child_can_use_the_study(address):
    study = sw.Study.create(address, "homepage", CAMERAS, 3, sw.UCB(), 1000, seed=0)
    play(study, 3)
    assert in_a_child(lambda: play(study, 3))
    play(study, 3)
    assert study.summary().rounds == 9
    assert study.verify().ok
    study.close()


def test_the_answers_of_a_child_survive_closing_in_the_parent(address):
    """SQLite tracks its locks by process: a connection that is open during a fork can lose data."""
    study = sw.Study.create(address, "homepage", **GOOD)
    play(study, 3)
    reading, writing = os.pipe()
    hearing, telling = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            play(study, 2)
            os.write(telling, b"x")
            os.read(reading, 1)
            play(study, 5)
            os._exit(0)
        except BaseException:
            os._exit(1)
    os.close(telling)  # so that the read ends if the child dies
    assert os.read(hearing, 1) == b"x"
    study.close()
    os.write(writing, b"x")
    assert os.waitpid(child, 0)[1] == 0
    with sw.Study.open(address, "homepage") as again:
        assert again.summary().told == 10
        assert again.verify().ok
    for end in (reading, writing, hearing):
        os.close(end)


def test_children_forked_during_writes_are_not_locked_out(address):
    study = sw.Study.create(address, "homepage", **GOOD, timeout=60)
    busy = threading.Thread(target=play, args=(study, 60))
    busy.start()
    for _ in range(4):
        assert in_a_child(lambda: play(study, 2))
    busy.join()
    assert study.summary().told == 68
    study.close()


def test_all_threads_of_a_child_can_use_the_study(address):
    study = sw.Study.create(address, "homepage", **GOOD)

    def many_at_once():
        wrong = []
        threads = [threading.Thread(target=lambda: wrong.append(1) if not study.ask() else None) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong and study.summary().rounds == 8

    assert in_a_child(many_at_once)
    study.close()


def test_a_study_in_memory_works_in_a_child():
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 100, seed=0)
    assert in_a_child(lambda: play(study, 3))
    play(study, 2)
    assert study.summary().rounds == 2


def test_closing_twice_at_once_leaves_other_studies_open(address):
    one, two = sw.Study.create(address, "one", **GOOD), sw.Study.create(address, "two", **GOOD)
    play(one, 300)  # so that closing takes a snapshot
    threads = [threading.Thread(target=one.close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert two.ask().round == 1 and two._writer.clients == 1
    two.close()


def test_asks_in_the_batch_of_a_deletion_leave_no_rows(address, monkeypatch):
    study = sw.Study.create(address, "homepage", **GOOD)
    play(study, 2)
    batch = [
        writer.Work(lambda work: operations.ask(study._replica, "before", False, None), study._replica, True, False),
        writer.Work(lambda work: delete(study), None, True, False),
        writer.Work(lambda work: operations.ask(study._replica, "after", False, None), study._replica, True, False),
    ]

    def delete(study):
        study._writer.storage.lock(study._key)
        study._writer.storage.delete(study._key)
        study._writer.mark_deleted(study._key)

    with study._writer.transaction_lock:
        study._writer._run(True, batch)
    assert batch[0].error is None and "deleted" in str(batch[2].error)
    with contextlib.closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as connection:
        assert connection.execute("SELECT count(*) FROM setwise_journal").fetchone() == (0,)
    with pytest.raises(sw.InputError, match="deleted"):
        study.summary()
    study.close()


def test_a_failed_open_does_not_affect_the_next(address):
    keeper = sw.Study.create(address, "keeper", **GOOD)
    sw.Study.create(address, "homepage", **GOOD).close()
    with pytest.raises(sw.InputError, match="created with"):
        sw.Study.open(address, "homepage", policy=sw.KLUCB())
    with sw.Study.open(address, "homepage") as found:
        assert found.ask().round == 1
    keeper.close()


def test_a_snapshot_that_cannot_be_made_does_not_stop_the_writer(address, monkeypatch):
    study = sw.Study.create(address, "homepage", **GOOD)
    monkeypatch.setattr(replicas, "SNAPSHOT_ROWS", 4)

    def fail(replica):
        raise MemoryError

    monkeypatch.setattr(snapshot, "take_snapshot", fail)
    play(study, 10)
    assert study.summary().told == 10
    study.close()


def test_a_replaced_file_is_reopened(address, tmp_path):
    old = sw.Study.create(address, "homepage", **GOOD)
    play(old, 3)
    os.rename(tmp_path / "shop.db", tmp_path / "old.db")
    for ending in ("-wal", "-shm"):
        os.rename(tmp_path / f"shop.db{ending}", tmp_path / f"old.db{ending}")
    with sw.Study.create(address, "homepage", **GOOD) as new:
        assert new.ask().round == 1
    old.close()


def test_a_journal_restored_from_a_backup_is_reloaded(address, tmp_path):
    study = sw.Study.create(address, "homepage", **GOOD)
    play(study, 3)
    study.export(tmp_path / "early.jsonl")
    play(study, 3)
    study.export(tmp_path / "homepage.jsonl")
    rows = [row for page in study._rows() for row in page]
    with contextlib.closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute("DELETE FROM setwise_journal WHERE position > 7")
    assert study.summary().rounds == 3
    assert study.ask().position == 8 and len(rows) == 13
    study.close()


def test_a_decision_can_be_looked_up(address):
    with sw.Study.create(address, "homepage", **GOOD) as study:
        asked = study.ask(id="request 17")
        assert study.decision("request 17") == asked
        told = study.tell(asked, {})
        assert study.decision("request 17") == told
        with pytest.raises(sw.InputError, match="no decision"):
            study.decision("request 18")


def test_the_example_of_a_service_answers(address, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    service = importlib.import_module("service")
    study = sw.Study.create(address, "homepage", service.ARMS, 3, sw.KLUCB(), window="30m")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), service.make_handler(study))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def post(path, given):
        body = json.dumps(given).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}{path}", body)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, json.loads(refused.read())

    status, decision = post("/ask", {"available": service.ARMS[:4]})
    assert status == 200 and set(decision["arms"]) <= set(service.ARMS[:4])
    status, told = post("/tell", {"id": decision["id"], "winner": decision["arms"][1]})
    assert (status, told["status"]) == (200, "told")
    assert post("/tell", {"id": "nobody", "rewards": {}})[0] == 400
    assert post("/elsewhere", {})[0] == 404
    server.shutdown()
    server.server_close()
    study.close()
