"""
From a folder of weights to an engine. The only importer of transformers here.

Reads safetensors and never runs code that came with a model. Must be called on the thread that
will run the model: torch's CPU kernels slow down by half once two threads have used them. Where
the project's kernels run it, neither torch nor transformers is loaded, but to read a tokenizer
that was not read before.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference.engine.implementation import Implementation
from inference.engine.tokenizer import Tokenizer, TokenizerFiles, read_once
from inference.engine.vocabulary import (
    TokenizerSource,
    UnsupportedTokenizer,
    Vocabulary,
    read_vocabulary,
)

if TYPE_CHECKING:  # they bring kernels, whose folder is to be set first, and torch
    from inference.engine.decoder import Decoder
    from inference.engine.engine import ModelEngine


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

    The kernels read the GGUF file that a folder was made of in its place. What is compiled is kept
    under kernels_dir, and with it what the tokenizer is; no kernel may have been imported before.
    Raises OSError or ValueError where a file is not as it should be, and KernelsDiffer where the
    kernels are not: transformers may run the model then.
    """
    from inference.engine.kernels.cache import keep_compiled_under

    keep_compiled_under(kernels_dir)
    files = read_once(folder, _tokenizer_of, kept_dir=kernels_dir / "tokenizers")
    decoder: Decoder
    if implementation == "kernels":
        from inference.engine.kernel_decoder import KernelDecoder

        decoder = KernelDecoder.load(
            folder, gguf=gguf, context_length=context_length, threads=threads
        )
    else:
        decoder = _transformers_decoder(folder, context_length, threads)
    return _engine_of(decoder, files)


def engine_of(model: Any, tokenizer: Any, *, context_length: int) -> ModelEngine:
    """An engine over a transformers causal model and its fast tokenizer."""
    files = _files_of(tokenizer, model.generation_config)
    return _engine_of(_decoder_of(model, context_length), files)


def _engine_of(decoder: Decoder, files: TokenizerFiles) -> ModelEngine:
    from inference.engine.engine import ModelEngine

    return ModelEngine(
        decoder,
        vocabulary=read_vocabulary(files.source, files.eos_ids, rows=decoder.rows),
        tokenizer=Tokenizer(files.source),
    )


def vocabulary_of(tokenizer: Any, generation_config: Any, *, rows: int) -> Vocabulary:
    """Read every token's bytes out of a fast tokenizer of transformers.

    Raises UnsupportedTokenizer where it is not byte-level BPE.
    """
    files = _files_of(tokenizer, generation_config)
    return read_vocabulary(files.source, files.eos_ids, rows=rows)


def _transformers_decoder(folder: Path, context_length: int, threads: int) -> Decoder:
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(threads)
    model = AutoModelForCausalLM.from_pretrained(
        folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
    )
    model.eval()
    return _decoder_of(model, context_length)


def _decoder_of(model: Any, context_length: int) -> Decoder:
    from transformers import DynamicCache

    from inference.engine.transformers_decoder import TransformersDecoder

    return TransformersDecoder(
        model, lambda: DynamicCache(config=model.config), context_length=context_length
    )


def _tokenizer_of(folder: Path) -> TokenizerFiles:
    from transformers import AutoTokenizer, GenerationConfig

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if (folder / "generation_config.json").exists():
        generation_config = GenerationConfig.from_pretrained(folder, local_files_only=True)
    else:  # what config.json itself says, not the default of its family
        config = json.loads((folder / "config.json").read_text())
        generation_config = GenerationConfig(eos_token_id=config.get("eos_token_id"))
    return _files_of(tokenizer, generation_config)


def _files_of(tokenizer: Any, generation_config: Any) -> TokenizerFiles:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise UnsupportedTokenizer("the tokenizer is not one of the tokenizers library")
    template = tokenizer.chat_template
    source = TokenizerSource(
        json=backend.to_str(),
        # A few models carry several templates by name; none that is approved does.
        chat_template=template if isinstance(template, str) else None,
        special_tokens={
            name: token
            for name, token in tokenizer.special_tokens_map.items()
            if isinstance(token, str)
        },
    )
    return TokenizerFiles(source, _eos_ids(tokenizer, generation_config))


def _eos_ids(tokenizer: Any, generation_config: Any) -> frozenset[int]:
    """What ends a completion: the model's own list, and the tokenizer's end of sequence."""
    listed = generation_config.eos_token_id
    ids = listed if isinstance(listed, list) else [listed]
    return frozenset(i for i in [*ids, tokenizer.eos_token_id] if i is not None)
