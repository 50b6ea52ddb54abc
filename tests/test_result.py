"""Results: saved, loaded, tabulated, drawn."""

import dataclasses

import numpy as np
import pytest

import setwise as sw
from setwise.simulation.plot import plot_indices, student_95


@pytest.fixture(scope="module")
def result():
    return sw.simulate(sw.UCB(), sw.paper.camera(), 300, 4, record=True, checkpoints=20)


def test_a_saved_result_comes_back_as_it_was(result, tmp_path):
    result.save(tmp_path / "deep" / "r.npz")
    back = sw.Result.load(tmp_path / "deep" / "r.npz")
    for field in dataclasses.fields(result):
        left, right = getattr(result, field.name), getattr(back, field.name)
        assert np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right, field.name
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["r.npz"]


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
    with pytest.raises(sw.InputError, match="record=True"):
        plot_indices(dataclasses.replace(result, indices=None), tmp_path / "x.png")


@pytest.mark.parametrize(("degrees", "quantile"), [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (19, 2.0930)])
def test_students_quantiles_are_those_of_the_tables(degrees, quantile):
    assert student_95(degrees) == pytest.approx(quantile, rel=0.01)
