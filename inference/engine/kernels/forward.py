"""
One pass of a transformer over M rows: tokens of one prompt, or the next token of M sequences.

    x = embedding[id]
    for each layer:
        x = x + W_o attention(rotate(W_qkv norm(x)))
        x = x + W_down swiglu(W_gate norm(x), W_up norm(x))
    logits = W_head norm(x)

Each line is a stage or a few; a stage is cut into tasks that write different numbers, so any thread
may take any task. `team` says who takes which. No result depends on it, nor on which other rows
are in the pass: every sum has one order (see `lanes`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from inference.engine.kernels import attention
from inference.engine.kernels.attention import BLOCK, CHUNK
from inference.engine.kernels.linear import MANY, multiply, row_bytes_of, unpack_row
from inference.engine.kernels.memory import integer
from inference.engine.kernels.pointwise import add, copy, rms_norm, rotate, swiglu

# int64 and not int: numba would compile a function anew for each int that is written out.
QUERY, KEY, VALUE, OUTPUT, GATE, UP, DOWN = (np.int64(i) for i in range(7))

# Stages.
EMBED, ATTENTION_NORM, PROJECT, PLACE, ATTEND, MERGE, ADD_ATTENDED = (np.int64(i) for i in range(7))
MLP_NORM, EXPAND, CONTRACT, LAST_NORM, PREDICT = (np.int64(i) for i in range(7, 12))

TILE_WEIGHTS = 32_768  # about 2 microseconds of work: long beside the claim of a task
MANY_ROWS = 12  # of a tile that is written out as float32: they must lie in the second cache


@njit(error_model="numpy")
def tile_rows(columns, vectors):
    if vectors >= MANY:
        return MANY_ROWS
    return max(4, TILE_WEIGHTS // columns // 12 * 12)  # a multiple of what most kernels take


@njit(error_model="numpy")
def tasks_of(stage, model, work):
    """How many tasks a stage is cut into."""
    wide = model.heads * model.head_dim
    if stage == PROJECT:
        tile = tile_rows(model.hidden, work.rows)
        return -(-wide // tile) + 2 * -(-(model.key_heads * model.head_dim) // tile)
    if stage == ATTEND:
        return work.blocks * model.key_heads * work.chunks
    if stage == ADD_ATTENDED:
        return -(-model.hidden // tile_rows(wide, work.rows))
    if stage == EXPAND:
        return -(-model.intermediate // tile_rows(model.hidden, work.rows))
    if stage == CONTRACT:
        return -(-model.hidden // tile_rows(model.intermediate, work.rows))
    if stage == LAST_NORM:
        return work.out_rows
    if stage == PREDICT:
        return -(-model.rows // tile_rows(model.hidden, work.out_rows))
    return work.rows


@njit(error_model="numpy")
def run_task(stage, layer, task, worker, model, work):
    if stage == PROJECT:
        _project(layer, task, worker, model, work)
    elif stage == ATTEND:
        _attend(layer, task, worker, model, work)
    elif stage == ADD_ATTENDED:
        wide = model.heads * model.head_dim
        _add_product(
            layer, OUTPUT, task, worker, model, work, work.attended, wide, work.x, work.middle
        )
    elif stage == EXPAND:
        _expand(layer, task, worker, model, work)
    elif stage == CONTRACT:
        _add_product(
            layer, DOWN, task, worker, model, work, work.gated, model.intermediate, work.middle,
            work.x,
        )  # fmt: skip
    elif stage == PREDICT:
        _predict(task, worker, model, work)
    else:
        _run_row(stage, layer, task, worker, model, work)


@njit(error_model="numpy")
def _run_row(stage, layer, m, worker, model, work):
    """The stages whose tasks are single rows."""
    row_bytes = model.hidden * 4
    normed = work.normed + m * row_bytes
    scratch = work.unpacked + worker * work.unpacked_bytes
    if stage == EMBED:
        at = integer(work.ids, m) * row_bytes_of(model.embedding_format, model.hidden)
        unpack_row(
            model.embedding_format, model.embedding + at, model.hidden, work.x + m * row_bytes
        )
    elif stage == PLACE:
        _place(layer, m, scratch, model, work)
    elif stage == MERGE:
        head_bytes = work.most_chunks * (2 + model.head_dim) * 4
        attention.merge(
            work.partial + m * model.heads * head_bytes, model.heads, head_bytes,
            integer(work.positions, m), model.head_dim,
            work.attended + m * model.heads * model.head_dim * 4,
        )  # fmt: skip
    else:
        if stage == ATTENTION_NORM:
            x, weight = work.x + m * row_bytes, model.attention_norm + layer * row_bytes
        elif stage == MLP_NORM:
            x, weight = work.middle + m * row_bytes, model.mlp_norm + layer * row_bytes
        else:
            x, weight = work.x + (work.out_first + m) * row_bytes, model.last_norm
        rms_norm(x, weight, model.hidden, model.epsilon, scratch, normed)


@njit(error_model="numpy")
def _place(layer, m, scratch, model, work):
    """Bias, q and k norms and rotation of one row; its k and v go into the cache."""
    d, position = model.head_dim, integer(work.positions, m)
    size = (model.heads + 2 * model.key_heads) * d
    row = work.qkv + m * size * 4
    if model.bias:
        add(model.bias + layer * size * 4, row, size)
    angles = position * d // 2 * 4
    for h in range(model.heads + model.key_heads):
        head = row + h * d * 4
        if model.query_norm:
            norm = model.query_norm if h < model.heads else model.key_norm
            rms_norm(head, norm + layer * d * 4, d, model.epsilon, scratch, head)
        rotate(head, model.cos + angles, model.sin + angles, d // 2)
    keys, values = integer(work.keys, m), integer(work.values, m)
    for g in range(model.key_heads):
        at = (layer * model.key_heads + g) * integer(work.capacities, m) + position
        key, value = model.heads + g, model.heads + model.key_heads + g
        copy(row + key * d * 4, keys + at * d * 4, d)
        copy(row + value * d * 4, values + at * d * 4, d)


@njit(error_model="numpy")
def _attend(layer, task, worker, model, work):
    """One chunk of keys, for a block of rows and a key head."""
    chunk, task = task % work.chunks, task // work.chunks
    g, block = task % model.key_heads, task // model.key_heads
    d, group = model.head_dim, model.heads // model.key_heads
    m = integer(work.block_first, block)
    qkv_bytes = (model.heads + 2 * model.key_heads) * d * 4
    cache = (layer * model.key_heads + g) * integer(work.capacities, m) * d * 4
    part_bytes = (2 + d) * 4
    head_bytes = work.most_chunks * part_bytes
    scratch = worker * BLOCK * group
    attention.attend(
        work.qkv + m * qkv_bytes + g * group * d * 4, qkv_bytes,
        integer(work.block_rows, block), integer(work.positions, m), group, d,
        integer(work.keys, m) + cache, integer(work.values, m) + cache, chunk,
        work.scores + scratch * CHUNK * 4, work.gathered + scratch * d * 4,
        work.blended + scratch * d * 4,
        work.partial + (m * model.heads + g * group) * head_bytes + chunk * part_bytes,
        model.heads * head_bytes, head_bytes,
    )  # fmt: skip


@njit(error_model="numpy")
def _product(layer, which, first, rows, columns, x, y, y_columns, worker, model, work):
    """y[m, :rows] = rows `first` onwards of one of a layer's matrices, times x[m]."""
    index = layer * 7 + which
    format = integer(model.formats, index)
    w = integer(model.addresses, index) + first * row_bytes_of(format, columns)
    scratch = work.unpacked + worker * work.unpacked_bytes
    multiply(format, w, rows, columns, x, columns * 4, work.rows, y, y_columns * 4, scratch)


@njit(error_model="numpy")
def _project(layer, task, worker, model, work):
    """A tile of the rows of W_q, W_k or W_v, which lie side by side in qkv."""
    tile = tile_rows(model.hidden, work.rows)
    which, start, size = QUERY, 0, model.heads * model.head_dim
    while task >= -(-size // tile):
        task -= -(-size // tile)
        start += size
        which += 1
        size = model.key_heads * model.head_dim
    first = task * tile
    _product(
        layer, which, first, min(tile, size - first), model.hidden, work.normed,
        work.qkv + (start + first) * 4, (model.heads + 2 * model.key_heads) * model.head_dim,
        worker, model, work,
    )  # fmt: skip


@njit(error_model="numpy")
def _add_product(layer, which, task, worker, model, work, x, columns, residual, y):
    """y = residual + W x, for a tile of the D rows of W."""
    tile = tile_rows(columns, work.rows)
    first = task * tile
    rows = min(tile, model.hidden - first)
    place = y + first * 4
    _product(layer, which, first, rows, columns, x, place, model.hidden, worker, model, work)
    for m in range(work.rows):
        at = (m * model.hidden + first) * 4
        add(residual + at, y + at, rows)


@njit(error_model="numpy")
def _expand(layer, task, worker, model, work):
    """A tile of W_gate and the same tile of W_up, and SwiGLU of what they give.

    It is taken of all M rows at once: the few numbers of one row would fill no vectors.
    """
    columns, width = model.hidden, model.intermediate
    tile = tile_rows(columns, work.rows)
    first = task * tile
    rows = min(tile, width - first)
    gate, up = work.gate_tile + worker * work.tile_bytes, work.up_tile + worker * work.tile_bytes
    _product(layer, GATE, first, rows, columns, work.normed, gate, rows, worker, model, work)
    _product(layer, UP, first, rows, columns, work.normed, up, rows, worker, model, work)
    swiglu(gate, up, work.rows * rows)
    for m in range(work.rows):
        copy(gate + m * rows * 4, work.gated + (m * width + first) * 4, rows)


@njit(error_model="numpy")
def _predict(task, worker, model, work):
    """A tile of the head's V rows, for the rows of the pass that are asked for."""
    columns = model.hidden
    tile = tile_rows(columns, work.out_rows)
    first = task * tile
    w = model.head + first * row_bytes_of(model.head_format, columns)
    multiply(
        model.head_format, w, min(tile, model.rows - first), columns,
        work.normed, columns * 4, work.out_rows, work.out + first * 4, model.rows * 4,
        work.unpacked + worker * work.unpacked_bytes,
    )  # fmt: skip
