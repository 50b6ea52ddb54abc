"""The public names: listed, completed, typed and found, all of them and no others."""

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


def listed(tree):
    """What `__all__` says."""
    (found,) = (node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    return ast.literal_eval(found)


def handed_on(body):
    """The names that are imported, and from where."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


STUB = ast.parse((ROOT / "__init__.pyi").read_text())


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_lists_of_public_names_agree():
    assert len(sw.__all__) == len(set(sw.__all__))
    assert set(sw.__all__) <= set(dir(sw)) and public(dir(sw)) == public(sw.__all__)
    assert listed(STUB) == sw.__all__
    assert {*handed_on(STUB.body), "__version__"} == set(sw.__all__)
    assert public(sw.__all__) >= {*policies.NAMES.values(), *SUBMODULES}


def test_the_stub_hands_names_on_so_that_type_checkers_take_them_for_public():
    imports = [node for node in STUB.body if isinstance(node, ast.ImportFrom)]
    assert all(alias.asname == alias.name for node in imports for alias in node.names)


@pytest.mark.parametrize("name", sorted(public(sw.__all__)))
def test_a_public_name_is_what_the_stub_says(name):
    module, attribute = handed_on(STUB.body)[name]
    if module == "setwise":
        assert name in SUBMODULES and getattr(sw, name) is importlib.import_module(f"setwise.{name}")
    else:
        assert getattr(sw, name) is vars(importlib.import_module(module))[attribute]
        assert getattr(sw, name).__module__ == module  # where it is defined, so that an editor shows it
    assert getattr(sw, name).__doc__


def test_names_are_there_before_anything_is_loaded():
    code = "import setwise as sw, sys; assert 'setwise.policies' not in sys.modules; print(*dir(sw))"
    code += "\nassert 'setwise.policies' not in sys.modules\nfor name in dir(sw): getattr(sw, name)"
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


def test_the_lists_of_policies_agree():
    tree = ast.parse(Path(policies.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))  # for type checkers only
    assert {*handed_on(block.body), "POLICIES"} == set(policies.__all__) == {*policies.NAMES.values(), "POLICIES"}
    assert set(policies.__all__) <= set(dir(policies))
    for name, (module, _) in handed_on(block.body).items():
        assert getattr(policies, name) is getattr(importlib.import_module(module), name)


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
