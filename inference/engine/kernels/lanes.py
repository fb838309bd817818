"""
The three inner loops, in vectors of eight lanes: `dots`, `blend` and `unpack`.

Written as LLVM instructions, not left to the compiler's own vectoriser, so that the order of every
addition is fixed here: column k is added in lane k mod 8, lanes are added in one tree at the end.
A dot product therefore has the same bits whether it is computed alone or beside others, on
whichever thread. Eight lanes are one AVX register, or two of NEON.

Everything is passed as addresses and sizes in bytes or columns; nothing is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from inference.engine.kernels.formats import (
    BF16,
    BLOCK_BYTES,
    BLOCK_COLUMNS,
    FLOAT32,
    LANES,
    NAMES,
    Q4,
    Q8,
)

I8, I16, I32, I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
F32 = ir.FloatType()
F32X8 = ir.VectorType(F32, LANES)
I32X8 = ir.VectorType(I32, LANES)
PREFETCH_BYTES = 8192  # ahead of what is read: what memory takes to answer, and a little more
ZEROS = ir.Constant(F32X8, [0.0] * LANES)

Value = Any  # llvmlite's values and builder have no types of their own
Builder = Any


def dots(format: int, rows: int, vectors: int) -> Any:
    """y[v, r] = sum over k of w[r, k] x[v, k], for some rows of a matrix and some vectors.

    `dots(...)(w, row_bytes, x, x_bytes, columns, y, y_bytes)`; row_bytes, x_bytes and y_bytes
    lead from one row or vector to the next. rows * vectors sums are held in registers at once.
    """
    widen = WIDEN[format]

    def emit(b: Builder, args: list[Value]) -> None:
        w, row_bytes, x, x_bytes, columns, y, y_bytes = args
        sums = [[cgutils.alloca_once_value(b, ZEROS) for _ in range(vectors)] for _ in range(rows)]
        w_starts = [_at(b, w, row_bytes, r) for r in range(rows)]
        x_starts = [_at(b, x, x_bytes, v) for v in range(vectors)]
        blocks = b.sdiv(columns, _int(BLOCK_COLUMNS[format]))
        with cgutils.for_range(b, blocks) as loop:
            w_offset = b.mul(loop.index, _int(BLOCK_BYTES[format]))
            x_offset = b.mul(loop.index, _int(BLOCK_COLUMNS[format] * 4))
            places = [b.add(start, w_offset) for start in w_starts]
            if not (format == FLOAT32 and vectors > 2):  # whose rows lie in a cache, or come slowly
                for place in places:
                    _prefetch(b, place)

            def weights_of(r: int) -> list[Value]:
                return widen(b, places[r])

            def x_of(v: int, p: int) -> Value:
                return _load(b, b.add(x_starts[v], x_offset), F32X8, LANES * 4 * p)

            def accumulate(r: int, v: int, weights: Value, x: Value) -> None:
                b.store(_multiply_add(b, weights, x, b.load(sums[r][v])), sums[r][v])

            # The side with fewer registers is held, the other passes by.
            pieces = BLOCK_COLUMNS[format] // LANES
            if vectors > rows:
                held = [weights_of(r) for r in range(rows)]
                for p, v in product(range(pieces), range(vectors)):
                    x = x_of(v, p)
                    for r in range(rows):
                        accumulate(r, v, held[r][p], x)
            else:
                xs = [[x_of(v, p) for p in range(pieces)] for v in range(vectors)]
                for r in range(rows):
                    for p, weights in enumerate(weights_of(r)):
                        for v in range(vectors):
                            accumulate(r, v, weights, xs[v][p])
        for v in range(vectors):
            for r in range(rows):
                _store(b, _sum_of_lanes(b, b.load(sums[r][v])), _at(b, y, y_bytes, v), 4 * r)

    return _intrinsic(f"dots_{NAMES[format]}_{rows}x{vectors}", emit, 7)


def blend(pieces: int, vectors: int) -> Any:
    """y[v, c] = sum over t of p[v, t] rows[t, c], for 8 * pieces columns: softmax times V.

    `blend(...)(p, p_bytes, rows, row_bytes, count, y, y_bytes)`; t goes up from 0 to count - 1.
    """

    def emit(b: Builder, args: list[Value]) -> None:
        p, p_bytes, rows, row_bytes, count, y, y_bytes = args
        sums = [
            [cgutils.alloca_once_value(b, ZEROS) for _ in range(vectors)] for _ in range(pieces)
        ]
        with cgutils.for_range(b, count) as loop:
            row = b.add(rows, b.mul(loop.index, row_bytes))
            values = [_load(b, row, F32X8, LANES * 4 * piece) for piece in range(pieces)]
            for v in range(vectors):
                start = b.add(_at(b, p, p_bytes, v), b.mul(loop.index, _int(4)))
                weight = _splat(b, _load(b, start, F32))
                for piece in range(pieces):
                    total = _multiply_add(b, weight, values[piece], b.load(sums[piece][v]))
                    b.store(total, sums[piece][v])
        for v in range(vectors):
            for piece in range(pieces):
                _store(b, b.load(sums[piece][v]), _at(b, y, y_bytes, v), LANES * 4 * piece)

    return _intrinsic(f"blend_{pieces}x{vectors}", emit, 7)


def unpack(format: int) -> Any:
    """Write one row of a matrix as float32: `unpack(...)(w, columns, y)`."""

    def emit(b: Builder, args: list[Value]) -> None:
        w, columns, y = args
        with cgutils.for_range(b, b.sdiv(columns, _int(BLOCK_COLUMNS[format]))) as loop:
            start = b.add(y, b.mul(loop.index, _int(BLOCK_COLUMNS[format] * 4)))
            block = b.add(w, b.mul(loop.index, _int(BLOCK_BYTES[format])))
            for p, weights in enumerate(WIDEN[format](b, block)):
                _store(b, weights, start, LANES * 4 * p)

    return _intrinsic(f"unpack_{NAMES[format]}", emit, 3)


# One block of each format as vectors of eight float32.


def _widen_float32(b: Builder, w: Value) -> list[Value]:
    return [_load(b, w, F32X8)]


def _widen_bf16(b: Builder, w: Value) -> list[Value]:
    halves = b.zext(_load(b, w, ir.VectorType(I16, LANES)), I32X8)
    return [b.bitcast(b.shl(halves, _all(16)), F32X8)]


def _widen_q8(b: Builder, w: Value) -> list[Value]:
    scale = _splat(b, _load(b, w, F32))
    parts = [_load(b, w, ir.VectorType(I8, LANES), 4 + LANES * p) for p in range(4)]
    return [b.fmul(b.sitofp(b.sext(part, I32X8), F32X8), scale) for part in parts]


def _widen_q4(b: Builder, w: Value) -> list[Value]:
    scale, offset = _splat(b, _load(b, w, F32)), _splat(b, _load(b, w, F32, 4))
    pairs = [b.zext(_load(b, w, ir.VectorType(I8, LANES), 8 + LANES * p), I32X8) for p in range(2)]
    nibbles = [b.and_(pair, _all(15)) for pair in pairs] + [b.lshr(pair, _all(4)) for pair in pairs]
    return [_multiply_add(b, b.sitofp(q, F32X8), scale, offset) for q in nibbles]


WIDEN: dict[int, Callable[[Builder, Value], list[Value]]] = {
    FLOAT32: _widen_float32,
    BF16: _widen_bf16,
    Q8: _widen_q8,
    Q4: _widen_q4,
}


# The vocabulary.


def _intrinsic(name: str, emit: Callable[[Builder, list[Value]], None], parameters: int) -> Any:
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


def _int(value: int) -> Value:
    return ir.Constant(I64, value)


def _all(value: int) -> Value:
    return ir.Constant(I32X8, [value] * LANES)


def _at(b: Builder, address: Value, step: Value, index: int) -> Value:
    return b.add(address, b.mul(step, _int(index)))


def _load(b: Builder, address: Value, type_: Any, offset: int = 0) -> Value:
    loaded = b.load(b.inttoptr(b.add(address, _int(offset)), type_.as_pointer()))
    loaded.align = 1  # rows of a memory-mapped file begin anywhere
    return loaded


def _store(b: Builder, value: Value, address: Value, offset: int) -> None:
    pointer = b.inttoptr(b.add(address, _int(offset)), value.type.as_pointer())
    b.store(value, pointer).align = 1


def _prefetch(b: Builder, address: Value) -> None:
    """Have the weights fetched that are wanted soon; past the end of them it does nothing.

    Several rows are read at a time, a pattern that processors do not foresee by themselves.
    """
    pointer = ir.PointerType(I8)
    signature = ir.FunctionType(ir.VoidType(), [pointer, I32, I32, I32])
    prefetch = cgutils.get_or_insert_function(b.module, signature, "llvm.prefetch.p0")
    ahead = b.inttoptr(b.add(address, _int(PREFETCH_BYTES)), pointer)
    b.call(prefetch, [ahead, *(ir.Constant(I32, v) for v in (0, 3, 1))])  # read, keep, data


def _lanes_of(b: Builder, vector: Value, first: int, count: int) -> Value:
    mask = ir.Constant(ir.VectorType(I32, count), list(range(first, first + count)))
    return b.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)


def _splat(b: Builder, scalar: Value) -> Value:
    lone = b.insert_element(ir.Constant(F32X8, ir.Undefined), scalar, ir.Constant(I32, 0))
    return b.shuffle_vector(lone, ir.Constant(F32X8, ir.Undefined), _all(0))


def _multiply_add(b: Builder, x: Value, y: Value, z: Value) -> Value:
    """x y + z, in one rounding where the processor can."""
    signature = ir.FunctionType(F32X8, [F32X8] * 3)
    return b.call(
        cgutils.get_or_insert_function(b.module, signature, "llvm.fmuladd.v8f32"), [x, y, z]
    )


def _sum_of_lanes(b: Builder, vector: Value) -> Value:
    for half in (4, 2, 1):
        vector = b.fadd(_lanes_of(b, vector, 0, half), _lanes_of(b, vector, half, half))
    return b.extract_element(vector, ir.Constant(I32, 0))
