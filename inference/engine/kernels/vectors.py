"""
LLVM instructions for vectors of float32, and functions made of them that compiled code may call.

A vector has sixteen lanes where the processor has AVX-512, else eight: one AVX register, or two of
NEON. Values are llvmlite's, addresses int64; nothing is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic

I8, I16, I32, I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
F32 = ir.FloatType()

# What numba compiles for: NUMBA_CPU_FEATURES wins over what the processor has.
_FEATURES = numba.config.CPU_FEATURES
_FEATURES = get_host_cpu_features() if _FEATURES is None else _FEATURES
HAS_AVX512: Final = "+avx512f" in _FEATURES.split(",")
LANES: Final = 16 if HAS_AVX512 else 8

Value = Any  # llvmlite's values and builder have no types of their own
Builder = Any


def vector_of(type_: Any, lanes: int = LANES) -> Any:
    return ir.VectorType(type_, lanes)


ZEROS = ir.Constant(vector_of(F32), [0.0] * LANES)
RISING = ir.Constant(vector_of(F32), [float(lane) for lane in range(LANES)])


def function(name: str, emit: Callable[[Builder, list[Value]], None], parameters: int) -> Any:
    """A function of so many int64 that compiled code may call.

    It is never inlined: registers are then allotted for its loop alone, and LLVM, which numba has
    optimise each caller's code with all that it calls, has little to do again.
    """

    def typed(typing_context: Any, *args: Any) -> Any:
        def codegen(context: Any, builder: Builder, signature: Any, values: Any) -> Value:
            function_type = ir.FunctionType(ir.VoidType(), [I64] * parameters)
            function = cgutils.get_or_insert_function(builder.module, function_type, name)
            if function.is_declaration:
                function.linkage = "linkonce_odr"
                function.attributes.add("noinline")
                inside = ir.IRBuilder(function.append_basic_block())
                emit(inside, list(function.args))
                inside.ret_void()
            builder.call(function, values)
            return context.get_dummy_value()

        return types.void(*[types.int64] * parameters), codegen

    # numba reads the number of parameters off the function.
    names = ", ".join(f"a{i}" for i in range(parameters))
    namespace: dict[str, Any] = {"typed": typed}
    exec(f"def kernel(context, {names}): return typed(context, {names})", namespace)  # noqa: S102
    return intrinsic(namespace["kernel"])


def integer(value: int) -> Value:
    return ir.Constant(I64, value)


def in_all(value: int, lanes: int = LANES) -> Value:
    return ir.Constant(vector_of(I32, lanes), [value] * lanes)


def at(b: Builder, address: Value, step: Value, index: int) -> Value:
    return b.add(address, b.mul(step, integer(index)))


def load(b: Builder, address: Value, type_: Any, offset: int = 0) -> Value:
    loaded = b.load(b.inttoptr(b.add(address, integer(offset)), type_.as_pointer()))
    loaded.align = 1  # rows of a memory-mapped file begin anywhere
    return loaded


def store(b: Builder, value: Value, address: Value, offset: int) -> None:
    pointer = b.inttoptr(b.add(address, integer(offset)), value.type.as_pointer())
    b.store(value, pointer).align = 1


def prefetch(b: Builder, address: Value) -> None:
    """Have a cache line fetched that is wanted soon; where there is no memory it does nothing."""
    pointer = ir.PointerType(I8)
    signature = ir.FunctionType(ir.VoidType(), [pointer, I32, I32, I32])
    instruction = cgutils.get_or_insert_function(b.module, signature, "llvm.prefetch.p0")
    numbers = (ir.Constant(I32, number) for number in (0, 3, 1))  # read, keep, data
    b.call(instruction, [b.inttoptr(address, pointer), *numbers])


def splat(b: Builder, scalar: Value, lanes: int = LANES) -> Value:
    nothing = ir.Constant(vector_of(F32, lanes), ir.Undefined)
    lone = b.insert_element(nothing, scalar, ir.Constant(I32, 0))
    return b.shuffle_vector(lone, nothing, in_all(0, lanes))


def multiply_add(b: Builder, x: Value, y: Value, z: Value) -> Value:
    """x y + z, in one rounding where the processor can."""
    signature = ir.FunctionType(x.type, [x.type] * 3)
    name = f"llvm.fmuladd.v{x.type.count}f32"
    return b.call(cgutils.get_or_insert_function(b.module, signature, name), [x, y, z])


def look_up(b: Builder, table: Value, indices: Value) -> Value:
    """table[i mod 16] in each lane; only with AVX-512."""
    signature = ir.FunctionType(vector_of(F32), [vector_of(F32), vector_of(I32)])
    name = "llvm.x86.avx512.permvar.sf.512"
    return b.call(cgutils.get_or_insert_function(b.module, signature, name), [table, indices])


def widened(b: Builder, vector: Value) -> Value:
    """A vector of fewer lanes in the first lanes of a whole one, and 0 in the others."""
    count = vector.type.count
    lanes = [min(lane, count) for lane in range(LANES)]
    zeros = ir.Constant(vector.type, [0.0] * count)
    return b.shuffle_vector(vector, zeros, ir.Constant(vector_of(I32), lanes))


def sums_of_lanes(b: Builder, vectors: list[Value]) -> list[Value]:
    """The sum over the lanes of each vector, LANES sums in a vector.

    Halves are added to halves until one lane is left. Two vectors' halves share one addition, and
    so on, which changes no bit of a sum.
    """
    width = LANES  # of what is left of each vector; several lie in one
    while width > 1:
        pairs = zip(vectors[::2], [*vectors[1::2], vectors[-1]], strict=False)
        vectors = [_halves_added(b, first, second, width) for first, second in pairs]
        width //= 2
    return vectors


def lanes_of(b: Builder, vectors: list[Value], first: int, count: int) -> Value:
    """A vector of some neighbouring lanes, counted through all vectors; at most LANES."""
    number, first = divmod(first, LANES)
    pair = (vectors[number], vectors[min(number + 1, len(vectors) - 1)])
    lanes = ir.Constant(vector_of(I32, count), list(range(first, first + count)))
    return b.shuffle_vector(*pair, lanes)


def _halves_added(b: Builder, first: Value, second: Value, width: int) -> Value:
    starts = range(0, 2 * LANES, width)  # of the parts, in both vectors
    low, high = (
        [start + half + lane for start in starts for lane in range(width // 2)]
        for half in (0, width // 2)
    )
    lows, highs = (
        b.shuffle_vector(first, second, ir.Constant(vector_of(I32), lanes)) for lanes in (low, high)
    )
    return b.fadd(lows, highs)
