from __future__ import annotations

import struct

import pytest
from gguf import GGMLQuantizationType

from inference.weights.errors import WeightsError
from inference.weights.gguf_header import read_header
from tests.inference.weights.tiny import HEAD_DIM, write_gguf


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "whole.gguf"
    write_gguf(path)
    return path.read_bytes()


def test_the_head_says_what_the_file_holds(tmp_path):
    path = tmp_path / "tiny.gguf"
    tensors = write_gguf(path, architecture="qwen3", pre="qwen2")
    header = read_header(path)
    assert (header.architecture, header.pre_tokenizer) == ("qwen3", "qwen2")
    assert header.head_dim == HEAD_DIM
    assert header.weights == sum(values.size for values in tensors.values())
    assert header.storage == "F32"


def test_the_storage_is_the_one_that_most_weights_have(tmp_path):
    path = tmp_path / "tiny.gguf"
    write_gguf(path, storage=GGMLQuantizationType.Q4_1)
    assert read_header(path).storage == "Q4_1"


@pytest.mark.parametrize("share", [0, 0.0001, 0.01, 0.02, 0.05, 0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_anywhere_is_refused(tmp_path, whole, share):
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(WeightsError, match=r"cut\.gguf .*(cut short|not a GGUF)"):
        read_header(path)


def test_every_cut_through_the_head_is_refused(tmp_path, whole):
    path = tmp_path / "cut.gguf"
    head = whole.index(b"output_norm.weight") + 100
    for length in range(0, head, 97):
        path.write_bytes(whole[:length])
        with pytest.raises(WeightsError):
            read_header(path)


def test_one_byte_of_the_last_tensor_missing_is_noticed(tmp_path, whole):
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole[:-1])
    with pytest.raises(WeightsError, match="1 bytes of weights are missing"):
        read_header(path)


def test_another_kind_of_file_is_refused(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"PK\x03\x04" + bytes(1000))
    with pytest.raises(WeightsError, match="is not a GGUF file"):
        read_header(path)


def test_a_version_from_the_future_is_refused(tmp_path, whole):
    path = tmp_path / "model.gguf"
    path.write_bytes(whole[:4] + struct.pack("<I", 9) + whole[8:])
    with pytest.raises(WeightsError, match="GGUF version 9"):
        read_header(path)


def test_a_count_that_no_file_could_hold_is_refused_at_once(tmp_path, whole):
    path = tmp_path / "model.gguf"
    path.write_bytes(whole[:8] + struct.pack("<QQ", 2**63, 2**63) + whole[24:])
    with pytest.raises(WeightsError):
        read_header(path)
