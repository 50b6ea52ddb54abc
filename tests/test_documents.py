"""The documents are true: their examples run, and every command, file and name in them exists."""

import ast
import csv
import importlib
import importlib.util
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import setwise as sw
from setwise.cli import main
from setwise.testing import check_environment, check_policy

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [block for page in PAGES for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)]
PRINTED = [  # blocks with their output
    found for page in PAGES for found in re.findall(r"```python\n([^`]*)```\n\n((?:    .*\n)+)", page.read_text())
]


def load(text, name, folder, monkeypatch):
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_examples_of_the_documents_run(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    unguarded = block.replace('if __name__ == "__main__":', "if True:")  # so that all of it is run
    module = load(unguarded, "readme_example", tmp_path, monkeypatch)
    if hasattr(module, "Boltzmann"):
        check_policy(module.Boltzmann(), rounds=50)


@pytest.mark.parametrize(("block", "output"), PRINTED, ids=range(len(PRINTED)))
def test_the_output_of_an_example_is_what_it_prints(block, output, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    load(block, "example_with_output", tmp_path, monkeypatch)
    assert capsys.readouterr().out == textwrap.dedent(output)


def test_the_certificate_in_the_documents_has_its_output():
    assert any("study.certificate()" in block for block, _ in PRINTED)


def test_the_first_decision_of_the_studies_in_the_documents_is_that_of_their_seed():
    page = (ROOT / "docs" / "study.md").read_text()
    (told,) = re.findall(r"ask\(\)  # Decision\(id=\.\.\., arms=(\(.*?\))", page)
    arms = re.search(r"arms=(\[.*?\]),\n    k=3,\n    seed=0", page)
    assert arms is not None
    study = sw.Study.memory(ast.literal_eval(arms[1]), 3, seed=0)
    assert study.ask().arms == ast.literal_eval(told)


def test_the_commands_of_the_documents_exist():
    for page in PAGES:
        for command in re.findall(r"(?:^|`)setwise (\w+)", page.read_text(), re.MULTILINE):
            assert command in main.commands


def test_what_the_documents_make_can_be_made():
    makefile = (ROOT / "Makefile").read_text()
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        text = page.read_text()
        commands = re.findall(r"`make ([a-z -]+)`", text)
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
            commands += re.findall(r"^make ([a-z -]+)", block, re.MULTILINE)
        for target in " ".join(commands).split():
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: make {target}"


def test_the_pictures_of_the_documents_exist():
    for page in PAGES:
        for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text()):
            assert (page.parent / path).is_file(), f"{page.name}: {path}"


def test_the_readme_is_short_and_its_example_is_not_one_of_ours():
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") <= 140
    ours = {*sw.policies.NAMES.values(), *(model.__name__ for model in sw.environments.MODELS)}
    assert not ours.intersection(re.findall(r"^class (\w+)", text, re.MULTILINE))


def test_the_speed_in_the_readme_is_that_of_the_benchmarks():
    with open(ROOT / "docs" / "bench" / "bench.csv", newline="", encoding="utf-8") as file:
        ratios = {row["what"]: float(row["ratio"].replace(",", "")) for row in csv.DictReader(file)}
    numpy = ratios["horizon 1e6 against the NumPy loop"]
    loop = ratios["horizon 1e6 against the C++ loop"]
    assert f"{numpy:.0f} times the NumPy loop and {loop:.0f} times a C++ loop" in (ROOT / "README.md").read_text()


def test_the_tables_of_the_documents_are_what_is_kept():
    spec = importlib.util.spec_from_file_location("make_tables", ROOT / "docs" / "make_tables.py")
    make_tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_tables)
    assert {page.name for page in make_tables.PAGES} == {page.name for page in PAGES}
    for page in PAGES:
        assert make_tables.filled(page.read_text()) == page.read_text(), f"{page.name}: run docs/make_tables.py"


def test_every_named_world_is_in_the_documents():
    text = "".join(page.read_text() for page in PAGES)
    for name in [*sw.environments.PRESETS, *sw.paper.LOWER_BOUNDS]:
        assert f"`{name}`" in text


def test_the_example_file_keeps_the_contract(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = importlib.import_module("boltzmann")
    world = example.Crowded([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], k=3)
    check_environment(world, compiled=False)
    check_policy(example.Boltzmann(), world, compiled=False)


@pytest.mark.slow
def test_the_example_file_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "boltzmann.py")], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("20 runs of 100,000 rounds") == 2


def test_the_version_is_in_the_changelog():
    assert f"## {sw.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_helpers_for_compiled_code_are_all_documented():
    text = (ROOT / "docs" / "own_classes.md").read_text()
    assert [name for name in sw.kernels.__all__ if not re.search(rf"`{name}[`(]", text)] == []
