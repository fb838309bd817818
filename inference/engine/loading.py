"""
From a folder of weights to an engine. The only importer of transformers models here.

Reads safetensors and never runs code that came with a model. Must be called on the thread that
will run the model: torch's CPU kernels slow down by half once two threads have used them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from inference.engine.decoder import TransformersDecoder
from inference.engine.implementation import Implementation
from inference.engine.vocabulary import TokenizerSource, Vocabulary, byte_level_alphabet

if TYPE_CHECKING:  # it brings kernels, whose folder is to be set first
    from inference.engine.engine import ModelEngine


class UnsupportedTokenizer(ValueError):
    """The tokenizer is not byte-level BPE."""


def load_engine(
    folder: Path,
    *,
    implementation: Implementation,
    gguf: Path | None,
    kernels_dir: Path,
    context_length: int,
    threads: int,
) -> ModelEngine:
    """Load a model and its tokenizer, in float32.

    The kernels read the GGUF file that a folder was made of in its place. Whatever is compiled
    is kept under kernels_dir; no kernel may have been imported before. Raises OSError or
    ValueError where a file is not as it should be, and KernelsDiffer where the kernels are not:
    transformers may run the model then.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from inference.engine.kernels.cache import keep_compiled_under

    keep_compiled_under(kernels_dir)
    torch.set_num_threads(threads)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if implementation == "kernels":
        return _kernel_engine(folder, tokenizer, gguf, context_length, threads)
    model = AutoModelForCausalLM.from_pretrained(
        folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
    )
    model.eval()
    return engine_of(model, tokenizer, context_length=context_length)


def engine_of(model: Any, tokenizer: Any, *, context_length: int) -> ModelEngine:
    """An engine over a transformers causal model and its fast tokenizer."""
    from transformers import DynamicCache

    from inference.engine.engine import ModelEngine

    decoder = TransformersDecoder(
        model, lambda: DynamicCache(config=model.config), context_length=context_length
    )
    return ModelEngine(
        decoder,
        vocabulary=vocabulary_of(tokenizer, model.generation_config, rows=decoder.rows),
        tokenizer=tokenizer,
    )


def _kernel_engine(
    folder: Path,
    tokenizer: Any,
    gguf: Path | None,
    context_length: int,
    threads: int,
) -> ModelEngine:
    from transformers import GenerationConfig

    from inference.engine.engine import ModelEngine
    from inference.engine.kernel_decoder import KernelDecoder

    decoder = KernelDecoder.load(folder, gguf=gguf, context_length=context_length, threads=threads)
    torch.set_num_threads(1)  # it has only small things to do from here on
    if (folder / "generation_config.json").exists():
        generation_config = GenerationConfig.from_pretrained(folder, local_files_only=True)
    else:
        config = json.loads((folder / "config.json").read_text())
        generation_config = GenerationConfig(eos_token_id=config.get("eos_token_id"))
    return ModelEngine(
        decoder,
        vocabulary=vocabulary_of(tokenizer, generation_config, rows=decoder.rows),
        tokenizer=tokenizer,
    )


def vocabulary_of(tokenizer: Any, generation_config: Any, *, rows: int) -> Vocabulary:
    """Read every token's bytes out of a byte-level BPE tokenizer of transformers.

    Raises UnsupportedTokenizer for any other kind.
    """
    alphabet = byte_level_alphabet()
    added = tokenizer.added_tokens_decoder
    tokens: list[bytes] = []
    for token_id, piece in enumerate(tokenizer.convert_ids_to_tokens(range(len(tokenizer)))):
        if token_id in added:
            tokens.append(added[token_id].content.encode())
        elif all(character in alphabet for character in piece):
            tokens.append(bytes(alphabet[character] for character in piece))
        else:
            raise UnsupportedTokenizer(f"token {token_id} is not byte-level BPE")
    return Vocabulary(
        tokens=tokens[:rows],
        special_ids=frozenset(i for i, token in added.items() if token.special),
        eos_ids=_eos_ids(tokenizer, generation_config),
        rows=rows,
        source=_source(tokenizer),
    )


def _source(tokenizer: Any) -> TokenizerSource | None:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return None
    template = tokenizer.chat_template
    return TokenizerSource(
        json=backend.to_str(),
        # A few models carry several templates by name; none that is approved does.
        chat_template=template if isinstance(template, str) else None,
        special_tokens={
            name: token
            for name, token in tokenizer.special_tokens_map.items()
            if isinstance(token, str)
        },
    )


def _eos_ids(tokenizer: Any, generation_config: Any) -> frozenset[int]:
    """What ends a completion: the model's own list, and the tokenizer's end of sequence."""
    listed = generation_config.eos_token_id
    ids = listed if isinstance(listed, list) else [listed]
    return frozenset(i for i in [*ids, tokenizer.eos_token_id] if i is not None)
