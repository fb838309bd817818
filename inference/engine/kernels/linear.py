"""
Matrix times vectors: y[m, n] = sum over k of w[n, k] x[m, k], for rows n of a weight matrix.

A group of rows is read once for up to eight vectors, and widened in registers once for them all.
For many vectors (a prompt) a row is first written out as float32. Neither changes a result: the sum
over k has one order, that of `lanes.dots`.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from inference.engine.kernels import lanes
from inference.engine.kernels.formats import BF16, FLOAT32, NAMES, Q4, Q8
from inference.engine.kernels.vectors import HAS_AVX512

MANY = 16  # vectors, from which on a row is worth writing out as float32


def _heights_of(format: int) -> dict[int, int]:
    """How many rows are read at a time, for each number of vectors that has a kernel.

    As many as there are registers for their sums, beside what a format needs to be widened.
    """
    tall = 6 if HAS_AVX512 else 3
    if format == FLOAT32:
        return {8: tall // 2, 4: tall, 3: 8 if HAS_AVX512 else 4, 2: 4, 1: 4}
    return {8: tall // 2, 4: 4 if HAS_AVX512 else 2, 3: 4 if HAS_AVX512 else 2, 2: 4, 1: 4}


def _kernel_of(format: int, height: int, vectors: int) -> Any:
    """All rows by so many vectors, and no others."""
    some_rows, one_row = (lanes.dots(format, rows, vectors) for rows in (height, 1))

    def kernel(w, row_bytes, rows, columns, x, x_bytes, y, y_bytes):
        n = 0
        while rows - n >= height:
            some_rows(w + n * row_bytes, row_bytes, x, x_bytes, columns, y + 4 * n, y_bytes)
            n += height
        while n < rows:
            one_row(w + n * row_bytes, row_bytes, x, x_bytes, columns, y + 4 * n, y_bytes)
            n += 1

    return _compiled(kernel, f"rows_{NAMES[format]}_by_{vectors}")


def _multiply_of(format: int) -> Any:
    """All rows by all vectors, of one format."""
    by_eight, by_four, by_three, by_two, by_one = (
        _kernel_of(format, height, vectors) for vectors, height in _heights_of(format).items()
    )

    def multiply(w, row_bytes, rows, columns, x, x_bytes, vectors, y, y_bytes):
        m = 0
        while m < vectors:
            left = vectors - m
            if left >= 8 and vectors < MANY:  # many of them would not stay in the nearest cache
                step = 8
                by_eight(w, row_bytes, rows, columns, x, x_bytes, y, y_bytes)
            elif left >= 4:
                step = 4
                by_four(w, row_bytes, rows, columns, x, x_bytes, y, y_bytes)
            elif left == 3:
                step = 3
                by_three(w, row_bytes, rows, columns, x, x_bytes, y, y_bytes)
            elif left == 2:
                step = 2
                by_two(w, row_bytes, rows, columns, x, x_bytes, y, y_bytes)
            else:
                step = 1
                by_one(w, row_bytes, rows, columns, x, x_bytes, y, y_bytes)
            m, x, y = m + step, x + step * x_bytes, y + step * y_bytes

    return _compiled(multiply, f"multiply_{NAMES[format]}")


def _compiled(function: Any, name: str) -> Any:
    # Compiled objects of several processes meet in one, where the linker takes functions of one
    # name for the same. numba's names hold a number, but each process counts anew.
    function.__qualname__ = name
    return njit(error_model="numpy")(function)


multiply_float32 = _multiply_of(FLOAT32)
multiply_bf16 = _multiply_of(BF16)
multiply_q8 = _multiply_of(Q8)
multiply_q4 = _multiply_of(Q4)
_unpack_float32 = lanes.unpack(FLOAT32)
_unpack_bf16 = lanes.unpack(BF16)
_unpack_q8 = lanes.unpack(Q8)
_unpack_q4 = lanes.unpack(Q4)


@njit(error_model="numpy")
def row_bytes_of(format, columns):
    if format == FLOAT32:
        return columns * 4
    if format == BF16:
        return columns * 2
    if format == Q8:
        return columns // 32 * 36
    return columns // 32 * 24


@njit(error_model="numpy")
def unpack_row(format, w, columns, y):
    """Write a row as float32; `w` and `y` are addresses."""
    if format == FLOAT32:
        _unpack_float32(w, columns, y)
    elif format == BF16:
        _unpack_bf16(w, columns, y)
    elif format == Q8:
        _unpack_q8(w, columns, y)
    else:
        _unpack_q4(w, columns, y)


@njit(error_model="numpy")
def multiply(format, w, rows, columns, x, x_bytes, vectors, y, y_bytes, scratch):
    """y = x w^T for `rows` rows at address w; scratch holds (rows, columns) float32."""
    row_bytes = row_bytes_of(format, columns)
    if format != FLOAT32 and vectors >= MANY:
        for n in range(rows):
            unpack_row(format, w + n * row_bytes, columns, scratch + n * columns * 4)
        w, row_bytes, format = scratch, columns * 4, FLOAT32
    if format == FLOAT32:
        multiply_float32(w, row_bytes, rows, columns, x, x_bytes, vectors, y, y_bytes)
    elif format == BF16:
        multiply_bf16(w, row_bytes, rows, columns, x, x_bytes, vectors, y, y_bytes)
    elif format == Q8:
        multiply_q8(w, row_bytes, rows, columns, x, x_bytes, vectors, y, y_bytes)
    else:
        multiply_q4(w, row_bytes, rows, columns, x, x_bytes, vectors, y, y_bytes)
