"""Random models of the three families, small, with every weight that a real one has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from inference.engine.kernel_decoder import KernelDecoder

FAMILIES: dict[str, Any] = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
}
ROWS = 271  # of the head: odd, so that tiles have a remainder


def model_of(family: str, **sizes: Any) -> Any:
    """A random model in float32, the same at every call."""
    torch.manual_seed(0)
    config_type, model_type = FAMILIES[family]
    given = {
        "vocab_size": ROWS,
        "hidden_size": 96,
        "intermediate_size": 160,
        "num_hidden_layers": 3,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": 1024,
        "initializer_range": 0.2,
        "tie_word_embeddings": False,
        "rope_theta": 10_000.0,
    }
    model = model_type(config_type(**given | sizes)).eval()
    for name, parameter in model.named_parameters():
        if name.endswith("bias") or "norm" in name:  # which start as zeros and ones
            torch.nn.init.normal_(parameter, mean=float("norm" in name), std=0.3)
    return model


def decoder_of(model: Any, folder: Path, *, threads: int = 2) -> KernelDecoder:
    """The kernels' decoder over a saved copy of the model."""
    model.save_pretrained(folder)
    return KernelDecoder.load(folder, context_length=1024, threads=threads)


def ids_of(count: int, *, seed: int = 0) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, ROWS, (count,), generator=generator).tolist()
