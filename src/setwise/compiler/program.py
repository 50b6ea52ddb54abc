"""Put a function and all that it calls together into one program in LLVM's language."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from setwise.compiler.functions import Function, result_type
from setwise.compiler.generator import CODE
from setwise.compiler.kinds import (
    ANY,
    ELEMENTS,
    FLOAT,
    GENERATOR,
    Array,
    Record,
    Scalar,
    Unsupported,
    Value,
    constant,
    llvm_types,
    tuple_of,
)
from setwise.compiler.sources import Sources
from setwise.digests import is_own, undeclared

ENTRY = "setwise_entry"
MOST_CONSTANTS = 10_000  # elements of a global array, which is written into the program
PURE = "nounwind willreturn memory(none)"
# What compiled code reads and writes: elements of different types never share memory.
TAGS = ("f8", "i8", "i4", "i2", "i1", "b1")
INTRINSICS = """
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare i64 @llvm.abs.i64(i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.fptosi.sat.i64.f64(double)
declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.ssub.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)
"""


class Read(NamedTuple):
    """What a name or an attribute stood for: how to get it again, the object, and its value if that may change."""

    get: Callable[[], Any]
    found: Any
    frozen: Any

    def is_unchanged(self) -> bool:
        try:
            now = self.get()
        except Exception:  # it is gone
            return False
        if isinstance(self.found, int | float | str | bytes | np.generic):
            return type(now) is type(self.found) and _frozen(now) == self.frozen
        return now is self.found and _frozen(now) == self.frozen


def _frozen(value: Any) -> Any:
    """Return a copy of what may change in a value: a number, the elements of an array, or those of a tuple."""
    if isinstance(value, tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float | np.floating):
        return float(value).hex()  # also of what is not a number
    return value if isinstance(value, int | str | bytes | np.generic) else None


class Program:
    """A program under translation.

    externals: functions of the C library and of NumPy that it calls, by their symbols
    functions: number of translated functions
    reads: what code that is not ours was found to refer to
    returns: kind of the result
    """

    sources = Sources()

    def __init__(self, defaults: dict[str, Callable[..., Any]]) -> None:
        self.externals: dict[str, str] = {}
        self.functions = 0
        self.returns: Any = None
        self.reads: list[Read] = []
        self._defaults = defaults
        self._made: dict[Any, Function] = {}
        self._busy: set[Any] = set()
        self._text: list[str] = []
        self._declared: list[str] = []

    def translate(self, function: Callable[..., Any], kinds: list[Any]) -> str:
        """Return the program whose entry point calls the function with arguments of these kinds.

        The entry point takes the address of a list of words: the parts of all arguments. It writes the result, a number
        if any, to the word after them, and returns whether it gave up, which is written to the word after that.
        """
        made = self._function(function, kinds)
        self.returns = made.returns
        lines, given, generators, place = [], ["ptr %failed"], [], 0
        for kind in kinds:
            for llvm, is_generator in _words(kind):
                lines.append(f"  %a{place} = getelementptr i64, ptr %words, i64 {place}")
                source = "i64" if llvm == "i1" else llvm
                lines.append(f"  %v{place} = load {source}, ptr %a{place}, align 8, !tbaa !9")
                if llvm == "i1":
                    lines.append(f"  %t{place} = trunc i64 %v{place} to i1")
                given.append(f"{llvm} %{'t' if llvm == 'i1' else 'v'}{place}")
                generators += [f"  call void @prepare_generator(ptr %v{place})"] * is_generator
                place += 1
        lines.append(f"  %failed = getelementptr i64, ptr %words, i64 {place + 1}")
        lines.append("  store i64 0, ptr %failed, align 8, !tbaa !9")
        result = made.result_type()
        call = f"call {result} {made.name}({', '.join(given)})"
        if isinstance(made.returns, Scalar):
            stored = "%result"
            lines += [*generators, f"  %result = {call}", f"  %out = getelementptr i64, ptr %words, i64 {place}"]
            if result == "i1":
                lines.append("  %wide = zext i1 %result to i64")
                result, stored = "i64", "%wide"
            lines.append(f"  store {result} {stored}, ptr %out, align 8, !tbaa !9")
        elif llvm_types(made.returns):
            raise Unsupported(f"{function.__qualname__}, which returns more than a number")
        else:
            lines += [*generators, f"  {call}"]
        entry = [f"define i64 @{ENTRY}(ptr %words) nounwind {{", *lines]
        entry += ["  %error = load i64, ptr %failed, align 8, !tbaa !9", "  ret i64 %error", "}"]
        tags = [
            f'!{place} = !{{!"{tag}", !10, i64 0}}' for place, tag in enumerate((*TAGS, "", "", "rng", "words"), 11)
        ]
        accesses = [f"!{place} = !{{!{place + 11}, !{place + 11}, i64 0}}" for place in range(10)]
        return "\n".join(
            [CODE, INTRINSICS, *dict.fromkeys(self._declared), *self._text, *entry,
             *accesses, '!10 = !{!"memory"}', *tags, ""]
        )  # fmt: skip

    def tag(self, element: str) -> str:
        """Return the tag of memory that holds such elements."""
        return f"!{TAGS.index(element)}"

    def is_trusted(self, function: Callable[..., Any]) -> bool:
        """Whether the function is Setwise's own, and so tested for what compiled code does in another way."""
        return is_own(function)

    def _function(self, function: Callable[..., Any], kinds: list[Any]) -> Function:
        key = (function, *kinds)
        if key in self._made:
            return self._made[key]
        if key in self._busy:
            raise Unsupported(f"{function.__qualname__}, which calls itself")
        self._busy.add(key)
        self.functions += 1
        made = Function(self, function, kinds, f'@"{function.__qualname__}.{self.functions}"')
        self._text.append(made.translate())
        self._made[key] = made
        return made

    def call(self, own: Function, function: Any, given: list[Value], keywords: dict[str, Value] | None = None) -> Value:
        """Call a plain Python function from a function under translation."""
        function = undeclared(function)
        if not inspect.isfunction(function) or hasattr(function, "__wrapped__"):
            raise Unsupported(f"{getattr(function, '__qualname__', function)}, which is wrapped")
        values = self._bind(function, given, keywords or {})
        made = self._function(function, [value.kind for value in values])
        types = [llvm for value in values for llvm in llvm_types(value.kind)]
        parts = [part for value in values for part in value.parts]
        arguments = ", ".join(["ptr %failed", *(f"{llvm} {part}" for llvm, part in zip(types, parts, strict=True))])
        results = llvm_types(made.returns)
        result = ""
        if results:
            result = own.emit(f"call {result_type(made.returns)} {made.name}({arguments})")
        else:
            own.do(f"call void {made.name}({arguments})")
        if made.gives_up:
            failed = own.emit("load i64, ptr %failed, align 8, !tbaa !9")
            own.give_up_if(own.emit(f"icmp ne i64 {failed}, 0"))
        if not results:
            return Value(made.returns)
        if len(results) == 1:
            return Value(made.returns, (result,))
        whole = result_type(made.returns)
        parts = [own.emit(f"extractvalue {whole} {result}, {place}") for place in range(len(results))]
        return Value(made.returns, tuple(parts))

    def _bind(self, function: Any, given: list[Value], keywords: dict[str, Value]) -> list[Value]:
        """Return the arguments in order, with defaults."""
        names = [argument.arg for argument in self.sources.tree_of(function).args.args]
        stated = self.read(lambda: function.__defaults__, is_own(function)) or ()
        defaults = dict(zip(reversed(names), reversed(stated)))
        values = {
            **{name: self.fixed(value) for name, value in defaults.items()},
            **dict(zip(names, given)),
            **keywords,
        }
        if len(given) > len(names) or set(values) != set(names):
            raise Unsupported(f"the arguments of {function.__qualname__}")
        return [value._replace(known=None, sign=ANY) for value in (values[name] for name in names)]

    def method_of(self, cls: type | None, name: str) -> Any:
        """Return a method of a class, or the contract's default."""
        if cls is None or isinstance(inspect.getattr_static(cls, name, None), staticmethod | classmethod):
            return None
        return self.read(lambda: getattr(cls, name, self._defaults.get(name)), is_own(cls))

    def read(self, get: Callable[[], Any], trusted: bool) -> Any:
        """Return what a name or an attribute stands for, and remember it if it may change: see `is_unchanged`."""
        found = get()
        if not trusted:
            self.reads.append(Read(get, found, _frozen(found)))
        return found

    def is_unchanged(self) -> bool:
        """Whether all that code that is not ours refers to is what it was when it was translated."""
        return all(read.is_unchanged() for read in self.reads)

    def fixed(self, thing: Any) -> Value:
        """Return the value of a global name, a default or an attribute."""
        if isinstance(thing, np.ndarray):
            return self.constant_array(thing)
        if isinstance(thing, np.generic):
            thing = thing.item()
        if isinstance(thing, tuple) and hasattr(thing, "_fields"):
            return tuple_of([self.fixed(field) for field in thing], type(thing))
        return constant(thing)

    def constant_array(self, array: Any) -> Value:
        """Return an array that never changes."""
        code = element_code(array)
        if array.size > MOST_CONSTANTS:
            raise Unsupported(f"a constant array of {array.size} elements")
        name = f"@constant.{len(self._declared)}"
        llvm, kind = ELEMENTS[code]
        numbers = [constant(float(x) if kind == FLOAT else int(x)).parts[0] for x in array.ravel()]
        items = ", ".join(f"{llvm} {number}" for number in numbers)
        self._declared.append(f"{name} = internal constant [{len(numbers)} x {llvm}] [{items}]")
        return Value(Array(code, array.ndim, True), (name, *map(str, array.shape)))

    def declare(self, symbol: str, name: str, declaration: str) -> None:
        """Declare a C function that the program calls by a symbol."""
        self.externals[symbol] = name
        self._declared.append(declaration)

    def include(self, code: str) -> None:
        """Put functions in LLVM's language into the program, once."""
        self._declared.append(code)

    def library(self, own: Function, name: str, numbers: list[str]) -> str:
        """Call a function of the C library on floats; by another name, so that LLVM does not replace it."""
        symbol = f"setwise_{name}"
        self.declare(symbol, name, f"declare double @{symbol}({', '.join(['double'] * len(numbers))}) {PURE}")
        return own.emit(f"call double @{symbol}({', '.join(f'double {number}' for number in numbers)})")

    def draw(self, name: str, numbers: int) -> str:
        """Declare a function of NumPy's that draws from a generator; return its symbol."""
        symbol = f"setwise_{name}"
        self.declare(symbol, name, f"declare double @{symbol}({', '.join(['ptr'] + ['double'] * numbers)}) nounwind")
        return symbol


def _words(kind: Any) -> list[tuple[str, bool]]:
    """Return the LLVM types of a kind's parts, and whether each is a generator."""
    if isinstance(kind, Record):
        return [word for field in kind.fields for word in _words(field)]
    return [(llvm, kind == GENERATOR) for llvm in llvm_types(kind)]


def element_code(array: Any) -> str:
    """Return the code of an array's elements."""
    code = array.dtype.str.lstrip("<|=")
    if code not in ELEMENTS or not array.flags.c_contiguous or not array.flags.aligned or not 1 <= array.ndim <= 4:
        raise Unsupported(f"an array of {array.dtype}, {array.ndim} dimensions, strides {array.strides}")
    return str(code)
