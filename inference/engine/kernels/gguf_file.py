"""
The tensors of a GGUF file, in the blocks they lie in there.

The gguf package makes an object of every string in the vocabulary, which takes seconds; only the
table of tensors is wanted here, so this reader steps over the fields. Numbers in it are
little-endian. Block types without a kernel are widened to float32 by the gguf package.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.engine.kernels.formats import Matrix, dense, from_q4_1, from_q8_0
from inference.engine.kernels.shape import Shape

_F32, _Q4_1, _Q8_0 = 0, 3, 8
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # of field types
_STRING, _ARRAY, _UINT32 = 8, 9, 4

# transformers' names, and GGUF's.
_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


@dataclass(frozen=True, slots=True)
class _Entry:
    shape: tuple[int, ...]  # outermost first, as numpy has it
    type: int
    offset: int  # of its bytes, from the start of the file


class GgufFile:
    """Weights by the names that transformers gives them."""

    def __init__(self, path: Path, shape: Shape) -> None:
        self._content = np.memmap(path, np.uint8, mode="r")
        self._entries = _Table(self._content).entries()
        self._shape = shape

    def __contains__(self, name: str) -> bool:
        return gguf_name(name) in self._entries

    def matrix(self, name: str) -> Matrix:
        """A (rows, columns) weight."""
        entry = self._entries[gguf_name(name)]
        rows, columns = entry.shape
        blocks = self._blocks_of(entry)
        if entry.type == _Q4_1:
            matrix = from_q4_1(blocks, rows, columns)
        elif entry.type == _Q8_0:
            matrix = from_q8_0(blocks, rows, columns)
        else:
            matrix = dense(self._widened(entry))
        order = self._order_of(name, rows)
        return matrix if order is None else matrix.rows_in_order(order)

    def vector(self, name: str) -> NDArray[np.float32]:
        """A norm's weight or a bias, as float32: a copy, that the file need not stay mapped."""
        values = self._widened(self._entries[gguf_name(name)])
        order = self._order_of(name, values.size)
        return values.copy() if order is None else values[order]

    def bytes_of(self, name: str) -> NDArray[np.uint8]:
        """What the file holds of the tensor that GGUF calls so."""
        return self._blocks_of(self._entries[name])

    def _blocks_of(self, entry: _Entry) -> NDArray[np.uint8]:
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

        block, block_bytes = GGML_QUANT_SIZES[GGMLQuantizationType(entry.type)]
        size = math.prod(entry.shape) // block * block_bytes
        return self._content[entry.offset : entry.offset + size]

    def _widened(self, entry: _Entry) -> NDArray[np.float32]:
        from gguf import GGMLQuantizationType, dequantize

        rows = self._blocks_of(entry).reshape(math.prod(entry.shape[:-1]), -1)
        if entry.type == _F32:
            return rows.view(np.float32).reshape(entry.shape)
        values: NDArray[np.float32] = dequantize(rows, GGMLQuantizationType(entry.type))
        return np.ascontiguousarray(values.reshape(entry.shape))

    def _order_of(self, name: str, rows: int) -> NDArray[np.intp] | None:
        """Where each row of q or k lies: for Llama, GGUF has the halves of a head interleaved."""
        if self._shape.family != "llama" or not ("q_proj" in name or "k_proj" in name):
            return None
        half = self._shape.head_dim // 2
        return np.arange(rows).reshape(-1, half, 2).swapaxes(1, 2).reshape(-1)


def gguf_name(name: str) -> str:
    """GGUF's name of what transformers calls so."""
    stem, kind = name.rsplit(".", 1)
    if stem.startswith("model.layers."):
        number, part = stem.removeprefix("model.layers.").split(".", 1)
        return f"blk.{number}.{_NAMES[part]}.{kind}"
    return f"{_NAMES[stem]}.{kind}"


class _Table:
    """A walk over the head of the file."""

    def __init__(self, content: NDArray[np.uint8]) -> None:
        self._content = content.data
        self._at = 8  # past the magic number and the version

    def entries(self) -> dict[str, _Entry]:
        tensors, fields = self._next("<QQ")
        alignment = 32
        for _ in range(fields):
            name = self._string()
            (kind,) = self._next("<I")
            if name == "general.alignment" and kind == _UINT32:
                (alignment,) = self._next("<I")
            else:
                self._step_over(kind)
        found = [self._entry() for _ in range(tensors)]
        start = -(-self._at // alignment) * alignment
        return {name: _Entry(shape, kind, start + offset) for name, shape, kind, offset in found}

    def _entry(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._string()
        (dimensions,) = self._next("<I")
        shape = self._next(f"<{dimensions}Q")
        kind, offset = self._next("<IQ")
        return name, tuple(reversed(shape)), kind, offset

    def _step_over(self, kind: int) -> None:
        if kind == _STRING:
            (length,) = self._next("<Q")
            self._at += length
        elif kind == _ARRAY:
            element, count = self._next("<IQ")
            if element in _SIZES:
                self._at += count * _SIZES[element]
            else:
                for _ in range(count):
                    self._step_over(element)
        else:
            self._at += _SIZES[kind]

    def _string(self) -> str:
        (length,) = self._next("<Q")
        self._at += length
        return bytes(self._content[self._at - length : self._at]).decode()

    def _next(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return values
