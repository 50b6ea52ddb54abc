"""Translate arrays: new ones, elements and slices."""

import ast
from typing import Any

import numpy as np

from setwise.compiler import calls
from setwise.compiler.instructions import Instructions
from setwise.compiler.kinds import (
    ANY,
    BOOL,
    ELEMENTS,
    FLOAT,
    INDEX,
    INT,
    NATURAL,
    SIZES,
    Array,
    Fixed,
    Record,
    Unsupported,
    Value,
    constant,
    item_of,
)

MOST_ELEMENTS = 2**31  # of an array that compiled code makes


class Arrays(Instructions):
    """A function whose arrays can be translated."""

    def allocate(self, element: str, lengths: list[Value], zeros: bool, where: ast.AST) -> Value:
        """Return a new array, freed when the function returns.

        In a loop the array lives until the next but one of that place is made, which our own code relies on.
        """
        if self.loops and not self.program.is_trusted(self.function):
            self.refuse(where)
        llvm, count = ELEMENTS[element][0], "1"
        for length in lengths:
            self._check_elements(length.parts[0])  # negative, or too many
            count = self.emit(f"mul i64 {count}, {length.parts[0]}")
            self._check_elements(count)
        size = self.emit(f"mul i64 {count}, {SIZES[llvm]}")
        older, newer = self.register(), self.register()
        self.memory += [older, newer]
        for slot in (older, newer):
            self.allocations += [f"  {slot} = alloca ptr", f"  store ptr null, ptr {slot}"]
        self.program.declare("setwise_free", "free", "declare void @setwise_free(ptr) nounwind")
        self.program.declare("setwise_malloc", "malloc", "declare noalias ptr @setwise_malloc(i64) nounwind")
        self.do(f"call void @setwise_free(ptr {self.emit(f'load ptr, ptr {older}')})")
        self.do(f"store ptr {self.emit(f'load ptr, ptr {newer}')}, ptr {older}")
        address = self.emit(f"call ptr @setwise_malloc(i64 {size})")
        self.do(f"store ptr {address}, ptr {newer}")
        if self.checked:
            some = self.emit(f"icmp ne i64 {size}, 0")
            none = self.emit(f"icmp eq ptr {address}, null")
            self.give_up_if(self.emit(f"and i1 {some}, {none}"))
        if zeros:
            self.do(f"call void @llvm.memset.p0.i64(ptr {address}, i8 0, i64 {size}, i1 false)")
        return Value(Array(element, len(lengths)), (address, *(length.parts[0] for length in lengths)))

    def _check_elements(self, count: str) -> None:
        if self.checked:
            self.give_up_if(self.emit(f"icmp ugt i64 {count}, {MOST_ELEMENTS}"))

    def free_all(self) -> str:
        lines = []
        for slot in self.memory:
            name = self.register()
            lines += [f"  {name} = load ptr, ptr {slot}", f"  call void @setwise_free(ptr {name})"]
        return "\n".join(lines)

    def _get_Subscript(self, expression: ast.Subscript) -> Value:
        owner = self.value(expression.value)
        if isinstance(owner.kind, Fixed) and isinstance(owner.kind.thing, tuple):
            try:
                owner = self.program.constant_array(np.array(owner.kind.thing))
            except ValueError:  # tuples of different lengths
                self.refuse(expression)
        if isinstance(owner.kind, Record):
            position = self.value(expression.slice).known
            if position is None:
                self.refuse(expression)
            return item_of(owner, range(len(owner.kind.fields))[position])
        if not isinstance(owner.kind, Array):
            self.refuse(expression)
        return self.element(owner, self._indices(expression.slice))

    def _indices(self, node: ast.expr) -> list[Any]:
        """Return the indices of a subscript: whole numbers, and slices as pairs of start and stop."""
        indices: list[Any] = []
        for part in node.elts if isinstance(node, ast.Tuple) else [node]:
            if isinstance(part, ast.Slice):
                if part.step is not None:
                    self.refuse(node)
                indices.append([None if end is None else self.value(end) for end in (part.lower, part.upper)])
            else:
                index = self.value(part)
                if index.kind != INT:
                    self.refuse(node)
                indices.append(index)
        return indices

    def place(self, target: ast.Subscript) -> tuple[str, str]:
        """Return the address of an element, and NumPy's code of its type."""
        array = self.value(target.value)
        indices = self._indices(target.slice)
        if not isinstance(array.kind, Array) or array.kind.constant or len(indices) != array.kind.dimensions:
            self.refuse(target)
        if any(isinstance(index, list) for index in indices):
            self.refuse(target)
        return self._address(array, indices), array.kind.element

    def _address(self, array: Value, indices: list[Value]) -> str:
        """Return the address of an element, or of the first one with these leading indices."""
        offset = None
        for dimension in range(array.kind.dimensions):
            if dimension < len(indices):
                place = self._wrapped(indices[dimension], array.parts[1 + dimension])
                offset = place if offset is None else self.emit(f"add i64 {offset}, {place}")
            if dimension + 1 < array.kind.dimensions:
                offset = self.emit(f"mul i64 {offset}, {array.parts[2 + dimension]}")
        llvm = ELEMENTS[array.kind.element][0]
        return self.emit(f"getelementptr inbounds {llvm}, ptr {array.parts[0]}, i64 {offset}")

    def _wrapped(self, index: Value, length: str) -> str:
        """Return an index from 0 on: a negative one counts from the end."""
        if index.sign != ANY:
            return index.parts[0]
        below = self.emit(f"icmp slt i64 {index.parts[0]}, 0")
        from_end = self.emit(f"add i64 {index.parts[0]}, {length}")
        return self.emit(f"select i1 {below}, i64 {from_end}, i64 {index.parts[0]}")

    def element(self, array: Value, indices: list[Any]) -> Value:
        """Return an element, or a part of the array along its last indices."""
        leading = [index for index in indices if not isinstance(index, list)]
        if (
            len(leading) < len(indices) - 1
            or indices[: len(leading)] != leading
            or len(indices) > array.kind.dimensions
        ):
            raise Unsupported("a slice that is not contiguous")
        if len(leading) == array.kind.dimensions:
            return self.load(self._address(array, leading), array.kind.element)
        lengths = array.parts[1 + len(leading) :]
        if leading:
            array = Value(array.kind._replace(dimensions=len(lengths)), (self._address(array, leading), *lengths))
        if len(leading) == len(indices):
            return array
        start, stop = indices[-1]
        first = constant(0).parts[0] if start is None else self._clipped(start, lengths[0])
        last = lengths[0] if stop is None else self._clipped(stop, lengths[0])
        some = self.emit(f"icmp sgt i64 {last}, {first}")
        size = self.emit(f"select i1 {some}, i64 {self.emit(f'sub i64 {last}, {first}')}, i64 0")
        address = self._address(array, [Value(INT, (first,), NATURAL)])
        return Value(array.kind, (address, size, *lengths[1:]))

    def _clipped(self, index: Value, length: str) -> str:
        """Return the end of a slice, at most the length."""
        place = self._wrapped(self.cast(index, INT), length)
        if index.sign != NATURAL:
            place = self.emit(f"call i64 @llvm.smax.i64(i64 {place}, i64 0)")
        return self.emit(f"call i64 @llvm.smin.i64(i64 {place}, i64 {length})")

    def load(self, address: str, element: str) -> Value:
        llvm, kind = ELEMENTS[element]
        tag = self.program.tag(element)
        loaded = self.emit(f"load {llvm}, ptr {address}, align {SIZES[llvm]}, !tbaa {tag}")
        if kind == BOOL:
            return Value(BOOL, (self.emit(f"icmp ne i8 {loaded}, 0"),), numpy=True)
        if kind == INT and llvm != "i64":
            loaded = self.emit(f"sext {llvm} {loaded} to i64")
        return Value(kind, (loaded,), ANY if self.checked else INDEX, None, True)

    def store_element(self, address: str, element: str, value: Value) -> None:
        llvm, kind = ELEMENTS[element]
        if kind == BOOL:
            stored = self.emit(f"zext i1 {self.truth(value).parts[0]} to i8")
        else:
            if kind == INT and value.kind == FLOAT:
                value = calls.whole(self, value)
            stored = self.cast(value, kind).parts[0]
            if kind == INT and llvm != "i64":
                stored = self.emit(f"trunc i64 {stored} to {llvm}")
        self.do(f"store {llvm} {stored}, ptr {address}, align {SIZES[llvm]}, !tbaa {self.program.tag(element)}")
