"""A missing dependency skips tests on a fresh clone, and fails them in CI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import chromium
from skips import NOT_HERE

ROOT = Path(__file__).parents[1]
SKIP = 'pytest.importorskip("no_such_module", reason="Dask is not installed")'
IN_A_TEST = f"import pytest\n\n\ndef test_it():\n    {SKIP}\n"
IN_A_MODULE = f"import pytest\n\n{SKIP}\n"
BY_A_MARK = 'import pytest\n\n\n@pytest.mark.skipif(True, reason="Dask is not installed")\ndef test_it():\n    pass\n'
A_RIGHT = f'import pytest\n\n\ndef test_it():\n    pytest.skip("{NOT_HERE}nothing can be mounted")\n'
EXPECTED = "import pytest\n\n\n@pytest.mark.xfail\ndef test_it():\n    raise ValueError\n"


def run(folder, test, forbidden):
    """What pytest says of a file with our own conftest, and its exit code."""
    (folder / "test_one.py").write_text(test)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "SETWISE_NO_SKIPS": forbidden}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
    ]
    done = subprocess.run([*command, "test_one.py"], cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout, done.returncode


@pytest.mark.parametrize("test", [IN_A_TEST, IN_A_MODULE, BY_A_MARK], ids=["in a test", "in a module", "by a mark"])
def test_what_is_missing_is_a_failure_if_nothing_may_be_skipped(test, tmp_path):
    said, code = run(tmp_path, test, "1")
    assert code in (1, 2), said
    assert "was skipped, which SETWISE_NO_SKIPS=1 forbids: Dask is not installed" in said
    said, code = run(tmp_path, test, "")
    assert code in (0, 5) and "1 skipped" in said


@pytest.mark.parametrize("test", [A_RIGHT, EXPECTED], ids=["a right", "an expected failure"])
def test_what_no_package_can_mend_may_be_skipped(test, tmp_path):
    said, code = run(tmp_path, test, "1")
    assert code == 0, said
    assert "1 skipped" in said or "1 xfailed" in said


def test_ci_forbids_skips_and_looks_for_the_browsers_that_tests_look_for():
    script = (ROOT / ".ci" / "run").read_text()
    assert "export SETWISE_NO_SKIPS=1" in script
    assert f"for name in {' '.join(chromium.NAMES)};" in script
