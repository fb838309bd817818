"""
The sizes of a model, and whether these kernels can run it, from its config.json.

Three families: Llama, Qwen2 (bias on q, k, v) and Qwen3 (norms on q and k). What is not known to be
computed exactly as transformers computes it is not supported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from inference.engine.kernels.formats import STEP


class Unsupported(ValueError):
    """The kernels do not know this model; transformers may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    family: str
    layers: int
    hidden: int
    intermediate: int
    heads: int
    key_heads: int
    head_dim: int
    rows: int  # of the embedding and of the head
    epsilon: float  # of every RMSNorm
    theta: float  # the base of the rotary angles
    tied: bool  # the head is the embedding


def shape_of(config: dict[str, Any]) -> Shape:
    """Read a config.json. Raises Unsupported."""
    family = config.get("model_type")
    _require(family in ("llama", "qwen2", "qwen3"), f"model_type {family}")
    _require(config.get("hidden_act", "silu") == "silu", f"hidden_act {config.get('hidden_act')}")
    _require(not config.get("quantization_config"), "quantised safetensors")
    _require(not config.get("use_sliding_window"), "a sliding window")
    layer_types = set(config.get("layer_types") or ["full_attention"])
    _require(layer_types == {"full_attention"}, f"layers of {sorted(layer_types)}")
    _require(not config.get("mlp_bias"), "bias in the MLP")
    # In Llama and Qwen3 it would be on the output projection as well.
    _require(not config.get("attention_bias"), "attention_bias")
    shape = Shape(
        family=str(family),
        layers=config["num_hidden_layers"],
        hidden=config["hidden_size"],
        intermediate=config["intermediate_size"],
        heads=config["num_attention_heads"],
        key_heads=config.get("num_key_value_heads") or config["num_attention_heads"],
        head_dim=config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"],
        rows=config["vocab_size"],
        epsilon=config["rms_norm_eps"],
        theta=_theta(config),
        tied=config.get("tie_word_embeddings", False),
    )
    for size in (shape.hidden, shape.intermediate, shape.head_dim):
        _require(size % STEP == 0, f"a size of {size}")
    _require(shape.heads % shape.key_heads == 0, "heads that do not share keys evenly")
    return shape


def _theta(config: dict[str, Any]) -> float:
    """The base of plain rotary embedding, by the new name of its settings or the old ones."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    _require(kind == "default", f"rotary embedding of type {kind}")
    partial = rope.get("partial_rotary_factor", config.get("partial_rotary_factor", 1.0))
    _require(partial == 1.0, "rotary embedding of a part of each head")
    return float(rope.get("rope_theta") or config.get("rope_theta") or 10_000.0)


def _require(known: bool, what: str) -> None:
    if not known:
        raise Unsupported(f"the kernels do not know {what}")
