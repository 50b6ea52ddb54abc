"""Results are saved, loaded, tabulated and plotted."""

import dataclasses
import io
import json
import subprocess
import sys

import numpy as np
import pytest

import setwise as sw
from setwise.simulation.plot import plot_indices, student_95
from setwise.simulation.result import pack, unpack


@pytest.fixture(scope="module")
def result():
    return sw.simulate(sw.UCB(), sw.paper.camera(), 300, 4, record_indices=True, checkpoints=20)


@pytest.fixture(scope="module")
def small():
    """A result by hand: three runs with two checkpoints, two arms."""
    return sw.Result(
        policy="UCB()",
        environment="Coins()",
        horizon=9,
        seed=4,
        fast_forward=True,
        rounds=np.array([3, 9]),
        regret=np.array([[0.5, 1.0], [0.25, 2.0], [0.0, 3.0]]),
        pulls=np.array([[4, 5], [3, 6], [2, 7]]),
        names=("heads", "tails"),
        smaller=np.array([0, 1, 2]),
    )


def are_equal(left, right):
    pairs = [(getattr(left, field.name), getattr(right, field.name)) for field in dataclasses.fields(left)]
    return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)


def test_a_saved_result_comes_back_as_it_was(result, tmp_path):
    result.save(tmp_path / "deep" / "r.npz")
    back = sw.Result.load(tmp_path / "deep" / "r.npz")
    for field in dataclasses.fields(result):
        left, right = getattr(result, field.name), getattr(back, field.name)
        assert np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right, field.name
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["r.npz"]
    with np.load(tmp_path / "deep" / "r.npz") as file:  # any other program can read the arrays
        assert np.array_equal(file["regret"], result.regret)


def test_equal_results_are_saved_as_equal_bytes(small, tmp_path):
    small.save(tmp_path / "a.npz")
    other = dataclasses.replace(small, regret=np.asfortranarray(small.regret))
    other.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_notes_are_kept_beside_the_result(small, tmp_path):
    small.save(tmp_path / "r.npz", notes={"who": "Ä"})
    back, notes = unpack((tmp_path / "r.npz").read_bytes())
    assert notes == {"who": "Ä"}
    assert are_equal(back, small) and are_equal(sw.Result.load(tmp_path / "r.npz"), small)


def repacked(data, **changes):
    """The bytes of an .npz file with some members changed, or left out where they are None."""
    with np.load(io.BytesIO(data)) as file:
        members = {**file, **changes}
    changed = io.BytesIO()
    np.savez(changed, **{name: value for name, value in members.items() if value is not None})
    return changed.getvalue()


def about(data, **changes):
    with np.load(io.BytesIO(data)) as file:
        return np.array(json.dumps({**json.loads(str(file["about"])), **changes}))


def test_a_file_of_the_first_format_is_read_without_a_checksum(small, tmp_path):
    data = pack(small)
    texts = json.loads(str(about(data, format=1)))
    del texts["first"]
    (tmp_path / "old.npz").write_bytes(repacked(data, about=np.array(json.dumps(texts)), checksum=None))
    assert are_equal(sw.Result.load(tmp_path / "old.npz"), small)


def test_every_garbled_byte_is_found_or_changes_nothing(small):
    data = pack(small, {"digest": "abc"})
    found = 0
    for place in range(len(data)):
        for bit in (1, 128) if place % 7 == 0 else (1 << place % 8,):
            garbled = bytearray(data)
            garbled[place] ^= bit
            try:
                back, notes = unpack(bytes(garbled))
            except (sw.DamagedFile, sw.InputError):
                found += 1
            else:
                assert are_equal(back, small) and notes == {"digest": "abc"}, place
    assert found > len(data) / 2


def test_a_file_that_was_cut_short_is_refused(small):
    data = pack(small)
    for length in range(len(data)):
        with pytest.raises(sw.SetwiseError, match=r"damaged|not a result"):
            unpack(data[:length])


def test_a_changed_number_is_found_by_the_checksum(small, tmp_path):
    path = tmp_path / "r.npz"
    regret = small.regret.copy()
    regret[1, 1] += 1e-9
    path.write_bytes(repacked(pack(small), regret=regret))  # a proper file in all else
    with pytest.raises(sw.DamagedFile, match=r"r\.npz is damaged: its checksum does not match; remove it"):
        sw.Result.load(path)
    path.write_bytes(repacked(pack(small), checksum=None))
    with pytest.raises(sw.DamagedFile, match=r"r\.npz is damaged: its checksum is missing"):
        sw.Result.load(path)
    path.write_bytes(repacked(pack(small), more=np.zeros(3)))
    with pytest.raises(sw.DamagedFile, match="checksum does not match"):
        sw.Result.load(path)


@pytest.mark.parametrize(
    ("texts", "arrays"),
    [
        ({"seed": "4"}, {}),
        ({"names": [1, 2]}, {}),
        ({"names": 5}, {}),
        ({"regret": None}, {"regret": None}),
        ({"colour": "red"}, {}),
        ({"format": "one"}, {}),
        ({}, {"rounds": None}),
        ({}, {"rounds": np.array([3, 6, 9])}),
        ({}, {"regret": np.zeros(3)}),
        ({}, {"regret": np.zeros((0, 2))}),
        ({}, {"pulls": np.zeros((3, 2))}),
        ({}, {"rho": np.zeros((2, 2))}),
        ({}, {"about": np.array("[1, 2]")}),
        ({}, {"about": np.array("{")}),
        ({}, {"notes": np.array("[1, 2]")}),
    ],
)
def test_a_file_whose_parts_do_not_fit_together_is_refused(small, texts, arrays):
    data = pack(small)
    changes = {"about": about(data, **{"format": 1, **texts}), "checksum": None, **arrays}
    assert are_equal(unpack(repacked(data, about=about(data, format=1), checksum=None))[0], small)
    with pytest.raises(sw.InputError, match="is not a result that Setwise saved"):
        unpack(repacked(data, **changes))


def test_a_file_that_is_missing_or_a_folder_is_named_by_the_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"r\.npz"):
        sw.Result.load(tmp_path / "r.npz")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        sw.Result.load(tmp_path)


FULL_DISK = """
import resource, signal, sys
import setwise as sw
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
result = sw.Result.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    result.save(sys.argv[1])
except OSError as error:
    print(error.filename)
"""


def test_a_full_disk_is_told_with_the_files_name_and_loses_nothing(small, tmp_path):
    path = tmp_path / "r.npz"
    small.save(path)
    before = path.read_bytes()
    assert len(before) > 1000
    answer = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, timeout=60)
    assert answer.stdout.strip() == str(path), answer.stderr
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["r.npz"]


def test_a_file_below_a_file_is_refused_by_the_system(small, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        small.save(tmp_path / "file" / "r.npz")


def test_the_first_runs_and_the_others_make_the_whole(result):
    first, rest = result.take(3), result.drop(3)
    assert (first.first, first.runs, rest.first, rest.runs) == (0, 3, 3, 1)
    assert np.array_equal(first.pulls, result.pulls[:3]) and np.array_equal(rest.indices, result.indices[3:])
    assert are_equal(sw.Result.join([first, rest]), result)
    assert are_equal(sw.Result.join([result]), result) and are_equal(result.drop(0), result)


def test_runs_that_were_played_apart_are_those_played_together():
    options = {"checkpoints": 5, "compiled": False}
    whole = sw.simulate(sw.UCB(), sw.paper.camera(), 50, 3, **options)
    parts = [
        sw.simulate(sw.UCB(), sw.paper.camera(), 50, runs, first_run=first, **options)
        for first, runs in [(0, 1), (1, 2)]
    ]
    assert are_equal(sw.Result.join(parts), whole)


def test_runs_that_do_not_follow_each_other_are_not_joined(small):
    with pytest.raises(sw.InputError, match="run 0 was to be joined where run 3 follows"):
        sw.Result.join([small, small])
    after = dataclasses.replace(small, first=3)
    for changed in ({"policy": "KLUCB()"}, {"seed": 5}, {"rounds": np.array([2, 9])}, {"smaller": None}):
        with pytest.raises(sw.InputError, match="what was played differs"):
            sw.Result.join([small, dataclasses.replace(after, **changed)])
    with pytest.raises(sw.InputError, match="no runs to join"):
        sw.Result.join([])


@pytest.mark.parametrize("runs", [-1, 0, 4])
def test_more_runs_than_there_are_or_none_cannot_be_taken(small, runs):
    with pytest.raises(sw.InputError, match=f"there are 3 runs, and {runs} were asked for"):
        small.take(runs)


def test_a_file_that_is_no_result_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"nonsense")
    np.savez(tmp_path / "y.npz", a=np.zeros(3))
    for name in ("x.npz", "y.npz"):
        with pytest.raises(sw.InputError, match=f"{name} is not a result"):
            sw.Result.load(tmp_path / name)


def test_a_result_of_a_newer_format_is_refused(result, tmp_path, monkeypatch):
    monkeypatch.setattr("setwise.simulation.result.FORMAT", 99)
    result.save(tmp_path / "r.npz")
    monkeypatch.undo()
    with pytest.raises(sw.InputError, match="format 99"):
        sw.Result.load(tmp_path / "r.npz")


def test_a_frame_has_a_row_for_each_run_and_checkpoint(result):
    frame = result.to_frame()
    assert len(frame) == result.regret.size
    assert frame.query("run == 2")["regret"].tolist() == result.regret[2].tolist()
    assert set(result.drop(3).to_frame()["run"]) == {3}


def test_mean_and_standard_error_are_those_of_the_runs(result):
    assert result.mean_regret() == pytest.approx(np.mean(result.regret, axis=0))
    assert result.standard_error() == pytest.approx(np.std(result.regret, axis=0, ddof=1) / 2)
    assert "4 runs of 300 rounds" in repr(result)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_figures_are_written(result, tmp_path, ending):
    result.plot(tmp_path / f"regret.{ending}")
    plot_indices(result, tmp_path / f"indices.{ending}")
    assert {path.name for path in tmp_path.iterdir()} == {f"regret.{ending}", f"indices.{ending}"}
    assert all(path.stat().st_size > 1000 for path in tmp_path.iterdir())


def test_a_figure_of_another_kind_is_refused(result, tmp_path):
    with pytest.raises(sw.InputError, match=r"does not end in \.png"):
        result.plot(tmp_path / "regret.doc")
    with pytest.raises(sw.InputError, match="record_indices=True"):
        plot_indices(dataclasses.replace(result, indices=None), tmp_path / "x.png")


@pytest.mark.parametrize(("degrees", "quantile"), [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (19, 2.0930)])
def test_students_quantiles_are_those_of_the_tables(degrees, quantile):
    assert student_95(degrees) == pytest.approx(quantile, rel=0.01)
