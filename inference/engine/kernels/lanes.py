"""
The three inner loops, in vectors of sixteen or eight lanes: `dots`, `blend` and `unpack`.

Written as LLVM instructions, not left to the compiler's own vectoriser, so that the order of every
addition is fixed here: column k is added in lane k mod LANES (of a last turn that is not whole, in
lane k mod 8), and lanes are added in one tree at the end. A dot product therefore has the same bits
whether it is computed alone or beside others, on whichever thread of a machine.

Everything is passed as addresses and sizes in bytes or columns; nothing is checked.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils

from inference.engine.kernels.formats import BLOCK_BYTES, BLOCK_COLUMNS, FLOAT32, NAMES, STEP
from inference.engine.kernels.vectors import (
    F32,
    LANES,
    ZEROS,
    Builder,
    Value,
    at,
    function,
    integer,
    lanes_of,
    load,
    multiply_add,
    prefetch,
    splat,
    store,
    sums_of_lanes,
    vector_of,
    widened,
)
from inference.engine.kernels.widening import TURN, WIDEN

LINE = 64  # bytes that memory gives at a time
PREFETCH_BYTES = 8192  # ahead of what is read: what memory takes to answer, and a little more


def dots(format: int, rows: int, vectors: int) -> Any:
    """y[v, r] = sum over k of w[r, k] x[v, k], for some rows of a matrix and some vectors.

    `dots(...)(w, row_bytes, x, x_bytes, columns, y, y_bytes)`; row_bytes, x_bytes and y_bytes
    lead from one row or vector to the next. rows * vectors sums are held in registers at once.
    """
    widen = WIDEN[format]
    turn_bytes = BLOCK_BYTES[format] * (TURN // BLOCK_COLUMNS[format])
    # Several rows are read at a time, a pattern that processors do not foresee by themselves. Those
    # of float32 for many vectors lie in a cache, or come slowly.
    prefetched = 0 if format == FLOAT32 and vectors > 2 else turn_bytes

    def emit(b: Builder, args: list[Value]) -> None:
        w, row_bytes, x, x_bytes, columns, y, y_bytes = args
        sums = [[cgutils.alloca_once_value(b, ZEROS) for _ in range(vectors)] for _ in range(rows)]
        w_starts = [at(b, w, row_bytes, r) for r in range(rows)]
        x_starts = [at(b, x, x_bytes, v) for v in range(vectors)]

        def multiply(
            places: list[Value], x_places: list[Value], firsts: list[int], lanes: int
        ) -> None:
            """Add the products of some pieces; the side with fewer registers is held."""

            def weights_of(r: int, first: int) -> Value:
                weights = widen(b, places[r], first, lanes)
                return weights if lanes == LANES else widened(b, weights)

            def x_of(v: int, first: int) -> Value:
                values = load(b, x_places[v], vector_of(F32, lanes), first * 4)
                return values if lanes == LANES else widened(b, values)

            def accumulate(r: int, v: int, weights: Value, values: Value) -> None:
                b.store(multiply_add(b, weights, values, b.load(sums[r][v])), sums[r][v])

            if vectors > rows:
                for first in firsts:
                    held = [weights_of(r, first) for r in range(rows)]
                    for v in range(vectors):
                        values = x_of(v, first)
                        for r in range(rows):
                            accumulate(r, v, held[r], values)
            else:
                xs = {first: [x_of(v, first) for v in range(vectors)] for first in firsts}
                for r in range(rows):
                    for first in firsts:
                        weights = weights_of(r, first)
                        for v in range(vectors):
                            accumulate(r, v, weights, xs[first][v])

        turns = b.sdiv(columns, integer(TURN))
        with cgutils.for_range(b, turns) as loop:
            w_offset = b.mul(loop.index, integer(turn_bytes))
            x_offset = b.mul(loop.index, integer(TURN * 4))
            places = [b.add(start, w_offset) for start in w_starts]
            x_places = [b.add(start, x_offset) for start in x_starts]
            for place in places:
                for line in range(0, prefetched, LINE):
                    prefetch(b, b.add(place, integer(PREFETCH_BYTES + line)))
            pieces = list(range(0, TURN, LANES))
            if BLOCK_COLUMNS[format] == TURN:  # row by row: a block's scales are held for it alone
                multiply(places, x_places, pieces, LANES)
            else:
                for first in pieces:
                    multiply(places, x_places, [first], LANES)
        if BLOCK_COLUMNS[format] == STEP:  # the last turn need not be whole
            steps = b.sdiv(b.srem(columns, integer(TURN)), integer(STEP))
            with cgutils.for_range(b, steps) as loop:
                step = b.add(b.mul(turns, integer(TURN // STEP)), loop.index)
                w_offset = b.mul(step, integer(BLOCK_BYTES[format]))
                x_offset = b.mul(step, integer(STEP * 4))
                places = [b.add(start, w_offset) for start in w_starts]
                x_places = [b.add(start, x_offset) for start in x_starts]
                multiply(places, x_places, [0], STEP)
        totals = sums_of_lanes(b, [b.load(of_row[v]) for v in range(vectors) for of_row in sums])
        for v in range(vectors):
            store(b, lanes_of(b, totals, v * rows, rows), at(b, y, y_bytes, v), 0)

    return function(f"dots_{NAMES[format]}_{rows}x{vectors}", emit, 7)


def blend(pieces: int, vectors: int, lanes: int = LANES) -> Any:
    """y[v, c] = sum over t of p[v, t] rows[t, c], for lanes * pieces columns: softmax times V.

    `blend(...)(p, p_bytes, rows, row_bytes, count, y, y_bytes)`; t goes up from 0 to count - 1.
    """

    def emit(b: Builder, args: list[Value]) -> None:
        p, p_bytes, rows, row_bytes, count, y, y_bytes = args
        zeros = vector_of(F32, lanes)(None)
        sums = [
            [cgutils.alloca_once_value(b, zeros) for _ in range(vectors)] for _ in range(pieces)
        ]
        with cgutils.for_range(b, count) as loop:
            row = b.add(rows, b.mul(loop.index, row_bytes))
            for line in range(0, lanes * 4 * pieces, LINE):
                prefetch(b, b.add(row, integer(PREFETCH_BYTES + line)))
            values = [
                load(b, row, vector_of(F32, lanes), lanes * 4 * piece) for piece in range(pieces)
            ]
            for v in range(vectors):
                start = b.add(at(b, p, p_bytes, v), b.mul(loop.index, integer(4)))
                weight = splat(b, load(b, start, F32), lanes)
                for piece in range(pieces):
                    total = multiply_add(b, weight, values[piece], b.load(sums[piece][v]))
                    b.store(total, sums[piece][v])
        for v in range(vectors):
            for piece in range(pieces):
                store(b, b.load(sums[piece][v]), at(b, y, y_bytes, v), lanes * 4 * piece)

    return function(f"blend_{pieces}x{lanes}x{vectors}", emit, 7)


def unpack(format: int) -> Any:
    """Write one row of a matrix as float32: `unpack(...)(w, columns, y)`."""

    def emit(b: Builder, args: list[Value]) -> None:
        w, columns, y = args
        size = BLOCK_COLUMNS[format]
        with cgutils.for_range(b, b.sdiv(columns, integer(size))) as loop:
            start = b.add(y, b.mul(loop.index, integer(size * 4)))
            block = b.add(w, b.mul(loop.index, integer(BLOCK_BYTES[format])))
            lanes = min(LANES, size)
            for first in range(0, size, lanes):
                store(b, WIDEN[format](b, block, first, lanes), start, first * 4)

    return function(f"unpack_{NAMES[format]}", emit, 3)
