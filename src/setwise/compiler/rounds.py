"""Random numbers by round and place, in LLVM's language: see `kernels/rounds.py`."""

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from setwise.compiler.kinds import FLOAT, GENERATOR, INT, NOTHING, Array, Value
from setwise.kernels import rounds

if TYPE_CHECKING:
    from setwise.compiler.arrays import Arrays

FACTOR, SHIFT = rounds.jump(rounds.STRIDE)
START = Array("i8", 1)

CODE = f"""
define internal void @next_round(ptr %start) nounwind {{
  %state = load i128, ptr %start, align 8
  %place = getelementptr i8, ptr %start, i64 16
  %increment = load i128, ptr %place, align 8
  %scaled = mul i128 %state, {FACTOR}
  %shift = mul i128 %increment, {SHIFT}
  %next = add i128 %scaled, %shift
  store i128 %next, ptr %start, align 8
  ret void
}}

define internal double @uniform_at(ptr %start, i64 %before) nounwind {{
entry:
  %first = load i128, ptr %start, align 8
  %place = getelementptr i8, ptr %start, i64 16
  %increment = load i128, ptr %place, align 8
  %all = add i64 %before, 1
  br label %step
step:
  %left = phi i64 [ %all, %entry ], [ %rest, %step ]
  %state = phi i128 [ %first, %entry ], [ %moved, %step ]
  %factor = phi i128 [ {rounds.MULTIPLIER}, %entry ], [ %square, %step ]
  %shift = phi i128 [ %increment, %entry ], [ %double, %step ]
  %product = mul i128 %state, %factor
  %ahead = add i128 %product, %shift
  %bit = and i64 %left, 1
  %odd = icmp ne i64 %bit, 0
  %moved = select i1 %odd, i128 %ahead, i128 %state
  %square = mul i128 %factor, %factor
  %more = add i128 %factor, 1
  %double = mul i128 %more, %shift
  %rest = lshr i64 %left, 1
  %done = icmp eq i64 %rest, 0
  br i1 %done, label %end, label %step
end:
  %upper = lshr i128 %moved, 64
  %high = trunc i128 %upper to i64
  %low = trunc i128 %moved to i64
  %mixed = xor i64 %high, %low
  %turn = lshr i64 %high, 58
  %bits = call i64 @llvm.fshr.i64(i64 %mixed, i64 %mixed, i64 %turn)
  %top = lshr i64 %bits, 11
  %whole = uitofp i64 %top to double
  %out = fmul double %whole, 0x3CA0000000000000
  ret double %out
}}

define internal void @begin_round(ptr %rng, ptr %start) nounwind {{
  %state = load i128, ptr %start, align 8
  %place = getelementptr i8, ptr %start, i64 16
  %increment = load i128, ptr %place, align 8
  store i128 %state, ptr %rng, align 8, !tbaa !8
  %second = getelementptr i8, ptr %rng, i64 16
  store i128 %increment, ptr %second, align 8, !tbaa !8
  %flag = getelementptr i8, ptr %rng, i64 32
  store i64 0, ptr %flag, align 8, !tbaa !8
  %buffer = getelementptr i8, ptr %rng, i64 40
  store i64 0, ptr %buffer, align 8, !tbaa !8
  ret void
}}
"""


def _translated(own: "Arrays", wanted: list[Any], given: list[Value], call: ast.Call) -> None:
    """Refuse arguments of other kinds; else put the functions into the program."""
    if [value.kind for value in given] != wanted:
        own.refuse(call)
    own.program.include(CODE)


def _next_round(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
    _translated(own, [START], given, call)
    own.do(f"call void @next_round(ptr {given[0].parts[0]})")
    return Value(NOTHING)


def _uniform_at(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
    _translated(own, [START, INT], given, call)
    return Value(FLOAT, (own.emit(f"call double @uniform_at(ptr {given[0].parts[0]}, i64 {given[1].parts[0]})"),))


def _begin_round(own: "Arrays", given: list[Value], call: ast.Call) -> Value:
    _translated(own, [GENERATOR, START], given, call)
    own.do(f"call void @begin_round(ptr {given[0].parts[0]}, ptr {given[1].parts[0]})")
    return Value(NOTHING)


BY_ROUND: dict[Any, Callable[["Arrays", list[Value], ast.Call], Value]] = {
    rounds.next_round: _next_round,
    rounds.uniform_at: _uniform_at,
    rounds.begin_round: _begin_round,
}
