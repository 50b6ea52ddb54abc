"""The source of a function, as a syntax tree, if it is the source that is running."""

import ast
import linecache
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from setwise.compiler.kinds import Unsupported

Place = tuple[str, int]  # name and first line of a function
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class Sources:
    """Syntax trees of files, read once."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[dict[Place, ast.FunctionDef], dict[Place, list[CodeType]]]] = {}

    def tree_of(self, function: Callable[..., Any]) -> ast.FunctionDef:
        """Return the function's tree; raise if its source is missing or is not what was imported."""
        code: CodeType | None = getattr(function, "__code__", None)
        if code is None:
            raise Unsupported(f"{function!r}, which is not written in Python")
        if code.co_filename not in self._files:
            self._files[code.co_filename] = _read(code.co_filename)
        tree = self._find(code)
        if tree is None:  # the file may have been read before it was edited, and imported again
            linecache.checkcache(code.co_filename)
            self._files[code.co_filename] = _read(code.co_filename)
            tree = self._find(code)
        if tree is None:
            raise Unsupported(f"{function.__qualname__}, whose source is not found")
        given = tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs:
            raise Unsupported(f"the parameters of {function.__qualname__}")
        return tree

    def _find(self, code: CodeType) -> ast.FunctionDef | None:
        trees, codes = self._files[code.co_filename]
        place = code.co_name, code.co_firstlineno
        return trees.get(place) if code in codes.get(place, ()) else None


def _read(path: str) -> tuple[dict[Place, ast.FunctionDef], dict[Place, list[CodeType]]]:
    text = "".join(linecache.getlines(path))
    try:
        tree = ast.parse(text)
        whole = compile(tree, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return {}, {}
    trees = {}
    for node in statements_in(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            trees[node.name, first] = node
    codes: dict[Place, list[CodeType]] = {}
    _add_codes(whole, codes)
    return trees, codes


def statements_in(block: Any) -> Iterator[Any]:
    """Yield all statements of a block and of the blocks in it; expressions, most of a tree, are passed over."""
    for name in BLOCKS:
        for statement in getattr(block, name, ()):
            yield statement
            yield from statements_in(statement)


def assigned_names(function: ast.FunctionDef) -> set[str]:
    """Return the names that are assigned in a function, apart from those of expressions, which are not translated."""
    names = set()
    for statement in statements_in(function):
        targets = [*getattr(statement, "targets", ()), getattr(statement, "target", None)]
        while targets:
            target = targets.pop()
            if isinstance(target, ast.Name):
                names.add(target.id)
            elif isinstance(target, ast.Tuple):
                targets += target.elts
    return names


def _add_codes(code: CodeType, codes: dict[Place, list[CodeType]]) -> None:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            codes.setdefault((constant.co_name, constant.co_firstlineno), []).append(constant)
            _add_codes(constant, codes)
