"""A GGUF file read in its own blocks, against the gguf package's reading of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter, dequantize, quantize

from inference.engine.kernel_decoder import KernelDecoder
from inference.engine.kernels.formats import Q4, Q8
from inference.engine.kernels.gguf_file import GgufFile, gguf_name
from inference.engine.kernels.shape import shape_of
from tests.engine.kernels.tiny import FAMILIES, ids_of, model_of


def written(model, path, kind):
    """A GGUF file of a model, its matrices in blocks of one kind; and the model of its values."""
    writer = GGUFWriter(path, model.config.model_type)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["a", "b" * 100, ""])
    writer.add_array("some.numbers", [1.5, 2.5])
    shape = shape_of(model.config.to_dict())
    for name, parameter in model.named_parameters():
        values = parameter.detach().numpy()
        interleaved = shape.family == "llama" and (".q_proj." in name or ".k_proj." in name)
        if interleaved:
            halves = values.reshape(-1, 2, shape.head_dim // 2, *values.shape[1:])
            values = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(values.shape)
        type_ = kind if values.ndim == 2 else GGMLQuantizationType.F32
        if "embed" in name:
            type_ = GGMLQuantizationType.Q8_0
        blocks = quantize(values, type_)
        writer.add_tensor(gguf_name(name), blocks, raw_dtype=type_)
        kept = dequantize(blocks, type_)
        if interleaved:
            pairs = kept.reshape(-1, shape.head_dim // 2, 2, *kept.shape[1:])
            kept = pairs.swapaxes(1, 2).reshape(kept.shape)
        with torch.no_grad():
            parameter.copy_(torch.tensor(kept))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", ["Q4_1", "Q8_0", "Q5_0", "F16"])
def test_a_model_in_blocks_gives_the_results_of_its_float32_values(family, kind, tmp_path):
    sizes = {"num_attention_heads": 8, "hidden_size": 128, "head_dim": 16}  # whole blocks
    model = model_of(family, tie_word_embeddings=True, **sizes)
    path = tmp_path / "tiny.gguf"
    written(model, path, GGMLQuantizationType[kind])
    model.config.save_pretrained(tmp_path)
    decoder = KernelDecoder.load(tmp_path, gguf=path, context_length=64, threads=2)
    formats = [matrix.format for matrix in decoder.matrices]
    assert formats.count(Q8) == (1 if kind != "Q8_0" else len(formats))
    assert formats.count(Q4) == (len(formats) - 1 if kind == "Q4_1" else 0)
    with torch.inference_mode():
        expected = model(torch.tensor([ids_of(40)])).logits[0]
    logits = decoder.prefill(decoder.new_context(40), ids_of(40), every_position=True)
    torch.testing.assert_close(torch.from_numpy(logits), expected, atol=3e-4, rtol=3e-4)


def test_every_tensor_is_found_where_the_gguf_package_finds_it(tmp_path):
    model = model_of("qwen3")
    path = tmp_path / "tiny.gguf"
    written(model, path, GGMLQuantizationType.Q4_1)
    ours = GgufFile(path, shape_of(model.config.to_dict()))
    for tensor in GGUFReader(path).tensors:
        assert np.array_equal(ours.bytes_of(tensor.name), tensor.data.view(np.uint8).reshape(-1))
