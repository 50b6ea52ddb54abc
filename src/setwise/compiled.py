"""Compile plain Python functions: with the compiler of this package, or with Numba what that does not know.

Importing this module imports LLVM, and Numba only when it is needed, so import it only where something is compiled.
"""

import sys
from collections.abc import Callable
from typing import Any

from setwise.compiler.compile import Compiled, compile_function, find_code, is_code_stored
from setwise.compiler.kinds import Unsupported
from setwise.compiler.settings import NUMBA_SECONDS, SECONDS, only_interpreted, only_numba
from setwise.declare import CONTRACTS, methods_of
from setwise.errors import InputError
from setwise.kernels.ranking import Ranking
from setwise.waiting import saying

DEFAULTS = {
    name: default for contracts in (*CONTRACTS.values(), (Ranking,)) for name, default in methods_of(*contracts).items()
}


def compile_for(
    function: Callable[..., Any], *args: Any, checked: bool = True, check_bounds: bool = False, what: str = ""
) -> Callable[..., Any]:
    """Compile the function for arguments of these types, or load it from the cache on disk.

    The compiled function borrows its arguments: it must not keep or return their arrays.

    checked: whether every call checks its argument types; otherwise arguments of other types are misread
    check_bounds: whether an index out of bounds raises IndexError; otherwise it reads or writes outside the array
    what: what is compiled, to tell a user who waits for it at a terminal; by default nothing is said
    """
    if only_interpreted():
        return function
    if not check_bounds and is_fast(function, *args, what=what):
        return Compiled(compile_function(function, args, DEFAULTS), checked)
    with saying(_text(what, NUMBA_SECONDS)):
        from setwise.numba_compiler import compile_for as compile_by_numba

        return compile_by_numba(function, *args, checked=checked, check_bounds=check_bounds)


def _text(what: str, seconds: float) -> str:
    return f"compiling {what}, once (about {max(1, round(seconds))} s)" if what else ""


def is_fast(function: Callable[..., Any], *args: Any, what: str = "") -> bool:
    """Compile the function for such arguments, if that works without Numba; return whether it did."""
    if only_numba():
        return False
    try:
        with saying(_text(what, SECONDS)):
            compile_function(function, args, DEFAULTS)
    except Unsupported:
        return False
    return True


def is_stored(function: Callable[..., Any], *args: Any) -> bool:
    """Whether the machine code for such arguments is in the cache on disk, so that it need only be loaded."""
    try:
        return not only_numba() and is_code_stored(function, args, DEFAULTS)
    except InputError:
        return False


def find_compiled(function: Callable[..., Any], *args: Any) -> Any:
    """Return the function if it was compiled for such arguments in this process, else None."""
    if not only_numba():
        code = find_code(function, args)
        if code is not None:
            return Compiled(code, checked=False)
    if "setwise.numba_compiler" not in sys.modules:
        return None
    from setwise.numba_compiler import find_compiled as find_by_numba

    return find_by_numba(function, *args)
