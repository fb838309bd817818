"""
The model with its vocabulary: what the runtime drives, one turn at a time.

A turn reads a part of one prompt, or one token of every running sequence. The turns of several
sequences may alternate in any order; none changes what another gives.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from torch import Tensor

from inference.engine.decoder import Decoder
from inference.engine.generation import Generation
from inference.engine.types import GenerationRequest, Step
from inference.engine.vocabulary import Vocabulary

# A longer prompt is read in parts, so that a caller who leaves frees the model between them.
PREFILL_TOKENS = 512

T = TypeVar("T")


class Tokenizer(Protocol):
    def encode(self, text: str) -> list[int]: ...


class Engine(Protocol):
    """What the runtime asks of a model. Only `encode` may be called from another thread."""

    vocabulary: Vocabulary
    max_batch: int

    def encode(self, text: str) -> list[int]:
        """The token ids of a raw prompt; control tokens spelt out in it are read as such."""
        ...

    def open(self, request: GenerationRequest) -> Generation: ...

    def turn(self, generations: Sequence[Generation]) -> list[Outcome]:
        """Take each generation one turn further; what one raises is its own outcome."""
        ...


# A step; None while a prompt is read; or what went wrong with this generation alone.
Outcome = Step | Exception | None


class ModelEngine:
    """An engine over any `Decoder`."""

    def __init__(self, decoder: Decoder, *, vocabulary: Vocabulary, tokenizer: Tokenizer) -> None:
        self.vocabulary = vocabulary
        self.max_batch = decoder.max_batch
        self._decoder = decoder
        self._tokenizer = tokenizer
        # Fast tokenizers raise "Already borrowed" when two threads call one.
        self._tokenizer_lock = threading.Lock()

    def encode(self, text: str) -> list[int]:
        with self._tokenizer_lock:
            return self._tokenizer.encode(text)

    def open(self, request: GenerationRequest) -> Generation:
        context = self._decoder.new_context(len(request.prompt_ids) + request.max_tokens)
        return Generation(request, self.vocabulary, context)

    def turn(self, generations: Sequence[Generation]) -> list[Outcome]:
        for generation in generations:
            generation.begin_turn()
        outcomes: dict[int, Outcome] = {}
        decoding = [g for g in generations if not g.unread]
        for generation, row in zip(decoding, self._decode(decoding), strict=True):
            outcomes[id(generation)] = _attempt(generation.advance, row)
        for generation in generations:
            if id(generation) not in outcomes:
                outcomes[id(generation)] = _attempt(self._read_prompt, generation)
        return [outcomes[id(generation)] for generation in generations]

    def _decode(self, generations: list[Generation]) -> Sequence[Tensor | Exception]:
        """The logits after each last token; where the joint pass fails, each is tried alone."""
        contexts = [generation.context for generation in generations]
        last_ids = [generation.last_id for generation in generations]
        try:
            return list(self._decoder.decode(contexts, last_ids)) if generations else []
        except Exception as error:
            if len(generations) == 1:
                return [error]
            return [row for generation in generations for row in self._decode([generation])]

    def _read_prompt(self, generation: Generation) -> Step | None:
        part = generation.unread[:PREFILL_TOKENS]
        logits = self._decoder.prefill(generation.context, part)
        generation.unread = generation.unread[PREFILL_TOKENS:]
        return None if generation.unread else generation.advance(logits)


def _attempt(act: Callable[[T], Step | None], value: T | Exception) -> Outcome:
    if isinstance(value, Exception):
        return value
    try:
        return act(value)
    except Exception as error:
        return error
