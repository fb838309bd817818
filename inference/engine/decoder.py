"""
What the token loop asks of a model: read a prompt, then read one token a turn.

Knows ids and logits only. `KernelDecoder` runs the families that the project's kernels know,
`TransformersDecoder` any causal model of transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from inference.engine.types import Logits


class Context(Protocol):
    """What a decoder keeps of one sequence: its KV cache."""


class Decoder(Protocol):
    """A model and its KV caches. Every call is made by one and the same thread."""

    rows: int  # of the head: the length V of a row of logits
    context_length: int  # tokens that one sequence may hold
    max_batch: int  # sequences that one call of `decode` may hold

    def new_context(self, capacity: int) -> Any:
        """A cache for a sequence of at most `capacity` tokens."""
        ...

    def fork(self, context: Any, length: int, capacity: int) -> Any:
        """A new cache of `capacity` that begins with the first `length` tokens of another."""
        ...

    def size_bytes(self, context: Any) -> int:
        """What the context takes of the memory."""
        ...

    def prefill(
        self, context: Any, token_ids: Sequence[int], *, every_position: bool = False
    ) -> Logits:
        """Read a part of a prompt; the raw logits after its last token, (1, V) float32.

        With every_position, those after each of its T tokens, (T, V).
        """
        ...

    def decode(self, contexts: Sequence[Any], token_ids: Sequence[int]) -> Logits:
        """Read one token in each of B different contexts; the raw logits after each, (B, V).

        A row does not depend on which other rows are computed with it. Where this raises, every
        context is as it was.
        """
        ...
