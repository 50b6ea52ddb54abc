"""Compile faster, and into faster code, with Numba's internals.

Internals change without notice, so each piece is optional. `numba_self_test` decides which are in use; without any,
code is compiled by Numba's public way, which costs time and changes no result.
"""

import functools
from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple

import llvmlite
import numba
from numba.extending import intrinsic

from setwise.files import read_file

PIECES = {
    "parts": "compile the functions below the loop together with it, in one pass",
    "inlining": "inline methods of policies and environments",
    "borrowing": "do not count references to the caller's arrays",
    "bounds": "check indices only where asked for",
}

types: Any = numba.types


class Switch:
    """A flag that Numba reads at each compilation."""

    on = False

    def __bool__(self) -> bool:
        return self.on


class Toolkit(NamedTuple):
    """Options and functions to compile with.

    options: jit options of functions below the entry point
    inlined: jit options of those that take a named tuple
    bounds: switch of the index checks; without the piece it does nothing, and all indices are checked
    borrow: intrinsic that returns its argument with borrowed arrays; None to count references
    link: called with each newly compiled entry point
    tag: part of the cache key, another one for each way to compile
    """

    options: dict[str, Any]
    inlined: dict[str, Any]
    bounds: Switch
    borrow: Any
    link: Callable[[Any], None]
    tag: str


def build_toolkit(pieces: tuple[str, ...] = ()) -> Toolkit:
    """Build a toolkit with these pieces; with none, it is Numba's public way."""
    options: dict[str, Any] = {"error_model": "numpy", "boundscheck": True}
    bounds, borrow, link = Switch(), None, _link_nothing
    if "bounds" in pieces:
        options["boundscheck"] = bounds
    if "parts" in pieces:
        options |= {"pipeline_class": _part_compiler(), "no_cfunc_wrapper": True}
        link = _link_environments
    if "borrowing" in pieces:
        borrow = _borrow()
    inlined = {**options, "forceinline": True} if "inlining" in pieces else options
    return Toolkit(options, inlined, bounds, borrow, link, digest_of(__file__, *pieces)[:8])


def digest_of(file: str, *words: str) -> str:
    """Return a digest of a source file, the words, and the versions of Numba and LLVM."""
    try:
        source = read_file(file)
    except OSError:  # a program without sources
        source = b""
    return sha256("\n".join([*words, numba.__version__, llvmlite.__version__, ""]).encode() + source).hexdigest()


def _link_nothing(dispatcher: Any) -> None:
    pass


@functools.cache
def _part_compiler() -> Any:
    """Return a compiler of functions that only compiled code calls.

    Numba generates machine code for every function below the entry point, and each time optimises all its callees
    again. This compiler does both once, for the whole, which is faster.
    """
    from numba import _dynfunc
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
        """Code that is only linked into other code: optimised there, never turned into machine code itself."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class PartLowering(NativeLowering):  # type: ignore[misc]
        """Numba's lowering without the final step to machine code."""

        _name = "setwise_part_lowering"

        def run_pass(self, state: Any) -> bool:
            if state.library is None:
                state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.flags.no_compile = True
            super().run_pass(state)
            lowered = state["cr"]
            name = lowered.fndesc.qualname.split(".")[-1]
            key = _dynfunc.make_function(lowered.fndesc.lookup_module(), name, "", 0, lowered.env, (state.library,))
            state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
            state["cr"] = lowered._replace(cfunc=key)
            return True

    class PartCompiler(Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> Any:
            pipelines = super().define_pipelines()
            for pipeline in pipelines:
                steps = pipeline.passes
                pipeline.passes = [(PartLowering if step is NativeLowering else step, why) for step, why in steps]
                pipeline.finalize()
            return pipelines

    return PartCompiler


def _link_environments(dispatcher: Any) -> None:
    """Link compiled code to the Python objects its parts use, such as names for `print` and texts of errors.

    Numba does so only for code that it turns into machine code, which the parts never are. Without it, code that needs
    the interpreter acquires the GIL, finds nothing, and returns without releasing it.
    """
    from numba.core.environment import lookup_environment

    for compiled in dispatcher.overloads.values():
        library = compiled.library
        for variable in library._final_module.global_variables:
            found = lookup_environment(variable.name)
            if found is not None:
                library.codegen.set_env(variable.name, found)


@functools.cache
def _borrow() -> Any:
    """Return an intrinsic that returns its argument with the arrays marked as owned by the caller.

    Reference counting of a state's arrays costs more than the algorithm. The caller holds them during the compiled
    call, so no count is needed there: Numba does not count arrays without a memory record.
    """
    from numba.core import cgutils

    def lent(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value=value)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            return array._getvalue()
        if isinstance(kind, types.BaseTuple):
            for position, item in enumerate(kind):
                part = lent(context, builder, item, builder.extract_value(value, position))
                value = builder.insert_value(value, part, position)
            return value
        context.nrt.incref(builder, kind, value)  # the generator is still counted, and the result is a new reference
        return value

    def borrow(typing_context: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return lent(context, builder, signature.args[0], arguments[0])

        return value(value), generate

    return intrinsic(borrow)
