"""The source of a function, as a syntax tree, if it is the source that is running."""

import ast
import linecache
from collections.abc import Callable
from types import CodeType
from typing import Any

from setwise.compiler.kinds import Unsupported


class Sources:
    """Syntax trees of files, read once."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[dict[tuple[str, int], ast.FunctionDef], list[CodeType]]] = {}

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
        return trees.get((code.co_name, code.co_firstlineno)) if code in codes else None


def _read(path: str) -> tuple[dict[tuple[str, int], ast.FunctionDef], list[CodeType]]:
    text = "".join(linecache.getlines(path))
    try:
        tree = ast.parse(text)
        whole = compile(tree, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return {}, []
    trees = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            trees[node.name, first] = node
    return trees, _codes_in(whole)


def _codes_in(code: CodeType) -> list[CodeType]:
    inside = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return inside + [inner for each in inside for inner in _codes_in(each)]
