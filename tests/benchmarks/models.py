"""The two models that are measured: the embedded one, and a shape of Qwen2.5-0.5B in bf16."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from inference.weights.resolve import Checkpoint, resolve
from tests.benchmarks.gguf_copies import Precision, copy_in, qwen2_in

CONTEXT = 2304  # 2,048 tokens and what is drawn after them

# https://huggingface.co/Qwen/Qwen2.5-0.5B/blob/main/config.json
QWEN_SHAPE = {
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "max_position_embeddings": 32768,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1_000_000.0,
    "tie_word_embeddings": True,
    "vocab_size": 151_936,
}
QWEN_TOKENS = 151_665


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    name: str
    folder: Path
    gguf: Path | None  # what ours reads, where the folder was made of one
    for_llama_cpp: dict[str, Path]  # by precision

    def in_float32(self) -> Any:
        from transformers import AutoModelForCausalLM

        return AutoModelForCausalLM.from_pretrained(self.folder, dtype=torch.float32).eval()


def embedded(weights_dir: Path, scratch: Path) -> Model:
    found = _embedded_checkpoint(weights_dir)
    assert found.gguf is not None
    return Model(
        name="SmolLM2-135M (embedded, Q4_1)",
        folder=found.folder,
        gguf=found.gguf,
        for_llama_cpp={
            "float32": copy_in(found.gguf, scratch / "smollm2-f32.gguf", Precision.F32),
            "bf16": copy_in(found.gguf, scratch / "smollm2-bf16.gguf", Precision.BF16),
            "Q4_1": found.gguf,
        },
    )


def qwen_shape(weights_dir: Path, scratch: Path) -> Model:
    """Random weights, stored in bf16; its logits spread as a trained model's do."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    found = _embedded_checkpoint(weights_dir)
    folder = scratch / "qwen-shape"
    if not (folder / "model.safetensors").exists():
        torch.manual_seed(0)
        model = Qwen2ForCausalLM(Qwen2Config(**QWEN_SHAPE))
        for name, weight in model.named_parameters():
            if name.endswith(".bias"):
                torch.nn.init.normal_(weight, std=0.1)
        # A hidden state has length sqrt(896): logits of deviation 5, so that some are likely.
        torch.nn.init.normal_(model.model.embed_tokens.weight, std=0.17)
        model.to(torch.bfloat16).save_pretrained(folder)
        for name in ("tokenizer_config.json", "chat_template.jinja"):
            shutil.copy(found.folder / name, folder / name)
        tokenizer = json.loads((found.folder / "tokenizer.json").read_text())
        vocabulary = tokenizer["model"]["vocab"]
        vocabulary |= {f"zq{i}": i for i in range(len(vocabulary), QWEN_TOKENS)}
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    model = Qwen2ForCausalLM.from_pretrained(folder, dtype=torch.float32)
    assert found.gguf is not None
    return Model(
        name="Qwen2.5-0.5B shape (random, bf16)",
        folder=folder,
        gguf=None,
        for_llama_cpp={
            name: qwen2_in(model, found.gguf, scratch / f"qwen-{name}.gguf", precision)
            for name, precision in (("float32", Precision.F32), ("bf16", Precision.BF16))
        },
    )


def _embedded_checkpoint(weights_dir: Path) -> Checkpoint:
    return resolve("smollm2-135m", model_path=None, weights_dir=weights_dir)
