"""
Models that are small enough to build in a test, and one that says what it is told.

Nothing here is random but the weights of the tiny models, and those come from a fixed seed.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import tokenizers
import torch
from tokenizers import AddedToken, decoders, models, pre_tokenizers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from inference.engine.engine import ModelEngine
from inference.engine.loading import engine_of, vocabulary_of
from inference.engine.tokenizer import Tokenizer
from inference.engine.types import Logits, ModelCard
from inference.engine.vocabulary import Vocabulary, byte_level_alphabet

END = "<|endoftext|>"
SPECIALS = (END, "<|im_start|>", "<|im_end|>")
WORDS = (" the", " moon", " is", " cat", "ing")

CARD = ModelCard(
    alias="smollm2-135m",
    served_name="smollm2-135m",
    repository="HuggingFaceTB/SmolLM2-135M-Instruct",
    revision="12fd25f77366fa6b3b4b768ec3050bf629380bac",
    source="embedded",
    dtype="float32",
    sha256="0" * 64,
    max_model_len=512,
    engine="transformers",
    created=1_700_000_000,
)


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE: 256 bytes, five words with the merges that make them, three specials."""
    to_character = {byte: character for character, byte in byte_level_alphabet().items()}
    vocab = {to_character[byte]: byte for byte in range(256)}
    merges = []
    for word in WORDS:
        pieces = [to_character[byte] for byte in word.encode()]
        while len(pieces) > 1:
            merged = pieces[0] + pieces[1]
            if merged not in vocab:
                merges.append((pieces[0], pieces[1]))
                vocab[merged] = len(vocab)
            pieces = [merged, *pieces[2:]]
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in SPECIALS])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END)


# The sizes that the tiny models share; rows past the tokenizer's are padding, as Qwen has them.
PADDING_ROWS = 7
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    # Wide enough that a random model prefers some tokens to others.
    "initializer_range": 0.4,
}


def tiny_model(family: str, tokenizer: PreTrainedTokenizerFast) -> Any:
    """A random "llama" or "qwen2" model in float32, the same at every call."""
    torch.manual_seed(0)
    ids = {"eos_token_id": tokenizer.eos_token_id, "bos_token_id": None, "pad_token_id": None}
    sizes = {"vocab_size": len(tokenizer) + PADDING_ROWS} | SIZES | ids
    if family == "llama":
        return LlamaForCausalLM(LlamaConfig(**sizes)).eval()
    return Qwen2ForCausalLM(Qwen2Config(**sizes)).eval()


def tiny_engine(family: str, *, dtype: torch.dtype = torch.float32) -> ModelEngine:
    tokenizer = tiny_tokenizer()
    model = tiny_model(family, tokenizer).to(dtype)
    return engine_of(model, tokenizer, context_length=512)


Row = torch.Tensor | Exception

# Several test processes share the cores, and threads that wait for each other take all the time.
torch.set_num_threads(1)


class ScriptedDecoder:
    """
    Says what it is told: `script(n)` is the row of logits after the nth token that it reads
    beyond the prompt, in torch or numpy, or an exception to raise there. With a gate, each pass
    waits for a permit. A context is the list of its passes: how many tokens each read.
    """

    context_length = 512
    max_batch = 1

    def __init__(
        self, script: Callable[[int], Row], *, rows: int, gate: threading.Semaphore | None = None
    ) -> None:
        self.rows = rows
        self.passes = 0
        self._script = script
        self._gate = gate

    def new_context(self, capacity: int) -> list[int]:
        return []

    def fork(self, context: list[int], length: int, capacity: int) -> list[int]:
        """The passes that lie wholly within the first `length` tokens."""
        ends = list(accumulate(context))
        return context[: bisect_right(ends, length)]

    def size_bytes(self, context: list[int]) -> int:
        return 8 * len(context)

    def prefill(
        self, context: list[int], token_ids: Sequence[int], *, every_position: bool = False
    ) -> Logits:
        """The whole prompt is one pass; with every position, each gives the same row."""
        row = self._pass(context, len(token_ids))
        return np.tile(row, (len(token_ids) if every_position else 1, 1))

    def decode(self, contexts: Sequence[list[int]], token_ids: Sequence[int]) -> Logits:
        return np.stack([self._pass(context, 1) for context in contexts])

    def _pass(self, context: list[int], tokens: int) -> Logits:
        if self._gate is not None:
            self._gate.acquire()
        self.passes += 1
        row = self._script(len(context))
        context.append(tokens)
        if isinstance(row, Exception):
            raise row
        return np.asarray(row)


def says(text: str, vocabulary: Vocabulary, tokenizer: Any) -> Callable[[int], torch.Tensor]:
    """A script that says the text, a token a pass, and then ends; each with probability 1/2."""
    ids = [*tokenizer.encode(text), min(vocabulary.eos_ids)]
    rest = 1.0 / (vocabulary.rows - 1)

    def row(place: int) -> torch.Tensor:
        probabilities = torch.full((vocabulary.rows,), 0.5 * rest)
        probabilities[ids[min(place, len(ids) - 1)]] = 0.5
        return probabilities.log()

    return row


def scripted_engine(
    script: Callable[[int], Row] | str,
    *,
    gate: threading.Semaphore | None = None,
    chat_template: str | None = None,
) -> ModelEngine:
    """An engine whose model follows a script; a string is what it says."""
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = chat_template
    config = Qwen2Config(eos_token_id=tokenizer.eos_token_id)
    vocabulary = vocabulary_of(tokenizer, config, rows=len(tokenizer) + PADDING_ROWS)
    follow = says(script, vocabulary, tokenizer) if isinstance(script, str) else script
    decoder = ScriptedDecoder(follow, rows=vocabulary.rows, gate=gate)
    assert vocabulary.source is not None
    return ModelEngine(decoder, vocabulary=vocabulary, tokenizer=Tokenizer(vocabulary.source))
