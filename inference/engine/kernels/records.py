"""
The two records that compiled code reads: a model, and one pass over it.

They hold numbers and addresses; whoever makes one keeps the arrays alive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# The shape of a model and where its weights lie. Arrays are addresses (0: there is none).
# D: hidden size, H: heads, G: key heads, d: head size, I: intermediate size, V: rows of the head.
MODEL = np.dtype(
    [
        *[(name, "i8") for name in ("layers", "hidden", "intermediate")],  # L, D, I
        *[(name, "i8") for name in ("heads", "key_heads", "head_dim", "rows")],  # H, G, d, V
        ("epsilon", "f4"),  # of every RMSNorm
        ("addresses", "i8"),  # (L, 7) int64, in the order of the names below
        ("formats", "i8"),  # (L, 7) int64
        *[(name, "i8") for name in ("embedding", "embedding_format")],  # (V, D)
        *[(name, "i8") for name in ("head", "head_format")],  # (V, D)
        *[(name, "i8") for name in ("attention_norm", "mlp_norm")],  # (L, D)
        ("last_norm", "i8"),  # (D,)
        ("bias", "i8"),  # (L, (H + 2 G) d)
        *[(name, "i8") for name in ("query_norm", "key_norm")],  # (L, d)
        *[(name, "i8") for name in ("cos", "sin")],  # (positions, d / 2)
    ],
    align=True,
)

# One pass and what it works in. M: its rows, W: workers.
WORK = np.dtype(
    [
        ("rows", "i8"),  # M
        *[(name, "i8") for name in ("blocks", "chunks")],  # of rows; of the longest row's keys
        *[(name, "i8") for name in ("out_first", "out_rows", "out")],  # rows with logits; (., V)
        *[(name, "i8") for name in ("ids", "positions")],  # (M,) int64
        *[(name, "i8") for name in ("keys", "values")],  # (M,) addresses of (L, G, capacity, d)
        ("capacities", "i8"),  # (M,) int64
        *[(name, "i8") for name in ("block_first", "block_rows")],  # rows that attend together
        *[(name, "i8") for name in ("x", "middle", "normed")],  # (M, D)
        ("qkv", "i8"),  # (M, (H + 2 G) d)
        ("partial", "i8"),  # (M, H, most_chunks, 2 + d)
        ("most_chunks", "i8"),
        ("attended", "i8"),  # (M, H d)
        ("gated", "i8"),  # (M, I)
        ("workers", "i8"),
        ("scores", "i8"),  # (W, BLOCK H / G, CHUNK)
        *[(name, "i8") for name in ("gathered", "blended")],  # (W, BLOCK H / G, d)
        *[(name, "i8") for name in ("gate_tile", "up_tile", "tile_bytes")],  # (W, .): a tile of M
        *[(name, "i8") for name in ("unpacked", "unpacked_bytes")],  # (W, .): a tile as float32
        ("cells", "i8"),  # what the threads share: see `team`
    ],
    align=True,
)


class Record:
    """Numbers and the addresses of arrays, laid out for compiled code; keeps the arrays alive."""

    def __init__(
        self, dtype: np.dtype[Any], numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> None:
        self.arrays = arrays
        self._row = np.zeros(1, dtype)
        self.set(**numbers, **{name: array.ctypes.data for name, array in arrays.items()})

    def set(self, **numbers: Any) -> None:
        for name, number in numbers.items():
            self._row[name] = number

    @property
    def view(self) -> Any:
        """What compiled code takes: it sees later changes too."""
        return self._row[0]
