"""`setwise doctor` on a healthy and on a broken installation."""

import importlib.metadata
import sqlite3

import pytest

import setwise as sw
from setwise import doctor
from shell import call


@pytest.mark.parametrize("version", ["3.7.0", "3.37.2", "3.40.1", "3.44.5", "3.45.0", "3.50.6", "3.51.0", "3.51.2"])
def test_versions_of_sqlite_with_the_wal_reset_bug_are_warned_of(version):
    assert doctor.has_wal_reset_bug(version)
    if doctor.numbers_of(version) >= doctor.OLDEST_SQLITE:
        locked, unlocked = doctor.judge_sqlite(version, True), doctor.judge_sqlite(version, False)
        assert locked.verdict == unlocked.verdict == doctor.WARNING
        assert "share a lock file" in locked.advice and "cannot lock" in unlocked.advice
        assert "3.51.3" in locked.advice and "3.51.3" in unlocked.advice


@pytest.mark.parametrize("version", ["3.6.23", "3.44.6", "3.44.7", "3.50.7", "3.51.3", "3.52.0", "3.53.1", "4.0.0"])
def test_versions_of_sqlite_without_it_are_not(version):
    assert not doctor.has_wal_reset_bug(version)


def test_a_mended_sqlite_is_fine_and_an_ancient_one_is_a_problem():
    assert doctor.judge_sqlite("3.51.3", True) == doctor.HealthCheck("SQLite", doctor.OK, "3.51.3")
    assert doctor.judge_sqlite("3.7.15", True).verdict == doctor.PROBLEM


MOUNTS = r"""/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/me/local\040disk xfs rw 0 0
//box/share /mnt/share cifs rw 0 0
tmpfs /tmp tmpfs rw 0 0
host /tmp 9p rw 0 0
me@host: /mnt/ssh fuse.sshfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "kind", "verdict"),
    [
        ("/var/lib", "ext4", "ok"),
        ("/homes", "ext4", "ok"),
        ("/home", "nfs4", "warning"),
        ("/home/me", "nfs4", "warning"),
        ("/home/me/local disk/x", "xfs", "ok"),
        ("/mnt/share/x", "cifs", "warning"),
        ("/tmp/x", "9p", "warning"),
        ("/mnt/ssh", "fuse.sshfs", "warning"),
    ],
)
def test_network_filesystems_are_warned_of(folder, kind, verdict):
    check = doctor.judge_filesystem(folder, MOUNTS)
    assert (check.found.split(",")[0], check.verdict) == (kind, verdict)
    assert bool(check.advice) == (verdict == "warning")


def test_little_space_is_a_warning_and_none_a_problem():
    verdicts = [doctor.judge_space(free, "/x").verdict for free in (10**10, 10**8, 10**6)]
    assert verdicts == ["ok", "warning", "problem"]


def test_a_package_that_is_missing_or_too_old_is_a_problem(monkeypatch):
    def version(name):
        if name == "numba":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.26.4" if name == "numpy" else "0.0"

    monkeypatch.setattr(importlib.metadata, "version", version)
    checks = {check.name: check for check in doctor.examine()}
    assert checks["Numba"].verdict == checks["NumPy"].verdict == "problem"
    assert "2.0 is needed" in checks["NumPy"].found
    answer = call("doctor")
    assert answer.exit_code == 1
    assert "NumPy: Upgrade it: pip install -U numpy" in answer.output


def test_without_psycopg_only_an_address_in_postgresql_is_a_problem(monkeypatch):
    real = importlib.metadata.version

    def version(name):
        if name == "psycopg":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert doctor._psycopg(None).verdict == doctor._psycopg("sqlite").verdict == "ok"
    assert doctor._psycopg("postgresql").verdict == "problem"
    assert "pip install 'psycopg[binary]'" in call("doctor").output


def test_a_cache_that_cannot_be_written_is_a_problem(monkeypatch):
    monkeypatch.setattr(doctor, "is_writable", lambda folder: False)
    for variable, judge in (("SETWISE_CACHE_DIR", doctor._cache), ("NUMBA_CACHE_DIR", doctor._numba_cache)):
        monkeypatch.setenv(variable, "/proc/no")
        check = judge()
        assert (check.verdict, check.found) == ("problem", "/proc/no cannot be written")
        assert variable in check.advice


def test_without_a_home_there_is_no_cache(monkeypatch):
    def nowhere():
        raise RuntimeError("no home")

    monkeypatch.delenv("SETWISE_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.home", nowhere)
    assert doctor._cache().verdict == "problem"


def test_the_compiler_is_tried_and_what_is_wrong_with_it_is_told(monkeypatch):
    assert doctor._compiler().verdict == "ok" and doctor._compiler().found.startswith("LLVM ")
    for found, verdict in ((RuntimeError("no such target"), "warning"), (4.0, "problem")):

        class Broken:
            def __init__(self, *given, found=found, **options):
                self.found = found

            def __call__(self, x):
                if isinstance(self.found, Exception):
                    raise self.found
                return self.found

        monkeypatch.setattr("setwise.compiler.compile.Compiled", Broken)
        assert doctor._compiler().verdict == verdict
    monkeypatch.setenv("SETWISE_COMPILER", "numba")
    assert "Unset SETWISE_COMPILER" in doctor._compiler().advice
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert "nothing is compiled" in doctor._compiler().found


def test_a_folder_is_writable_if_it_is_or_can_be_made(tmp_path):
    assert doctor.is_writable(str(tmp_path))
    assert doctor.is_writable(str(tmp_path / "not" / "yet"))
    assert not doctor.is_writable("/proc/no")


def test_the_doctor_prints_a_table_and_counts_studies(tmp_path):
    address = f"sqlite:///{tmp_path}/shop.db"
    answer = call("doctor", address)
    assert answer.exit_code == 0, answer.output
    assert "no such file yet" in answer.output
    assert not (tmp_path / "shop.db").exists(), "looking makes nothing"
    sw.Study.create(address, "one", ["a", "b"], 1).close()
    sw.Study.create(address, "two", ["a", "b"], 1).close()
    answer = call("doctor", address)
    assert answer.exit_code == 0, answer.output
    assert f"2 at {address}" in " ".join(answer.output.split())
    for name in (
        "Python",
        "NumPy",
        "Numba",
        "compiler",
        "cache",
        "Numba's cache",
        "SQLite",
        "psycopg",
        "disk",
        "studies",
    ):
        assert f"\n{name} " in answer.output
    assert sqlite3.sqlite_version in answer.output


def test_a_database_of_somebody_else_has_no_studies_and_no_database_is_a_problem(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE other (x)")
    database.close()
    (tmp_path / "text.db").write_text("not a database, but long enough to look like one\n" * 100)
    assert doctor._studies(f"sqlite:///{tmp_path}/other.db").verdict == "ok"
    assert doctor._studies(f"sqlite:///{tmp_path}/text.db").verdict == "problem"
    assert call("doctor", f"sqlite:///{tmp_path}/text.db").exit_code == 1
    assert call("doctor", f"sqlite:///{tmp_path}/nowhere/x.db").exit_code == 1


def test_a_server_that_is_not_there_is_a_problem_and_its_password_is_not_told():
    answer = call("doctor", "postgresql://me:secret@127.0.0.1:1/shop")
    assert answer.exit_code == 1
    assert "secret" not in answer.output
    assert "postgresql://me:***@127.0.0.1:1/shop" in answer.output


def test_an_address_that_is_none_is_refused():
    answer = call("doctor", "shop.db")
    assert (answer.exit_code, "write sqlite:///shop.db for a file" in answer.output) == (2, True)


class Server:
    """A connection that answers SHOW."""

    def __init__(self, **settings):
        self.settings = settings

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        pass

    def execute(self, statement):
        self.name = statement.split()[1]
        return self

    def fetchone(self):
        return (self.settings[self.name],)


@pytest.mark.parametrize(("fsync", "verdict"), [("on", "ok"), ("off", "problem")])
def test_a_server_without_fsync_is_a_problem(monkeypatch, fsync, verdict):
    psycopg = pytest.importorskip("psycopg")
    server = Server(server_version="15.18 (Debian)", fsync=fsync, synchronous_commit="off")
    monkeypatch.setattr(psycopg, "connect", lambda *_, **__: server)
    version, check, commit = doctor.server_checks("postgresql://me@host/shop")
    assert (version.found, check.verdict, commit.verdict) == ("15.18", verdict, "ok")
    assert "Setwise turns it on" in commit.found
