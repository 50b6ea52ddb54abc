"""Snapshots, verification, export and import."""

import copy
import csv
import hashlib
import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setwise as sw
from setwise.study import journal, snapshot
from setwise.study import replica as replicas
from setwise.study.replica import Replica
from studies import CAMERAS, play, snapshot_of


def test_a_snapshot_restores_the_whole_state():
    study = sw.Study.memory(CAMERAS, 3, sw.Doubling(sw.KLUCB()), 1000, seed=0, window="1h")
    play(study, 30)
    study.add_arm("Leica")
    study.retire_arm("Shoes")
    waiting = study.ask()
    play(study, 10)
    data = snapshot_of(study)
    before = study._read(lambda replica: replica)
    after = Replica()
    assert snapshot.restore(after, before.definition, data)
    assert [name for name, _ in snapshot.leaves(after.state)] == [name for name, _ in snapshot.leaves(before.state)]
    for (_, one), (_, other) in zip(snapshot.leaves(before.state), snapshot.leaves(after.state), strict=True):
        assert np.array_equal(one, other)
    assert after.open == before.open and waiting.id in after.open
    assert after.names == before.names and after.active == before.active == 6
    assert after.learning.random() == copy.deepcopy(before.learning).random()


def test_the_format_of_a_snapshot_is_as_documented():
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 1000, seed=0)
    play(study, 5)
    data = snapshot_of(study)
    magic = b"SETWISE SNAPSHOT 1\n"
    assert data.startswith(magic)
    length = int.from_bytes(data[len(magic) : len(magic) + 8], "little")
    header = json.loads(data[len(magic) + 8 : len(magic) + 8 + length])
    assert header["position"] == 11 and header["told"] == 5
    start = len(magic) + 8 + length
    for name, dtype, shape in header["arrays"]:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if name == "counters.pulls":
            assert np.frombuffer(data[start : start + size], dtype).sum() == 15
        start += size
    assert start + 32 == len(data)


def test_a_snapshot_that_is_damaged_or_of_another_journal_is_ignored(address):
    study = sw.Study.create(address, "homepage", CAMERAS, 3, sw.KLUCB(), 1000, seed=0)
    other = sw.Study.create(address, "other", CAMERAS, 3, sw.KLUCB(), 1000, seed=0)
    play(study, 20)
    play(other, 20, lambda decision: {})
    right = [(arm.pulls, arm.reward, arm.index) for arm in study.arms()]
    good, stranger = snapshot_of(study), snapshot_of(other)
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    for wrong in (bytes(flipped), good[:100], b"", stranger):
        study._writer.do(lambda work, wrong=wrong: study._writer.storage.save_snapshot(study._key, wrong))
        study._replica.discard()
        assert [(arm.pulls, arm.reward, arm.index) for arm in study.arms()] == right
    study.close()
    other.close()


def test_a_snapshot_of_other_code_is_ignored(monkeypatch):
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 1000, seed=0)
    play(study, 5)
    data = snapshot_of(study)
    definition = study._read(lambda replica: replica.definition)
    assert snapshot.restore(Replica(), definition, data)
    monkeypatch.setattr(snapshot, "source_digest", lambda cls: "changed")
    assert not snapshot.restore(Replica(), definition, data)


def test_opening_replays_only_the_rows_after_the_snapshot(address, monkeypatch):
    monkeypatch.setattr(replicas, "SNAPSHOT_ROWS", 50)
    study = sw.Study.create(address, "homepage", CAMERAS, 3, sw.UCB(), 1000, seed=0)
    play(study, 60)
    study.close()
    applied = []
    plain = Replica.apply
    monkeypatch.setattr(Replica, "apply", lambda self, rows, **o: (applied.append(len(rows)), plain(self, rows, **o)))
    with sw.Study.open(address, "homepage") as again:
        assert again.summary().rounds == 60
    assert sum(applied) < 60


def test_verify_finds_changed_rows_and_counters():
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 1000, seed=0)
    play(study, 10)
    rows = study._writer.storage._journals[study._key]
    row = rows[6]
    rows[6] = row._replace(body=row.body.replace("1", "0", 1))
    assert "position 7" in study.verify().problems[0]
    rows[6] = row
    del rows[6]
    assert "position 7 is missing" in study.verify().problems[0]
    rows.insert(6, row)
    assert study.verify().ok
    study._read(lambda replica: replica.pulls.__setitem__(0, 99))
    assert "pulls of the arms" in study.verify().problems[0]


def test_verify_finds_a_decision_that_the_policy_would_not_make():
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 1000, seed=0)
    play(study, 3)
    storage, key = study._writer.storage, study._key
    last = storage._journals[key][-1]
    body = {"round": 4, "arms": [0, 1, 2]}
    wrong = study._read(lambda replica: replica.select(4, None)) != [0, 1, 2]
    body["arms"] = [0, 1, 2] if wrong else [1, 2, 3]
    storage._journals[key].append(journal.new_row(last.position, last.digest, "ask", "forged", last.time, body))
    assert "round 4 chose" in study.verify().problems[0]
    assert study.verify(decisions=False).ok


def test_an_exported_journal_can_be_imported(create, tmp_path, address):
    study = create(policy=sw.KLUCB(), window="2h")
    play(study, 20)
    study.add_arm('Leica \u00e9, "quoted"')
    study.retire_arm("Shoes")
    waiting = study.ask()
    study.export(tmp_path / "homepage.jsonl")
    copied = sw.Study.load(f"sqlite:///{tmp_path}/copy.db", "copy", tmp_path / "homepage.jsonl")
    assert copied.verify().ok
    assert copied.decisions() == study.decisions()
    assert copied.tell(waiting.id, {}).round == 21 and study.tell(waiting, {})
    assert play(copied, 10) == play(study, 10)
    copied.close()


def test_decisions_are_exported_as_csv(tmp_path):

    study = sw.Study.memory(['a, "b"', "c", "d"], 2, sw.UCB(), 100, seed=0)
    first = study.ask()
    study.tell(first, {first.arms[0]: 0.25})
    study.ask()
    study.export(tmp_path / "homepage.csv")
    with open(tmp_path / "homepage.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert (rows[0]["round"], rows[0]["decision"], rows[0]["arm"]) == ("1", first.id, first.arms[0])
    assert [row["reward"] for row in rows] == ["0.25", "0.0", "", ""]


def test_a_damaged_journal_is_not_imported(tmp_path, address):
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 100, seed=0)
    play(study, 5)
    path = tmp_path / "homepage.jsonl"
    study.export(path)
    lines = path.read_text().splitlines(keepends=True)
    for wrong, kind, words in (
        (lines[:4] + lines[5:], sw.DamagedFile, "position 4 is missing"),
        (
            [*lines[:4], lines[4].replace('"time":1', '"time":2'), *lines[5:]],
            sw.DamagedFile,
            "position 4 does not match its digest",
        ),
        ([*lines[:4], lines[4][:9]], sw.DamagedFile, "line 5: the journal is damaged: this is not a row"),
        ([*lines[:4], "\udcff", *lines[4:]], sw.DamagedFile, "line 5: the journal is damaged: this is not a row"),
        (lines[:1], sw.DamagedFile, "has no rows"),
        (["not JSON\n"], sw.InputError, "is not a journal"),
        (["[1, 2]\n", *lines[1:]], sw.InputError, "is not a journal"),
        ([], sw.InputError, "is not a journal"),
        ([lines[0].replace('"format": 1', '"format": 99'), *lines[1:]], sw.InputError, "newer version"),
    ):
        path.write_text("".join(wrong), errors="surrogateescape")
        with pytest.raises(kind, match=words):
            sw.Study.load(address, "copy", path)
    path.write_bytes(bytes(reversed(range(256))))
    with pytest.raises(sw.InputError, match="it is not text"):
        sw.Study.load(address, "copy", path)
    assert not os.path.exists(address.removeprefix("sqlite:///"))


def test_the_figure_shows_the_arms_and_the_reward(tmp_path):
    study = sw.Study.memory([f"arm {number}" for number in range(12)], 3, sw.UCB(), 100, seed=0)
    with pytest.raises(sw.InputError, match="no decisions"):
        study.plot()
    play(study, 100)
    study.ask()
    figure = study.plot(tmp_path / "homepage.png")
    assert (tmp_path / "homepage.png").stat().st_size > 10_000
    left, right = figure.axes
    assert len(left.lines) == 7
    assert np.allclose(right.lines[0].get_ydata(), 1.0)
    shares = np.array([line.get_ydata() for line in left.lines])
    assert shares.min() >= 0 and shares.max() <= 1


def test_the_digest_of_a_row_is_as_documented():
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 100, seed=0)
    play(study, 2)
    before = bytes(16)
    for row in [row for page in study._rows() for row in page]:
        text = "\n".join((str(row.position), row.kind, row.decision or "", str(row.time), row.body))
        before = hashlib.blake2b(text.encode(), digest_size=16, key=before).digest()
        assert row.digest == before


@given(st.lists(st.integers(0, 10**6)), st.lists(st.integers(0, 9) | st.floats(0, 1e300)), st.integers(1, 10**12))
def test_bodies_are_encoded_as_json_does(arms, rewards, round):
    for body in ({"round": round, "arms": arms}, {"arms": arms, "rewards": rewards}, {"arms": arms, "closed": True}):
        assert journal.to_text(body) == json.dumps(body, separators=(",", ":"))
