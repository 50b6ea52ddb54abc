"""Write the instructions of one function in LLVM's language: registers, blocks, conversions, and variables.

A variable has the kind of what it is first assigned; if a later assignment needs a wider one, translation starts again
with that. LLVM turns the variables, which are stored in memory here, into registers.
"""

import ast
from collections.abc import Callable
from typing import Any

from setwise.compiler.kinds import (
    BOOL,
    FLOAT,
    INT,
    NATURAL,
    NOTHING,
    Record,
    Scalar,
    Unsupported,
    Value,
    constant,
    describe,
    items_of,
    llvm_types,
    unify,
)

RAISED = "; raised"  # stands for the return after an error, until the kind of the result is known
FREED = "; freed"  # stands for freeing memory before a return, until all that is allocated is known


class Again(Unsupported):
    """A variable turned out to have a wider kind, so that translation has to start again."""


class Instructions:
    """The instructions of a function so far.

    program: what the function is a part of
    function, kinds, name: the function, the kinds of its arguments, and its name in LLVM's language
    open: whether the current block can be reached and has no end yet
    checked: whether to give up where the interpreter might do something else, in functions that are not ours
    gives_up: whether the function may give up
    """

    def __init__(self, program: Any, function: Callable[..., Any], kinds: list[Any], name: str) -> None:
        self.program, self.function, self.kinds, self.name = program, function, kinds, name
        self.variables: dict[str, Any] = {}  # their kinds
        self.signs: dict[str, int] = {}  # what is known of the signs of variables
        self.python: set[str] = set()  # variables that are not certainly numbers of NumPy's
        self.checked = not program.is_trusted(function)
        self.clear()

    def clear(self) -> None:
        """Start again; what is known of the variables stays."""
        self.lines: list[str] = ["start:"]
        self.given: dict[str, Value] = {}  # parameters that are never assigned
        self.slots: dict[str, list[str]] = {}
        self.allocations: list[str] = []
        self.loops: list[tuple[str, str]] = []  # labels to continue and to break, of the loops around
        self.memory: list[str] = []  # slots of allocated memory
        self.assigned: dict[str, str] = {}  # flags of variables, whether they have a value
        self.count = 0
        self.open = True
        self.gives_up = False

    def refuse(self, node: ast.AST) -> Any:
        """Raise an error that shows what cannot be translated."""
        raise Unsupported(
            f"{self.function.__qualname__}, line {getattr(node, 'lineno', '?')}: {ast.unparse(node)[:80]}"
        )

    def value(self, expression: ast.expr) -> Value:
        """Translate an expression."""
        raise NotImplementedError

    def calculate(self, operation: ast.operator, left: Value, right: Value, where: ast.AST) -> Value:
        """Translate an operation with two values."""
        raise NotImplementedError

    def register(self) -> str:
        self.count += 1
        return f"%r{self.count}"

    def emit(self, instruction: str) -> str:
        """Add an instruction; return the register with its result."""
        result = self.register()
        self.lines.append(f"  {result} = {instruction}")
        return result

    def do(self, instruction: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(f"  {instruction}")

    def label(self) -> str:
        self.count += 1
        return f"b{self.count}"

    def begin(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.open = True

    def jump(self, label: str) -> None:
        if self.open:
            self.do(f"br label %{label}")
        self.open = False

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
        self.open = False

    def give_up(self) -> None:
        """Return at once, and have the caller and its callers return: the run is interpreted instead."""
        self.do("store i64 1, ptr %failed, align 8, !tbaa !9")
        self.do(FREED)
        self.do(RAISED)
        self.open = False
        self.gives_up = True

    def give_up_if(self, condition: str) -> None:
        stop, go_on = self.label(), self.label()
        self.branch(condition, stop, go_on)
        self.begin(stop)
        self.give_up()
        self.begin(go_on)

    def check_finite(self, result: str, *given: str) -> None:
        """Give up if a result is infinite or not a number, although all that it was computed from is finite."""
        wrong = self.emit(f"xor i1 {self.is_finite(result)}, true")
        for number in given:
            wrong = self.emit(f"and i1 {wrong}, {self.is_finite(number)}")
        self.give_up_if(wrong)

    def is_finite(self, number: str) -> str:
        size = self.emit(f"call double @llvm.fabs.f64(double {number})")
        return self.emit(f"fcmp olt double {size}, 0x7FF0000000000000")

    def cast(self, value: Value, kind: Any) -> Value:
        """Convert a value to a wider kind."""
        if value.kind == kind:
            return value
        if isinstance(kind, Record) and isinstance(value.kind, Record):
            parts = [
                part for item, k in zip(items_of(value), kind.fields, strict=True) for part in self.cast(item, k).parts
            ]
            return Value(kind, tuple(parts))
        if not isinstance(value.kind, Scalar) or not isinstance(kind, Scalar) or value.kind.order > kind.order:
            raise Unsupported(f"{describe(value.kind)} in place of {describe(kind)}")
        if value.known is not None:
            return constant(float(value.known) if kind == FLOAT else int(value.known))
        if kind == INT:
            return Value(INT, (self.emit(f"zext i1 {value.parts[0]} to i64"),), NATURAL)
        operation = "uitofp" if value.kind == BOOL else "sitofp"
        return Value(FLOAT, (self.emit(f"{operation} {value.kind.llvm} {value.parts[0]} to double"),))

    def truth(self, value: Value) -> Value:
        """Return whether a value counts as true."""
        if value.kind == BOOL:
            return value
        if value.known is not None:
            return constant(bool(value.known))
        if value.kind == INT:
            return Value(BOOL, (self.emit(f"icmp ne i64 {value.parts[0]}, 0"),))
        if value.kind == FLOAT:
            return Value(BOOL, (self.emit(f"fcmp une double {value.parts[0]}, 0.0"),))
        if value.kind == NOTHING:
            return constant(False)
        raise Unsupported(f"the truth of {describe(value.kind)}")

    def assign(self, name: str, value: Value) -> None:
        known = self.variables.get(name)
        kind = value.kind if known is None else unify(known, value.kind)
        if known is not None and kind != known:
            self.variables[name] = kind
            raise Again
        self.variables[name] = kind
        if value.sign < self.signs.get(name, NATURAL):
            self.signs[name] = value.sign
            if name in self.slots:
                raise Again
        if not value.numpy and name not in self.python:
            self.python.add(name)
            if name in self.slots:
                raise Again
        if name not in self.slots:
            if self.checked and not name.startswith("("):
                flag = self.assigned[name] = self.register()
                self.allocations += [f"  {flag} = alloca i1", f"  store i1 false, ptr {flag}"]
            self.slots[name] = [self.register() for _ in llvm_types(kind)]
            for slot, llvm in zip(self.slots[name], llvm_types(kind), strict=True):
                self.allocations.append(f"  {slot} = alloca {llvm}")
        for slot, llvm, part in zip(self.slots[name], llvm_types(kind), self.cast(value, kind).parts, strict=True):
            self.do(f"store {llvm} {part}, ptr {slot}")
        if name in self.assigned:
            self.do(f"store i1 true, ptr {self.assigned[name]}")

    def variable(self, name: str) -> Value:
        kind = self.variables[name]
        if name in self.assigned:
            assigned = self.emit(f"load i1, ptr {self.assigned[name]}")
            self.give_up_if(self.emit(f"xor i1 {assigned}, true"))
        types = llvm_types(kind)
        parts = [self.emit(f"load {llvm}, ptr {slot}") for llvm, slot in zip(types, self.slots[name], strict=True)]
        return Value(kind, tuple(parts), self.signs.get(name, NATURAL), None, name not in self.python)
