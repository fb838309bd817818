"""
Whether the compiled kernels compute what they should, on this machine and in this process.

They are compiled where they run, kept on disk and shared by threads: each of these has its ways to
go wrong without an error, and what is shown would then be wrong without a sign. So a start
compares them with the same formulas in numpy, and many threads with one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.engine.kernels.formats import Matrix
from inference.engine.kernels.shape import Shape
from inference.engine.types import Logits

HEAD_ROWS = 4096  # that are compared, of the head's first and of its last
# Of the largest logit: float32 sums in another order differ by 1e-5, a wrong weight by 1e-1.
TOLERANCE = 1e-3

Values = NDArray[np.float32]


class KernelsDiffer(ValueError):
    """The kernels gave other numbers than they should."""


def require_close(logits: Logits, expected: Logits, what: str) -> None:
    """Raises KernelsDiffer."""
    difference = float(np.abs(logits - expected).max())
    if not difference <= TOLERANCE * max(1.0, float(np.abs(expected).max())):  # NaN is not, either
        raise KernelsDiffer(f"{what}: logits are off by {difference:.2g}")


def compared_rows(rows: int) -> list[slice]:
    """Of the head's rows, those that `first_layer` computes."""
    return [slice(0, min(rows, HEAD_ROWS)), slice(max(0, rows - HEAD_ROWS), rows)]


@np.errstate(over="ignore")  # where SiLU comes to 0
def first_layer(
    shape: Shape, matrices: list[Matrix], arrays: dict[str, Any], token_ids: list[int]
) -> list[Logits]:
    """The logits of the first layer alone, (T, rows) each for the rows of `compared_rows`.

    matrices: seven of each layer, the embedding, and the head where it is another one; arrays:
    the model's vectors and its tables. The maths is that of `forward`, in numpy.
    """
    query, key, value, output, gate, up, down = (m.values(slice(None)) for m in matrices[:7])
    tokens, d = len(token_ids), shape.head_dim

    def norm(x: Values, weight: Values) -> Values:
        mean_square = np.square(x).mean(-1, keepdims=True)
        normed: Values = x / np.sqrt(mean_square + np.float32(shape.epsilon)) * weight
        return normed

    embedding = matrices[7 * shape.layers]
    x = np.concatenate([embedding.values(slice(i, i + 1)) for i in token_ids])
    normed = norm(x, arrays["attention_norm"][0])  # (T, D)
    qkv = normed @ np.concatenate([query, key, value]).T
    if "bias" in arrays:
        qkv = qkv + arrays["bias"][0]
    heads = qkv.reshape(tokens, -1, d).transpose(1, 0, 2)  # (H + 2 G, T, d)
    q, k, v = np.split(heads, [shape.heads, shape.heads + shape.key_heads])
    if "query_norm" in arrays:
        q, k = norm(q, arrays["query_norm"][0]), norm(k, arrays["key_norm"][0])
    cos, sin = arrays["cos"][:tokens], arrays["sin"][:tokens]  # (T, d / 2)

    def rotate(x: Values) -> Values:
        a, b = np.split(x, 2, -1)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    group = shape.heads // shape.key_heads
    k, v = rotate(k).repeat(group, 0), v.repeat(group, 0)
    scores = rotate(q) @ k.transpose(0, 2, 1) / np.float32(d**0.5)  # (H, T, T)
    scores[:, np.triu(np.ones((tokens, tokens), np.bool_), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    attended = weights / weights.sum(-1, keepdims=True) @ v  # (H, T, d)
    x = x + attended.transpose(1, 0, 2).reshape(tokens, -1) @ output.T
    normed = norm(x, arrays["mlp_norm"][0])
    gated = normed @ gate.T
    x = x + (gated / (1 + np.exp(-gated)) * (normed @ up.T)) @ down.T
    last = norm(x, arrays["last_norm"])
    return [last @ matrices[-1].values(rows).T for rows in compared_rows(matrices[-1].rows)]
