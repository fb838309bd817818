"""
A decoder over the project's own kernels: float32 arithmetic on weights in their narrowest form.

Reads config.json and the weights themselves; no transformers model is built. Prompts and single
tokens go through the same pass, so a sequence's logits are the same bits however it was read: at
once, in parts, token by token, alone or beside others.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inference.engine.kernel_check import (
    KernelsDiffer,
    compared_rows,
    first_layer,
    require_close,
)
from inference.engine.kernels.attention import BLOCK, CHUNK
from inference.engine.kernels.gguf_file import GgufFile
from inference.engine.kernels.model import Weights, model_of, workspace_of
from inference.engine.kernels.safetensors_file import SafetensorsFolder
from inference.engine.kernels.shape import Shape, shape_of
from inference.engine.kernels.team import Team
from inference.engine.types import Logits

# A longer part of a prompt is read in several passes, which bounds the workspace.
PASS_ROWS = 256


class KernelContext:
    """The keys and values of one sequence."""

    def __init__(self, shape: Shape, capacity: int) -> None:
        size = (shape.layers, shape.key_heads, capacity, shape.head_dim)
        self.keys: NDArray[np.float32] = np.empty(size, np.float32)
        self.values: NDArray[np.float32] = np.empty(size, np.float32)
        self.capacity = capacity
        self.length = 0


class KernelDecoder:
    """A Llama, Qwen2 or Qwen3 model on the CPU."""

    max_batch = 8

    def __init__(
        self, shape: Shape, weights: Weights, *, context_length: int, threads: int
    ) -> None:
        cos, sin = rotary_tables(shape, context_length)
        self.model, self.matrices = model_of(shape, weights, cos, sin)
        self._work = workspace_of(
            shape, rows=PASS_ROWS, positions=context_length, workers=max(1, threads)
        )
        self._team = Team(self.model, self._work, helpers=max(1, threads) - 1)
        self._run = self._team.run
        self.close = weakref.finalize(self, self._team.close)  # ends the threads
        self._shape = shape
        self.rows = shape.rows
        self.context_length = context_length

    @classmethod
    def load(
        cls, folder: Path, *, gguf: Path | None = None, context_length: int, threads: int
    ) -> KernelDecoder:
        """The model of a folder; its weights from the GGUF file it was made of, if given.

        Raises Unsupported, OSError or ValueError where the files are not what they should be, or
        KernelsDiffer where the kernels are not.
        """
        shape = shape_of(json.loads((folder / "config.json").read_text()))
        weights = GgufFile(gguf, shape) if gguf else SafetensorsFolder(folder)
        decoder = cls(shape, weights, context_length=context_length, threads=threads)
        decoder.warm_up()
        decoder.check()
        return decoder

    @property
    def weight_bytes(self) -> int:
        """What one token reads: every matrix, and of the embedding the head if they are one."""
        tied = self._shape.tied or self.matrices[-1].rows != self._shape.rows
        unread = 0 if tied else self.matrices[-2].content.nbytes
        return sum(matrix.content.nbytes for matrix in self.matrices) - unread

    def warm_up(self) -> None:
        """Compile the kernels, or find them compiled, and touch every weight once."""
        self.decode([self.new_context(1)], [0])

    def check(self) -> None:
        """Compare the kernels with numpy, and all threads with one. Raises KernelsDiffer."""
        token_ids = [i * 7919 % self.rows for i in range(24)]

        def logits() -> Logits:
            return self.prefill(self.new_context(24), token_ids, every_position=True)

        expected = first_layer(self._shape, self.matrices, self.model.arrays, token_ids)
        self.model.set(layers=1)
        try:
            found = logits()
        finally:
            self.model.set(layers=self._shape.layers)
        for rows, values in zip(compared_rows(self.rows), expected, strict=True):
            require_close(found[:, rows], values, "the first layer")
        together = logits()
        self._run = self._team.run_alone
        try:
            alone = logits()
        finally:
            self._run = self._team.run
        if not np.isfinite(together).all():
            raise KernelsDiffer("some logits are not finite")
        if not np.array_equal(together, alone):
            raise KernelsDiffer("several threads give other numbers than one")

    def new_context(self, capacity: int) -> KernelContext:
        return KernelContext(self._shape, capacity)

    def fork(self, context: KernelContext, length: int, capacity: int) -> KernelContext:
        fork = self.new_context(capacity)
        fork.keys[:, :, :length] = context.keys[:, :, :length]
        fork.values[:, :, :length] = context.values[:, :, :length]
        fork.length = length
        return fork

    def size_bytes(self, context: KernelContext) -> int:
        return context.keys.nbytes + context.values.nbytes

    def prefill(
        self, context: KernelContext, token_ids: Sequence[int], *, every_position: bool = False
    ) -> Logits:
        parts = [token_ids[i : i + PASS_ROWS] for i in range(0, len(token_ids), PASS_ROWS)]
        logits = np.empty((len(token_ids) if every_position else 1, self.rows), np.float32)
        length = context.length
        try:
            for number, part in enumerate(parts):
                out = logits[number * PASS_ROWS :] if every_position else logits
                first = 0 if every_position else len(part) - 1
                self._read([context] * len(part), part, out, first)
                context.length += len(part)
        except BaseException:
            context.length = length
            raise
        return logits

    def decode(self, contexts: Sequence[KernelContext], token_ids: Sequence[int]) -> Logits:
        logits = np.empty((len(contexts), self.rows), np.float32)
        self._read(contexts, token_ids, logits, 0)
        for context in contexts:
            context.length += 1
        return logits

    def _read(
        self,
        contexts: Sequence[KernelContext],
        token_ids: Sequence[int],
        logits: Logits,
        first: int,
    ) -> None:
        """Run one pass; rows `first` onwards give logits. Equal contexts are neighbours."""
        work, rows = self._work.arrays, len(contexts)
        ids, positions = work["ids"], work["positions"]
        block = -1
        for row, (context, token_id) in enumerate(zip(contexts, token_ids, strict=True)):
            if not 0 <= token_id < self.rows:
                raise ValueError(f"there is no token {token_id}")
            follows = row > 0 and contexts[row - 1] is context
            ids[row] = token_id
            positions[row] = positions[row - 1] + 1 if follows else context.length
            if positions[row] >= min(context.capacity, self.context_length):
                raise ValueError(f"the context has no room for token {positions[row]}")
            work["keys"][row] = context.keys.ctypes.data
            work["values"][row] = context.values.ctypes.data
            work["capacities"][row] = context.capacity
            if not follows or work["block_rows"][block] == BLOCK:
                block += 1
                work["block_first"][block], work["block_rows"][block] = row, 0
            work["block_rows"][block] += 1
        self._work.set(
            rows=rows,
            blocks=block + 1,
            chunks=positions[:rows].max() // CHUNK + 1,
            out_first=first,
            out_rows=rows - first,
            out=logits.ctypes.data,
        )
        self._run()


def rotary_tables(shape: Shape, positions: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """cos and sin of every position, (positions, head_dim / 2).

    Rounded to float32 where transformers rounds: at position 2,000 the last bit of a frequency is
    an angle of 1e-4. The power is taken in float64, so that its last bit is right everywhere.
    """
    exponents = np.arange(0, shape.head_dim, 2, dtype=np.float32) / np.float32(shape.head_dim)
    powers = np.power(shape.theta, exponents.astype(np.float64)).astype(np.float32)
    frequencies = np.float32(1.0) / powers
    angles = np.outer(np.arange(positions, dtype=np.float32), frequencies).astype(np.float64)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
