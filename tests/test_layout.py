"""The folder listing is the architecture: imports point downwards, and heavy libraries stay where they are needed."""

import ast
import functools
from pathlib import Path

import pytest

import setwise

ROOT = Path(setwise.__file__).parent
FILES = {
    ".".join(("setwise", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}

# A part imports parts of a lower rank and itself, nothing else. The package itself stands for its `__init__`. The
# paper's worlds are a part of their own, for all that plays; the paper's package does no more than hand them out.
RANKS = {
    "errors": 0,
    "files": 0,
    "waiting": 0,
    "forks": 0.5,
    "types": 0.5,
    "digests": 1,
    "identity": 1.5,
    "once": 1.5,
    "validation": 1,
    "coercion": 1.5,
    "declare": 2,
    "places": 2,
    "engines": 3,
    "kernels": 1,
    "compiler": 2,
    "comparisons": 3,
    "compile_errors": 3,
    "numba_internals": 3,
    "numba_self_test": 3.5,
    "numba_compiler": 4,
    "compiled": 4.5,
    "lazy_compiler": 4.6,
    "seeding": 4,
    "policies": 5,
    "environments": 5,
    "paper.instances": 5.5,
    "simulation": 6,
    "theory": 7,
    "study": 7,
    "report": 8,
    "doctor": 8,
    "experiments": 9,
    "warm": 9.5,
    "paper": 10,
    "testing": 11,
    "setwise": 12,
    "cli": 13,
    "__main__": 14,
}


def part_of(module):
    own = module.removeprefix("setwise").strip(".")
    return own if own in RANKS else own.split(".")[0] or "setwise"


@functools.cache
def imports_of(path, anywhere=True):
    """The modules that a file imports: anywhere in it, or only when it is itself imported."""
    tree = ast.parse(path.read_text())
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    found = set()
    for node in ast.walk(tree):
        if not anywhere and id(node) in inside:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}, line {node.lineno}: imports are absolute"
            longer = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in FILES else node.module for name in longer}
    return found


def importers(library, anywhere=True):
    return {
        module
        for module, path in FILES.items()
        if any(name.split(".")[0] == library for name in imports_of(path, anywhere))
    }


@pytest.mark.parametrize("module", FILES)
def test_imports_point_downwards_only(module):
    part = part_of(module)
    assert part in RANKS, f"{part} is new: give it a rank"
    for name in imports_of(FILES[module]):
        if name.split(".")[0] == "setwise":
            other = part_of(name)
            assert other == part or RANKS[other] < RANKS[part], f"{module} imports {name}"


def test_the_papers_package_imports_its_worlds_alone():
    assert imports_of(FILES["setwise.paper"]) == {"setwise.paper.instances"}


def test_the_papers_worlds_may_be_imported_from_below_the_paper_but_not_its_package():
    assert part_of("setwise.paper.instances") == "paper.instances"
    assert part_of("setwise.paper") == part_of("setwise.paper.claims.order") == "paper"
    assert RANKS["paper.instances"] < RANKS["experiments"] < RANKS["paper"]


KNOW_NUMBA = {"setwise.numba_compiler", "setwise.numba_internals", "setwise.numba_self_test"}
KNOW_LLVM = {"setwise.compiler.machine", "setwise.numba_internals"}
COMPILERS = KNOW_NUMBA | KNOW_LLVM | {"setwise.compiled", "setwise.compiler.compile"}
PUBLIC = {"numba", "numba.extending"}


def test_three_modules_know_numba_and_one_its_internals():
    assert importers("numba") == KNOW_NUMBA
    assert importers("llvmlite") == KNOW_LLVM
    inner = {
        module
        for module in KNOW_NUMBA
        if {name for name in imports_of(FILES[module]) if name.split(".")[0] == "numba"} - PUBLIC
    }
    assert inner == {"setwise.numba_internals"}


def test_numbas_internals_are_imported_where_a_failure_is_caught():
    early = imports_of(FILES["setwise.numba_internals"], anywhere=False)
    assert {name for name in early if name.split(".")[0] == "numba"} <= PUBLIC


def test_nothing_imports_the_compiler_before_something_is_compiled():
    def importing(anywhere):
        return {module for module, path in FILES.items() if COMPILERS & imports_of(path, anywhere)}

    assert importing(anywhere=False) <= COMPILERS
    assert importing(anywhere=True) - COMPILERS != set()


@pytest.mark.parametrize("library", ["matplotlib", "pandas", "rich", "distributed", "psycopg"])
def test_heavy_libraries_are_imported_inside_functions_only(library):
    assert importers(library) != set()
    assert importers(library, anywhere=False) == set()


def test_research_is_no_part_of_the_package():
    assert importers("research") == set()


def test_the_command_line_alone_knows_click():
    assert {part_of(module) for module in importers("click")} == {"cli"}
