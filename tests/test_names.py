"""The public names: listed, completed, typed and documented, and no others."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import setwise as sw
import typed
from setwise import policies

ROOT = Path(sw.__file__).parent
SUBMODULES = {"environments", "experiments", "kernels", "paper", "policies", "study", "testing", "theory"}


def handed_on(path):
    """The names that a stub imports, and from where; those of the policies' stub, if it imports all of them."""
    found = {}
    for node in ast.parse((ROOT / path).read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("setwise"):
            for alias in node.names:
                if alias.name == "*":
                    found |= handed_on("policies/__init__.pyi")
                else:
                    assert alias.asname == alias.name  # so that type checkers take it for public
                    found[alias.name] = (node.module, alias.name)
    return found


STUB = handed_on("__init__.pyi")


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_lists_of_public_names_agree():
    assert len(sw.__all__) == len(set(sw.__all__))
    assert set(sw.__all__) <= set(dir(sw)) and public(dir(sw)) == public(sw.__all__)
    assert {*STUB, "__version__"} == set(sw.__all__)
    assert public(sw.__all__) >= {*policies.NAMES.values(), *SUBMODULES}


@pytest.mark.parametrize("name", sorted(public(sw.__all__)))
def test_a_public_name_is_what_the_stub_says(name):
    module, attribute = STUB[name]
    if module == "setwise":
        assert name in SUBMODULES and getattr(sw, name) is importlib.import_module(f"setwise.{name}")
    else:
        assert getattr(sw, name) is vars(importlib.import_module(module))[attribute]
        assert getattr(sw, name).__module__ == module  # where it is defined, so that an editor shows it
    assert getattr(sw, name).__doc__


def test_names_are_there_before_anything_is_loaded():
    code = "import setwise as sw, sys; print(*dir(sw))"
    code += "\nassert 'setwise.policies.ucb' not in sys.modules\nfor name in dir(sw): getattr(sw, name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(sw.__all__) <= set(done.stdout.split())


@pytest.mark.parametrize("name", sorted(SUBMODULES))
def test_a_submodule_need_not_be_imported_first(name):
    code = f"import setwise as sw; print(sw.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"setwise.{name}\n"


def test_what_is_not_there_is_not_found():
    with pytest.raises(AttributeError, match="module 'setwise' has no attribute 'UBC'"):
        _ = sw.UBC
    assert not hasattr(sw, "TYPE_CHECKING")


def test_the_one_list_of_policies_is_complete_and_every_file_is_in_it():
    listed = handed_on("policies/__init__.pyi")
    assert {*listed, "NAMES", "POLICIES"} == set(policies.__all__) <= set(dir(policies))
    for name, (module, _) in listed.items():
        assert getattr(policies, name) is getattr(importlib.import_module(module), name)
    files = {path.stem for path in (ROOT / "policies").glob("*.py") if not path.stem.startswith("_")}
    assert {name.replace("-", "_") for name in policies.NAMES} == files


def test_lazy_packages_list_what_they_load_later():
    lazy = [path for path in ROOT.rglob("__init__.py") if "def __getattr__" in path.read_text()]
    assert len(lazy) >= 2
    for path in lazy:
        assert "def __dir__" in path.read_text(), path


def test_what_type_checkers_are_told_is_true():
    typed.use()


def test_the_stub_goes_with_the_package():
    assert (ROOT / "py.typed").exists()
    about = (ROOT.parents[1] / "pyproject.toml").read_text()
    assert 'packages = ["src/setwise"]' in about and "exclude" not in about


def test_a_name_that_is_mistyped_is_told_with_the_module_so_that_python_suggests_another():
    with pytest.raises(AttributeError, match="has no attribute 'UBC'") as error:
        sw.UBC  # noqa: B018
    assert (error.value.name, error.value.obj) == ("UBC", sw)
