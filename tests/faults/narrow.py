"""A full disk, no permission, no lock: one sentence says so, writes stay atomic, and work continues afterwards."""

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import sqlite3
import struct
import subprocess
import tempfile
import threading
import time

import setwise as sw
from faults import Findings, sentence
from faults.crowd import alone
from faults.truth import ARMS, check, new_study, reward_of
from setwise.study import replica as replicas
from waiting import LIMIT

MANY = [*ARMS, *(f"other {number}" for number in range(3000))]  # a snapshot then has 200 kB
CAP_DAC_OVERRIDE = 1 << 1  # root's right to ignore file permissions
TRIES = 20_000  # decisions, enough to fill the disk


def play(study, rounds, answers):
    """Play rounds and record every answer."""
    for _ in range(rounds):
        decision = study.ask(available=ARMS)
        answers.append(("ask", decision.id, decision.arms))
        rewards = reward_of(decision.arms, decision.round)
        study.tell(decision, rewards)
        answers.append(("tell", decision.id, rewards))


def until_full(study, address, answers, words):
    """Play until the disk is full; return the problems of the messages and of the journal."""
    wrong = []
    for attempt in range(4):
        try:
            play(study, TRIES if attempt == 0 else 1, answers)
            if attempt == 0:
                wrong.append("the disk was never full")
        except Exception as error:
            wrong.append(sentence(error, *words))
    found = check(study, address, answers, decisions=False)
    return [problem for problem in wrong if problem] + list(found.problems) + [f"{found.lost} lost"] * bool(found.lost)


def limited(folder):
    """In its own process: limit the size of files, then lift the limit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    replicas.SNAPSHOT_ROWS = 5  # snapshots exceed the limit
    address = f"sqlite:///{folder}/limited.db"
    study = new_study(address, "limited", MANY)
    answers = []
    play(study, 3, answers)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.stat(f"{folder}/limited.db-wal").st_size + 150_000, most))
    wrong = until_full(study, address, answers, ["nothing was written", "limited.db"])
    told = len(answers)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    wrong += _goes_on(study, address, answers)
    print(json.dumps([wrong, told]))


def _goes_on(study, address, answers):
    """Check that the same object continues and that a new one finds all answers; return the problems."""
    play(study, 5, answers)
    truth = check(study, address, answers)
    study.close()
    with sw.Study.open(address, study.name) as again:
        other = check(again, address, answers)
    found = truth.problems + other.problems
    return found + [f"{truth.lost} lost, {truth.doubled} doubled"] * bool(truth.lost or truth.doubled)


def limit_files(folder):
    """Limit the size of files, as on a full disk, by a limit of the process."""
    found = Findings("no room, by a limit")
    said, error = alone("narrow.limited", folder=str(folder))
    wrong, told = said or ([error], 0)
    found.errors += wrong
    found.expect(told > 20, f"only {told} answers before the limit")
    return found.end(f"{told} answers before")


def fill_disk(size=3 << 20):
    """Fill a real disk, a small file system in memory; return None if it cannot be mounted here."""
    found = Findings("no room, on a small disk")
    folder = tempfile.mkdtemp(prefix="setwise-full-")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "setwise", folder], capture_output=True)
    if mounted.returncode:
        os.rmdir(folder)
        return None
    from setwise.study import sqlite

    kept, sqlite.CHECKPOINT_PAGES = (
        sqlite.CHECKPOINT_PAGES,
        size // 40_960,
    )  # so that checkpoints run out of space, too
    every, replicas.SNAPSHOT_ROWS = replicas.SNAPSHOT_ROWS, 200
    answers = []
    try:
        filler = os.path.join(folder, "filler")
        with open(filler, "wb") as file:
            file.write(bytes(size // 2))
        address = f"sqlite:///{folder}/full.db"
        study = new_study(address, "full", MANY, policy=sw.KLUCB())  # of a small state: rows are to fill the disk, too
        found.errors += until_full(study, address, answers, ["full", "nothing was written"])
        before = len(answers)
        try:
            new_study(f"sqlite:///{folder}/another.db", "another", MANY)
            found.errors.append("a study was created on a full disk")
        except Exception as error:
            wrong = sentence(error, "another.db")
            found.expect(wrong is None, wrong)
        os.remove(filler)
        found.errors += _goes_on(study, address, answers)
        new_study(f"sqlite:///{folder}/another.db", "another").close()
    finally:
        sqlite.CHECKPOINT_PAGES, replicas.SNAPSHOT_ROWS = kept, every
        subprocess.run(["umount", "-l", folder], check=True)
        os.rmdir(folder)
    return found.end(f"{before:,} answers before")


def write_no_more():
    """Drop root's right to write everywhere, but keep that to read: only root may be able to enter the clone."""
    libc = ctypes.CDLL(None, use_errno=True)
    whose = struct.pack("Ii", 0x20080522, 0)  # capability version 3, this process
    rights = ctypes.create_string_buffer(24)  # effective, permitted and inheritable, twice 32 bits
    failed = libc.capget(whose, rights)
    words = struct.unpack("6I", rights.raw)
    rights.raw = struct.pack("6I", *(word & ~CAP_DAC_OVERRIDE for word in words[:3]), *words[3:])
    if failed or libc.capset(whose, rights):
        raise OSError(ctypes.get_errno(), "root's right to write cannot be given up")


def forbidden(addresses):
    """In its own process, without root's rights: try forbidden writes, and print the problems of the messages."""
    if os.getuid() == 0:
        write_no_more()
    wrong = []
    for address, exists in addresses:
        try:
            study = sw.Study.open(address, "there") if exists else new_study(address, "new")
            study.ask()
            wrong.append(f"{address} was written")
        except Exception as error:
            wrong.append(sentence(error, address.removeprefix("sqlite:///")))
    print(json.dumps([problem for problem in wrong if problem]))


def forbid_writing():
    """Write to a read-only file and in a read-only folder."""
    found = Findings("read-only")
    with tempfile.TemporaryDirectory(prefix="setwise-forbidden-") as folder:
        os.chmod(folder, 0o755)
        cases = []
        for name, in_folder, on_file in (("neither", 0o555, 0o444), ("folder", 0o777, 0o444), ("file", 0o555, 0o666)):
            inside = os.path.join(folder, name)
            os.mkdir(inside)
            with new_study(f"sqlite:///{inside}/there.db", "there") as study:
                study.ask()
            for file in os.listdir(inside):
                os.chmod(os.path.join(inside, file), on_file)
            os.chmod(inside, in_folder)
            cases.append((f"sqlite:///{inside}/there.db", True))
            if in_folder == 0o555:
                cases.append((f"sqlite:///{inside}/new.db", False))
        cases.remove((f"sqlite:///{folder}/file/there.db", True))  # depends on how SQLite writes there
        said, error = alone("narrow.forbidden", addresses=cases)
        found.errors += [error] if said is None else said
        for name in ("neither", "file"):
            inside = os.path.join(folder, name)
            os.chmod(inside, 0o777)
            for file in os.listdir(inside):
                os.chmod(os.path.join(inside, file), 0o666)
            with sw.Study.open(f"sqlite:///{folder}/{name}/there.db", "there") as study:
                study.ask()
                found.take(check(study, f"sqlite:///{folder}/{name}/there.db"))
    return found.end(f"{len(cases)} cases")


@contextlib.contextmanager
def foreign_lock(address):
    """Hold the lock that writers need, as another program."""
    if address.startswith("sqlite"):
        connection = sqlite3.connect(address.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False)
        connection.execute("BEGIN IMMEDIATE")
        give_back = "ROLLBACK"
    else:
        import psycopg

        connection = psycopg.connect(address, autocommit=True)
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM setwise_studies FOR UPDATE")
        give_back = "ROLLBACK"
    try:
        yield
    finally:
        connection.execute(give_back)
        connection.close()


def hold_lock(address, seconds):
    """While another program holds the lock, ask waits or times out, and continues later."""
    found = Findings(f"locked, {address.partition(':')[0]}")
    answers = []
    study = new_study(address, "locked")
    play(study, 2, answers)
    with contextlib.ExitStack() as stack:
        stack.enter_context(foreign_lock(address))
        release = threading.Timer(seconds, stack.close)
        begun = time.monotonic()
        release.start()
        play(study, 1, answers)
        waited = time.monotonic() - begun
        release.join()
    found.expect(waited > seconds, f"ask took {waited:.1f} s while the lock was held for {seconds} s")
    study.close()

    study = sw.Study.open(address, "locked", timeout=0.5)
    with foreign_lock(address):
        for act in (study.ask, lambda: study.tell(answers[0][1], [0, 0, 0]), lambda: study.retire_arm(ARMS[0])):
            begun = time.monotonic()
            try:
                act()
                found.errors.append("it succeeded while another program held the lock")
            except Exception as error:
                wrong = sentence(error, "locked", "0.5 s", "nothing was written")
                found.expect(wrong is None, wrong)
            found.expect(time.monotonic() - begun < LIMIT, f"it took {time.monotonic() - begun:.1f} s to give up")
        study._writer.timeout = LIMIT
        found.expect(study.summary().told == 3, "a study cannot be read while it is locked")
    play(study, 3, answers)
    found.take(check(study, address, answers))
    study.close()
    return found.end(f"{seconds:g} s")


def stop_writer(folder, seconds):
    """While a process hangs during a write, others time out, even when opening the study."""
    found = Findings("a writer stands still")
    address = f"sqlite:///{folder}/still.db"
    answers = []
    study = new_study(address, "still")
    play(study, 2, answers)
    study._writer.timeout = 0.5
    with open(f"{folder}/still.db-lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wrong, error = alone("narrow.open_locked", 60, address=address)
        found.expect(error is None and wrong is None, error or wrong)
        release = threading.Timer(seconds, fcntl.flock, (lock, fcntl.LOCK_UN))
        begun = time.monotonic()
        release.start()
        try:
            study.ask()
            found.expect(time.monotonic() - begun > seconds, "it succeeded while another process held the lock")
        except Exception as error:
            wrong = sentence(error, "locked", "0.5 s", "nothing was written")
            found.expect(wrong is None, wrong)
        release.join()
    study._writer.timeout = LIMIT
    try:
        rounds = study.summary().rounds
        answers += [("ask", one.id, one.arms) for one in study.decisions() if one.status == "open"]
        play(study, 2, answers)
        truth = check(study, address, answers)
        found.take(truth)
        found.expect(len(truth.asked) == rounds + 2, "an ask that timed out was written")
    except Exception as error:
        found.errors.append(f"the study does not continue: {error}")
    study.close()
    return found.end(f"{seconds:g} s")


def open_locked(address):
    """In its own process: try to open the study, and print the problem of the message."""
    try:
        sw.Study.open(address, "still", timeout=0.5)
        wrong = None
    except Exception as error:
        wrong = sentence(error, "locked", "0.5 s")
    print(json.dumps(wrong), flush=True)
    os._exit(0)
