"""
Whether the compiled kernels compute what they should, on this machine and in this process.

They are compiled where they run, kept on disk and shared by threads: each of these has its ways to
go wrong without an error, and what is shown would then be wrong without a sign. So a start
compares them with the same formulas in torch, and many threads with one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from inference.engine.kernels.formats import Matrix
from inference.engine.kernels.shape import Shape

HEAD_ROWS = 4096  # that are compared, of the head's first and of its last
# Of the largest logit: float32 sums in another order differ by 1e-5, a wrong weight by 1e-1.
TOLERANCE = 1e-3


class KernelsDiffer(ValueError):
    """The kernels gave other numbers than they should."""


def require_close(logits: Tensor, expected: Tensor, what: str) -> None:
    """Raises KernelsDiffer."""
    difference = float((logits - expected).abs().max())
    if not difference <= TOLERANCE * max(1.0, float(expected.abs().max())):  # NaN is not, either
        raise KernelsDiffer(f"{what}: logits are off by {difference:.2g}")


def compared_rows(rows: int) -> list[slice]:
    """Of the head's rows, those that `first_layer` computes."""
    return [slice(0, min(rows, HEAD_ROWS)), slice(max(0, rows - HEAD_ROWS), rows)]


@torch.inference_mode()
def first_layer(
    shape: Shape, matrices: list[Matrix], arrays: dict[str, Any], token_ids: list[int]
) -> list[Tensor]:
    """The logits of the first layer alone, (T, rows) each for the rows of `compared_rows`.

    matrices: seven of each layer, the embedding, and the head where it is another one; arrays:
    the model's vectors and its tables. The maths is that of `forward`, in torch.
    """
    query, key, value, output, gate, up, down = (_whole(matrix) for matrix in matrices[:7])
    tokens, d = len(token_ids), shape.head_dim
    vectors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}

    def norm(x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), weight, shape.epsilon)

    embedding = matrices[7 * shape.layers]
    x = torch.cat([torch.from_numpy(embedding.values(slice(i, i + 1))) for i in token_ids])
    normed = norm(x, vectors["attention_norm"][0])  # (T, D)
    qkv = normed @ torch.cat([query, key, value]).T
    if "bias" in vectors:
        qkv = qkv + vectors["bias"][0]
    heads = qkv.view(tokens, -1, d).transpose(0, 1)  # (H + 2 G, T, d)
    q, k, v = torch.split(heads, [shape.heads, shape.key_heads, shape.key_heads])
    if "query_norm" in vectors:
        q, k = norm(q, vectors["query_norm"][0]), norm(k, vectors["key_norm"][0])
    cos, sin = vectors["cos"][:tokens], vectors["sin"][:tokens]  # (T, d / 2)

    def rotate(x: Tensor) -> Tensor:
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    group = shape.heads // shape.key_heads
    k, v = rotate(k).repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    scores = rotate(q) @ k.transpose(1, 2) / d**0.5  # (H, T, T)
    future = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    attended = scores.masked_fill(future, float("-inf")).softmax(-1) @ v  # (H, T, d)
    x = x + attended.transpose(0, 1).reshape(tokens, -1) @ output.T
    normed = norm(x, vectors["mlp_norm"][0])
    x = x + (functional.silu(normed @ gate.T) * (normed @ up.T)) @ down.T
    last = norm(x, vectors["last_norm"])
    head = matrices[-1]
    return [last @ torch.from_numpy(head.values(rows)).T for rows in compared_rows(head.rows)]


def _whole(matrix: Matrix) -> Tensor:
    return torch.from_numpy(matrix.values(slice(None)))
