"""Bytes that are not as they were written: in a snapshot, in the database file, in its WAL."""

import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile

import setwise as sw
from faults import Findings, sentence
from faults.crowd import Crowd, alone
from faults.truth import ARMS, Truth, check, new_study, reward_of
from setwise.errors import SetwiseError
from setwise.study.snapshot import MAGIC

ROUNDS = 80
PATIENCE = 60  # seconds for one case, which takes some milliseconds


def known(study):
    """All that a study knows, next decision included."""
    return study.read(
        lambda fold: (
            fold.position, fold.digest, fold.rounds, fold.told, fold.earned, tuple(fold.names), fold.status.tolist(),
            fold.pulls.tolist(), fold.reward.tolist(), fold.shown.tolist(), fold.indices().tolist(),
            fold.select(fold.rounds + 1, fold.available(None)), fold.learning.bit_generator.state["state"],
        )
    )  # fmt: skip


def played_study(address, name="faults", rounds=ROUNDS, seed=7):
    """A study with some rounds, an arm more and one less."""
    study = new_study(address, name, seed=seed)
    for number in range(rounds):
        if number == rounds // 3:
            study.add_arm("arm 12")
            study.retire_arm(ARMS[4])
        decision = study.ask()
        study.tell(decision, reward_of(decision.arms, decision.round))
        if number == rounds - 10:
            study._writer.do(lambda work: study._ledger.save(), study._ledger)
    return study


def put_snapshot(address, name, data):
    """Write a snapshot into the database, past the library."""
    statement = (
        "UPDATE setwise_snapshots SET data = {0} WHERE study = (SELECT id FROM setwise_studies WHERE name = {0})"
    )
    if address.startswith("sqlite"):
        connection = sqlite3.connect(address.removeprefix("sqlite:///"))
        with connection:
            changed = connection.execute(statement.format("?"), (data, name)).rowcount
        connection.close()
    else:
        import psycopg

        with psycopg.connect(address) as connection:
            changed = connection.execute(statement.format("%s"), (data, name)).rowcount
    assert changed == 1


def sealed(data):
    """A snapshot with a checksum that is right."""
    return data + hashlib.sha256(data).digest()


def with_header(data, **changes):
    """A snapshot with another header, and a checksum that is right."""
    start = len(MAGIC) + 8
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header = {**json.loads(data[start:end]), **changes}
    text = json.dumps({name: value for name, value in header.items() if value is not None}).encode()
    return sealed(MAGIC + len(text).to_bytes(8, "little") + text + data[end:-32])


def false_snapshots(address, good, study):
    """Snapshots that are whole and of another position, another journal, or another format."""
    with played_study(address, "other", rounds=60, seed=8) as other:
        pass
    with sw.Study.open(address, "other") as other:
        yield "of another study", other.stored_snapshot()
    position = known(study)[0]
    yield "of an earlier position", with_header(good, position=position - 1)
    yield "of a later position", with_header(good, position=position + 1)
    yield "of position 0", with_header(good, position=0)
    yield "of a negative position", with_header(good, position=-5)
    yield "of another digest", with_header(good, digest="00" * 16)
    yield "of a digest that is none", with_header(good, digest="what?")
    yield "of other code", with_header(good, code="0" * 64)
    for part in ("position", "digest", "code", "added", "learning", "values", "arrays", "earned", "open"):
        yield f"without {part}", with_header(good, **{part: None})
    yield "with no header", sealed(MAGIC + (2).to_bytes(8, "little") + b"[]")
    yield "with a header that is too long", sealed(MAGIC + (1 << 62).to_bytes(8, "little") + good[len(MAGIC) + 8 : -32])
    yield "without arrays", sealed(good[: len(good) // 2])


def harm_snapshots(address, flips, cuts, step=1):
    """A snapshot with a flipped byte, cut short, or of something else: it is thrown away, and the journal is read."""
    found = Findings(f"harm snapshots, {address.partition(':')[0]}")
    study = played_study(address)
    right = known(study)
    study._writer.do(lambda work: study._ledger.save(), study._ledger)
    study.close()
    study = sw.Study.open(address, "faults")
    good = study.stored_snapshot()
    found.expect(study._ledger._saved == right[0], "a good snapshot is not used")
    found.expect(known(study) == right, "a good snapshot leads elsewhere than the journal")
    cases = [*false_snapshots(address, good, study)]
    study.close()
    rng = random.Random(6)
    for _ in range(flips):
        place = rng.randrange(len(good))
        harmed = bytearray(good)
        harmed[place] ^= rng.randrange(1, 256)
        cases.append((f"flipped at {place}", bytes(harmed)))
    cases += [(f"cut to {size}", good[:size]) for size in [0, 1, 31, 32, 60, *rng.sample(range(len(good)), cuts)]]
    cases = cases[::step]
    for case, harmed in cases:
        put_snapshot(address, "faults", harmed)
        try:
            study = sw.Study.open(address, "faults")
        except Exception as error:
            found.errors.append(f"{case}: {type(error).__name__}: {error}")
            continue
        found.expect(study._ledger._saved == 0, f"{case}: it was used")
        found.expect(known(study) == right, f"{case}: what is known does not follow from the journal")
        found.errors += [f"{case}: {problem}" for problem in Truth([r[:5] for r in rows_of(study)]).differs(study)]
        study.close()
    put_snapshot(address, "faults", with_header(good, told=1, earned=1e6))  # false, of the right position and digest
    with sw.Study.open(address, "faults") as study:
        found.expect(not study.verify().ok, "verify does not see that a snapshot is false")
        study._ledger.storage.begin(True)
        study._ledger.storage.save_snapshot(study._key, None)
        study._ledger.storage.commit()
    with sw.Study.open(address, "faults") as study:
        found.take(check(study, address))
    return found.end(f"{len(cases)} snapshots")


def rows_of(study):
    """The whole journal, as the study reads it."""
    return [row for page in study.rows() for row in page]


def read_all(study):
    """Everything that can be read of a study."""
    decisions = study.decisions()
    rows = rows_of(study)
    about = study._read(lambda ledger: [ledger.storage.of_decision(ledger.key, decision.id) for decision in decisions])
    summary = study.summary().to_json()
    del summary["address"]
    return rows, known(study), study.arms(), decisions, about, summary, study.best()


def examine(path, right, prefix):
    """What comes of a file: "refused" (also by what is read), "reported", "equal", "shorter", or what is wrong."""
    study = None
    try:
        study = sw.Study.open(f"sqlite:///{path}", "faults", timeout=PATIENCE / 2)
        verified = study.verify()
        quickly = study.verify(decisions=False)
        there = read_all(study)
        if not (verified.ok and quickly.ok):
            return "reported"
        if prefix and there[0] == right[0][: len(there[0])]:
            wrong = Truth([row[:5] for row in there[0]]).differs(study)
            return wrong[0] if wrong else "equal" if there == right else "shorter"
        if there != right:
            names = ("rows", "the fold", "arms()", "decisions()", "rows of a decision", "summary()", "best()")
            return f"verify says all is well, and wrong are {[n for n, a, b in zip(names, there, right) if a != b]}"
        study.tell(study.ask(), {})
        return "equal"
    except SetwiseError as error:
        return sentence(error) or "refused"
    except TimeoutError:
        return "it hangs"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        if study is not None:
            try:
                study.close()
            except SetwiseError as error:
                wrong = sentence(error)
                if wrong:
                    print(f"closing: {wrong}")


def examine_copies(path, cases, prefix=False):
    """In a process of its own: harm a copy of a file, or of its WAL, in one way after the other."""

    def give_up(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    folder = tempfile.mkdtemp(prefix="setwise-damage-")
    copy = os.path.join(folder, os.path.basename(path))
    endings = ["", "-wal"] if prefix else [""]
    outcomes = []
    for ending in endings:
        shutil.copy(path + ending, copy + ending)
    with sw.Study.open(f"sqlite:///{copy}", "faults") as study:
        right = read_all(study)
    for kind, place, value in [("flip", 0, 0), *cases]:  # at first nothing is harmed
        for file in os.listdir(folder):
            os.remove(os.path.join(folder, file))
        for ending in endings:
            shutil.copy(path + ending, copy + ending)
        with open(copy + endings[-1], "r+b") as file:
            if kind == "cut":
                file.truncate(place)
            else:
                file.seek(place)
                old = file.read(1)[0]
                file.seek(place)
                file.write(bytes([old ^ value]))
        signal.alarm(PATIENCE)
        outcome = examine(copy, right, prefix)
        signal.alarm(0)
        outcomes.append(outcome)
        if outcome == "it hangs":
            break
    if outcomes[0] != "equal":
        sys.exit(f"a file that nothing was done to is {outcomes[0]}")
    shutil.rmtree(folder)
    print(json.dumps(outcomes[1:]), flush=True)
    os._exit(0)


def _judge(found, path, cases, prefix):
    """Have copies examined, and count what came of them."""
    fine = ("refused", "reported", "equal", *(["shorter"] if prefix else []))
    counts = dict.fromkeys(fine, 0)
    for start in range(0, len(cases), 100):  # a process that crashes takes few others with it
        part = cases[start : start + 100]
        outcomes, error = alone("damage.examine_copies", path=path, cases=part, prefix=prefix)
        found.expect(error is None, f"cases {start}...: {error}")
        for case, outcome in zip(part, outcomes or ()):
            if outcome in fine:
                counts[outcome] += 1
            else:
                found.errors.append(f"{case}: {outcome}")
    found.expect(counts["equal"] < len(cases), "nothing was ever found to be damaged")
    found.note = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())


def harm_file(folder, flips, cuts, seed=7):
    """Flip a byte of the database file, or cut it: it is refused, or reported, or all that is read is right."""
    found = Findings("harm the file")
    path = os.path.join(folder, "harmed.db")
    with played_study(f"sqlite:///{path}", "before", 30), played_study(f"sqlite:///{path}", "faults"):
        pass
    size = os.path.getsize(path)
    rng = random.Random(seed)
    places = [
        *rng.choices(range(100), k=flips // 8),  # the header of the file
        *(4096 * rng.randrange(size // 4096) + rng.randrange(150) for _ in range(flips // 4)),  # the headers of pages
    ]
    places += [rng.randrange(size) for _ in range(flips - len(places))]
    cases = [("flip", place, rng.choice([1 << rng.randrange(8), rng.randrange(1, 256)])) for place in places]
    with open(path, "rb") as file:
        data = file.read()
    cases.append(("flip", data.index(b"schema1") + 6, 0x40))  # the version of the tables
    cases.append(("flip", data.index(b"CREATE TABLE") + 3, 0x80))  # what SQLite says of it is no UTF-8
    cases += [("cut", rng.randrange(size), 0) for _ in range(cuts // 2)]
    cases += [("cut", 4096 * rng.randrange(size // 4096), 0) for _ in range(cuts - cuts // 2)]
    _judge(found, path, cases, False)
    return found.end(f"{flips} flips, {cuts} cuts")


def harm_wal(folder, flips, cuts, seed=8):
    """Flip a byte of the WAL, or cut it: the journal ends where the harm begins, and is right up to there."""
    found = Findings("harm the WAL")
    path = os.path.join(folder, "wal.db")
    with played_study(f"sqlite:///{path}"):
        pass
    job = {"address": f"sqlite:///{path}", "name": "faults", "rounds": ROUNDS + 20, "die": "tell"}
    with Crowd("run", [job]) as crowd:
        crowd.processes[0].wait()
    size = os.path.getsize(f"{path}-wal")
    rng = random.Random(seed)
    cases = [("flip", rng.randrange(size if number % 4 else 60), 1 << rng.randrange(8)) for number in range(flips)]
    cases += [("cut", rng.randrange(size), 0) for _ in range(cuts)]
    kept = f"{path}-kept"
    for ending in ("", "-wal"):
        shutil.copy(path + ending, kept + ending)
    _judge(found, kept, cases, True)
    return found.end(f"{flips} flips, {cuts} cuts")
