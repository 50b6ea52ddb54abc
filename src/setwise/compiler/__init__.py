"""Compile the Python that policies and environments are written in to machine code, in tenths of a second.

Numba compiles nearly all of Python and takes seconds for a simulation loop. The loops here use little of it: numbers,
arrays, named tuples, plain functions, and no memory of their own. This package translates just that to LLVM's language
and lets LLVM (by llvmlite) optimise it. What it does not know raises `Unsupported`, and Numba compiles it instead.

`kinds` has the types of compiled values, `functions` translates statements and expressions, `calls` calls, and
`program` puts the functions together. `arguments` passes Python's values to compiled code, `machine` makes machine code
and loads it, `objects` caches it on disk.

Compiled code computes bit for bit what the interpreter computes: floating-point operations are neither reordered nor
fused, and functions of `math` and of NumPy's generators are those that Python calls.
"""
