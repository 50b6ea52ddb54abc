"""Translate one Python function, for arguments of given kinds, to LLVM's language, statement by statement."""

import ast
from collections.abc import Callable
from typing import Any

from setwise.compiler.expressions import Expressions
from setwise.compiler.instructions import FREED, RAISED, Again
from setwise.compiler.kinds import (
    BOOL,
    INT,
    NATURAL,
    NOTHING,
    Array,
    Fixed,
    Record,
    Unsupported,
    Value,
    constant,
    items_of,
    llvm_types,
    unify,
)
from setwise.compiler.sources import assigned_names, statements_in

MOST_PASSES = 50


class Function(Expressions):
    """A function under translation.

    tree: its source
    returns: kind of what it returns, once known
    """

    def __init__(self, program: Any, function: Callable[..., Any], kinds: list[Any], name: str) -> None:
        super().__init__(program, function, kinds, name)
        self.tree: ast.FunctionDef = program.sources.tree_of(function)
        self.returns: Any = None
        self._assigned = assigned_names(self.tree)

    def translate(self) -> str:
        """Return the definition in LLVM's language."""
        for _ in range(MOST_PASSES):
            try:
                return self._translate()
            except Again:
                pass
        raise Unsupported(f"variables of {self.function.__qualname__}")

    def _translate(self) -> str:
        self.clear()
        parameters = ["ptr %failed"]
        for argument, kind in zip(self.tree.args.args, self.kinds, strict=True):
            parts = [self.register() for _ in llvm_types(kind)]
            parameters += [f"{llvm} {part}" for llvm, part in zip(llvm_types(kind), parts, strict=True)]
            if argument.arg in self._assigned:
                self.assign(argument.arg, Value(kind, tuple(parts)))
            else:
                self.given[argument.arg] = Value(kind, tuple(parts))
        self._statements(self.tree.body)
        if self.open:
            if self.returns not in (None, NOTHING):
                raise Unsupported(f"{self.function.__qualname__}, which returns something only sometimes")
            self.do(FREED)
            self.do("ret void")
        if self.returns is None:
            self.returns = NOTHING
        if self.memory and "ptr" in llvm_types(self.returns):
            raise Unsupported(f"{self.function.__qualname__}, which may return memory of its own")
        failed = f"  ret {self.result_type()}" + " zeroinitializer" * (self.returns != NOTHING)
        for place, line in enumerate(self.lines):
            if line == f"  {RAISED}":
                self.lines[place] = failed
            elif line == f"  {FREED}":
                self.lines[place] = self.free_all()
        head = f"define internal {self.result_type()} {self.name}({', '.join(parameters)}) nounwind {{"
        lines = [line for line in self.lines[1:] if line]
        return "\n".join([head, self.lines[0], *self.allocations, *lines, "}"])

    def result_type(self) -> str:
        """Return the LLVM type of the result."""
        return result_type(self.returns)

    def _statements(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if not self.open:
                return
            getattr(self, f"_do_{type(statement).__name__}", self.refuse)(statement)

    def _do_Pass(self, statement: ast.Pass) -> None:
        pass

    def _do_Expr(self, statement: ast.Expr) -> None:
        if not isinstance(statement.value, ast.Constant):
            self.value(statement.value)

    def _do_Assign(self, statement: ast.Assign) -> None:
        value = self.value(statement.value)
        for target in statement.targets:
            self._store(target, value)

    def _do_AnnAssign(self, statement: ast.AnnAssign) -> None:
        if statement.value is not None:
            self._store(statement.target, self.value(statement.value))

    def _store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif isinstance(target, ast.Tuple) and isinstance(value.kind, Record):
            if len(target.elts) != len(value.kind.fields):
                self.refuse(target)
            for item, part in zip(target.elts, items_of(value), strict=True):
                self._store(item, part)
        elif isinstance(target, ast.Subscript):
            self.store_element(*self.place(target), value)
        else:
            self.refuse(target)

    def _do_AugAssign(self, statement: ast.AugAssign) -> None:
        if isinstance(statement.target, ast.Name):
            before = self.value(ast.Name(statement.target.id, ast.Load(), lineno=statement.lineno))
            self.assign(
                statement.target.id, self.calculate(statement.op, before, self.value(statement.value), statement)
            )
        elif isinstance(statement.target, ast.Subscript):
            place, element = self.place(statement.target)
            after = self.calculate(statement.op, self.load(place, element), self.value(statement.value), statement)
            self.store_element(place, element, after)
        else:
            self.refuse(statement)

    def _do_Return(self, statement: ast.Return) -> None:
        value = constant(None) if statement.value is None else self.value(statement.value)
        kind = value.kind if self.returns is None else unify(self.returns, value.kind)
        changed = self.returns is not None and kind != self.returns
        self.returns = kind
        if changed:
            raise Again
        instruction = returned(kind, self.cast(value, kind).parts, self.emit)
        self.do(FREED)
        self.do(instruction)
        self.open = False

    def _do_Raise(self, statement: ast.Raise) -> None:
        """Give up: the interpreter raises the error."""
        self.give_up()

    def _do_Assert(self, statement: ast.Assert) -> None:
        test = self.truth(self.value(statement.test))
        self.give_up_if(self.emit(f"xor i1 {test.parts[0]}, true"))

    def _do_If(self, statement: ast.If) -> None:
        test = self.truth(self.value(statement.test))
        if test.known is not None:
            self._statements(statement.body if test.known else statement.orelse)
            return
        yes, no, after = self.label(), self.label(), self.label()
        self.branch(test.parts[0], yes, no)
        ends = []
        for label, body in ((yes, statement.body), (no, statement.orelse)):
            self.begin(label)
            self._statements(body)
            ends.append(self.open)
            self.jump(after)
        if any(ends):
            self.begin(after)

    def _do_While(self, statement: ast.While) -> None:
        if statement.orelse:
            self.refuse(statement)
        head, body, after = self.label(), self.label(), self.label()
        self.jump(head)
        self.begin(head)
        test = self.truth(self.value(statement.test))
        endless = test.known is True
        self.branch(test.parts[0], body, after)
        self.begin(body)
        self._loop(statement.body, head, after)
        left = any(isinstance(inner, ast.Break) for inner in statements_in(statement))
        self.jump(head)
        if not endless or left:
            self.begin(after)
        else:
            self.lines.append(f"{after}:\n  unreachable")

    def _loop(self, body: list[ast.stmt], again: str, after: str) -> None:
        """Translate the body of a loop."""
        self.loops.append((again, after))
        self._statements(body)
        self.loops.pop()

    def _do_Break(self, statement: ast.Break) -> None:
        self.jump(self.loops[-1][1])

    def _do_Continue(self, statement: ast.Continue) -> None:
        self.jump(self.loops[-1][0])

    def _do_For(self, statement: ast.For) -> None:
        if statement.orelse:
            self.refuse(statement)
        bounds = self._range(statement.iter)
        if bounds is not None:
            start, stop, step = bounds
            self._count_up(statement, start, stop, step, lambda number: number)
            return
        array = self.value(statement.iter)
        if not isinstance(array.kind, Array):
            self.refuse(statement)
        stop = Value(INT, (array.parts[1],), NATURAL)
        self._count_up(statement, constant(0), stop, 1, lambda number: self.element(array, [number]))

    def _count_up(
        self, statement: ast.For, start: Value, stop: Value, step: int, item: Callable[[Value], Value]
    ) -> None:
        counter = self.register()
        self.allocations.append(f"  {counter} = alloca i64")
        head, body, more, after = self.label(), self.label(), self.label(), self.label()
        self.do(f"store i64 {start.parts[0]}, ptr {counter}")
        self.jump(head)
        self.begin(head)
        number = self.emit(f"load i64, ptr {counter}")
        goes_on = self.emit(f"icmp {'slt' if step > 0 else 'sgt'} i64 {number}, {stop.parts[0]}")
        self.branch(goes_on, body, after)
        self.begin(body)
        sign = start.sign if step > 0 else NATURAL if stop.known == -1 else stop.sign
        self._store(statement.target, item(Value(INT, (number,), sign)))
        self._loop(statement.body, more, after)
        self.jump(more)
        self.begin(more)
        last = self.emit(f"load i64, ptr {counter}")
        self.do(f"store i64 {self.emit(f'add nsw i64 {last}, {step}')}, ptr {counter}")
        self.jump(head)
        self.begin(after)

    def _range(self, call: ast.expr) -> tuple[Value, Value, int] | None:
        """Return start, stop and step, if the expression is a range."""
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.keywords):
            return None
        if self.value(call.func).kind != Fixed(range):
            return None
        given = [self.value(argument) for argument in call.args]
        step = constant(1) if len(given) < 3 else given.pop()
        start, stop = (constant(0), given[0]) if len(given) == 1 else given
        if not step.known or any(part.kind not in (BOOL, INT) for part in (start, stop, step)):
            self.refuse(call)
        return self.cast(start, INT), self.cast(stop, INT), int(step.known)


def result_type(kind: Any) -> str:
    """Return the LLVM type of a function's result of that kind."""
    types = llvm_types(kind)
    if len(types) == 1:
        return types[0]
    return f"{{ {', '.join(types)} }}" if types else "void"


def returned(kind: Any, parts: tuple[str, ...], emit: Callable[[str], str]) -> str:
    """Return the instruction that returns these parts."""
    types = llvm_types(kind)
    if len(types) < 2:
        return f"ret {types[0]} {parts[0]}" if types else "ret void"
    whole, built = result_type(kind), "poison"
    for place, (llvm, part) in enumerate(zip(types, parts, strict=True)):
        built = emit(f"insertvalue {whole} {built}, {llvm} {part}, {place}")
    return f"ret {whole} {built}"
