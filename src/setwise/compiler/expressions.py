"""Translate expressions: names, numbers, operators and comparisons."""

import ast
import builtins
import inspect
from collections.abc import Callable
from typing import Any

from setwise.compiler import calls
from setwise.compiler.arrays import Arrays
from setwise.compiler.kinds import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NATURAL,
    NOTHING,
    Array,
    Fixed,
    Record,
    Scalar,
    Unsupported,
    Value,
    constant,
    field_of,
    tuple_of,
)
from setwise.digests import is_own
from setwise.errors import InputError

COMPARISONS = {
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
}
WHOLE = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
OVERFLOWING = (ast.Add, ast.Sub, ast.Mult)
REAL = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}


class Expressions(Arrays):
    """A function whose expressions can be translated."""

    def value(self, expression: ast.expr) -> Value:
        """Translate an expression."""
        method = getattr(self, f"_get_{type(expression).__name__}", None)
        if method is None:
            return self.refuse(expression)  # type: ignore[no-any-return]
        found: Value = method(expression)
        return found

    def _get_Constant(self, expression: ast.Constant) -> Value:
        return constant(expression.value)

    def _get_Name(self, expression: ast.Name) -> Value:
        name = expression.id
        if name in self.given:
            return self.given[name]
        if name in self.slots:
            return self.variable(name)
        if name in self.function.__code__.co_varnames:
            raise Unsupported(f"{self.function.__qualname__}: {name} is used before it is assigned")
        found = self.program.read(lambda: global_value(self.function, name), not self.checked)
        return self.program.fixed(found)  # type: ignore[no-any-return]

    def _get_Attribute(self, expression: ast.Attribute) -> Value:
        owner = self.value(expression.value)
        if isinstance(owner.kind, Record):
            field = field_of(owner, expression.attr)
            if field is not None:
                return field
            cls, name = owner.kind.cls, expression.attr
            member = self.program.read(lambda: inspect.getattr_static(cls, name, None), cls is None or is_own(cls))
            if isinstance(member, property) and member.fget is not None:
                return self.program.call(self, member.fget, [owner])  # type: ignore[no-any-return]
            if isinstance(member, int | float):
                return constant(member)
        if isinstance(owner.kind, Array) and expression.attr == "shape":
            return tuple_of([Value(INT, (length,), NATURAL) for length in owner.parts[1:]])
        if isinstance(owner.kind, Fixed) and hasattr(owner.kind.thing, expression.attr):
            thing, name = owner.kind.thing, expression.attr
            return self.program.fixed(self.program.read(lambda: getattr(thing, name), not self.checked))  # type: ignore[no-any-return]
        return self.refuse(expression)  # type: ignore[no-any-return]

    def _get_Tuple(self, expression: ast.Tuple) -> Value:
        return tuple_of([self.value(item) for item in expression.elts])

    def _get_Call(self, expression: ast.Call) -> Value:
        return calls.translate_call(self, expression)

    def _get_UnaryOp(self, expression: ast.UnaryOp) -> Value:
        operand = self.value(expression.operand)
        if isinstance(expression.op, ast.Not):
            test = self.truth(operand)
            if test.known is not None:
                return constant(not test.known)
            return Value(BOOL, (self.emit(f"xor i1 {test.parts[0]}, true"),))
        if operand.kind == BOOL:
            self._check_number(operand, expression)
            operand = self.cast(operand, INT)
        if isinstance(expression.op, ast.UAdd) and isinstance(operand.kind, Scalar):
            return operand
        if isinstance(expression.op, ast.USub):
            if operand.known is not None:
                return constant(-operand.known)
            if operand.kind == FLOAT:
                return Value(FLOAT, (self.emit(f"fneg double {operand.parts[0]}"),), numpy=operand.numpy)
            if operand.kind == INT:
                return Value(INT, (self.emit(f"sub i64 0, {operand.parts[0]}"),))
        return self.refuse(expression)  # type: ignore[no-any-return]

    def _get_BinOp(self, expression: ast.BinOp) -> Value:
        return self.calculate(expression.op, self.value(expression.left), self.value(expression.right), expression)

    def calculate(self, operation: ast.operator, left: Value, right: Value, where: ast.AST) -> Value:
        if not isinstance(left.kind, Scalar) or not isinstance(right.kind, Scalar):
            self.refuse(where)
        if left.known is not None and right.known is not None and not isinstance(operation, ast.Pow):
            return calls.fold(operation, left.known, right.known)
        numpy = left.numpy or right.numpy
        if left.kind == right.kind == BOOL:
            if isinstance(operation, ast.BitAnd | ast.BitOr | ast.BitXor):
                return Value(BOOL, (self.emit(f"{WHOLE[type(operation)]} i1 {left.parts[0]}, {right.parts[0]}"),))
            self._check_number(left, where)
        real = isinstance(operation, ast.Div) or FLOAT in (left.kind, right.kind)
        if isinstance(operation, ast.Pow):
            return calls.power(self, left, right, where)
        left, right = (self.cast(part, FLOAT if real else INT) for part in (left, right))
        if real:
            if type(operation) not in REAL:
                self.refuse(where)
            if self.checked and isinstance(operation, ast.Div) and not numpy:
                self.give_up_if(self.emit(f"fcmp oeq double {right.parts[0]}, 0.0"))
            result = self.emit(f"{REAL[type(operation)]} double {left.parts[0]}, {right.parts[0]}")
            return Value(FLOAT, (result,), numpy=numpy)
        if type(operation) in WHOLE:
            sign = ANY if isinstance(operation, ast.Sub) else min(left.sign, right.sign)
            if self.checked and type(operation) in OVERFLOWING:
                return Value(INT, (self._exactly(WHOLE[type(operation)], left, right),), sign, None, numpy)
            result = self.emit(f"{WHOLE[type(operation)]} i64 {left.parts[0]}, {right.parts[0]}")
            return Value(INT, (result,), sign, None, numpy)
        return calls.divide(self, operation, left, right, where)._replace(numpy=numpy)

    def _exactly(self, operation: str, left: Value, right: Value) -> str:
        """Compute with whole numbers; give up if the result has more than 64 bits."""
        both = f"i64 {left.parts[0]}, i64 {right.parts[0]}"
        pair = self.emit(f"call {{ i64, i1 }} @llvm.s{operation}.with.overflow.i64({both})")
        self.give_up_if(self.emit(f"extractvalue {{ i64, i1 }} {pair}, 1"))
        return self.emit(f"extractvalue {{ i64, i1 }} {pair}, 0")

    def _check_number(self, value: Value, where: ast.AST) -> None:
        """Raise for arithmetic with truth values, which is another one with NumPy's than with Python's."""
        if self.checked:
            place = f"{self.function.__qualname__}, line {getattr(where, 'lineno', '?')}"
            raise InputError(
                f"{place}: {ast.unparse(where)[:80]} computes with truth values, which are no numbers in NumPy; write "
                "int(...) around each"
            )

    def _get_Compare(self, expression: ast.Compare) -> Value:
        left, right = self.value(expression.left), self.value(expression.comparators[0])
        test = self._compare(expression.ops[0], left, right, expression)
        if len(expression.ops) == 1:
            return test
        # Of a chain, an operand is computed only if all comparisons before it hold.
        result, after = self.register(), self.label()
        self.allocations.append(f"  {result} = alloca i1")
        for operation, operand in zip(expression.ops[1:], expression.comparators[1:], strict=True):
            self.do(f"store i1 {test.parts[0]}, ptr {result}")
            more = self.label()
            self.branch(test.parts[0], more, after)
            self.begin(more)
            left, right = right, self.value(operand)
            test = self._compare(operation, left, right, expression)
        self.do(f"store i1 {test.parts[0]}, ptr {result}")
        self.jump(after)
        self.begin(after)
        return Value(BOOL, (self.emit(f"load i1, ptr {result}"),))

    def _compare(self, operation: ast.cmpop, left: Value, right: Value, where: ast.AST) -> Value:
        if isinstance(operation, ast.Is | ast.IsNot):
            if NOTHING not in (left.kind, right.kind):
                self.refuse(where)
            return constant((left.kind == right.kind) == isinstance(operation, ast.Is))
        if (
            type(operation) not in COMPARISONS
            or not isinstance(left.kind, Scalar)
            or not isinstance(right.kind, Scalar)
        ):
            self.refuse(where)
        whole, real = COMPARISONS[type(operation)]
        if FLOAT in (left.kind, right.kind):
            left, right = self.cast(left, FLOAT), self.cast(right, FLOAT)
            return Value(BOOL, (self.emit(f"fcmp {real} double {left.parts[0]}, {right.parts[0]}"),))
        left, right = self.cast(left, INT), self.cast(right, INT)
        return Value(BOOL, (self.emit(f"icmp {whole} i64 {left.parts[0]}, {right.parts[0]}"),))

    def _get_BoolOp(self, expression: ast.BoolOp) -> Value:
        """Translate `and` and `or`, which give one of their operands; it is computed only where it matters."""
        ends_at = isinstance(expression.op, ast.Or)
        after, *operands = self.label(), *expression.values
        name, signs, certain = f"({after})", [], True  # whether the operands so far are known not to matter
        for operand in operands:
            value = self.value(operand)
            test = self.truth(value)
            decided = operand is operands[-1] or test.known is ends_at
            if test.known is not None and certain and decided:
                return value
            if test.known is not None and not decided:
                continue
            signs.append(value.sign)
            self.assign(name, value._replace(sign=NATURAL))
            certain = False
            if decided:
                self.jump(after)
                break
            more = self.label()
            self.branch(test.parts[0], *((after, more) if ends_at else (more, after)))
            self.begin(more)
        self.begin(after)
        return self.variable(name)._replace(sign=min(signs))

    def _get_IfExp(self, expression: ast.IfExp) -> Value:
        test = self.truth(self.value(expression.test))
        if test.known is not None:
            return self.value(expression.body if test.known else expression.orelse)
        yes, no, after = self.label(), self.label(), self.label()
        self.branch(test.parts[0], yes, no)
        name = f"({yes})"  # a variable of this expression only; labels are the same in every pass
        signs = []
        for label, body in ((yes, expression.body), (no, expression.orelse)):
            self.begin(label)
            value = self.value(body)
            signs.append(value.sign)
            self.assign(name, value._replace(sign=NATURAL))
            self.jump(after)
        self.begin(after)
        return self.variable(name)._replace(sign=min(signs))


def global_value(function: Callable[..., Any], name: str) -> Any:
    """Return what a name that is not a variable of the function stands for."""
    enclosed = function.__code__.co_freevars
    if name in enclosed:
        return function.__closure__[enclosed.index(name)].cell_contents  # type: ignore[index]
    for space in (function.__globals__, vars(builtins)):
        if name in space:
            return space[name]
    raise Unsupported(f"{function.__qualname__}: {name} is not defined")
