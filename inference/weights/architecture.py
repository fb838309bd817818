"""
Which tensors a checkpoint must hold, by its config.json.

transformers fills a missing tensor with random numbers and only logs it, so a checkpoint
is compared with its config before it is loaded. Shapes are (rows, columns), as in torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, get_args

from inference.catalogue import Architecture
from inference.weights.errors import WeightsError

ARCHITECTURES: Final[tuple[Architecture, ...]] = get_args(Architecture)

Shape = tuple[int, ...]
Config = Mapping[str, object]


def architecture_of(config: Config) -> Architecture:
    """The config's architecture; raises WeightsError if it is not one of ours."""
    for architecture in ARCHITECTURES:
        if config.get("model_type") == architecture:
            return architecture
    raise WeightsError(
        f"The architecture is {config.get('model_type')!r}; "
        f"only {', '.join(ARCHITECTURES)} can be served."
    )


def expected_tensors(config: Config) -> Iterator[tuple[str, Shape]]:
    """Yield each tensor that must be there, and its shape.

    Lazily, so that a config which claims a billion layers costs no more than the first
    one missing.
    """
    architecture = architecture_of(config)
    hidden, vocab = _size(config, "hidden_size"), _size(config, "vocab_size")
    yield "model.embed_tokens.weight", (vocab, hidden)
    yield "model.norm.weight", (hidden,)
    if not config.get("tie_word_embeddings", False):
        yield "lm_head.weight", (vocab, hidden)
    for layer in range(_size(config, "num_hidden_layers")):
        for name, shape in _layer(architecture, config, hidden):
            yield f"model.layers.{layer}.{name}", shape


def _layer(architecture: Architecture, config: Config, hidden: int) -> Iterator[tuple[str, Shape]]:
    heads = _size(config, "num_attention_heads")
    head_dim = _size(config, "head_dim", 128 if architecture == "qwen3" else hidden // heads)
    query = heads * head_dim
    key_value = _size(config, "num_key_value_heads", heads) * head_dim
    inner = _size(config, "intermediate_size")
    bias = bool(config.get("attention_bias", False))

    yield "input_layernorm.weight", (hidden,)
    yield "post_attention_layernorm.weight", (hidden,)
    yield "mlp.gate_proj.weight", (inner, hidden)
    yield "mlp.up_proj.weight", (inner, hidden)
    yield "mlp.down_proj.weight", (hidden, inner)
    yield "self_attn.q_proj.weight", (query, hidden)
    yield "self_attn.k_proj.weight", (key_value, hidden)
    yield "self_attn.v_proj.weight", (key_value, hidden)
    yield "self_attn.o_proj.weight", (hidden, query)
    if architecture == "qwen2" or bias:
        yield "self_attn.q_proj.bias", (query,)
        yield "self_attn.k_proj.bias", (key_value,)
        yield "self_attn.v_proj.bias", (key_value,)
    if architecture != "qwen2" and bias:
        yield "self_attn.o_proj.bias", (hidden,)
    if architecture == "qwen3":
        yield "self_attn.q_norm.weight", (head_dim,)
        yield "self_attn.k_norm.weight", (head_dim,)
    if architecture == "llama" and config.get("mlp_bias", False):
        yield "mlp.gate_proj.bias", (inner,)
        yield "mlp.up_proj.bias", (inner,)
        yield "mlp.down_proj.bias", (hidden,)


def _size(config: Config, name: str, default: int | None = None) -> int:
    value = config.get(name)
    if value is None:
        value = default
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise WeightsError(f"config.json gives {value!r} as {name}; it must be a positive integer.")
    return value
