"""Translate calls: of plain functions and methods, of `math`, `len`, `min` and the like, and of generators."""

import ast
import builtins
import inspect
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.compiler.generator import BITGEN, DRAWS
from setwise.compiler.kinds import (
    ANY,
    BOOL,
    FLOAT,
    GENERATOR,
    INT,
    NATURAL,
    Array,
    Fixed,
    Record,
    Scalar,
    Unsupported,
    Value,
    constant,
    field_of,
    items_of,
    tuple_of,
    unify,
)
from setwise.compiler.rounds import BY_ROUND

if TYPE_CHECKING:
    from setwise.compiler.arrays import Arrays

# Functions of floats for which Python calls the C library.
LIBRARY = {
    math.log: ("log", 1),
    math.log1p: ("log1p", 1),
    math.log2: ("log2", 1),
    math.log10: ("log10", 1),
    math.exp: ("exp", 1),
    math.expm1: ("expm1", 1),
    math.erf: ("erf", 1),
    math.erfc: ("erfc", 1),
    math.sin: ("sin", 1),
    math.cos: ("cos", 1),
    math.tan: ("tan", 1),
    math.tanh: ("tanh", 1),
    math.atan: ("atan", 1),
}
FOLDED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}


def translate_call(own: "Arrays", call: ast.Call) -> Value:
    """Translate a call."""
    if isinstance(call.func, ast.Attribute):
        owner = own.value(call.func.value)
        if owner.kind == GENERATOR:
            return _draw(own, owner, call.func.attr, _arguments(own, call), call)
        if isinstance(owner.kind, Record) and field_of(owner, call.func.attr) is None:
            method = own.program.method_of(owner.kind.cls, call.func.attr)
            if method is not None:
                return own.program.call(own, method, [owner, *_arguments(own, call)], _keywords(own, call))  # type: ignore[no-any-return]
    callee = own.value(call.func)
    if not isinstance(callee.kind, Fixed):
        own.refuse(call)
    function = callee.kind.thing
    given = _arguments(own, call)
    if inspect.isfunction(function) and function in BY_ROUND:
        return BY_ROUND[function](own, given, call)
    if inspect.isfunction(function):
        return own.program.call(own, function, given, _keywords(own, call))  # type: ignore[no-any-return]
    if call.keywords:
        own.refuse(call)
    if isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields"):
        return _construct(own, function, given, call)
    try:
        known = BUILT_IN.get(function)
    except TypeError:
        known = None
    if known is not None:
        return known(own, given, call)
    if function in LIBRARY:
        name, count = LIBRARY[function]
        if len(given) == count and all(isinstance(value.kind, Scalar) for value in given):
            numbers = [own.cast(value, FLOAT).parts[0] for value in given]
            result = own.program.library(own, name, numbers)
            if own.checked:
                own.check_finite(result, *numbers)
            return Value(FLOAT, (result,))
    return own.refuse(call)  # type: ignore[no-any-return]


def _arguments(own: "Arrays", call: ast.Call) -> list[Value]:
    values: list[Value] = []
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            own.refuse(call)
        values.append(own.value(argument))
    return values


def _keywords(own: "Arrays", call: ast.Call) -> dict[str, Value]:
    if any(keyword.arg is None for keyword in call.keywords):
        own.refuse(call)
    return {keyword.arg: own.value(keyword.value) for keyword in call.keywords if keyword.arg}


def _construct(own: "Arrays", cls: type, given: list[Value], call: ast.Call) -> Value:
    if len(given) != len(cls._fields) or hasattr(cls.__new__, "__wrapped__"):  # type: ignore[attr-defined]
        own.refuse(call)
    return tuple_of(given, cls)


def _draw(own: "Arrays", generator: Value, method: str, given: list[Value], call: ast.Call) -> Value:
    """Draw from a generator."""
    if call.keywords or any(not isinstance(value.kind, Scalar) for value in given):
        own.refuse(call)
    if method == "random" and not given:
        return Value(FLOAT, (own.emit(f"call double @next_double(ptr {generator.parts[0]})"),))
    if method not in DRAWS or len(given) != DRAWS[method][1]:
        own.refuse(call)
    numbers = [f"double {own.cast(value, FLOAT).parts[0]}" for value in given]
    if own.checked:
        for number in numbers[1:] if method == "normal" else numbers:
            right = own.emit(f"fcmp ogt {number}, 0.0")
            if method != "beta":
                bits = own.emit(f"bitcast {number} to i64")
                right = own.emit(f"or i1 {right}, {own.emit(f'icmp eq i64 {bits}, 0')}")
            own.give_up_if(own.emit(f"xor i1 {right}, true"))
    name = own.program.draw(*DRAWS[method])
    bitgen = own.emit(f"getelementptr inbounds i8, ptr {generator.parts[0]}, i64 {BITGEN}")
    return Value(FLOAT, (own.emit(f"call double @{name}({', '.join([f'ptr {bitgen}', *numbers])})"),))


# Built-in functions.


def _len(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
    if len(given) == 1 and isinstance(given[0].kind, Array):
        return Value(INT, (given[0].parts[1],), NATURAL)
    if len(given) == 1 and isinstance(given[0].kind, Record):
        return constant(len(given[0].kind.fields))
    if len(given) == 1 and isinstance(given[0].kind, Fixed) and isinstance(given[0].kind.thing, tuple):
        return constant(len(given[0].kind.thing))
    return own.refuse(call)  # type: ignore[no-any-return]


def _extreme(comparison: str) -> Callable[["Arrays", list[Value], ast.Call], Value]:
    def choose(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
        if len(given) < 2 or any(not isinstance(value.kind, Scalar) for value in given):
            own.refuse(call)
        best = given[0]
        for value in given[1:]:
            kind = unify(best.kind, value.kind)
            sign = min(best.sign, value.sign)
            best, value = own.cast(best, kind), own.cast(value, kind)
            operation = f"fcmp o{comparison}" if kind == FLOAT else f"icmp {'u' if kind == BOOL else 's'}{comparison}"
            better = own.emit(f"{operation} {kind.llvm} {value.parts[0]}, {best.parts[0]}")
            part = own.emit(f"select i1 {better}, {kind.llvm} {value.parts[0]}, {kind.llvm} {best.parts[0]}")
            best = Value(kind, (part,), sign, None, best.numpy and value.numpy)
        return best

    return choose


def _abs(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
    if len(given) == 1 and given[0].kind == FLOAT:
        return Value(FLOAT, (own.emit(f"call double @llvm.fabs.f64(double {given[0].parts[0]})"),))
    if len(given) == 1 and given[0].kind == INT:
        return Value(INT, (own.emit(f"call i64 @llvm.abs.i64(i64 {given[0].parts[0]}, i1 false)"),), NATURAL)
    return own.refuse(call)  # type: ignore[no-any-return]


def whole(own: "Arrays", value: Value) -> Value:
    """Convert a number to a whole one, towards 0."""
    if value.kind != FLOAT:
        return own.cast(value, INT)
    if own.checked:
        size = own.emit(f"call double @llvm.fabs.f64(double {value.parts[0]})")
        own.give_up_if(own.emit(f"fcmp uge double {size}, 0x43E0000000000000"))
    return Value(INT, (own.emit(f"call i64 @llvm.fptosi.sat.i64.f64(double {value.parts[0]})"),))


def _int(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
    if len(given) != 1 or not isinstance(given[0].kind, Scalar):
        own.refuse(call)
    return whole(own, given[0])._replace(numpy=False)


def _float(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
    if len(given) != 1 or not isinstance(given[0].kind, Scalar):
        own.refuse(call)
    return own.cast(given[0], FLOAT)._replace(numpy=False)


def _bool(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
    if len(given) != 1:
        own.refuse(call)
    return own.truth(given[0])


def _sqrt(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
    if len(given) != 1 or not isinstance(given[0].kind, Scalar):
        own.refuse(call)
    number = own.cast(given[0], FLOAT).parts[0]
    result = own.emit(f"call double @llvm.sqrt.f64(double {number})")
    if own.checked:
        own.check_finite(result, number)
    return Value(FLOAT, (result,))


def _rounded(name: str) -> Callable[["Arrays", list[Value], ast.Call], Value]:
    def rounded(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
        if len(given) != 1 or not isinstance(given[0].kind, Scalar):
            own.refuse(call)
        if given[0].kind != FLOAT:
            return own.cast(given[0], INT)
        return whole(own, Value(FLOAT, (own.emit(f"call double @llvm.{name}.f64(double {given[0].parts[0]})"),)))

    return rounded


def _test(comparison: str) -> Callable[["Arrays", list[Value], ast.Call], Value]:
    """Return a test of a float: its absolute value compared with infinity."""

    def test(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
        if len(given) != 1 or not isinstance(given[0].kind, Scalar):
            own.refuse(call)
        size = own.emit(f"call double @llvm.fabs.f64(double {own.cast(given[0], FLOAT).parts[0]})")
        return Value(BOOL, (own.emit(f"fcmp {comparison} double {size}, 0x7FF0000000000000"),))

    return test


ELEMENT_OF = {np.float64: "f8", float: "f8", np.int64: "i8", int: "i8", np.bool_: "b1", bool: "b1", np.int8: "i1"}


def _new_array(zeros: bool) -> Callable[["Arrays", list[Value], ast.Call], Value]:
    """Return `np.zeros` or `np.empty`, of a length or lengths and a type."""

    def new_array(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
        if not 1 <= len(given) <= 2 or (len(given) == 2 and not isinstance(given[1].kind, Fixed)):
            own.refuse(call)
        element = ELEMENT_OF.get(given[1].kind.thing) if len(given) == 2 else "f8"
        lengths = items_of(given[0]) if isinstance(given[0].kind, Record) else [given[0]]
        if element is None or not lengths or any(length.kind != INT for length in lengths):
            return own.refuse(call)  # type: ignore[no-any-return]
        return own.allocate(element, lengths, zeros, call)

    return new_array


BUILT_IN: dict[Any, Callable[["Arrays", list[Value], ast.Call], Value]] = {
    builtins.len: _len,
    builtins.min: _extreme("lt"),
    builtins.max: _extreme("gt"),
    builtins.abs: _abs,
    builtins.int: _int,
    builtins.float: _float,
    builtins.bool: _bool,
    np.zeros: _new_array(True),
    np.empty: _new_array(False),
    np.int64: _int,
    np.float64: _float,
    math.sqrt: _sqrt,
    math.floor: _rounded("floor"),
    math.ceil: _rounded("ceil"),
    math.fabs: lambda own, given, call: _abs(own, [_float(own, given, call)], call),
    math.isnan: _test("uno"),
    np.isnan: _test("uno"),
    math.isinf: _test("oeq"),
    np.isinf: _test("oeq"),
    math.isfinite: _test("one"),
    np.isfinite: _test("one"),
}


# Operations that are not one instruction.


def fold(operation: ast.operator, left: Any, right: Any) -> Value:
    """Compute with two known numbers."""
    if type(operation) not in FOLDED:
        raise Unsupported(f"the operation {type(operation).__name__}")
    try:
        return constant(FOLDED[type(operation)](left, right))
    except (ArithmeticError, ValueError) as error:
        raise Unsupported(str(error)) from None


def power(own: "Arrays", left: Value, right: Value, where: ast.AST) -> Value:
    """Raise to a power; whole numbers only to known small ones."""
    if FLOAT in (left.kind, right.kind):
        numbers = [own.cast(value, FLOAT).parts[0] for value in (left, right)]
        result = own.program.library(own, "pow", numbers)
        if own.checked and not (left.numpy or right.numpy):
            own.check_finite(result, *numbers)
        return Value(FLOAT, (result,), numpy=left.numpy or right.numpy)
    if left.known is not None and right.known is not None and 0 <= right.known <= 64:
        return constant(int(left.known) ** int(right.known))
    if right.known is None or not 0 <= right.known <= 4:
        own.refuse(where)
    result = constant(1)
    for _ in range(right.known):
        result = own.calculate(ast.Mult(), result, own.cast(left, INT), where)
    return result


def divide(own: "Arrays", operation: ast.operator, left: Value, right: Value, where: ast.AST) -> Value:
    """Divide whole numbers, rounding down, or shift; a division by 0 gives 0, as in NumPy."""
    a, b = left.parts[0], right.parts[0]
    if isinstance(operation, ast.LShift | ast.RShift):
        return _shift(own, isinstance(operation, ast.LShift), a, b)
    if not isinstance(operation, ast.FloorDiv | ast.Mod):
        own.refuse(where)
    none = own.emit(f"icmp eq i64 {b}, 0")
    if own.checked:
        if not (left.numpy or right.numpy):
            own.give_up_if(none)
        own.give_up_if(own.emit(f"icmp eq i64 {a}, {-(2**63)}"))  # divided by -1, it has more than 64 bits
    divisor = own.emit(f"select i1 {none}, i64 1, i64 {b}")
    natural = left.sign == right.sign == NATURAL
    quotient = own.emit(f"{'u' if natural else 's'}div i64 {a}, {divisor}")
    rest = own.emit(f"{'u' if natural else 's'}rem i64 {a}, {divisor}")
    if not natural:
        some = own.emit(f"icmp ne i64 {rest}, 0")
        mixed = own.emit(f"icmp slt i64 {own.emit(f'xor i64 {rest}, {divisor}')}, 0")
        down = own.emit(f"and i1 {some}, {mixed}")
        quotient = own.emit(f"select i1 {down}, i64 {own.emit(f'sub i64 {quotient}, 1')}, i64 {quotient}")
        rest = own.emit(f"select i1 {down}, i64 {own.emit(f'add i64 {rest}, {divisor}')}, i64 {rest}")
    found = quotient if isinstance(operation, ast.FloorDiv) else rest
    return Value(INT, (own.emit(f"select i1 {none}, i64 0, i64 {found}"),), NATURAL if natural else ANY)


def _shift(own: "Arrays", left: bool, a: str, b: str) -> Value:
    """Shift a whole number; by more than 63 bits it has no meaning in LLVM's language."""
    wide = own.emit(f"icmp ugt i64 {b}, 63")
    bits = own.emit(f"select i1 {wide}, i64 63, i64 {b}")
    result = own.emit(f"{'shl' if left else 'ashr'} i64 {a}, {bits}")
    if own.checked:
        own.give_up_if(wide)
        if left:
            own.give_up_if(own.emit(f"icmp ne i64 {own.emit(f'ashr i64 {result}, {bits}')}, {a}"))
    return Value(INT, (result,))
