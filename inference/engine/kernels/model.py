"""
A model's weights in the form that `forward` reads, and the workspace of its passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inference.engine.kernels.attention import BLOCK, CHUNK
from inference.engine.kernels.formats import Matrix
from inference.engine.kernels.forward import MANY_ROWS, TILE_WEIGHTS, tile_rows
from inference.engine.kernels.linear import MANY
from inference.engine.kernels.records import MODEL, WORK, Record
from inference.engine.kernels.shape import Shape, Unsupported
from inference.engine.kernels.team import cell_bytes

_MATRICES = (
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
)


class Weights(Protocol):
    """A source of weights by the names that transformers gives them."""

    def __contains__(self, name: str) -> bool: ...
    def matrix(self, name: str) -> Matrix: ...
    def vector(self, name: str) -> NDArray[np.float32]: ...


def model_of(
    shape: Shape, weights: Weights, cos: NDArray[np.float32], sin: NDArray[np.float32]
) -> tuple[Record, list[Matrix]]:
    """The model, and the matrices that must be kept as long as it is used.

    cos, sin: (positions, head_dim / 2). Raises Unsupported, or ValueError where sizes differ.
    """
    wide, narrow = shape.heads * shape.head_dim, shape.key_heads * shape.head_dim
    sizes = [
        (wide, shape.hidden),
        (narrow, shape.hidden),
        (narrow, shape.hidden),
        (shape.hidden, wide),
        (shape.intermediate, shape.hidden),
        (shape.intermediate, shape.hidden),
        (shape.hidden, shape.intermediate),
    ]
    kept: list[Matrix] = []

    def matrix(name: str, size: tuple[int, int]) -> Matrix:
        kept.append(weights.matrix(name))
        if (kept[-1].rows, kept[-1].columns) != size:
            raise ValueError(f"{name} is not of size {size}")
        return kept[-1]

    names = [f"model.layers.{layer}." for layer in range(shape.layers)]
    layers = [
        [matrix(f"{at}{part}.weight", size) for part, size in zip(_MATRICES, sizes, strict=True)]
        for at in names
    ]
    embedding = matrix("model.embed_tokens.weight", (shape.rows, shape.hidden))
    tied = shape.tied or "lm_head.weight" not in weights
    head = embedding if tied else matrix("lm_head.weight", (shape.rows, shape.hidden))

    def vectors(part: str, size: int) -> NDArray[np.float32]:
        stacked = np.stack([weights.vector(f"{at}{part}") for at in names])
        if stacked.shape[1] != size:
            raise ValueError(f"{part} is not of size {size}")
        return stacked

    qkv = [("self_attn.q_proj.bias", wide)]
    qkv += [(f"self_attn.{part}_proj.bias", narrow) for part in ("k", "v")]
    biased = f"{names[0]}{qkv[0][0]}" in weights
    for part in ("self_attn.o_proj.bias", "mlp.down_proj.bias"):
        if f"{names[0]}{part}" in weights:
            raise Unsupported(f"the kernels do not know {part}")
    normed = shape.family == "qwen3"
    arrays: dict[str, NDArray[Any]] = {
        "addresses": _table(layers, lambda m: m.address),
        "formats": _table(layers, lambda m: m.format),
        "attention_norm": vectors("input_layernorm.weight", shape.hidden),
        "mlp_norm": vectors("post_attention_layernorm.weight", shape.hidden),
        "last_norm": np.ascontiguousarray(weights.vector("model.norm.weight")),
        "cos": cos,
        "sin": sin,
    }
    if biased:
        arrays["bias"] = np.hstack([vectors(*part) for part in qkv])
    if normed:
        arrays["query_norm"] = vectors("self_attn.q_norm.weight", shape.head_dim)
        arrays["key_norm"] = vectors("self_attn.k_norm.weight", shape.head_dim)
    numbers = {
        "layers": shape.layers,
        "hidden": shape.hidden,
        "intermediate": shape.intermediate,
        "heads": shape.heads,
        "key_heads": shape.key_heads,
        "head_dim": shape.head_dim,
        "rows": shape.rows,
        "epsilon": shape.epsilon,
        "embedding": embedding.address,
        "embedding_format": embedding.format,
        "head": head.address,
        "head_format": head.format,
    }
    return Record(MODEL, numbers, arrays), kept


def workspace_of(shape: Shape, *, rows: int, positions: int, workers: int) -> Record:
    """Room for passes of at most so many rows. Pages that are never used cost nothing."""
    wide = shape.heads * shape.head_dim
    qkv = wide + 2 * shape.key_heads * shape.head_dim
    vectors = BLOCK * (shape.heads // shape.key_heads)  # of one task of attention
    chunks = -(-positions // CHUNK)
    tile = max(TILE_WEIGHTS, MANY_ROWS * max(shape.hidden, wide, shape.intermediate))
    outputs = max(rows * MANY_ROWS, MANY * tile_rows.py_func(shape.hidden, 1))  # of one tile
    numbers = {
        "workers": workers,
        "most_chunks": chunks,
        "unpacked_bytes": tile * 4,
        "tile_bytes": outputs * 4,
    }
    integers = ("ids", "positions", "keys", "values", "capacities", "block_first", "block_rows")
    floats = {
        "x": (rows, shape.hidden),
        "middle": (rows, shape.hidden),
        "normed": (rows, shape.hidden),
        "qkv": (rows, qkv),
        "partial": (rows, shape.heads, chunks, 2 + shape.head_dim),
        "attended": (rows, wide),
        "gated": (rows, shape.intermediate),
        "gate_tile": (workers, outputs),
        "up_tile": (workers, outputs),
        "scores": (workers, vectors, CHUNK),
        "gathered": (workers, vectors, shape.head_dim),
        "blended": (workers, vectors, shape.head_dim),
        "unpacked": (workers, tile),
    }
    arrays: dict[str, NDArray[Any]] = {name: np.zeros(rows, np.int64) for name in integers}
    arrays |= {name: np.empty(size, np.float32) for name, size in floats.items()}
    arrays["cells"] = np.zeros(cell_bytes(workers) // 8, np.int64)
    return Record(WORK, numbers, arrays)


def _table(layers: list[list[Matrix]], of: Callable[[Matrix], int]) -> NDArray[np.int64]:
    return np.array([[of(m) for m in layer] for layer in layers], np.int64)
