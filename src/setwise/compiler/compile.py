"""Compile a function for given arguments, or load it from the cache."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple

from setwise.compiler import machine
from setwise.compiler.arguments import Words, kind_of
from setwise.compiler.kinds import Record, Unsupported
from setwise.compiler.objects import has_code, read_code, write_code
from setwise.compiler.program import Program
from setwise.digests import code_digest, is_own
from setwise.errors import InputError
from setwise.forks import ForkedLock

_compiling = ForkedLock("compiling")
_compiled: dict[Any, "Code | Unsupported"] = {}
_translated: dict[Any, "Translated"] = {}  # what is not compiled yet
_foreign: dict[Any, list[type]] = {}  # classes among the arguments that are not ours


class Code(NamedTuple):
    """Machine code in memory.

    entry: the C function
    kinds, returns: of its arguments and its result
    functions, size: number of Python functions, and bytes of machine code
    is_unchanged: whether what code that is not ours refers to is what it was
    """

    entry: Any
    kinds: list[Any]
    returns: Any
    functions: int
    size: int
    is_unchanged: Callable[[], bool]


class GaveUp(InputError):
    """Compiled code gave up in the middle, its arguments half changed."""


class Compiled:
    """A compiled function."""

    def __init__(self, code: Code, checked: bool) -> None:
        self.code = code
        self._checked = checked
        self._spare: list[Words] = []  # of earlier calls, with most arguments in place

    def __call__(self, *args: Any) -> Any:
        if self._checked and [kind_of(arg) for arg in args] != self.code.kinds:
            raise TypeError("the arguments have other types than those the function was compiled for")
        try:
            words = self._spare.pop()
            words.replace(args)
        except IndexError:
            words = Words(args)
        words.read_generators()
        if not self.run(words):
            raise GaveUp(
                "compiled code met an error, or something that only the interpreter does, such as a division by 0 or a "
                "whole number of more than 64 bits; compiled=False shows where"
            )
        words.write_generators()
        result = words.result(self.code.returns)
        self._spare.append(words)
        return result

    def prepare(self, *args: Any) -> Words:
        """Return arguments to `run` with, unchecked and with their generators read."""
        words = Words(args)
        words.read_generators()
        return words

    def run(self, words: Words) -> bool:
        """Run once, and return whether it went through; generators are neither read before nor written after."""
        return not self.code.entry(words.address)

    kind_of = staticmethod(kind_of)


def compile_function(
    function: Callable[..., Any], args: tuple[Any, ...], defaults: dict[str, Callable[..., Any]]
) -> Code:
    """Compile the function for arguments of these kinds; raise `Unsupported` if that is not possible.

    defaults: methods that a class may lack
    """
    kinds = [kind_of(arg) for arg in args]
    key = _key(function, kinds)
    with _compiling:
        found = _current(key)
        if found is None:
            try:
                found = _compile(function, kinds, defaults, key)
            except Unsupported as error:
                found = error
            _compiled[key] = found
            _translated.pop(key, None)
    if isinstance(found, Unsupported):
        raise found
    return found


def is_code_stored(
    function: Callable[..., Any], args: tuple[Any, ...], defaults: dict[str, Callable[..., Any]]
) -> bool:
    """Whether machine code for such arguments is in memory or on disk; raise `Unsupported` if there can be none."""
    kinds = [kind_of(arg) for arg in args]
    key = _key(function, kinds)
    with _compiling:
        found = _current(key)
        if isinstance(found, Unsupported):
            raise found
        return found is not None or has_code(_translate(function, kinds, defaults, key).name)


def find_code(function: Callable[..., Any], args: tuple[Any, ...]) -> Code | None:
    """Return what was compiled before for such arguments, or None."""
    try:
        kinds = [kind_of(arg) for arg in args]
    except InputError:
        return None
    found = _current(_key(function, kinds))
    return found if isinstance(found, Code) else None


def _current(key: Any) -> "Code | Unsupported | None":
    """Return what is compiled in memory; forget code that has come to refer to something else."""
    found = _compiled.get(key)
    if isinstance(found, Code) and not found.is_unchanged():
        _compiled.pop(key, None)
        return None
    return found


def _key(function: Callable[..., Any], kinds: list[Any]) -> Any:
    """Return the key of compiled code in memory: kinds, and the code of classes that are not ours, which may change."""
    key = (function, *kinds)
    if key not in _foreign:
        _foreign[key] = [cls for kind in kinds for cls in _classes(kind) if not is_own(cls)]
    foreign = _foreign[key]
    return (key, code_digest(*foreign)) if foreign else key


class Translated(NamedTuple):
    """A program in LLVM's language, and the name of its machine code in the cache."""

    program: Program
    text: str
    name: str


def _translate(
    function: Callable[..., Any], kinds: list[Any], defaults: dict[str, Callable[..., Any]], key: Any
) -> Translated:
    if key not in _translated or not _translated[key].program.is_unchanged():
        program = Program(defaults)
        text = program.translate(function, kinds)
        name = sha256("\n".join([text, *machine.host(), machine.SETTINGS]).encode()).hexdigest()[:40]
        _translated[key] = Translated(program, text, name)
    return _translated[key]


def _compile(function: Callable[..., Any], kinds: list[Any], defaults: dict[str, Callable[..., Any]], key: Any) -> Code:
    program, text, name = _translate(function, kinds, defaults, key)
    stored = read_code(name)
    if stored is None:
        stored = machine.machine_code(text), program.externals
        write_code(name, *stored)
    code, externals = stored
    entry = machine.load(code, externals)
    return Code(entry, kinds, program.returns, program.functions, len(code), program.is_unchanged)


def _classes(kind: Any) -> list[type]:
    if not isinstance(kind, Record):
        return []
    return [cls for cls in (kind.cls,) if cls] + [cls for field in kind.fields for cls in _classes(field)]
