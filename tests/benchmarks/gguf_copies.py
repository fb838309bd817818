"""Models as GGUF files of one precision, for llama.cpp."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gguf import (
    MODEL_ARCH,
    GGMLQuantizationType,
    GGUFReader,
    GGUFValueType,
    GGUFWriter,
    dequantize,
    get_tensor_name_map,
    quantize,
)
from numpy.typing import NDArray

Precision = GGMLQuantizationType


def copy_in(source: Path, target: Path, precision: Precision) -> Path:
    """The same model with its matrices widened, then stored in another precision."""
    if target.exists():
        return target
    reader = GGUFReader(source)
    architecture = reader.fields["general.architecture"].contents()
    writer = GGUFWriter(target, architecture)
    _copy_metadata(reader, writer)
    for tensor in reader.tensors:
        _add(writer, tensor.name, dequantize(tensor.data, tensor.tensor_type), precision)
    _write(writer)
    return target


def qwen2_in(model: Any, tokenizer_from: Path, target: Path, precision: Precision) -> Path:
    """A transformers Qwen2 model; the tokenizer of another file, padded to the model's rows."""
    if target.exists():
        return target
    config = model.config
    writer = GGUFWriter(target, "qwen2")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    _copy_metadata(GGUFReader(tokenizer_from), writer, only="tokenizer.", rows=config.vocab_size)
    names = get_tensor_name_map(MODEL_ARCH.QWEN2, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        if name != "lm_head.weight":  # tied
            known = names.get_name(name, try_suffixes=(".weight", ".bias"))
            assert known is not None
            _add(writer, known, tensor.float().numpy(), precision)
    _write(writer)
    return target


def _copy_metadata(
    reader: GGUFReader, writer: GGUFWriter, only: str = "", rows: int | None = None
) -> None:
    for name, field in reader.fields.items():
        if not name.startswith(only) or name.startswith(("GGUF.", "general.architecture")):
            continue
        if name in ("general.file_type", "general.quantization_version"):
            continue
        value = field.contents()
        if rows is not None and name == "tokenizer.ggml.tokens":
            value = [*value, *(f"zq{i}" for i in range(len(value), rows))]
        elif rows is not None and name == "tokenizer.ggml.token_type":
            value = [*value, *[1] * (rows - len(value))]  # plain tokens
        if field.types[0] is GGUFValueType.ARRAY:
            writer.add_array(name, value)
        else:
            writer.add_key_value(name, value, field.types[0])


def _add(writer: GGUFWriter, name: str, values: NDArray[np.float32], precision: Precision) -> None:
    if values.ndim == 1:
        precision = Precision.F32  # llama.cpp wants norms and biases so
    writer.add_tensor(name, quantize(values, precision), raw_dtype=precision)


def _write(writer: GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
