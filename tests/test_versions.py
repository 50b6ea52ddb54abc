"""The supported Python versions are those that CI tests, in every file that lists them."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRIED = re.findall(r"3\.\d+", re.search(r"python: \[(.*)\]", (ROOT / ".github/workflows/ci.yml").read_text())[1])


def minor(version):
    return int(version.split(".")[1])


def test_what_is_promised_is_what_ci_tries():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    promised = [name.rpartition(" ")[2] for name in project["classifiers"] if re.search(r"Python :: 3\.\d+$", name)]
    assert promised == TRIED == [f"3.{number}" for number in range(minor(TRIED[0]), minor(TRIED[-1]) + 1)]
    assert project["requires-python"] == f">={TRIED[0]},<3.{minor(TRIED[-1]) + 1}"


def test_the_pages_and_the_makefile_say_the_same():
    for name in ("README.md", "CONTRIBUTING.md", "Makefile"):
        assert f"{TRIED[0]} to {TRIED[-1]}" in (ROOT / name).read_text(), name
    bounds = f"(3, {minor(TRIED[0])}) <= sys.version_info < (3, {minor(TRIED[-1]) + 1})"
    assert bounds in (ROOT / "Makefile").read_text()


def test_the_workflow_runs_what_anybody_can_run():
    commands = re.findall(r"- run: (.*)", (ROOT / ".github/workflows/ci.yml").read_text())
    assert commands == [".ci/run"]


def test_pinned_versions_name_no_index():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.+]*", line) for line in lines)
