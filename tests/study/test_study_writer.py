"""Group commit: many threads and processes share commits, answers come after them, and nothing is lost."""

import contextlib
import gc
import sqlite3
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest

import postgresql
import setwise as sw
from setwise.study import journal
from setwise.study.replica import Replica
from setwise.study.storage import LostError, open_storage
from studies import CAMERAS, GOOD, play
from waiting import LIMIT, wait_for


def test_many_threads_share_a_commit(address, monkeypatch):
    study = sw.Study.create(address, "homepage", CAMERAS, 3, sw.UCB(), 1000, seed=0)
    commits = []
    storage = study._writer.storage
    commit = storage._commit

    begun, go_on = threading.Event(), threading.Event()

    def commit_late():
        commits.append(1)
        begun.set()
        go_on.wait(LIMIT)
        commit()

    monkeypatch.setattr(storage, "_commit", commit_late)
    first, *others = threads = [threading.Thread(target=study.ask) for _ in range(16)]
    first.start()
    assert begun.wait(LIMIT)
    for thread in others:
        thread.start()
    wait_for(lambda: len(study._writer._queue) == 15)
    go_on.set()
    for thread in threads:
        thread.join()
    assert len(commits) == 2  # of 16 asks
    threads = [threading.Thread(target=play, args=(study, 5)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert study.summary().told == 80
    assert study.verify().ok
    study.close()


def test_nobody_has_an_answer_before_the_commit(address, monkeypatch):
    study = sw.Study.create(address, "homepage", CAMERAS, 3, sw.UCB(), 1000, seed=0)
    storage = study._writer.storage

    def fail():
        storage._rollback()
        raise sw.StorageError("the disk is full")

    decision = study.ask()
    with monkeypatch.context() as broken:
        broken.setattr(storage, "_commit", fail)
        for act in (study.ask, lambda: study.tell(decision, {})):
            with pytest.raises(sw.StorageError, match="full"):
                act()
    assert (study.summary().rounds, study.summary().told) == (1, 0)
    assert study.tell(decision, {}).status == "told"
    assert study.ask().round == 2
    assert study.verify().ok
    study.close()


def test_a_lost_connection_is_retried_with_the_same_id(address, monkeypatch):
    """The commit arrived, but its answer was lost: the retry finds it, and nothing is counted twice."""

    study = sw.Study.create(address, "homepage", CAMERAS, 3, sw.UCB(), 1000, seed=0)
    storage = study._writer.storage
    commit, lost = storage._commit, []

    def lose():
        commit()
        if len(lost) % 2 == 0:
            lost.append(1)
            raise LostError("gone")
        lost.append(1)

    monkeypatch.setattr(storage, "_commit", lose)
    decision = study.ask()
    told = study.tell(decision, {decision.arms[0]: 1})
    monkeypatch.undo()
    assert (study.summary().rounds, study.summary().told, study.summary().reward) == (1, 1, 1.0)
    assert told.rewards[decision.arms[0]] == 1.0
    assert study.decisions()[0].arms == decision.arms
    study.close()


class Brittle(NamedTuple):
    rounds: np.ndarray


@sw.policy
class Breaks(NamedTuple):
    """A policy with a bug: `update` raises on a reward of 0.5."""

    def init(self, n, k, horizon, rng):
        return Brittle(np.zeros(1, np.int64))

    def select(self, state, rng):
        return np.arange(2)

    def update(self, state, chosen, rewards, rng):
        state.rounds[0] += 1
        if rewards[0] == 0.5:
            raise ZeroDivisionError("a bug in the policy")


def test_a_policy_that_raises_affects_only_its_own_round(address):
    study = sw.Study.create(address, "homepage", CAMERAS, 2, Breaks(), 100)
    good, bad = study.ask(), study.ask()
    with pytest.raises(ZeroDivisionError, match="a bug in the policy"):
        study.tell(bad, [0.5, 0])
    study.tell(good, [1, 0])
    assert study.summary().told == 1
    assert study._read(lambda replica: replica.state.rounds[0]) == 1
    study.tell(bad, [0, 0])
    assert study._read(lambda replica: replica.state.rounds[0]) == 2
    study.close()


def test_a_policy_that_raises_on_rows_of_others_does_not_learn_half_of_them(address, monkeypatch):
    study = sw.Study.create(address, "homepage", CAMERAS, 2, Breaks(), 100)
    play(study, 3)
    storage = study._writer.storage
    last = [row for page in study._rows() for row in page][-1]
    rows = []
    for number, reward in enumerate([1, 0.5, 1]):
        told = {"arms": [0, 1], "rewards": [reward, 0]}
        last = journal.new_row(last.position, last.digest, "tell", f"other {number}", last.time, told)
        rows.append(last)
    study._writer.do(lambda work: storage.append(study._key, rows))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="a bug in the policy"):
            study.ask()
    monkeypatch.setattr(Replica, "_learn", lambda self, told, compiled: self.state.rounds.__iadd__(len(told)))
    assert study._read(lambda replica: (replica.state.rounds[0], replica.told)) == (6, 6)
    study.close()


def test_a_user_policy_is_imported_by_name_or_given(address):
    study = sw.Study.create(address, "homepage", CAMERAS, 2, Breaks(), 100)
    study.close()
    with sw.Study.open(address, "homepage") as found:
        assert found.policy == Breaks()
    with sw.Study.open(address, "homepage", policy=Breaks()) as found:
        assert found.ask().round == 1
    with pytest.raises(sw.InputError, match="created with"):
        sw.Study.open(address, "homepage", policy=sw.UCB())
    script = f"import setwise as sw; sw.Study.open({address!r}, 'homepage')"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "policy=" in answer.stderr and "test_study_writer:Breaks" in answer.stderr


def test_a_study_opened_twice_in_a_process_is_one(address):
    one = sw.Study.create(address, "homepage", CAMERAS, 3, sw.UCB(), 1000, seed=0)
    two = sw.Study.open(address, "homepage")
    two.tell(one.ask(), {})
    one.close()
    assert two.ask().round == 2
    two.close()
    with pytest.raises(sw.InputError, match="was closed"):
        two.ask()


def test_positions_on_postgresql_are_committed_in_their_order(server):
    """A transaction that began earlier and commits later is not skipped."""
    import psycopg

    there = postgresql.new_database(server, f"d{time.time_ns()}")
    study = sw.Study.create(there, "homepage", **GOOD)
    play(study, 2)
    with psycopg.connect(there) as slow:
        slow.execute("SELECT 1 FROM setwise_studies FOR UPDATE")
        answers = []
        asking = threading.Thread(target=lambda: answers.append(study.ask()))
        asking.start()
        reading = open_storage(there, "full", 60.0, False)
        with reading.transaction(False):
            rows = reading.rows(study._key, 0, 99)
        reading.close()
        row = journal.new_row(
            rows[-1].position, rows[-1].digest, "ask", "slow", rows[-1].time, {"round": 3, "arms": [0, 1, 2]}
        )
        with psycopg.connect(there, autocommit=True) as watching:
            wait_for(lambda: watching.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()[0])
        assert answers == []
        slow.execute("INSERT INTO setwise_journal SELECT id, %s, %s, %s, %s, %s, %s FROM setwise_studies", tuple(row))
        slow.commit()
        asking.join()
    assert answers[0].round == 4 and answers[0].position == row.position + 1
    assert [decision.id for decision in study.decisions()][2] == "slow"
    study.close()


def test_readers_do_not_wait_for_writers(address):

    study = sw.Study.create(address, "homepage", **GOOD)
    play(study, 3)
    blocker = sqlite3.connect(address.removeprefix("sqlite:///"), isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    assert study.summary().rounds == 3
    blocker.execute("ROLLBACK")
    blocker.close()
    study.close()


def test_a_study_that_cannot_be_opened_leaves_others_of_the_storage_alone(address):
    good = sw.Study.create(address, "good", **GOOD)
    sw.Study.create(address, "bad", **GOOD).close()
    with contextlib.closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute("UPDATE setwise_journal SET body = 'nonsense' WHERE study = 2")
    for _ in range(3):
        with pytest.raises(sw.DamagedFile, match="damaged"):
            sw.Study.open(address, "bad")
        gc.collect()
        good.ask()
    assert good._writer.clients == 1
    good.close()


def test_a_long_study_can_be_deleted(address):
    study = sw.Study.create(address, "homepage", **GOOD, durability="normal")
    play(study, 300)
    study.delete()
    assert sw.Study.names(address) == []


def test_a_lock_timeout_writes_nothing_and_the_writer_continues(address, monkeypatch):
    """The caller times out while the writer still waits for the lock of another process."""
    study = sw.Study.create(address, "homepage", **GOOD)
    monkeypatch.setattr(study._writer, "timeout", -4.8)  # 0.2 s in all
    script = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    path = address.removeprefix("sqlite:///") + "-lock"
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", script, path], **options) as holder:
        holder.stdout.readline()
        with pytest.raises(sw.StorageError, match="locked"):
            study.ask()
        holder.communicate("\n")
    monkeypatch.setattr(study._writer, "timeout", 60.0)
    assert study.ask().round == 1
    with sw.Study.open(address, "homepage", durability="normal") as other:
        assert other.ask().round == 2
    study.close()
