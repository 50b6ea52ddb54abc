"""From plain Python to compiled code: the only module that knows Numba.

A policy is a NamedTuple with plain methods. Each method of the contract is handed to Numba once, for all named
tuples; which function it is follows from the class of the tuple at hand. The plain functions that the methods call
are found by following their global names. Whoever imports this module imports Numba, so it is imported where
something is compiled, and not before.
"""

import dis
import enum
import inspect
import linecache
import os
import re
import sys
import threading
from collections.abc import Callable
from typing import Any

import numba
from numba import _dynfunc
from numba.core import cgutils, errors
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering
from numba.extending import (
    NativeValue,
    intrinsic,
    models,
    overload,
    overload_method,
    register_model,
    typeof_impl,
    unbox,
)

from setwise.declare import CONTRACTS, methods_of
from setwise.digests import code_digest, is_own, reachable, undeclared
from setwise.errors import WorkerLost
from setwise.kernels.ranking import Ranking
from setwise.types import InputError

types: Any = numba.types


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is only ever linked into other code: optimised there, and never made into machine code itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):  # type: ignore[misc]
    """Numba's lowering, up to where it would make machine code."""

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
    """The compiler of what only compiled code calls.

    Numba makes machine code of every function on the way to the one that is asked for, and each time optimises all
    that the function calls once more. Here both are done once, for the whole, which takes less time.
    """

    def define_pipelines(self) -> Any:
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [(PartLowering if step is NativeLowering else step, why) for step, why in pipeline.passes]
            pipeline.finalize()
        return pipelines


class Switch:
    """A setting that is read whenever something is compiled."""

    on = False

    def __bool__(self) -> bool:
        return self.on


check_bounds_now = Switch()
OPTIONS: Any = {
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "pipeline_class": PartCompiler,
    "boundscheck": check_bounds_now,
}
INLINED: Any = {**OPTIONS, "forceinline": True}


def _borrow(typing_context: Any, value: Any) -> Any:
    """The value with its arrays marked as owned by the caller.

    Counting references to the arrays of a state costs more than the algorithm. The caller holds them for as long
    as the compiled call lasts, so in there they need no count: Numba leaves arrays without a memory record alone.
    """

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
        context.nrt.incref(builder, kind, value)  # the generator keeps its count, and the result is a new reference
        return value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return lent(context, builder, signature.args[0], arguments[0])

    return value(value), generate


borrow = intrinsic(_borrow)


def _hand_over_method(name: str, default: Callable[..., Any]) -> None:
    """Let Numba call a method of the contract on any named tuple: the class's own, or the contract's default."""

    def choose(self: Any, *args: Any) -> Any:
        cls = getattr(self, "instance_class", None)
        return None if cls is None else undeclared(getattr(cls, name, default))

    choose.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(annotation=p.empty) for p in inspect.signature(default).parameters.values()]
    )
    # For all tuples, not for named ones: what is registered there is asked first, and would hide a field of the
    # same name, such as the `means` of somebody's state.
    overload_method(types.BaseTuple, name, strict=False, jit_options=INLINED)(choose)


for _contracts in (*CONTRACTS.values(), (Ranking,)):
    for _name, _default in methods_of(*_contracts).items():
        _hand_over_method(_name, _default)

# Numba asks whether a method has a receiver by its truth, and a type of length 0 is false: no field, no `self`.
types.NamedTuple.__bool__ = lambda self: True

_handed_over: dict[int, Callable[..., Any]] = {}


def _hand_over_function(function: Callable[..., Any]) -> None:
    """Let Numba call a plain function by its global name."""
    if id(function) not in _handed_over:
        _handed_over[id(function)] = function

        def choose_inlined(*args: Any) -> Any:
            return function if any(isinstance(arg, types.BaseTuple) for arg in args) else None

        def choose(*args: Any) -> Any:
            return None if any(isinstance(arg, types.BaseTuple) for arg in args) else function

        overload(function, strict=False, jit_options=INLINED)(choose_inlined)
        overload(function, strict=False, jit_options=OPTIONS)(choose)


HIDDEN = "a text, a tuple or a function"


class Hidden:
    """What stands for a field that compiled code cannot use: it can be passed on, and nothing else."""


class HiddenType(types.Type):  # type: ignore[misc]
    """The type of it, for which nothing is defined: whoever uses it is refused, in place of a wrong answer."""

    def __init__(self) -> None:
        super().__init__(HIDDEN)


hidden, hidden_type = Hidden(), HiddenType()
typeof_impl.register(Hidden)(lambda value, context: hidden_type)
register_model(HiddenType)(models.OpaqueModel)
unbox(HiddenType)(lambda kind, value, context: NativeValue(context.context.get_dummy_value()))


def plain(value: Any, hide: Any = None) -> Any:
    """The named tuple without what compiled code has no use for: texts, plain tuples and functions.

    In classes of our own they become None, which is known not to be used; else `hidden`.
    """
    if not hasattr(value, "_fields"):
        return hide if isinstance(value, str | tuple) or callable(value) else value
    hide = None if is_own(type(value)) else hidden
    return tuple.__new__(type(value), [plain(field, hide) for field in value])


def _classes(value: Any) -> list[type]:
    if isinstance(value, enum.Enum):
        return [type(value)]
    if not hasattr(value, "_fields"):
        return []
    return [type(value)] + [cls for field in value for cls in _classes(field)]


_compiling = threading.RLock()  # several threads may ask at once
_torn = False  # whether this process was forked while another thread was compiling, of which it has half
_compiled: dict[tuple[Any, ...], Any] = {}
_digests: dict[Any, str] = {}  # of each class and function of the user's that was compiled: Numba compiles it once


def _after_fork() -> None:
    global _torn
    if _compiling.acquire(blocking=False):
        _compiling.release()
    else:
        _torn = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def compile_for(
    function: Callable[..., Any], *args: Any, checked: bool = True, check_bounds: bool = False
) -> Callable[..., Any]:
    """The function compiled for arguments of these types, from the disk cache if its code was compiled before.

    The compiled function borrows its arguments: it must not keep or return arrays of theirs.

    checked: whether every call looks at the types of its arguments, which takes Numba 0.2 ms where there are tuples
        and a generator; without that, a call takes microseconds, and arguments of other types would be misread
    check_bounds: whether an index out of bounds raises IndexError; else it reads or writes beside the array
    """
    if numba.config.DISABLE_JIT:
        return function
    if _torn:
        raise WorkerLost(
            "this process was forked while a thread of its parent was compiling, so that it cannot compile; "
            "start it by another method, such as spawn"
        )
    with _compiling:
        classes = [cls for arg in args for cls in _classes(arg)]
        key = (function, check_bounds, *classes)
        _check_unchanged(classes)
        if key not in _compiled:
            _compiled[key] = _entry(function, classes, check_bounds)
        dispatcher = _compiled[key]
        check_bounds_now.on = check_bounds
        known = len(dispatcher.overloads)
        try:
            entry = dispatcher.compile((numba.typeof(args),))
        except Exception as error:  # Numba's own, and whatever its passes let through
            raise InputError(_explain(error, classes)) from None
        finally:
            check_bounds_now.on = False
        if len(dispatcher.overloads) > known:
            _give_environments(dispatcher)
    return (lambda *args: dispatcher(args)) if checked else (lambda *args: entry(args))


def _check_unchanged(classes: list[type]) -> None:
    """Refuse classes that use code which has changed since Numba compiled it for them, or for others."""
    things: list[Any] = [*classes, *reachable(*classes)]
    for thing in dict.fromkeys(things):
        if not is_own(thing):
            digest = code_digest(thing)
            if _digests.setdefault(thing, digest) != digest:
                name = thing.__qualname__
                raise InputError(f"{name} uses code that has changed since it was compiled: define {name} again")


def _give_environments(dispatcher: Any) -> None:
    """Tell compiled code where the Python objects of its parts are: names for `print`, texts of errors.

    Numba does so for whatever it makes into machine code, and the parts are never made into that by themselves. Without
    it, who needs the interpreter takes its lock, finds nothing, and leaves without giving the lock back.
    """
    for compiled in dispatcher.overloads.values():
        library = compiled.library
        for variable in library._final_module.global_variables:
            found = lookup_environment(variable.name)
            if found is not None:
                library.codegen.set_env(variable.name, found)


def _entry(function: Callable[..., Any], classes: list[type], check_bounds: bool) -> Any:
    for reached in reachable(function, *classes):
        _hand_over_function(reached)

    def entry(args: Any) -> Any:
        return function(*borrow(args))

    # Numba's cache looks for changes only in the file of the function it caches, this one. All code that can run
    # is in the digest, and the digest is in the name that the cache goes by: changed code is never found there.
    # It also keeps classes that no longer exist out of the index that Numba reads for others.
    name = f"{function.__name__}_{code_digest(function, *classes)[:24]}{'_checked' * check_bounds}"
    entry.__qualname__ = entry.__name__ = name
    cache = all(map(_importable, classes))
    return numba.njit(nogil=True, cache=cache, error_model="numpy", boundscheck=check_bounds)(entry)


def _importable(cls: type) -> bool:
    """Whether another process can find the class: not in `__main__`, not inside a function."""
    module = sys.modules.get(cls.__module__)
    return cls.__module__ != "__main__" and getattr(module, cls.__qualname__, None) is cls


def _explain(error: Exception, classes: list[type]) -> str:
    """One sentence for Numba's several thousand characters: class, method, line, and the innermost reason."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    innermost = message.rsplit("nopython mode pipeline", 1)[-1]
    places = re.findall(r'File "([^"]+)", line (\d+):', innermost)
    lines = [line.strip(" -") for line in innermost.splitlines()[1:] or innermost.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("File", "During"))] or ["not supported"]
    reason = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    reason = (
        _in_place_of(message)
        or _in_words(message, innermost)
        or (reason if len(reason) <= 160 else f"{reason[:150]} ...")
    )
    places = [place for place in _unnamed_place(error, message, classes) if place] + places
    for file, line in places:
        owner = _owner(file, int(line), classes)
        if owner:
            name, path = owner
            text = linecache.getline(path, int(line)).strip()
            return f"{name} cannot be compiled ({os.path.basename(file)}, line {line}: {text}): {reason}"
    names = ", ".join(dict.fromkeys(cls.__name__ for cls in classes))
    where = f" ({os.path.basename(places[0][0])}, line {places[0][1]})" if places else ""
    return f"{names} cannot be compiled{where}: {reason}"


HELPERS = {
    "choice": "choose, choose_one and choose_weighted",
    "beta": "draw_betas",
    "gamma": "draw_gammas",
    "standard_gamma": "draw_gammas",
    "normal": "draw_normals",
    "exponential": "draw_exponentials",
    "binomial": "draw_bernoullis",
}


def _in_place_of(message: str) -> str | None:
    """What to use in place of a method of the generator that Numba does not know, or not for arrays."""
    unknown = re.search(r"Unknown attribute '(\w+)' of type NumPyRandomGeneratorType", message)
    if unknown:
        instead = HELPERS.get(unknown[1])
        hint = f"use {instead} of setwise.kernels" if instead else "draw from rng.random() instead"
        return f"compiled code has no rng.{unknown[1]}: {hint}"
    scalar = re.search(r"function NumPyRandomGeneratorType_(\w+)", message)
    if scalar:
        instead = HELPERS.get(scalar[1])
        hint = f"use {instead} of setwise.kernels, or draw" if instead else "draw"
        return f"compiled code has rng.{scalar[1]} for single numbers only: {hint} one after the other in a loop"
    return None


UNKNOWN = (
    (re.escape(HIDDEN), f"compiled code has no use for a field that is {HIDDEN}: make it a number or an array"),
    (r"exception_match", "compiled code catches all errors or none: write `except Exception`, or `except`"),
    (
        r"FORMAT_WITH_SPEC|FORMAT_VALUE|FORMAT_SIMPLE",
        "compiled code formats no numbers: print them one by one",
    ),
    (
        r"Unknown attribute '(n|k)' of type \w+\(",
        r"compiled code does not see properties: make \1 a field, or take the length of an array",
    ),
)


def _in_words(message: str, innermost: str) -> str | None:
    """One sentence for what Numba says of some mistakes that are easily made."""
    for pattern, words in UNKNOWN:
        found = re.search(pattern, message)
        if found:
            return found.expand(words)
    call = re.search(r"No implementation of function Function\(<function (\w+) at ", innermost)
    if call:
        return (
            f"compiled code cannot call {call[1]} with these arguments: give them by position, numbers or arrays only"
        )
    return None


def _unnamed_place(error: Exception, message: str, classes: list[type]) -> list[Any]:
    """File and line, where the message has none: of an unknown name, or of what was being compiled."""
    unknown = re.search(r"name '(\w+)' is not defined", message)
    if unknown:
        for function in reachable(*classes):
            line = function.__code__.co_firstlineno
            for instruction in dis.Bytecode(function.__code__):
                line = instruction.positions.lineno or line if instruction.positions else line
                if instruction.opname == "LOAD_GLOBAL" and instruction.argval == unknown[1]:
                    return [(function.__code__.co_filename, line)]
    if isinstance(error, errors.NumbaError):
        return []
    place, trace = None, error.__traceback__
    while trace is not None:
        local = trace.tb_frame.f_locals
        if trace.tb_frame.f_code.co_name == "compile_extra" and hasattr(local.get("func"), "__code__"):
            place = (local["func"].__code__.co_filename, local["func"].__code__.co_firstlineno)
        for name in ("inst", "self"):
            at: Any = getattr(local.get(name), "loc", None)
            if place and getattr(at, "filename", None) == place[0]:
                place = (place[0], at.line)
        trace = trace.tb_next
    return [place]


def _owner(file: str, line: int, classes: list[type]) -> tuple[str, str] | None:
    """The method or function that has a line, and its file."""
    for function in reachable(*classes):
        code = function.__code__
        last = max((at for _, _, at in code.co_lines() if at), default=code.co_firstlineno)
        if os.path.basename(code.co_filename) == os.path.basename(file) and code.co_firstlineno <= line <= last:
            return function.__qualname__, code.co_filename
    return None
