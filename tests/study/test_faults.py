"""All faults at small size; `make faults` runs them at full size."""

import itertools
import tempfile

import pytest

import postgresql
import setwise as sw
from faults import clock, damage, dropping, killing, load, narrow, restart, telling
from faults.truth import Truth
from skips import NOT_HERE

needs_server = pytest.mark.skipif(bool(postgresql.missing()), reason=str(postgresql.missing()))
DATABASES = ["sqlite", pytest.param("postgresql", marks=needs_server)]
STORAGES = ["memory", *DATABASES]
POLICIES = [sw.KLUCB(), sw.Thompson()]
number = itertools.count()


@pytest.fixture
def fresh(request, tmp_path):
    """Return a function that returns the address of a fresh storage of a kind."""

    def address(kind):
        if kind == "postgresql":
            return postgresql.new_database(request.getfixturevalue("server"), f"faults{next(number)}")
        return "memory" if kind == "memory" else f"sqlite:///{tmp_path}/{next(number)}.db"

    return address


def check(found):
    assert found is not None
    assert found.ok, "\n".join((f"{found.what}: {found.lost} lost, {found.doubled} doubled", *found.errors[:10]))


@pytest.mark.parametrize("kind", DATABASES)
def test_processes_that_decide_at_the_same_instant_lose_nothing(kind, fresh, tmp_path):
    check(load.decide_together(fresh(kind), tmp_path, 6, 15))


@pytest.mark.parametrize("kind", DATABASES)
def test_processes_create_the_same_study_at_the_same_instant(kind, fresh):
    check(load.create_together([fresh(kind) for _ in range(2 if kind == "sqlite" else 4)], 6))


@pytest.mark.parametrize("kind", DATABASES)
def test_no_answer_is_lost_when_writers_are_killed(kind, fresh, tmp_path):
    check(killing.kill_writers(fresh(kind), tmp_path, 3, 3 if kind == "sqlite" else 1))


@needs_server
def test_workers_survive_a_killed_server(tmp_path):
    server = postgresql.Server()
    try:
        check(killing.kill_server(server, server.address, tmp_path, 3, 1))
    finally:
        server.stop()


@pytest.mark.parametrize("kind", DATABASES)
def test_work_whose_answer_is_lost_is_done_once(kind, fresh):
    check(killing.lose_answers(fresh(kind)))


def test_a_study_may_be_collected_while_another_is_opened(tmp_path):
    check(dropping.drop(tmp_path))


def test_a_study_that_cannot_be_opened_leaves_others_alone(tmp_path):
    check(dropping.fail_to_open(tmp_path))


@pytest.mark.parametrize("kind", STORAGES)
def test_feedback_that_is_sent_again_counts_once(kind, fresh):
    check(telling.tell_again(fresh(kind), 40))


@pytest.mark.parametrize("kind", STORAGES)
def test_of_contradicting_feedback_one_wins(kind, fresh):
    check(telling.tell_at_once(fresh(kind), 5))


@pytest.mark.parametrize("kind", STORAGES)
def test_feedback_in_any_order_late_or_for_unknown_decisions(kind, fresh):
    check(telling.tell_oddly(fresh(kind), 1000 if kind == "memory" else 100))


@pytest.mark.parametrize("kind", STORAGES)
def test_a_clock_that_is_set_closes_nothing_too_early(kind, fresh):
    check(clock.set_clock(fresh(kind), 4))


def test_files_that_cannot_grow(tmp_path):
    check(narrow.limit_files(tmp_path))


def test_files_that_may_not_be_written():
    check(narrow.forbid_writing())


@pytest.mark.parametrize("kind", DATABASES)
def test_a_lock_of_another_program_is_waited_for(kind, fresh):
    check(narrow.hold_lock(fresh(kind), 1.5))


def test_a_stopped_writer_times_out(tmp_path):
    check(narrow.stop_writer(tmp_path, 1.5))


@pytest.mark.parametrize("kind", DATABASES)
def test_a_damaged_snapshot_is_ignored(kind, fresh):
    check(damage.harm_snapshots(fresh(kind), 20, 5, step=1 if kind == "sqlite" else 5))


def test_a_damaged_file_is_never_silently_wrong(tmp_path):
    check(damage.harm_file(tmp_path, 23, 10))


def test_a_damaged_wal_ends_the_journal_where_the_damage_begins(tmp_path):
    check(damage.harm_wal(tmp_path, 10, 4))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_runs_that_are_killed_equal_one_run(policy, tmp_path):
    check(restart.run_and_kill(tmp_path, policy, 300, 3))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_workers_in_turns_decide_as_one(policy, tmp_path):
    check(restart.take_turns(tmp_path, policy, 30))


def test_the_reference_count_detects_errors():
    create = (1, "create", None, 5, '{"arms": ["a", "b"]}')
    ask = (2, "ask", "x", 6, '{"round": 1, "arms": [1]}')
    tell = (3, "tell", "x", 7, '{"arms": [1], "rewards": [1]}')
    right = Truth([create, ask, tell]).compare([("ask", "x", ["b"]), ("tell", "x", {"b": 1})])
    assert (right.problems, right.lost, right.doubled) == ([], 0, 0)
    assert (right.pulls["b"], right.reward["b"], right.shown["b"]) == (1, 1, 1)
    assert Truth([create, ask]).compare([("tell", "x", {"b": 1})]).lost == 1
    assert Truth([create, ask, tell]).compare([("tell", "x", {"b": 0})]).lost == 1
    assert Truth([create, ask, tell, (4, *tell[1:])]).doubled == 1
    assert Truth([create, ask, tell]).compare([("ask", "x", ["b"])] * 2).doubled == 1
    assert Truth([create, ask, (4, *tell[1:])]).problems  # a gap
    assert Truth([create, ask, (3, "tell", "x", 5, tell[4])]).problems  # time decreases
    assert Truth([create, ask, (3, "tell", "x", 7, '{"arms": [0], "rewards": [1]}')]).problems  # other arms


def test_a_full_disk_is_reported_in_one_sentence():
    """Runs only where file systems may be mounted."""
    found = narrow.fill_disk(1 << 20)
    if found is None:
        pytest.skip(f"{NOT_HERE}a file system cannot be mounted in {tempfile.gettempdir()} by this user")
    check(found)
