"""
What the token loop asks of a model: read a prompt, then read one token a turn.

Knows ids and logits only. `TransformersDecoder` runs any causal model of transformers; a faster
one may stand in its place behind the same protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor


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

    def prefill(self, context: Any, token_ids: Sequence[int]) -> Tensor:
        """Read a part of a prompt; the raw logits after its last token, (V,) float32."""
        ...

    def decode(self, contexts: Sequence[Any], token_ids: Sequence[int]) -> Tensor:
        """Read one token in each context; the raw logits after each, (B, V) float32."""
        ...


class TransformersDecoder:
    """The plain way: a transformers model with its own dynamic cache, one sequence a pass."""

    max_batch = 1

    def __init__(self, model: Any, *, context_length: int) -> None:
        self._model = model
        self.rows: int = model.get_output_embeddings().weight.shape[0]
        self.context_length = context_length

    def new_context(self, capacity: int) -> Any:
        from transformers import DynamicCache

        return DynamicCache(config=self._model.config)

    @torch.inference_mode()
    def prefill(self, context: Any, token_ids: Sequence[int]) -> Tensor:
        input_ids = torch.tensor([list(token_ids)], device=self._model.device)  # (1, T)
        output = self._model(input_ids=input_ids, cache=context, use_cache=True, logits_to_keep=1)
        logits: Tensor = output.logits[0, -1].float().cpu()  # (V,)
        return logits

    def decode(self, contexts: Sequence[Any], token_ids: Sequence[int]) -> Tensor:
        rows = [self.prefill(c, [t]) for c, t in zip(contexts, token_ids, strict=True)]
        return torch.stack(rows)  # (B, V)
