"""Machine code: optimise a program with LLVM, load it, and find the functions it calls."""

import ctypes
import functools
import math
import threading
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from setwise.compiler.kinds import Unsupported
from setwise.compiler.program import ENTRY

SETTINGS = "O3, not unrolled, inlined to 100"  # part of the cache key

_lock = threading.RLock()
_engines: list[Any] = []  # code lives as long as its engine


@functools.cache
def host() -> tuple[str, str, str, str]:
    """Return the platform, the processor, its features, and the version of LLVM."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    if llvm.get_process_triple().startswith("x86_64"):
        features += ",+prefer-256-bit"  # vectors of 4 numbers fit small sets better than vectors of 8
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), features, llvmlite.__version__


def llvm_version() -> str:
    """Return the version of LLVM."""
    return ".".join(map(str, llvm.llvm_version_info))


@functools.cache
def _target() -> Any:
    triple, processor, features, _ = host()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, features=features, opt=3, reloc="default", codemodel="jitdefault", jit=True
    )


def machine_code(program: str) -> bytes:
    """Optimise a program and return its machine code, as an object file."""
    with _lock:
        target = _target()
        try:
            module = llvm.parse_assembly(program)
            module.triple = host()[0]
            module.data_layout = str(target.target_data)
            module.verify()
        except RuntimeError as error:  # another version of LLVM has another language
            raise Unsupported(f"LLVM: {error}") from None
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = options.slp_vectorization = True
        # Unrolled loops, and more inlining, take half as long again to compile and are no faster.
        options.loop_unrolling = options.loop_interleaving = False
        options.inlining_threshold = 100
        builder = llvm.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)
        return bytes(target.emit_object(module))


def load(code: bytes, externals: dict[str, str]) -> Any:
    """Load machine code and return its entry point, a C function of an address."""
    with _lock:
        for symbol, name in externals.items():
            llvm.add_symbol(symbol, _address(name))
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _engines.append(engine)
        address = engine.get_function_address(ENTRY)
    if not address:
        raise Unsupported("machine code without an entry point")
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)


@functools.cache
def _address(name: str) -> int:
    """Return the address of a function of NumPy or of the C library that Python's `math` calls."""
    for library in _libraries():
        try:
            return int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)
        except AttributeError:
            continue
    raise Unsupported(f"the C function {name}")


@functools.cache
def _libraries() -> list[Any]:
    files = [np.random._generator.__file__, getattr(math, "__file__", None), None]
    return [ctypes.CDLL(file) for file in dict.fromkeys(files)]
