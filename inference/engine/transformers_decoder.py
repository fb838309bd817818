"""Any causal model of transformers, behind the protocol of a `Decoder`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from inference.engine.types import Logits


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
    ) -> Logits:
        input_ids = torch.tensor([list(token_ids)], device=self._model.device)  # (1, T)
        output = self._model(
            input_ids=input_ids,
            cache=context,
            use_cache=True,
            logits_to_keep=0 if every_position else 1,  # 0 keeps all
        )
        logits: Logits = output.logits[0].float().cpu().numpy()  # (T or 1, V)
        return logits

    def decode(self, contexts: Sequence[Any], token_ids: Sequence[int]) -> Logits:
        rows = [self.prefill(c, [t]) for c, t in zip(contexts, token_ids, strict=True)]
        return np.concatenate(rows)  # (B, V)
