"""Which models the kernels take on."""

from __future__ import annotations

import pytest

from inference.engine.kernels.shape import Unsupported, shape_of
from tests.engine.kernels.tiny import FAMILIES, model_of


@pytest.mark.parametrize("family", FAMILIES)
def test_a_plain_model_of_each_family_is_supported(family):
    shape = shape_of(model_of(family).config.to_dict())
    assert (shape.family, shape.heads, shape.key_heads, shape.theta) == (family, 6, 2, 10_000.0)


@pytest.mark.parametrize(
    "given",
    [
        {"model_type": "gpt2"},
        {"hidden_act": "gelu"},
        {"rope_parameters": {"rope_type": "llama3", "rope_theta": 1e4, "factor": 8.0}},
        {"rope_scaling": {"type": "linear", "factor": 2.0}, "rope_parameters": None},
        {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}},
        {"attention_bias": True},
        {"mlp_bias": True},
        {"use_sliding_window": True},
        {"layer_types": ["full_attention", "sliding_attention"]},
        {"quantization_config": {"quant_method": "gptq"}},
        {"head_dim": 12},
        {"num_key_value_heads": 4},
    ],
)
def test_what_the_kernels_would_compute_otherwise_is_refused(given):
    with pytest.raises(Unsupported):
        shape_of(model_of("llama").config.to_dict() | given)


def test_the_old_name_of_the_rotary_base_is_read():
    config = model_of("llama").config.to_dict() | {"rope_parameters": None, "rope_theta": 5e5}
    assert shape_of(config).theta == 5e5
