"""
What the token loop asks of a model: read a prompt, then read one token a turn.

Knows ids and logits only. `TransformersDecoder` runs any causal model of transformers; a faster
one may stand in its place behind the same protocol.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
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

    def fork(self, context: Any, length: int, capacity: int) -> Any:
        """A new cache of `capacity` that begins with the first `length` tokens of another."""
        ...

    def size_bytes(self, context: Any) -> int:
        """What the context takes of the memory."""
        ...

    def prefill(
        self, context: Any, token_ids: Sequence[int], *, every_position: bool = False
    ) -> Tensor:
        """Read a part of a prompt; the raw logits after its last token, (1, V) float32.

        With every_position, those after each of its T tokens, (T, V).
        """
        ...

    def decode(self, contexts: Sequence[Any], token_ids: Sequence[int]) -> Tensor:
        """Read one token in each of B different contexts; the raw logits after each, (B, V).

        A row does not depend on which other rows are computed with it. Where this raises, every
        context is as it was.
        """
        ...


class TransformersDecoder:
    """The plain way: a transformers model with its own dynamic cache, one sequence a pass."""

    max_batch = 1

    def __init__(self, model: Any, new_cache: Callable[[], Any], *, context_length: int) -> None:
        self._model = model
        self._new_cache = new_cache
        self.rows: int = model.get_output_embeddings().weight.shape[0]
        self.context_length = context_length

    def new_context(self, capacity: int) -> Any:
        return self._new_cache()

    def fork(self, context: Any, length: int, capacity: int) -> Any:
        copy_of = copy.deepcopy(context)
        if surplus := copy_of.get_seq_length() - length:
            copy_of.crop(-surplus)  # a negative number of tokens to drop
        return copy_of

    def size_bytes(self, context: Any) -> int:
        tensors = [tensor for layer in context.layers for tensor in (layer.keys, layer.values)]
        # A cropped tensor is a view: what it keeps is all that it was cropped from.
        return sum(t.untyped_storage().nbytes() for t in tensors if t is not None)

    @torch.inference_mode()
    def prefill(
        self, context: Any, token_ids: Sequence[int], *, every_position: bool = False
    ) -> Tensor:
        input_ids = torch.tensor([list(token_ids)], device=self._model.device)  # (1, T)
        output = self._model(
            input_ids=input_ids,
            cache=context,
            use_cache=True,
            logits_to_keep=0 if every_position else 1,  # 0 keeps all
        )
        logits: Tensor = output.logits[0].float().cpu()  # (T or 1, V)
        return logits

    def decode(self, contexts: Sequence[Any], token_ids: Sequence[int]) -> Tensor:
        rows = [self.prefill(c, [t]) for c, t in zip(contexts, token_ids, strict=True)]
        return torch.cat(rows)  # (B, V)
