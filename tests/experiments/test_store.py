"""Results stored by digest: joined, extended, checked, listed, removed and exported."""

import csv
import dataclasses
import functools
import json
import os
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise.experiments.plays import Play
from setwise.experiments.store import Store, _code_today
from setwise.files import write_atomic
from setwise.identity import identity
from setwise.types import Ints, State
from shell import call

HORIZON = 50


def a_play(**changes):
    options = {"policy": sw.UCB(), "environment": sw.paper.camera(), "horizon": HORIZON, "checkpoints": 5, **changes}
    return Play.of(**options)


PLAY = a_play()


@functools.cache
def thirty_runs():
    return PLAY.run(30, compiled=False)


def runs(first, last):
    return thirty_runs().take(last + 1).drop(first)


def a_store(folder, *spans):
    store = Store(folder)
    for first, last in spans:
        store.keep(PLAY, runs(first, last))
    return Store(folder)


def same(left, right):
    pairs = [(getattr(left, field.name), getattr(right, field.name)) for field in dataclasses.fields(left)]
    return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)


def test_a_file_is_named_by_digest_and_runs(tmp_path):
    path = Store(tmp_path / "a" / "b").keep(PLAY, runs(5, 19))
    assert path == str(tmp_path / "a" / "b" / f"{PLAY.digest}-000005-000019.npz")
    assert same(sw.Result.load(path), runs(5, 19))
    assert os.listdir(tmp_path / "a" / "b") == [os.path.basename(path)]


@pytest.mark.parametrize(
    ("spans", "there"),
    [
        ([], 0),
        ([(0, 9)], 10),
        ([(0, 9), (10, 19)], 20),
        ([(10, 19), (20, 29)], 0),
        ([(0, 9), (20, 29)], 10),
        ([(0, 9), (5, 19)], 20),
        ([(0, 4), (0, 9), (2, 7), (3, 19), (12, 29)], 30),
        ([(0, 0), (1, 1), (2, 2)], 3),
        ([(0, 29), (3, 5)], 30),
    ],
)
def test_the_runs_from_the_first_on_are_joined(tmp_path, spans, there):
    found = a_store(tmp_path, *spans).load(PLAY, 30)
    assert found is None if there == 0 else same(found, thirty_runs().take(there))


def test_no_more_files_are_read_than_are_needed(tmp_path):
    store = a_store(tmp_path, (0, 9), (10, 19), (20, 29))
    assert store.load(PLAY, 10).runs == 10
    assert store.load(PLAY, 11).runs == 20


@pytest.mark.parametrize(
    ("spans", "wanted", "chunk", "missing"),
    [
        ([], 10, 4, [(0, 4), (4, 4), (8, 2)]),
        ([(0, 9)], 10, 4, []),
        ([(0, 9)], 25, 10, [(10, 10), (20, 5)]),
        ([(0, 9), (20, 29)], 30, 6, [(10, 6), (16, 4)]),
        ([(5, 9), (8, 19)], 30, 100, [(0, 5), (20, 10)]),
        ([(0, 4), (20, 29)], 10, 100, [(5, 5)]),
        ([(0, 29)], 10, 1, []),
    ],
)
def test_what_is_missing_is_what_no_file_has(tmp_path, spans, wanted, chunk, missing):
    assert a_store(tmp_path, *spans).missing(PLAY, wanted, chunk) == missing


def test_playing_what_is_missing_gives_the_runs_that_were_asked_for(tmp_path):
    store = a_store(tmp_path, (3, 5), (8, 8))
    for first, count in store.missing(PLAY, 12, 4):
        store.keep(PLAY, PLAY.run(count, first, compiled=False))
    assert same(store.load(PLAY, 12), thirty_runs().take(12))
    assert store.missing(PLAY, 12, 4) == [] and store.damaged == []


def test_what_another_process_keeps_is_seen_at_once(tmp_path):
    reader, writer = Store(tmp_path), Store(tmp_path)
    for last in range(20):
        writer.keep(PLAY, runs(last, last))
        assert reader.load(PLAY, 20).runs == last + 1


def test_a_folder_at_rest_is_listed_once(tmp_path, monkeypatch):
    store = a_store(tmp_path, (0, 9))
    os.utime(tmp_path, (time.time() - 60,) * 2)
    listings = []
    real = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: listings.append(path) or real(path))
    assert [store.load(PLAY, 10).runs for _ in range(5)] == [10] * 5
    assert len(listings) == 1


def test_results_of_another_play_are_not_kept(tmp_path):
    with pytest.raises(sw.InputError, match="is not a result of the play"):
        Store(tmp_path).keep(a_play(checkpoints=3), runs(0, 1))
    with pytest.raises(sw.InputError, match="is not a result of the play"):
        Store(tmp_path).keep(a_play(seed=1), runs(0, 1))
    assert os.listdir(tmp_path) == []


class Greedy(NamedTuple):
    """A policy by hand, to change its code."""

    bonus: float = 1.0

    def init(self, n: int, k: int, horizon: int, rng: object) -> State:
        return (np.zeros(k),)

    def select(self, state: State, rng: object) -> Ints:
        return np.arange(len(state[0]))

    def update(self, state: State, chosen: Ints, rewards: object, rng: object) -> None:
        state[0][0] += 1.0


def test_the_digest_changes_with_whatever_the_runs_follow_from():
    world = sw.paper.camera()
    table = world.probabilities.copy()
    table[0, 0] -= 0.01
    plays = [
        PLAY,
        a_play(policy=sw.UCB(alpha=0.5)),
        a_play(policy=sw.KLUCB()),
        a_play(environment=world._replace(probabilities=table)),
        a_play(horizon=HORIZON + 1),
        a_play(checkpoints=6),
        a_play(seed=1),
        a_play(record=True),
        a_play(fast_forward=False),
        a_play(policy=Greedy()),
    ]
    assert len({play.digest for play in plays}) == len(plays)


def test_the_digest_changes_with_what_a_class_says_of_its_feedback():
    play = a_play()
    scope = {"__name__": "saying", "sw": sw, "NamedTuple": NamedTuple}
    digests = set()
    for feedback in ("choice", "independent"):
        exec(SAYING.replace("FEEDBACK", feedback), scope)
        digests.add(Play.of(sw.UCB(), scope["Saying"](), play.horizon).digest)
    assert len(digests) == 2


SAYING = """
@sw.environment(feedback="FEEDBACK", rewards="binary")
class Saying(NamedTuple):
    n: int = 3
    k: int = 2

    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = 0.1

    def draw(self, chosen, rng, rewards):
        raise NotImplementedError

    def best(self):
        return sw.simulation.result.np.array([0, 1])
"""


def test_the_digest_changes_with_the_code(monkeypatch):
    def update(self, state, chosen, rewards, rng):
        state[0][0] += 2.0

    before = a_play(policy=Greedy()).digest
    update.__qualname__ = Greedy.update.__qualname__
    monkeypatch.setattr(Greedy, "update", update)
    after = a_play(policy=Greedy()).digest
    monkeypatch.undo()
    assert after != before == a_play(policy=Greedy()).digest


def test_the_digest_is_that_of_equal_values_whatever_the_arms_are_called(tmp_path):
    world = sw.paper.camera()._replace(names=tuple("abcdef"))
    renamed = a_play(environment=world)
    assert renamed.digest == PLAY.digest == a_play().digest
    store = a_store(tmp_path, (0, 3))
    store.keep(renamed, dataclasses.replace(runs(4, 5), names=world.names, environment=repr(world)))
    found = store.load(renamed, 6)
    assert found.names == world.names and found.environment == repr(world) and found.runs == 6
    assert store.load(PLAY, 6).names == sw.paper.camera().names


def garble(path):
    data = bytearray(path.read_bytes())
    data[data.index(b"NUMPY") + 200] ^= 4
    path.write_bytes(data)


def empty(path):
    path.write_bytes(b"")


def overwrite(path):
    runs(1, 5).save(path)


@pytest.mark.parametrize("harm", [garble, empty, overwrite])
def test_a_damaged_file_is_removed_and_its_runs_are_missing(tmp_path, harm):
    store = a_store(tmp_path, (0, 4), (5, 9), (10, 14))
    middle = tmp_path / f"{PLAY.digest}-000005-000009.npz"
    harm(middle)
    assert store.load(PLAY, 15).runs == 5
    assert not middle.exists()
    assert len(store.damaged) == 1
    assert store.damaged[0].startswith(f"{middle} is damaged: ")
    assert store.damaged[0].endswith("; it was removed, and its runs are played again")
    assert store.missing(PLAY, 15, 100) == [(5, 5)]
    store.keep(PLAY, runs(5, 9))
    assert same(store.load(PLAY, 15), thirty_runs().take(15))
    assert len(store.damaged) == 1


def test_what_is_missing_counts_no_damaged_file(tmp_path):
    store = a_store(tmp_path, (0, 4), (10, 14))
    garble(tmp_path / f"{PLAY.digest}-000010-000014.npz")
    assert store.missing(PLAY, 15, 100) == [(5, 10)]
    assert len(store.damaged) == 1


def test_where_a_damaged_file_has_a_double_nothing_is_lost(tmp_path):
    store = a_store(tmp_path, (0, 9), (0, 4), (3, 9))
    garble(tmp_path / f"{PLAY.digest}-000000-000009.npz")
    assert same(store.load(PLAY, 10), thirty_runs().take(10))
    assert len(store.damaged) == 1


KEEPING = """
import sys
import setwise as sw
from setwise.experiments.plays import Play
from setwise.experiments.store import Store
play = Play.of(sw.UCB(), sw.paper.camera(), 50, checkpoints=5)
result = sw.Result.load(sys.argv[1])
for turn in range(6):
    for last in range(5):
        Store(sys.argv[2]).keep(play, result.take(last + 1))
"""


def test_two_processes_may_keep_the_same_runs_at_the_same_time(tmp_path):
    runs(0, 4).save(tmp_path / "five.npz")
    words = [sys.executable, "-c", KEEPING, str(tmp_path / "five.npz"), str(tmp_path / "store")]
    both = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    reader = Store(tmp_path / "store")
    try:
        while any(process.poll() is None for process in both):
            found = reader.load(PLAY, 5)
            assert found is None or same(found, thirty_runs().take(found.runs))
            time.sleep(0.002)
    finally:
        for process in both:
            process.kill()
    assert [process.communicate()[1] for process in both] == ["", ""]
    assert sorted(os.listdir(tmp_path / "store")) == [f"{PLAY.digest}-000000-00000{last}.npz" for last in range(5)]
    assert reader.damaged == []


def test_a_crash_before_the_file_has_its_name_leaves_nothing_that_counts(tmp_path):
    store = a_store(tmp_path, (0, 4))
    code = (
        "import os, sys\n"
        "from setwise.simulation.result import write_atomic\n"
        "os.replace = lambda draft, path: os._exit(9)\n"
        "write_atomic(sys.argv[1], b'half')\n"
    )
    target = tmp_path / f"{PLAY.digest}-000005-000009.npz"
    assert subprocess.run([sys.executable, "-c", code, str(target)], timeout=60).returncode == 9
    (draft,) = [path for path in tmp_path.iterdir() if path.suffix == ".part"]
    assert not target.exists()
    assert store.load(PLAY, 10).runs == 5 and len(store.entries()) == 1 and store.damaged == []
    Store(tmp_path)
    assert draft.exists()  # it may be that of a process at work
    os.utime(draft, (time.time() - 7200,) * 2)
    other = tmp_path / "film.part"
    other.write_text("not ours")
    os.utime(other, (time.time() - 7200,) * 2)
    Store(tmp_path)
    assert not draft.exists() and other.exists()


def test_an_error_while_writing_leaves_nothing(tmp_path, monkeypatch):
    store = a_store(tmp_path, (0, 4))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        store.keep(PLAY, runs(0, 4))
    assert caught.value.filename == str(tmp_path / f"{PLAY.digest}-000000-000004.npz")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be_made_is_refused_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        sw.InputError, match=r"results cannot be kept in .*file/results: Not a directory; give a folder"
    ):
        Store(tmp_path / "file" / "results")


def test_a_folder_that_cannot_be_written_is_refused_at_once(tmp_path, monkeypatch):
    real = open

    def read_only(path, mode="r", *rest, **options):
        if mode == "xb":
            raise PermissionError(13, "Permission denied", path)
        return real(path, mode, *rest, **options)

    monkeypatch.setattr("builtins.open", read_only)
    with pytest.raises(sw.StorageError, match="Permission denied; give a folder that can be written"):
        Store(tmp_path)


def test_a_written_file_may_be_read_by_those_whom_the_system_lets(tmp_path):
    mask = os.umask(0o022)
    try:
        write_atomic(tmp_path / "x", b"1")
    finally:
        os.umask(mask)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644


def test_an_entry_says_what_is_kept(tmp_path):
    begun = time.time()
    store = a_store(tmp_path, (0, 4), (3, 9), (20, 29))
    recorded = a_play(policy=sw.UCB(alpha=3.0), record=True, seed=7)
    path = store.keep(recorded, recorded.run(2, compiled=False))
    os.utime(path, (1000.0, 1000.0))
    first, second = store.entries()
    camera = sw.paper.camera()
    assert first[:11] == (PLAY.digest, "UCB()", repr(camera), identity(camera), HORIZON, 0, 5, False, False, None, 20)
    assert first.size == sum(file.stat().st_size for file in tmp_path.glob(f"{PLAY.digest}*"))
    assert begun - 2.0 <= first.written <= time.time() + 2.0  # file systems round
    assert (second.policy, second.seed, second.record, second.runs, second.written) == (
        "UCB(alpha=3.0)", 7, True, 2, 1000.0,
    )  # fmt: skip
    assert first.current is True and second.current is True


@pytest.mark.parametrize("policy", [sw.UCB(), sw.Doubling(sw.KLUCB()), sw.KLUCB()])
def test_the_code_of_classes_by_name_is_that_of_the_play(policy):
    play = a_play(policy=policy)
    assert _code_today([[cls.__module__, cls.__qualname__] for cls in play.classes]) == play.code


def kept_with(folder, seed, **changes):
    """Keep runs of a play with something changed in what is known of it; return the play."""
    play = a_play(seed=seed)
    vars(play).update(changes)
    Store(folder).keep(play, dataclasses.replace(runs(0, 1), seed=seed))
    return play


def test_an_entry_says_whether_todays_code_would_give_it(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.keep(a_play(policy=Greedy()), dataclasses.replace(runs(0, 1), policy="Greedy()"))
    kept_with(tmp_path, 1, code="0" * 32)
    kept_with(tmp_path, 2)
    with monkeypatch.context() as patch:
        patch.setattr("setwise.experiments.store.library_versions", lambda: ("numpy 0.1",))
        kept_with(tmp_path, 3)
    assert [(e.policy, e.seed, e.current) for e in store.entries()] == [
        ("Greedy()", 0, True), ("UCB()", 1, False), ("UCB()", 2, True), ("UCB()", 3, False),
    ]  # fmt: skip
    monkeypatch.delitem(sys.modules, Greedy.__module__)
    assert store.entries()[0].current is None


def test_no_module_is_imported_because_a_file_names_it():
    assert _code_today([["antigravity", "Policy"]]) is None
    assert "antigravity" not in sys.modules
    assert _code_today([["setwise.cli.__main__", "Policy"]]) is None
    assert _code_today([["setwise.policies.no_such", "Policy"]]) == "none"
    assert _code_today([["setwise.policies.ucb", "NoSuch"]]) == "none"


def test_a_damaged_file_is_listed_and_left_alone(tmp_path):
    store = a_store(tmp_path, (0, 4))
    (path,) = tmp_path.iterdir()
    garble(path)
    (entry,) = store.entries()
    assert (entry.policy, entry.runs, entry.current) == ("", 5, None)
    assert path.exists() and len(store.damaged) == 1


def test_removing_takes_what_is_named_and_nothing_else(tmp_path):
    store = a_store(tmp_path, (0, 4), (5, 9))
    stale = kept_with(tmp_path, 1, code="0" * 32)
    other = kept_with(tmp_path, 2)
    (tmp_path / "notes.txt").write_text("mine")
    assert [entry.digest for entry in store.remove(stale=True)] == [stale.digest]
    assert store.remove(stale=True) == []
    assert [entry.runs for entry in store.remove([PLAY.digest[:6].upper()])] == [10]
    assert [entry.digest for entry in store.entries()] == [other.digest]
    assert [entry.digest for entry in store.remove(everything=True)] == [other.digest]
    assert os.listdir(tmp_path) == ["notes.txt"]


def test_a_digest_has_to_name_one_result(tmp_path):
    store = Store(tmp_path)
    for digest in ("abcd" + "0" * 28, "abcd" + "1" * 28):
        (tmp_path / f"{digest}-000000-000001.npz").write_bytes(b"")
    for given, sentence in {
        "abc": "'abc' is too short for a digest; give at least 4 characters",
        "abcd": "'abcd' begins 2 digests, abcd0000",
        "ffff": "there is no result 'ffff' in .*; there are abcd00000000, abcd11111111",
        "abcd00x": "there is no result 'abcd00x' in .*; did you mean 'abcd00000000'",
    }.items():
        with pytest.raises(sw.InputError, match=sentence):
            store.remove([given])
    assert store.find("abcd0") == "abcd" + "0" * 28
    for number in range(10):
        (tmp_path / f"{number:032x}-000000-000001.npz").write_bytes(b"")
    with pytest.raises(sw.InputError, match="`setwise results list` shows the 12 there are"):
        store.find("ffff")


def test_an_exported_result_has_the_numbers_in_full(tmp_path):
    play = a_play(environment=sw.paper.camera(), record=True)
    result = play.run(4, compiled=False)
    store = Store(tmp_path / "store")
    store.keep(play, result.take(2))
    store.keep(play, result.drop(2))
    for ending in ("npz", "csv", "json"):
        assert store.export(play.digest[:8], tmp_path / f"x.{ending}").runs == 4
    assert same(sw.Result.load(tmp_path / "x.npz"), result)
    with open(tmp_path / "x.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["run", "round", "regret"]
    wanted = [(r, t, result.regret[r, i]) for r in range(4) for i, t in enumerate(result.rounds.tolist())]
    assert [(int(r), int(t), float(x)) for r, t, x in rows[1:]] == wanted

    def never(text):
        raise AssertionError(text)

    read = json.loads((tmp_path / "x.json").read_text(), parse_constant=never)
    assert read["regret"] == result.regret.tolist() and read["names"] == list(result.names)
    back = np.array(read["indices"], dtype=float)
    assert np.array_equal(np.isfinite(result.indices), np.isfinite(back))
    assert np.array_equal(result.indices[np.isfinite(back)], back[np.isfinite(back)])


def test_surrogate_regret_is_exported_where_there_is_any(tmp_path):
    store = Store(tmp_path / "store")
    store.keep(PLAY, dataclasses.replace(runs(0, 1), surrogate_regret=2.0 * runs(0, 1).regret))
    store.export(PLAY.digest, tmp_path / "x.csv")
    with open(tmp_path / "x.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(float(row["surrogate_regret"]) == 2.0 * float(row["regret"]) for row in rows)
    assert len(rows) == 10


def test_the_list_says_what_was_tested(tmp_path):
    store = Store(tmp_path)
    for play in (a_play(), a_play(certificate=0.9)):
        store.keep(play, play.run(1, compiled=False))
    assert sorted(str(entry.certificate) for entry in store.entries()) == ["0.9", "None"]
    listed = call("results", "list", "--results", tmp_path).output
    assert listed.count("UCB(), certificate 0.9") == 1 and listed.count("UCB()") == 2


def test_the_command_line_lists_exports_and_removes(tmp_path):
    folder = tmp_path / "store"
    a_store(folder, (0, 4), (5, 9))
    stale = kept_with(folder, 1, code="0" * 32)
    listed = call("results", "list", "--results", folder)
    assert listed.exit_code == 0
    line = next(line for line in listed.output.splitlines() if line.startswith(PLAY.digest[:12]))
    assert line.split()[1:3] == ["UCB()", "camera"] and " 10 " in line and line.rstrip().endswith("yes")
    assert f"2 results, {sum(path.stat().st_size for path in folder.iterdir()) / 1000:.1f} kB" in listed.output

    exported = call("results", "export", PLAY.digest[:8], tmp_path / "x.csv", "--results", folder)
    assert exported.exit_code == 0 and f"{tmp_path / 'x.csv'}  10 runs of 50 rounds, UCB()" in exported.output

    removed = call("results", "remove", "--stale", "--results", folder)
    assert removed.exit_code == 0
    assert f"{stale.digest[:12]}  UCB()  camera\n" in removed.output and "removed 1 result, " in removed.output
    assert "no result in" in call("results", "remove", "--stale", "--results", folder).output
    assert call("results", "remove", "--all", "--results", folder, given="n\n").exit_code == 1
    assert len(list(folder.iterdir())) == 2
    assert "removed 1 result, " in call("results", "remove", "--all", "--results", folder, given="y\n").output
    assert list(folder.iterdir()) == []


def test_a_store_that_is_empty_or_not_there_is_told_in_a_line(tmp_path):
    for words in (["list"], ["remove", "--all"], ["remove", "--stale"]):
        answer = call("results", *words, "--results", tmp_path / "none")
        assert answer.exit_code == 0
        assert answer.output.startswith(f"there are no results in {tmp_path / 'none'}; `setwise reproduce`")
    assert not (tmp_path / "none").exists()


def test_damaged_files_are_told_when_listed(tmp_path):
    a_store(tmp_path, (0, 4))
    (path,) = tmp_path.iterdir()
    garble(path)
    answer = call("results", "list", "--results", tmp_path)
    assert answer.exit_code == 0
    assert "cannot be read" in answer.stdout
    assert f"setwise: {path} is damaged: " in answer.stderr
    assert answer.stderr.endswith("; its runs will be played again\n")
    assert call("results", "export", PLAY.digest, tmp_path / "x.csv", "--results", tmp_path).exit_code == 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("remove", "setwise: nothing is named; give digests as `setwise results list` shows them, --stale or --all"),
        ("remove zzzz", "there is no result 'zzzz' in "),
        ("remove ab", "'ab' is too short for a digest"),
        ("export zzzz x.csv", "there is no result 'zzzz' in "),
        ("export DIGEST x.xls", "x.xls does not end in .npz, .csv or .json"),
        ("export DIGEST /dev/null/x.csv", "/dev/null"),
    ],
)
def test_a_mistake_is_answered_with_one_sentence_and_exit_code_2(tmp_path, words, sentence):
    a_store(tmp_path, (0, 0))
    answer = call("results", *words.replace("DIGEST", PLAY.digest[:12]).split(), "--results", tmp_path)
    assert answer.exit_code == 2
    assert sentence in answer.output
    assert len(answer.output.splitlines()) == 1
    assert len(os.listdir(tmp_path)) == 1


def test_a_misspelt_digest_is_answered_with_what_is_there(tmp_path):
    a_store(tmp_path, (0, 0))
    assert PLAY.digest[:12] in call("results", "remove", "zzzz", "--results", tmp_path).output
