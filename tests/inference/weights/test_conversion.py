from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from gguf import GGMLQuantizationType
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from inference.weights.conversion import converted_folder, ensure_converted
from inference.weights.errors import WeightsError
from inference.weights.files import sha256_of
from inference.weights.folder import check_folder
from inference.weights.manifest import check_manifest
from inference.weights.splitting import apply_rule
from tests.inference.weights import tiny

ROOT = Path(__file__).resolve().parents[3]

# Converts, and at the stage named on the command line says so and waits to be told to go on.
CONVERT_AND_WAIT = """
import sys
from pathlib import Path
from inference.weights.conversion import ensure_converted

gguf, sha256, weights_dir, stage = sys.argv[1:]

def report(what):
    print(what, flush=True)
    if what.startswith(stage):
        sys.stdin.readline()

ensure_converted(Path(gguf), gguf_sha256=sha256, weights_dir=Path(weights_dir), report=report)
print("done", flush=True)
"""


def convert(gguf, weights_dir, **options):
    return ensure_converted(gguf, gguf_sha256=sha256_of(gguf), weights_dir=weights_dir, **options)


def kept(weights_dir):
    """What is in the folder of conversions, but for the lock."""
    return [path for path in weights_dir.glob("converted/*") if path.name != ".lock"]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A weights folder with one converted model, and the file it was made from."""
    place = tmp_path_factory.mktemp("original")
    tiny.write_gguf(place / "tiny.gguf")
    convert(place / "tiny.gguf", place / "weights")
    return place


@pytest.fixture
def place(original, tmp_path):
    return copytree(original, tmp_path / "copy")


@pytest.fixture
def process():
    """Starts a conversion that waits at a stage; the test ends it."""
    running = []

    def start(gguf, weights_dir, stage):
        command = [sys.executable, "-c", CONVERT_AND_WAIT, gguf, sha256_of(gguf), weights_dir]
        started = subprocess.Popen(
            [*command, stage],
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        running.append(started)
        return started

    yield start
    for each in running:
        each.kill()
        each.communicate()


def read_until(process, beginning):
    for line in process.stdout:
        if line.startswith(beginning):
            return
    pytest.fail(f"the process ended before it said {beginning!r}")


def halves_from_pairs(weight, heads):
    """A Llama GGUF rotates rows 2i and 2i + 1 of a head together; transformers i and i + half."""
    per_head = weight.reshape(heads, tiny.HEAD_DIM, -1)
    return np.concatenate([per_head[:, 0::2], per_head[:, 1::2]], axis=1).reshape(weight.shape)


@pytest.mark.parametrize(
    ("architecture", "pre"), [("llama", "smollm"), ("qwen2", "qwen2"), ("qwen3", "qwen2")]
)
@pytest.mark.parametrize("storage", [GGMLQuantizationType.F32, GGMLQuantizationType.Q4_1])
def test_the_numbers_are_those_of_the_file(tmp_path, architecture, pre, storage):
    gguf = tmp_path / "tiny.gguf"
    tensors = tiny.write_gguf(gguf, architecture=architecture, pre=pre, storage=storage)
    folder = convert(gguf, tmp_path)
    assert check_folder(folder).architecture == architecture
    assert check_folder(folder).dtype == "float32"
    written = load_file(folder / "model.safetensors")
    assert len(written) == len(tensors)
    for ours, theirs in [
        ("model.embed_tokens.weight", "token_embd.weight"),
        ("model.norm.weight", "output_norm.weight"),
        ("model.layers.1.mlp.down_proj.weight", "blk.1.ffn_down.weight"),
        ("model.layers.1.self_attn.v_proj.weight", "blk.1.attn_v.weight"),
        ("model.layers.0.input_layernorm.weight", "blk.0.attn_norm.weight"),
    ]:
        np.testing.assert_array_equal(written[ours], tensors[theirs])
    for name, heads in [("q", tiny.HEADS), ("k", tiny.KV_HEADS)]:
        stored = tensors[f"blk.1.attn_{name}.weight"]
        if architecture == "llama":
            stored = halves_from_pairs(stored, heads)
        converted = written[f"model.layers.1.self_attn.{name}_proj.weight"]
        np.testing.assert_array_equal(converted, stored)


@pytest.mark.parametrize("text", tiny.AWKWARD)
@pytest.mark.parametrize("pre", ["smollm", "qwen2", "gpt-2"])
def test_the_tokenizer_cuts_text_by_the_rule_that_the_file_names(converted, pre, text):
    expected = tiny.tokenizer()
    apply_rule(expected, pre)
    folder = converted[pre]
    written = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert written.encode(text).ids == expected.encode(text).ids
    loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    assert loaded(text)["input_ids"] == expected.encode(text).ids


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    folders = {}
    for pre in ("smollm", "qwen2", "gpt-2"):
        place = tmp_path_factory.mktemp(pre)
        tiny.write_gguf(place / "tiny.gguf", pre=pre)
        folders[pre] = convert(place / "tiny.gguf", place)
    return folders


def test_special_tokens_and_the_chat_template_come_along(original):
    folder = convert(original / "tiny.gguf", original / "weights")
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    assert (tokenizer.bos_token, tokenizer.eos_token) == ("<|im_start|>", "<|im_end|>")
    messages = [{"role": "user", "content": "hi"}]
    assert tokenizer.apply_chat_template(messages, tokenize=False) == "user: hi\n"


def test_a_second_call_does_nothing(place):
    gguf, said = place / "tiny.gguf", []
    folder = convert(gguf, place / "weights", report=said.append)
    check_manifest(folder, gguf_sha256=sha256_of(gguf))
    assert said == []


def test_what_lies_beside_the_file_has_no_part_in_it(original, tmp_path):
    gguf = tmp_path / "tiny.gguf"
    gguf.write_bytes((original / "tiny.gguf").read_bytes())
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "the"}')
    (tmp_path / "tokenizer.json").write_text("{}")
    alone = convert(original / "tiny.gguf", original / "weights")
    beside = convert(gguf, tmp_path / "weights")
    for path in alone.iterdir():
        assert path.read_bytes() == (beside / path.name).read_bytes()


@pytest.mark.parametrize("damage", [tiny.alter, tiny.cut_short, Path.unlink])
@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_damaged_conversion_is_refused_and_can_be_made_again(place, damage, name):
    gguf, weights_dir = place / "tiny.gguf", place / "weights"
    damage(converted_folder(weights_dir, sha256_of(gguf)) / name)
    with pytest.raises(WeightsError, match="fetch_model"):
        convert(gguf, weights_dir)
    folder = convert(gguf, weights_dir, repair=True)
    check_manifest(folder, gguf_sha256=sha256_of(gguf))


@pytest.mark.parametrize("pre", ["llama-bpe", None])
def test_a_file_with_an_unknown_pre_tokenizer_is_refused(tmp_path, pre):
    tiny.write_gguf(tmp_path / "tiny.gguf", pre=pre)
    with pytest.raises(WeightsError, match=f"names {pre!r} as its pre-tokenizer"):
        convert(tmp_path / "tiny.gguf", tmp_path)
    assert kept(tmp_path) == []


def test_a_file_that_lacks_a_tensor_is_refused(tmp_path):
    tiny.write_gguf(tmp_path / "tiny.gguf", leave_out="blk.1.ffn_up.weight")
    with pytest.raises(WeightsError, match=r"lacks model\.layers\.1\.mlp\.up_proj\.weight"):
        convert(tmp_path / "tiny.gguf", tmp_path)
    assert kept(tmp_path) == []


@pytest.mark.parametrize("stage", ["converting", "checking", "putting"])
def test_a_killed_conversion_leaves_nothing_half_done(original, tmp_path, process, stage):
    gguf = original / "tiny.gguf"
    folder = converted_folder(tmp_path, sha256_of(gguf))
    victim = process(gguf, tmp_path, stage)
    read_until(victim, stage)
    assert list(tmp_path.glob("converted/*.partial"))
    victim.kill()
    victim.wait()
    assert not folder.exists()

    said = []
    assert convert(gguf, tmp_path, report=said.append) == folder
    assert said[0].startswith("converting")
    check_manifest(folder, gguf_sha256=sha256_of(gguf))
    assert kept(tmp_path) == [folder]


def test_of_two_at_once_one_converts_and_the_other_waits_for_it(original, tmp_path, process):
    gguf = original / "tiny.gguf"
    first = process(gguf, tmp_path, "putting")
    read_until(first, "putting")
    second = process(gguf, tmp_path, "nothing")
    read_until(second, "waiting for another process")
    output, _ = first.communicate("go on\n")
    assert output == "done\n"
    output, _ = second.communicate()
    assert output == "done\n"
    folder = converted_folder(tmp_path, sha256_of(gguf))
    assert kept(tmp_path) == [folder]
