"""
Causal attention of grouped query heads over a KV cache, a chunk of keys at a time.

    out = sum over t of softmax(q k_t / sqrt(head_dim)) v_t,   t up to the query's own position

Vaswani et al. 2017; groups of query heads share a key head (Ainslie et al. 2023). Long caches are
split as in flash decoding: each chunk of 128 keys gives its largest score m, the sum z of
e^(score - m) and the v blended by the same weights; `merge` adds the chunks up, first to last. So
chunks can be computed by any thread, in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, njit

from inference.engine.kernels import lanes
from inference.engine.kernels.formats import STEP
from inference.engine.kernels.linear import multiply_float32
from inference.engine.kernels.memory import floats
from inference.engine.kernels.pointwise import copy, exp
from inference.engine.kernels.vectors import HAS_AVX512, LANES

CHUNK = 128  # keys: 32 KB of a head of 64, what the nearest cache holds
BLOCK = 8  # queries of one prompt that share a reading of a chunk


def _kernel_of(pieces: int, vectors: int) -> Any:
    """All columns for so many vectors, and no others."""
    wide, narrow = lanes.blend(pieces, vectors), lanes.blend(1, 1, STEP)

    def blend(p, p_bytes, rows, row_bytes, count, columns, y, y_bytes):
        column = 0
        while columns - column >= pieces * LANES:
            at = column * 4
            wide(p, p_bytes, rows + at, row_bytes, count, y + at, y_bytes)
            column += pieces * LANES
        while column < columns:
            for v in range(vectors):
                at, pv, yv = column * 4, p + v * p_bytes, y + v * y_bytes
                narrow(pv, p_bytes, rows + at, row_bytes, count, yv + at, y_bytes)
            column += STEP

    blend.__qualname__ = f"blend_{vectors}"  # for the linker, as in `linear`
    return njit(error_model="numpy")(blend)


# Of LANES columns at a time, as many as there are registers for the sums.
_blend_four, _blend_three = (_kernel_of(4 if HAS_AVX512 else 2, vectors) for vectors in (4, 3))
_blend_two, _blend_one = (_kernel_of(4, vectors) for vectors in (2, 1))


@njit(error_model="numpy")
def _blend(p, p_bytes, rows, row_bytes, count, columns, vectors, y, y_bytes):
    """y[v] = sum over t of p[v, t] rows[t], each row of `columns`."""
    v = 0
    while v < vectors:
        left = vectors - v
        if left >= 4:
            step = 4
            _blend_four(p, p_bytes, rows, row_bytes, count, columns, y, y_bytes)
        elif left == 3:
            step = 3
            _blend_three(p, p_bytes, rows, row_bytes, count, columns, y, y_bytes)
        elif left == 2:
            step = 2
            _blend_two(p, p_bytes, rows, row_bytes, count, columns, y, y_bytes)
        else:
            step = 1
            _blend_one(p, p_bytes, rows, row_bytes, count, columns, y, y_bytes)
        v, p, y = v + step, p + step * p_bytes, y + step * y_bytes


# These two are left to the compiler's vectors, whose order depends on the count alone.


@njit(error_model="numpy", fastmath={"nnan", "nsz"})
def _largest(scores, count):
    largest = scores[0]
    for t in range(1, count):
        largest = max(largest, scores[t])
    return largest


@njit(error_model="numpy", fastmath={"reassoc"})
def _sum(scores, count):
    total = float32(0.0)
    for t in range(count):
        total += scores[t]
    return total


@njit(error_model="numpy")
def _softmax_weights(scores, seen, count, scale):
    """scores[:seen] become e^(score - largest), the rest to `count` 0; gives (m, z)."""
    largest = _largest(scores, seen) if seen else float32(0.0)
    for t in range(seen):
        scores[t] = exp((scores[t] - largest) * scale)
    for t in range(seen, count):
        scores[t] = float32(0.0)
    return largest * scale, _sum(scores, seen)


@njit(error_model="numpy")
def attend(
    queries, query_bytes, rows, position, group, head_dim, keys, values, chunk,
    scores, gathered, blended, partial, partial_row_bytes, partial_head_bytes,
):  # fmt: skip
    """One chunk, for `rows` neighbouring queries of one sequence and the heads of one key head.

    queries: row after row, each with this group's heads side by side; the first is at `position`.
    keys, values: this key head's (capacity, head_dim).
    scores (rows * group, CHUNK), gathered and blended (rows * group, head_dim): scratch.
    partial: where m, z and the blend of the first query's first head go.
    """
    begin = chunk * CHUNK
    count = min(CHUNK, position + rows - begin)
    if count <= 0:
        return
    scale = float32(1.0) / np.sqrt(float32(head_dim))
    row_bytes, score_bytes = head_dim * 4, CHUNK * 4
    for r in range(rows):
        copy(queries + r * query_bytes, gathered + r * group * row_bytes, group * head_dim)
    multiply_float32(
        keys + begin * row_bytes, row_bytes, count, head_dim,
        gathered, row_bytes, rows * group, scores, score_bytes,
    )  # fmt: skip
    for r in range(rows):
        seen = max(0, min(count, position + r + 1 - begin))
        for g in range(group):
            of_head = floats(scores + (r * group + g) * score_bytes, count)
            out = floats(partial + r * partial_row_bytes + g * partial_head_bytes, 2)
            out[0], out[1] = _softmax_weights(of_head, seen, count, scale)
    _blend(
        scores, score_bytes, values + begin * row_bytes, row_bytes, count, head_dim,
        rows * group, blended, row_bytes,
    )  # fmt: skip
    for r in range(rows):
        for g in range(group):
            out_at = partial + r * partial_row_bytes + g * partial_head_bytes
            copy(blended + (r * group + g) * row_bytes, out_at + 8, head_dim)


@njit(error_model="numpy")
def merge(partial, heads, head_bytes, position, head_dim, y):
    """Add up the chunks of one query; y: (heads * head_dim,)."""
    chunks, size = position // CHUNK + 1, 2 + head_dim
    for h in range(heads):
        parts = floats(partial + h * head_bytes, chunks * size)
        out = floats(y + h * head_dim * 4, head_dim)
        largest = parts[0]
        for c in range(1, chunks):
            largest = max(largest, parts[c * size])
        total = float32(0.0)
        for i in range(head_dim):
            out[i] = float32(0.0)
        for c in range(chunks):
            weight = exp(parts[c * size] - largest)
            total += weight * parts[c * size + 1]
            for i in range(head_dim):
                out[i] += weight * parts[c * size + 2 + i]
        for i in range(head_dim):
            out[i] /= total
