"""Damage bytes of a snapshot, of the database file, and of its WAL."""

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
TIMEOUT = 60  # seconds for one case, which takes some milliseconds


def known(study):
    """Return the state of a study, including its next decision."""
    return study._read(
        lambda replica: (
            replica.position, replica.digest, replica.rounds, replica.told, replica.earned, tuple(replica.names),
            replica.status.tolist(),
            replica.pulls.tolist(), replica.reward.tolist(), replica.shown.tolist(), replica.indices().tolist(),
            replica.select(replica.rounds + 1, replica.available(None)), replica.learning.bit_generator.state["state"],
        )
    )  # fmt: skip


def played_study(address, name="faults", rounds=ROUNDS, seed=7):
    """Create a study and play some rounds, with one arm added and one retired."""
    study = new_study(address, name, seed=seed)
    for number in range(rounds):
        if number == rounds // 3:
            study.add_arm("arm 12")
            study.retire_arm(ARMS[4])
        decision = study.ask()
        study.tell(decision, reward_of(decision.arms, decision.round))
        if number == rounds - 10:
            study._writer.do(lambda work: study._replica.save_snapshot(), study._replica)
    return study


def put_snapshot(address, name, data):
    """Write a snapshot to the database directly."""
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
    """Append a valid checksum."""
    return data + hashlib.sha256(data).digest()


def with_header(data, **changes):
    """Change the header of a snapshot; the checksum is valid."""
    start = len(MAGIC) + 8
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header = {**json.loads(data[start:end]), **changes}
    text = json.dumps({name: value for name, value in header.items() if value is not None}).encode()
    return sealed(MAGIC + len(text).to_bytes(8, "little") + text + data[end:-32])


def false_snapshots(address, good, study):
    """Yield intact snapshots of another position, another journal, or another format."""
    with played_study(address, "other", rounds=60, seed=8) as other:
        pass
    with sw.Study.open(address, "other") as other:
        yield "of another study", other._snapshot()
    position = known(study)[0]
    yield "of an earlier position", with_header(good, position=position - 1)
    yield "of a later position", with_header(good, position=position + 1)
    yield "of position 0", with_header(good, position=0)
    yield "of a negative position", with_header(good, position=-5)
    yield "of another digest", with_header(good, digest="00" * 16)
    yield "of an invalid digest", with_header(good, digest="what?")
    yield "of other code", with_header(good, code="0" * 64)
    for part in ("position", "digest", "code", "added", "learning", "values", "arrays", "earned", "open"):
        yield f"without {part}", with_header(good, **{part: None})
    yield "with no header", sealed(MAGIC + (2).to_bytes(8, "little") + b"[]")
    yield "with a header that is too long", sealed(MAGIC + (1 << 62).to_bytes(8, "little") + good[len(MAGIC) + 8 : -32])
    yield "without arrays", sealed(good[: len(good) // 2])


def harm_snapshots(address, flips, cuts, step=1):
    """A snapshot that is flipped, truncated or false is ignored, and the journal is replayed."""
    found = Findings(f"harm snapshots, {address.partition(':')[0]}")
    study = played_study(address)
    right = known(study)
    study._writer.do(lambda work: study._replica.save_snapshot(), study._replica)
    study.close()
    study = sw.Study.open(address, "faults")
    good = study._snapshot()
    found.expect(study._replica._saved == right[0], "a good snapshot is not used")
    found.expect(known(study) == right, "a good snapshot gives another state than the journal")
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
        found.expect(study._replica._saved == 0, f"{case}: it was used")
        found.expect(known(study) == right, f"{case}: the state does not follow from the journal")
        found.errors += [f"{case}: {problem}" for problem in Truth([r[:5] for r in rows_of(study)]).differs(study)]
        study.close()
    put_snapshot(
        address, "faults", with_header(good, told=1, earned=1e6)
    )  # false counters at the right position and digest
    with sw.Study.open(address, "faults") as study:
        found.expect(not study.verify().ok, "verify does not report a false snapshot")
        with study._replica.storage.transaction(True):
            study._replica.storage.save_snapshot(study._key, None)
    with sw.Study.open(address, "faults") as study:
        found.take(check(study, address))
    return found.end(f"{len(cases)} snapshots")


def rows_of(study):
    """Return the whole journal, as the study reads it."""
    return [row for page in study._rows() for row in page]


def read_all(study):
    """Return everything that can be read of a study."""
    decisions = study.decisions()
    rows = rows_of(study)
    about = study._read(
        lambda replica: [replica.storage.of_decision(replica.key, decision.id) for decision in decisions]
    )
    summary = study.summary().to_json()
    del summary["address"]
    return rows, known(study), study.arms(), decisions, about, summary, study.best()


def examine(path, right, prefix):
    """Classify a file: "refused" (on opening or reading), "reported" (by verify), "equal", "shorter", or an error."""
    study = None
    try:
        study = sw.Study.open(f"sqlite:///{path}", "faults", timeout=TIMEOUT / 2)
        verified = study.verify()
        quickly = study.verify(decisions=False)
        there = read_all(study)
        if not (verified.ok and quickly.ok):
            return "reported"
        if prefix and there[0] == right[0][: len(there[0])]:
            wrong = Truth([row[:5] for row in there[0]]).differs(study)
            return wrong[0] if wrong else "equal" if there == right else "shorter"
        if there != right:
            names = ("rows", "the replica", "arms()", "decisions()", "rows of a decision", "summary()", "best()")
            return f"verify finds no problems, but wrong are {[n for n, a, b in zip(names, there, right) if a != b]}"
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
    """In its own process: damage copies of a file, or of its WAL, one case after the other."""

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
    for kind, place, value in [("flip", 0, 0), *cases]:  # the first case damages nothing
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
        signal.alarm(TIMEOUT)
        outcome = examine(copy, right, prefix)
        signal.alarm(0)
        outcomes.append(outcome)
        if outcome == "it hangs":
            break
    if outcomes[0] != "equal":
        sys.exit(f"an undamaged file is {outcomes[0]}")
    shutil.rmtree(folder)
    print(json.dumps(outcomes[1:]), flush=True)
    os._exit(0)


def _judge(found, path, cases, prefix):
    """Examine the cases and count the outcomes."""
    fine = ("refused", "reported", "equal", *(["shorter"] if prefix else []))
    counts = dict.fromkeys(fine, 0)
    for start in range(0, len(cases), 100):  # a crash loses only these
        part = cases[start : start + 100]
        outcomes, error = alone("damage.examine_copies", path=path, cases=part, prefix=prefix)
        found.expect(error is None, f"cases {start}...: {error}")
        for case, outcome in zip(part, outcomes or ()):
            if outcome in fine:
                counts[outcome] += 1
            else:
                found.errors.append(f"{case}: {outcome}")
    found.expect(counts["equal"] < len(cases), "no damage was ever detected")
    found.note = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())


def harm_file(folder, flips, cuts, seed=7):
    """Flip a byte of the database file or truncate it: it is refused, reported, or read correctly."""
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
    cases.append(("flip", data.index(b"CREATE TABLE") + 3, 0x80))  # SQLite's own message is then not UTF-8
    cases += [("cut", rng.randrange(size), 0) for _ in range(cuts // 2)]
    cases += [("cut", 4096 * rng.randrange(size // 4096), 0) for _ in range(cuts - cuts // 2)]
    _judge(found, path, cases, False)
    return found.end(f"{len(cases) - cuts} flips, {cuts} cuts")


def harm_wal(folder, flips, cuts, seed=8):
    """Flip a byte of the WAL or truncate it: the journal ends where the damage begins, and is correct up to there."""
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
