"""
How a weight matrix lies in memory: one of four formats, none of which loses anything.

    float32   as it is
    bf16      the upper half of a float32; most checkpoints are published so
    q8        32 columns a block: a float32 scale d, then 32 signed bytes q;       w = d q
    q4        32 columns a block: float32 scale d and offset m, then 16 bytes that hold the
              32 nibbles q, columns 0 to 15 in the low halves, 16 to 31 in the high; w = d q + m

q8 and q4 are GGUF's Q8_0 and Q4_1 with their float16 scales widened, so a product with them is
one with the float32 values that any other reader dequantises them to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

STEP: Final = 8  # sizes must be a multiple

FLOAT32: Final = 0
BF16: Final = 1
Q8: Final = 2
Q4: Final = 3

NAMES: Final = ("float32", "bf16", "q8", "q4")
BLOCK_COLUMNS: Final = (STEP, STEP, 32, 32)
BLOCK_BYTES: Final = (32, 16, 36, 24)

_Q8 = np.dtype([("d", "<f4"), ("q", "i1", 32)])
_Q4 = np.dtype([("d", "<f4"), ("m", "<f4"), ("q", "u1", 16)])
_Q8_0 = np.dtype([("d", "<f2"), ("q", "i1", 32)])
_Q4_1 = np.dtype([("d", "<f2"), ("m", "<f2"), ("q", "u1", 16)])


@dataclass(frozen=True, slots=True)
class Matrix:
    """A weight matrix of (rows, columns), row after row in one of the formats."""

    content: NDArray[Any]  # C-contiguous; keeps the memory alive
    format: int
    rows: int
    columns: int

    def __post_init__(self) -> None:
        row_bytes = self.columns // BLOCK_COLUMNS[self.format] * BLOCK_BYTES[self.format]
        if self.columns % BLOCK_COLUMNS[self.format]:
            raise ValueError(f"{self.columns} columns are not a whole number of blocks")
        if self.content.nbytes != self.rows * row_bytes or not self.content.flags.c_contiguous:
            raise ValueError("the content does not have the size of the matrix")

    @property
    def address(self) -> int:
        return self.content.ctypes.data

    def values(self, rows: slice) -> NDArray[np.float32]:
        """Some rows as float32, (rows, columns), by numpy: what the kernels widen them to."""
        content = self.content.view(np.uint8).reshape(self.rows, -1)[rows]
        if self.format == FLOAT32:
            return np.array(content.view(np.float32))
        if self.format == BF16:
            return np.left_shift(content.view(np.uint16), 16, dtype=np.uint32).view(np.float32)
        blocks = content.view(_Q8 if self.format == Q8 else _Q4)  # (rows, blocks of a row)
        scales = blocks["d"][..., None]
        if self.format == Q8:
            values = blocks["q"] * scales
        else:
            nibbles = np.concatenate([blocks["q"] & 15, blocks["q"] >> 4], axis=-1)
            values = nibbles * scales + blocks["m"][..., None]
        widened: NDArray[np.float32] = values.astype(np.float32)
        return widened.reshape(len(content), self.columns)

    def rows_in_order(self, order: NDArray[np.intp]) -> Matrix:
        """A copy with its rows moved; blocks run along a row, so they move whole."""
        rows = self.content.view(np.uint8).reshape(self.rows, -1)
        return Matrix(np.ascontiguousarray(rows[order]), self.format, self.rows, self.columns)


def dense(values: NDArray[Any]) -> Matrix:
    """A (rows, columns) array of float32, or of bf16 bits as uint16, kept where it lies.

    float32 values that all survive the round trip through bf16 are kept as bf16.
    """
    rows, columns = values.shape
    if values.dtype == np.uint16:
        return Matrix(values, BF16, rows, columns)
    bits = values.view(np.uint32)
    if not (bits & 0xFFFF).any():
        return Matrix((bits >> 16).astype(np.uint16), BF16, rows, columns)
    return Matrix(values, FLOAT32, rows, columns)


def from_q8_0(blocks: NDArray[np.uint8], rows: int, columns: int) -> Matrix:
    """GGUF Q8_0 as it lies in a file."""
    source = blocks.reshape(-1).view(_Q8_0)
    target = np.empty(source.shape, _Q8)
    target["d"], target["q"] = source["d"], source["q"]
    return Matrix(target, Q8, rows, columns)


def from_q4_1(blocks: NDArray[np.uint8], rows: int, columns: int) -> Matrix:
    """GGUF Q4_1 as it lies in a file."""
    source = blocks.reshape(-1).view(_Q4_1)
    target = np.empty(source.shape, _Q4)
    target["d"], target["m"], target["q"] = source["d"], source["m"], source["q"]
    return Matrix(target, Q4, rows, columns)
