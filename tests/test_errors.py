"""Errors: one sentence each, and the right class, also from a worker and on the command line."""

import errno
import importlib
import pickle
import pkgutil
import sqlite3
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import mortal
import setwise
import setwise as sw
from setwise import errors
from setwise.cli import main
from setwise.engines import Job, answers
from setwise.experiments.outcome import Order
from setwise.experiments.plays import Play
from setwise.experiments.run_plays import play_all
from setwise.experiments.store import Store
from setwise.report.writing import check_folder
from setwise.study.storage import DamagedStorage, ExistsError, LostError
from shell import lines_of
from shell import study as call

PUBLIC = [sw.InputError, sw.StorageError, sw.WorkerLost, sw.DamagedFile]


def modules():
    """All modules of the package, but those that are commands."""
    found = [name for _, name, _ in pkgutil.walk_packages(setwise.__path__, "setwise.") if "__main__" not in name]
    return [setwise, *map(importlib.import_module, found)]


def defined_in(module):
    classes = [thing for thing in vars(module).values() if isinstance(thing, type) and issubclass(thing, BaseException)]
    return [cls for cls in classes if cls.__module__ == module.__name__]


def is_stray(cls):
    """Whether an exception may reach users and is none of ours; names with an underscore stay inside a module."""
    return not cls.__name__.startswith("_") and not issubclass(
        cls, sw.SetwiseError | KeyboardInterrupt | click.ClickException
    )


def test_every_error_of_the_package_is_one_of_ours():
    found = [cls for module in modules() for cls in defined_in(module)]
    assert {*PUBLIC, sw.SetwiseError, sw.Interrupted, DamagedStorage, ExistsError, LostError} <= set(found)
    assert [cls for cls in found if is_stray(cls)] == []
    assert is_stray(ValueError) and is_stray(KeyError)


def test_each_class_is_also_what_python_calls_such_trouble():
    kinds = {sw.InputError: ValueError, sw.StorageError: OSError, sw.WorkerLost: RuntimeError}
    for cls in PUBLIC:
        assert issubclass(cls, sw.SetwiseError)
        assert [kind for kind in (ValueError, OSError, RuntimeError) if issubclass(cls, kind)] == (
            [kinds[cls]] if cls in kinds else []
        )
    assert not issubclass(sw.SetwiseError, ValueError | OSError | RuntimeError)


def test_a_class_is_the_same_wherever_it_is_imported_from():
    from setwise.study import StorageError
    from setwise.types import InputError

    assert InputError is errors.InputError is sw.InputError
    assert StorageError is errors.StorageError is sw.StorageError


def test_errors_survive_the_way_between_processes():
    kinds = {cls for module in modules() for cls in defined_in(module) if issubclass(cls, sw.SetwiseError)}
    for cls in kinds:
        back = pickle.loads(pickle.dumps(cls("é is wrong; give e")))
        assert type(back) is cls and str(back) == "é is wrong; give e"


@pytest.mark.parametrize("kind", [*PUBLIC, LostError, DamagedStorage])
def test_an_error_of_a_worker_comes_out_here_as_what_it_is(kind):
    jobs = [Job(mortal.fail, (kind, "this is wrong"), "a"), Job(mortal.square, (2,), "b")]
    with pytest.raises(sw.SetwiseError, match=r"^this is wrong$") as error:
        answers(jobs, 2)
    assert type(error.value) is kind


@pytest.fixture
def result():
    return sw.simulate(sw.Uniform(), sw.paper.camera(), 20, 2, compiled=False)


def test_a_damaged_result_is_no_mistake_of_who_reads_it(result, tmp_path):
    path = tmp_path / "r.npz"
    result.save(path)
    data = path.read_bytes()
    for harmed in (b"", data[:-30], data.replace(b"camera", b"camara")[:-9]):
        path.write_bytes(harmed)
        with pytest.raises(sw.DamagedFile, match=r"r\.npz is damaged: .*; remove it and make it again") as error:
            sw.Result.load(path)
        assert not isinstance(error.value, ValueError)


def test_a_file_that_was_never_a_result_is_a_mistake_of_who_gives_it(tmp_path):
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "other.npz", values=np.zeros(3))
    for name in ("text.npz", "other.npz"):
        with pytest.raises(sw.InputError, match=r"is not a result that Setwise saved$"):
            sw.Result.load(tmp_path / name)


def new_play():
    return Play.of(sw.Uniform(), sw.paper.camera(), 20, 0, 5)


def test_kept_runs_that_cannot_be_read_are_damaged(result, tmp_path):
    play = new_play()
    store = Store(tmp_path)
    path = Path(store.keep(play, play.run(2, 0, threads=1)))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(sw.DamagedFile, match="no run 0 that can be read"):
        store.export(play.digest, tmp_path / "x.csv")


def test_results_that_vanish_while_others_are_played_are_trouble_of_the_storage(tmp_path, monkeypatch):
    store = Store(tmp_path)
    monkeypatch.setattr(store, "load", lambda *_: None)
    with pytest.raises(sw.StorageError, match=f"results were removed from {tmp_path} while others were played; try"):
        play_all([Order(new_play(), 1)], store, jobs=1)


@pytest.mark.parametrize("use", [Store, check_folder])
def test_a_folder_is_a_mistake_if_its_name_is_and_else_trouble_of_the_storage(use, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(sw.InputError, match="Not a directory"):
        use(str(tmp_path / "file" / "x"))
    with pytest.raises(sw.InputError, match="File name too long"):
        use(str(tmp_path / ("x" * 300)))

    def full(*_, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.makedirs", full)
    with pytest.raises(sw.StorageError, match="No space left on device"):
        use(str(tmp_path / "y"))


def test_a_figure_that_another_process_could_not_draw_is_lost_with_it(tmp_path):
    from setwise.simulation.figure_process import FigureProcess

    with FigureProcess() as drawing:
        drawing.start([str(tmp_path / "nothing.npz")], "x.png", "", ["a"])
        with pytest.raises(sw.WorkerLost, match=r"x\.png could not be drawn: .*nothing\.npz"):
            drawing.finish("x.png")


@pytest.fixture
def shop(tmp_path):
    address = f"sqlite:///{tmp_path}/shop.db"
    with sw.Study.create(address, "cameras", ["Nikon", "Canon", "Sony"], 2, seed=0) as study:
        for _ in range(3):
            study.tell(study.ask(), {})
    return address


def harm_journal(shop):
    with sqlite3.connect(shop.removeprefix("sqlite:///")) as database:
        database.execute("UPDATE setwise_journal SET body = '{}' WHERE position = 3")
    database.close()


def harm_database(shop):
    with sqlite3.connect(shop.removeprefix("sqlite:///")) as database:
        database.execute("UPDATE setwise_meta SET value = 'many'")
    database.close()


def test_a_damaged_journal_is_a_damaged_file_and_spares_the_other_studies(shop):
    with sw.Study.create(shop, "other", ["a", "b"], 1) as other:
        harm_journal(shop)
        with pytest.raises(sw.DamagedFile, match="position 3") as error:
            sw.Study.open(shop, "cameras")
        assert not isinstance(error.value, ValueError | OSError)
        assert other.ask().round == 1


def test_a_damaged_database_is_a_damaged_file_and_trouble_of_the_storage(shop):
    harm_database(shop)
    with pytest.raises(sw.DamagedFile, match="is damaged: the version of its tables is 'many'") as error:
        sw.Study.open(shop, "cameras")
    assert isinstance(error.value, sw.StorageError)


def test_verify_reports_a_database_that_is_damaged(shop, monkeypatch):
    with sw.Study.open(shop, "cameras") as study:

        def rows(*_):
            raise DamagedStorage("shop.db is damaged (malformed)")

        monkeypatch.setattr(study._writer.storage, "rows", rows)
        assert study.verify().problems[0] == "shop.db is damaged (malformed)"


def test_damage_of_a_database_in_the_middle_of_work_is_told_and_the_study_goes_on_after_it(shop, monkeypatch):
    with sw.Study.open(shop, "cameras") as study:
        storage = study._writer.storage

        def rows(*_):
            raise DamagedStorage("shop.db is damaged (malformed)")

        with monkeypatch.context() as patched:
            patched.setattr(storage, "rows", rows)
            with pytest.raises(sw.DamagedFile, match="malformed"):
                study.ask()
        assert study.ask().round == 4


# The command line.


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (sw.InputError("alpha is 0; give more"), 2, "alpha is 0; give more"),
        (sw.StorageError("the disk is full"), 3, "the disk is full"),
        (sw.WorkerLost("the process was killed"), 3, "the process was killed"),
        (sw.DamagedFile("r.npz is damaged"), 3, "r.npz is damaged"),
        (sw.SetwiseError("so it is"), 3, "so it is"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "x"), 2, "No such file or directory: x"),
        (OSError(errno.ENOSPC, "No space left on device", "x"), 3, "No space left on device: x"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 3, "Permission denied: x"),
    ],
)
def test_a_command_says_it_in_one_line_and_whose_doing_by_its_exit_code(error, code, words, tmp_path, monkeypatch):
    def fail(*_, **options):
        raise error

    monkeypatch.setattr(sw.simulation, "simulate", fail)
    done = CliRunner().invoke(main, ["simulate", "-e", "camera", "-p", "ucb", "--out", str(tmp_path)])
    assert (done.exit_code, done.output) == (code, f"setwise: {words}\n")


def test_a_damaged_study_is_told_in_one_line_with_exit_code_3(shop):
    harm_journal(shop)
    done = call("ask", shop, "cameras")
    assert done.exit_code == 3
    assert done.output.startswith("setwise: the journal is damaged: position 3") and done.output.count("\n") == 1


def test_verify_answers_no_about_a_damaged_study_or_database(shop):
    harm_journal(shop)
    (found,) = lines_of(call("verify", shop, "cameras"), exit_code=1)
    assert "position 3" in found["problems"][0]
    harm_database(shop)
    (found,) = lines_of(call("verify", shop, "cameras"), exit_code=1)
    assert "the version of its tables" in found["problems"][0]


def test_a_damaged_study_can_be_deleted_from_the_shell(shop):
    harm_journal(shop)
    assert lines_of(call("delete", shop, "cameras", "--yes")) == [{"name": "cameras"}]
    assert sw.Study.names(shop) == []


def test_lines_that_are_right_and_cannot_be_done_give_exit_code_3(shop, monkeypatch):
    from setwise.study import Study

    def ask(study, available=None, id=None):
        raise sw.StorageError("the disk is full")

    (answer,) = lines_of(call("ask", shop, "cameras", "--stream", given='{"colour": 1}\n'), exit_code=2)
    assert "colour" in answer["error"]
    monkeypatch.setattr(Study, "ask", ask)
    answers = lines_of(call("ask", shop, "cameras", "--stream", given='{}\n{"colour": 1}\n'), exit_code=3)
    assert answers[0] == {"error": "the disk is full", "line": 1} and "colour" in answers[1]["error"]
