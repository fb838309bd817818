from __future__ import annotations

import hashlib
import json
from shutil import copytree

import pytest
from safetensors.numpy import load_file, save_file

from inference.weights.errors import WeightsError
from inference.weights.files import sha256_of
from inference.weights.folder import check_folder, sha256_of_weights
from tests.inference.weights import tiny


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return tiny.write_folder(tmp_path_factory.mktemp("models") / "llama")


@pytest.fixture
def folder(original, tmp_path):
    return copytree(original, tmp_path / "model")


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_model_as_transformers_writes_it_is_accepted(tmp_path, architecture, tied):
    contents = check_folder(tiny.write_folder(tmp_path, architecture=architecture, tied=tied))
    assert contents.architecture == architecture
    assert contents.dtype == "float32"
    assert [file.name for file in contents.weight_files] == ["model.safetensors"]


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
def test_every_tensor_that_transformers_writes_is_called_for(tmp_path, architecture):
    tiny.write_folder(tmp_path, architecture=architecture, tied=False)
    weights = tmp_path / "model.safetensors"
    tensors = load_file(weights)
    for name in tensors:
        save_file({other: tensors[other] for other in tensors if other != name}, weights)
        with pytest.raises(WeightsError, match=f"lack {name}"):
            check_folder(tmp_path)


@pytest.mark.parametrize("changes", [{"attention_bias": True, "mlp_bias": True}])
def test_biases_are_called_for_where_the_config_has_them(folder, changes):
    tiny.edit_config(folder, **changes)
    with pytest.raises(WeightsError, match=r"lack model\.layers\.0\..*\.bias"):
        check_folder(folder)


def test_bfloat16_is_named(tmp_path):
    assert check_folder(tiny.write_folder(tmp_path, dtype="bfloat16")).dtype == "bfloat16"


def test_shards_are_read_together_and_have_one_digest(tmp_path):
    contents = check_folder(tiny.write_folder(tmp_path, shard_size="150KB"))
    assert len(contents.weight_files) > 1
    listing = "".join(f"{sha256_of(file)}  {file.name}\n" for file in contents.weight_files)
    expected = hashlib.sha256(listing.encode()).hexdigest()
    assert sha256_of_weights(contents.weight_files) == expected


def test_a_missing_shard_is_named(tmp_path):
    shards = check_folder(tiny.write_folder(tmp_path, shard_size="150KB")).weight_files
    shards[0].unlink()
    with pytest.raises(WeightsError, match=f"{shards[0].name} is missing"):
        check_folder(tmp_path)


def test_an_index_cannot_point_outside_its_folder(folder):
    (folder / "model.safetensors").rename(folder.parent / "model.safetensors")
    index = {"weight_map": {"model.norm.weight": "../model.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(WeightsError, match="not a file beside it"):
        check_folder(folder)


@pytest.mark.parametrize("by", [1, 1000, 10_000])
def test_weights_cut_short_are_refused(folder, by):
    tiny.cut_short(folder / "model.safetensors", by=by)
    with pytest.raises(WeightsError, match=r"model\.safetensors is damaged or cut short"):
        check_folder(folder)


@pytest.mark.parametrize("content", [b"", b"\x80\x04", bytes(100), b"\xff" * 100])
def test_a_file_that_is_no_safetensors_is_refused(folder, content):
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(WeightsError, match="damaged or cut short"):
        check_folder(folder)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_a_missing_or_unreadable_json_file_is_named(folder, name, content):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(WeightsError, match=name):
        check_folder(folder)


def test_another_architecture_is_refused(folder):
    tiny.edit_config(folder, model_type="mamba")
    with pytest.raises(WeightsError, match="'mamba'; only llama, qwen2, qwen3"):
        check_folder(folder)


def test_weights_of_one_architecture_under_the_config_of_another_are_refused(folder):
    tiny.edit_config(folder, model_type="qwen2")
    with pytest.raises(WeightsError, match=r"lack model\.layers\.0\.self_attn\.q_proj\.bias"):
        check_folder(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_size": 128}, "has shape"),
        ({"vocab_size": 10}, "has shape"),
        ({"num_hidden_layers": 3}, r"lack model\.layers\.2"),
        ({"num_hidden_layers": 10**15}, r"lack model\.layers\.2"),
        ({"num_hidden_layers": True}, "positive integer"),
        ({"num_attention_heads": 0}, "positive integer"),
        ({"intermediate_size": "128"}, "positive integer"),
        ({"tie_word_embeddings": False}, r"lack lm_head\.weight"),
        ({"quantization_config": {"quant_method": "awq"}}, "quantised"),
    ],
)
def test_a_config_that_the_weights_do_not_fit_is_refused(folder, changes, message):
    tiny.edit_config(folder, **changes)
    with pytest.raises(WeightsError, match=message):
        check_folder(folder)


def test_pickled_weights_are_never_read(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(WeightsError, match="pickled weights are never read"):
        check_folder(folder)


def test_integer_weights_are_refused(folder):
    weights = folder / "model.safetensors"
    save_file({name: values.astype("int8") for name, values in load_file(weights).items()}, weights)
    with pytest.raises(WeightsError, match="stored as I8"):
        check_folder(folder)


def test_a_tokenizer_with_more_tokens_than_rows_is_refused(folder):
    larger = tiny.tokenizer()
    larger.add_tokens(["one too many"])
    larger.save(str(folder / "tokenizer.json"))
    with pytest.raises(WeightsError, match=f"has token {len(tiny.TOKENS)}"):
        check_folder(folder)
