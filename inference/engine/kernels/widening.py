"""
Weights in each format as vectors of float32, within a turn of 32 columns.

`WIDEN[format](b, w, first, lanes)` gives the columns from `first` on of the turn whose weights
begin at address w; `first` and `lanes` are known when it is compiled. What it reads again for
another piece of the same turn, LLVM reads once. The float32 values are exactly those of `formats`.
"""

from __future__ import annotations

from collections.abc import Callable

from inference.engine.kernels.formats import BF16, FLOAT32, Q4, Q8
from inference.engine.kernels.vectors import (
    F32,
    HAS_AVX512,
    I8,
    I16,
    I32,
    RISING,
    Builder,
    Value,
    in_all,
    load,
    look_up,
    multiply_add,
    splat,
    vector_of,
)

TURN = 32  # columns: a block of the quantised formats


def _float32(b: Builder, w: Value, first: int, lanes: int) -> Value:
    return load(b, w, vector_of(F32, lanes), first * 4)


def _bf16(b: Builder, w: Value, first: int, lanes: int) -> Value:
    halves = b.zext(load(b, w, vector_of(I16, lanes), first * 2), vector_of(I32, lanes))
    return b.bitcast(b.shl(halves, in_all(16, lanes)), vector_of(F32, lanes))


def _q8(b: Builder, w: Value, first: int, lanes: int) -> Value:
    scale = splat(b, load(b, w, F32))
    q = b.sext(load(b, w, vector_of(I8, lanes), 4 + first), vector_of(I32, lanes))
    return b.fmul(b.sitofp(q, vector_of(F32, lanes)), scale)


def _q4(b: Builder, w: Value, first: int, lanes: int) -> Value:
    scale, offset = splat(b, load(b, w, F32)), splat(b, load(b, w, F32, 4))
    pairs = load(b, w, vector_of(I8, lanes), 8 + first % 16)
    q = b.zext(pairs, vector_of(I32, lanes))
    if first >= 16:
        q = b.lshr(q, in_all(4, lanes))
    if HAS_AVX512:  # all sixteen values of the block fill one register
        return look_up(b, multiply_add(b, RISING, scale, offset), q)
    q = b.and_(q, in_all(15, lanes))
    return multiply_add(b, b.sitofp(q, vector_of(F32, lanes)), scale, offset)


WIDEN: dict[int, Callable[[Builder, Value, int, int], Value]] = {
    FLOAT32: _float32,
    BF16: _bf16,
    Q8: _q8,
    Q4: _q4,
}
