"""The conformance suite of storages, and invalid addresses."""

import contextlib
import os
import sqlite3
import time
from pathlib import Path

import pytest

import postgresql
import setwise as sw
from setwise.study import operations
from setwise.study.definition import Definition
from setwise.study.storage import Memory, passwords_in, scheme_of, without_password
from setwise.testing import check_storage
from studies import CAMERAS, GOOD, new_policy, play, snapshot_of


@pytest.mark.parametrize("where", ["memory", "sqlite", "postgresql"])
def test_every_storage_passes_the_shared_suite(where, address, request):
    if where == "postgresql":
        where = postgresql.new_database(request.getfixturevalue("server"), f"d{time.time_ns()}")
    check_storage(address if where == "sqlite" else where)


def test_the_shared_suite_notices_a_missing_rollback():

    class Lenient(Memory):
        @contextlib.contextmanager
        def transaction(self, write):
            try:
                yield
            finally:
                self._commit()
                self._new = []

    one = Lenient()
    with pytest.raises(AssertionError, match="rolled back"):
        check_storage(lambda: one)


def test_invalid_addresses_are_refused_in_one_sentence(tmp_path):
    (tmp_path / "text.db").write_text("this is not a database, but long enough to be examined\n" * 50)
    (tmp_path / "empty.db").write_text("")
    for wrong, words in (
        ("shop.db", "has no scheme; write sqlite:///shop.db"),
        ("mysql://shop", "can be sqlite or postgresql"),
        ("mysql://me:secret@shop", "can be sqlite or postgresql"),
        ("sqlite://shop.db", "has no file"),
        ("sqlite:///", "has no file"),
        ("", "write sqlite"),
        (None, "write sqlite"),
        (f"sqlite:///{tmp_path}/nothing.db", "there is no file"),
        (f"sqlite:///{tmp_path}/nothing/shop.db", "there is no"),
        (f"sqlite:///{tmp_path}", "is a folder"),
        (f"sqlite:///{tmp_path}/text.db", "is not a SQLite database"),
        (f"sqlite:///{tmp_path}/empty.db", "has no studies"),
        ("postgresql://me:secret@127.0.0.1:1/shop?colour=red", "cannot be reached|needs the package psycopg"),
    ):
        with pytest.raises(sw.InputError, match=words) as refused:
            sw.Study.open(wrong, "homepage")
        assert "secret" not in str(refused.value) and "\n" not in str(refused.value)
    assert sorted(os.listdir(tmp_path)) == ["empty.db", "text.db"]
    with pytest.raises(sw.InputError, match="is not a SQLite database"):
        sw.Study.create(f"sqlite:///{tmp_path}/text.db", "homepage", **GOOD)
    with pytest.raises(sw.InputError, match="no folder"):
        sw.Study.create(f"sqlite:///{tmp_path}/nothing/shop.db", "homepage", **GOOD)


def test_an_unreachable_server_is_a_storage_error_and_not_an_input_error():
    with pytest.raises(sw.StorageError, match="cannot be reached") as refused:
        sw.Study.open("postgresql://me:secret@127.0.0.1:1/shop", "homepage")
    assert not isinstance(refused.value, sw.InputError)
    assert "secret" not in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(("timeout", "seconds"), [(0.5, 2), (7.2, 8), (120.0, 60)])
def test_the_connect_timeout_is_the_timeout_up_to_a_minute(timeout, seconds, server, monkeypatch):
    import psycopg

    asked, connect = [], psycopg.connect
    address = postgresql.new_database(server, f"d{time.time_ns()}")
    monkeypatch.setattr(psycopg, "connect", lambda *a, **kw: asked.append(kw["connect_timeout"]) or connect(*a, **kw))
    sw.Study.create(address, "homepage", CAMERAS, 3, horizon=100, timeout=timeout).close()
    assert set(asked) == {seconds}


def test_a_wrong_name_of_a_database_is_an_input_error(server):
    with pytest.raises(sw.InputError, match="does not exist"):
        sw.Study.open(server.address.rpartition("/")[0] + "/nowhere", "homepage")


def test_a_wrong_password_is_not_shown(server):
    with pytest.raises(sw.InputError, match="password authentication failed") as refused:
        sw.Study.open(server.address.replace("sesame", "secret"), "homepage")
    assert "secret" not in str(refused.value) and "secret" not in repr(refused.value)


def test_a_password_is_never_shown():
    for address in (
        "postgresql://me:secret@host/shop",
        "postgresql://me:se:c@secret@host/shop",
        "postgresql://me:x/secret@host/shop",
        "postgresql://me:x?secret@host/shop",
        "postgresql://me:x#secret@host/shop",
        "postgresql://host/shop?user=me&password=secret",
    ):
        assert "secret" not in without_password(address) and "host/shop" in without_password(address)
    for address in ("host=db password=secret", "postgresql:me:secret@host/shop", "mysql://me:secret@host"):
        with pytest.raises(sw.InputError, match="scheme") as refused:
            scheme_of(address)
        assert "secret" not in str(refused.value)
    assert without_password("sqlite:///shop.db") == "sqlite:///shop.db"
    assert passwords_in("postgresql://me:a%20b@host/shop?password=c") == ["c", "c", "a%20b", "a b"]
    assert scheme_of("postgres://host/shop") == "postgresql"


def test_a_study_that_exists_or_does_not_is_named(address):
    study = sw.Study.create(address, "homepage", **GOOD)
    with pytest.raises(sw.InputError, match=r"'homepage' .* already"):
        sw.Study.create(address, "homepage", **GOOD)
    with pytest.raises(sw.InputError, match="did you mean 'homepage'"):
        sw.Study.open(address, "homepag")
    assert sw.Study.names(address) == ["homepage"]
    with sw.Study.create(address, "homepage", **GOOD, exist_ok=True) as same:
        assert same.ask().round == 1
    with pytest.raises(sw.InputError, match="k is 3 there and 2 here"):
        sw.Study.create(address, "homepage", **{**GOOD, "k": 2}, exist_ok=True)
    assert study.ask().round == 2
    study.close()


def test_a_policy_that_is_not_given_is_not_compared(address):
    arms = ["Nikon", "Canon", "Sony"]
    sw.Study.create(address, "old", arms, 2, sw.UCB(), seed=1).close()
    with sw.Study.create(address, "old", arms, 2, exist_ok=True) as same:
        assert same.policy == sw.UCB()
    with pytest.raises(sw.InputError, match=r"policy is KLUCB\(.*\), but the study was created with UCB\(\)"):
        sw.Study.create(address, "old", arms, 2, sw.KLUCB(), exist_ok=True)
    with sw.Study.create(address, "new", arms, 2, exist_ok=True) as new:
        assert new.policy == sw.RobustUCB()


def test_a_database_or_study_of_a_newer_version_is_refused(address, server):

    import psycopg

    sw.Study.create(address, "homepage", **GOOD).close()
    with sqlite3.connect(address.removeprefix("sqlite:///")) as connection:
        connection.execute("UPDATE setwise_meta SET value = '2'")
    connection.close()
    with pytest.raises(sw.InputError, match=r"newer version of Setwise .* upgrade"):
        sw.Study.open(address, "homepage")
    there = postgresql.new_database(server, f"d{time.time_ns()}")
    sw.Study.create(there, "homepage", **GOOD).close()
    with psycopg.connect(there) as connection:
        connection.execute("UPDATE setwise_meta SET value = '2'")
    with pytest.raises(sw.InputError, match=r"newer version of Setwise .* upgrade"):
        sw.Study.open(there, "homepage")
    definition = Definition.make(**GOOD, window=None).to_json()
    with pytest.raises(sw.InputError, match="newer version"):
        Definition.from_json({**definition, "version": 2})


def test_nothing_stored_is_a_pickle(address):
    study = sw.Study.create(address, "homepage", CAMERAS, 3, new_policy("doubling"), 100)
    play(study, 10)
    snapshot_of(study)
    study.close()
    source = "".join(path.read_text() for path in Path(operations.__file__).parent.glob("*.py"))
    assert "import pickle" not in source and "eval(" not in source
    data = Path(address.removeprefix("sqlite:///")).read_bytes()
    assert b"numpy" not in data and b"\x80\x04\x95" not in data


def test_a_study_that_cannot_be_opened_can_be_removed(address):
    sw.Study.create(address, "homepage", **GOOD).close()
    path = address.removeprefix("sqlite:///")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE setwise_journal SET body = 'nonsense'")
    with pytest.raises(sw.DamagedFile, match="damaged"):
        sw.Study.open(address, "homepage")
    sw.Study.remove(address, "homepage")
    assert sw.Study.names(address) == []
    with pytest.raises(sw.InputError, match="no study"):
        sw.Study.remove(address, "homepage")
