from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from shutil import copytree

import pytest
from django.conf import settings
from gguf import GGMLQuantizationType
from transformers import AutoTokenizer

from inference import catalogue
from inference.weights import hub
from inference.weights.conversion import converted_folder
from inference.weights.errors import UnknownModel, WeightsError
from inference.weights.files import sha256_of
from inference.weights.resolve import resolve
from inference.weights.wheel import gguf_path
from tests.inference.weights import tiny
from tests.inference.weights.standin import hub_answers, serving

ROOT = Path(__file__).resolve().parents[3]

# Fails on any connection, and shows what was found and which heavy packages that took.
RESOLVE_ALONE = """
import json, sys
from pathlib import Path

def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo"}:
        raise SystemExit(f"opened a connection: {arguments}")

sys.addaudithook(refuse)
from inference.weights.resolve import resolve

found = resolve(None, model_path=None, weights_dir=Path("none"))
heavy = sorted({"torch", "transformers", "django"} & sys.modules.keys())
print(json.dumps({"folder": str(found.folder), "alias": found.model.alias, "heavy": heavy}))
"""


@pytest.fixture(scope="module")
def qwen(tmp_path_factory):
    """A hub cache that holds the pinned snapshot of the preferred model, though a tiny one."""
    place = tmp_path_factory.mktemp("qwen")
    model = catalogue.PREFERRED
    folder = tiny.write_folder(place / "repository", architecture="qwen2", dtype="bfloat16")
    with serving(hub_answers(model.repository, model.revision, folder)) as server:
        hub.fetch(model, place / "hub", endpoint=server.address)
    return place


@pytest.fixture
def cache(qwen, tmp_path):
    """A copy of that cache, to damage."""
    return copytree(qwen / "hub", tmp_path / "hub", symlinks=True)


def weights_in(cache):
    snapshot = hub.find_snapshot(catalogue.PREFERRED, cache)
    assert snapshot is not None
    return snapshot / "model.safetensors"


def embedded_file():
    assert catalogue.EMBEDDED.wheel is not None
    return catalogue.EMBEDDED.wheel


def resolve_here(tmp_path, alias=None, model_path=None, hub_cache=None):
    return resolve(
        alias,
        model_path=model_path,
        weights_dir=tmp_path / "weights",
        hub_cache=hub_cache or tmp_path / "empty",
    )


def test_the_preferred_model_is_served_where_it_lies_here(tmp_path, qwen):
    found = resolve_here(tmp_path, hub_cache=qwen / "hub")
    assert found.model is catalogue.PREFERRED
    assert (found.source, found.dtype, found.gguf) == ("hub", "bfloat16", None)
    assert found.sha256 == sha256_of(qwen / "repository" / "model.safetensors")
    assert found.folder == hub.find_snapshot(catalogue.PREFERRED, qwen / "hub")
    assert found.reason == "No model is named, and qwen2.5-0.5b lies on this machine."


@pytest.mark.parametrize("alias", [None, "smollm2-135m"])
def test_the_embedded_model_that_was_not_fetched_says_how_to(tmp_path, alias):
    with pytest.raises(WeightsError, match=r"`python manage\.py fetch_model smollm2-135m`"):
        resolve_here(tmp_path, alias)


def test_an_incomplete_snapshot_is_no_reason_to_prefer_it(tmp_path, cache):
    weights_in(cache).unlink()
    with pytest.raises(WeightsError, match="smollm2-135m are not on this machine"):
        resolve_here(tmp_path, hub_cache=cache)


@pytest.mark.parametrize("damage", [tiny.alter, tiny.cut_short])
def test_a_damaged_snapshot_is_refused_and_nothing_else_takes_its_place(tmp_path, cache, damage):
    damage(weights_in(cache).resolve())
    with pytest.raises(WeightsError, match=r"model\.safetensors"):
        resolve_here(tmp_path, hub_cache=cache)


def test_a_named_model_that_is_not_here_is_refused(tmp_path, qwen):
    with pytest.raises(WeightsError, match=r"`python manage\.py fetch_model qwen3-0\.6b`"):
        resolve_here(tmp_path, "qwen3-0.6b", hub_cache=qwen / "hub")


def test_an_unknown_alias_is_refused(tmp_path):
    with pytest.raises(UnknownModel, match="gpt-4"):
        resolve_here(tmp_path, "gpt-4")


@pytest.mark.parametrize("content", [b"", bytes(98_362_432)])
def test_an_embedded_file_that_is_not_the_pinned_one_is_refused(tmp_path, content):
    gguf = gguf_path(embedded_file(), tmp_path / "weights")
    gguf.parent.mkdir(parents=True)
    gguf.write_bytes(content)
    with pytest.raises(WeightsError, match=r"altered.*fetch_model smollm2-135m"):
        resolve_here(tmp_path)


@pytest.mark.parametrize(
    ("architecture", "alias"),
    [("llama", "smollm2-135m"), ("qwen2", "qwen2.5-0.5b"), ("qwen3", "qwen3-0.6b")],
)
def test_a_local_folder_stands_for_the_first_model_of_its_architecture(
    tmp_path, architecture, alias
):
    folder = tiny.write_folder(tmp_path / "mine", architecture=architecture)
    found = resolve_here(tmp_path, model_path=folder)
    assert (found.model.alias, found.source, found.dtype) == (alias, "local", "float32")
    assert found.folder == folder
    assert found.sha256 == sha256_of(folder / "model.safetensors")
    assert str(folder) in found.reason


def test_a_local_folder_may_stand_for_a_named_model(tmp_path):
    folder = tiny.write_folder(tmp_path / "mine", architecture="qwen2")
    found = resolve_here(tmp_path, "qwen2.5-0.5b-instruct", folder)
    assert found.model.alias == "qwen2.5-0.5b-instruct"


def test_a_local_gguf_file_is_converted_once_and_kept_at_hand(tmp_path):
    gguf = tmp_path / "mine.gguf"
    tiny.write_gguf(gguf, storage=GGMLQuantizationType.Q4_1)
    found = resolve_here(tmp_path, model_path=gguf)
    assert (found.model.alias, found.source) == ("smollm2-135m", "local")
    assert found.dtype == "Q4_1 dequantised to float32"
    assert found.sha256 == sha256_of(gguf)
    assert found.gguf == gguf
    assert found.folder == converted_folder(tmp_path / "weights", found.sha256)
    made = (found.folder / "model.safetensors").stat().st_ino
    assert resolve_here(tmp_path, model_path=gguf) == found
    assert (found.folder / "model.safetensors").stat().st_ino == made


@pytest.mark.parametrize("name", ["folder", "file.gguf"])
def test_a_local_model_of_another_architecture_than_the_named_one_is_refused(tmp_path, name):
    path = tmp_path / name
    if path.suffix:
        tiny.write_gguf(path)
    else:
        tiny.write_folder(path)
    with pytest.raises(WeightsError, match=r"llama model, but qwen3-0\.6b is a qwen3 one"):
        resolve_here(tmp_path, "qwen3-0.6b", path)


def test_a_path_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(WeightsError, match=r"TRACEAPP_MODEL_PATH names .* does not exist"):
        resolve_here(tmp_path, model_path=tmp_path / "nowhere")


def test_a_local_file_that_is_no_gguf_file_is_refused(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(bytes(100))
    with pytest.raises(WeightsError, match="is not a GGUF file"):
        resolve_here(tmp_path, model_path=path)


def test_a_local_gguf_file_cut_short_is_refused_before_it_is_converted(tmp_path):
    path = tmp_path / "mine.gguf"
    tiny.write_gguf(path)
    tiny.cut_short(path)
    with pytest.raises(WeightsError, match="cut short"):
        resolve_here(tmp_path, model_path=path)
    assert not (tmp_path / "weights").exists()


def test_a_weights_folder_that_cannot_be_written_is_a_clear_message(tmp_path):
    path = tmp_path / "mine.gguf"
    tiny.write_gguf(path)
    (tmp_path / "weights").write_text("a file, not a folder")
    with pytest.raises(WeightsError, match="cannot be read"):
        resolve_here(tmp_path, model_path=path)


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME"])
def test_the_choice_is_made_from_local_files_without_loading_torch(qwen, variable):
    named = {"HF_HUB_CACHE": qwen / "hub", "HF_HOME": qwen}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
    run = subprocess.run(
        [sys.executable, "-c", RESOLVE_ALONE],
        cwd=ROOT,
        env=environment | {variable: str(named[variable])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["alias"] == "qwen2.5-0.5b"
    assert Path(found["folder"]).is_relative_to(qwen / "hub")
    assert found["heavy"] == []


@pytest.mark.real_model
def test_the_embedded_model_is_checked_within_seconds_and_tokenises_digits_one_by_one():
    begun = time.monotonic()
    found = resolve("smollm2-135m", model_path=None, weights_dir=settings.TRACEAPP.weights_dir)
    assert time.monotonic() - begun < 10
    assert (found.source, found.dtype) == ("embedded", "Q4_1 dequantised to float32")
    assert found.sha256 == embedded_file().gguf_sha256
    assert found.gguf is not None
    tokenizer = AutoTokenizer.from_pretrained(found.folder, local_files_only=True)
    assert len(tokenizer) == 49152
    assert tokenizer.tokenize("  2 1234") == ["ĠĠ", "2", "Ġ", "1", "2", "3", "4"]
    assert tokenizer.decode(tokenizer("The moon is")["input_ids"]) == "The moon is"
    assert tokenizer.eos_token == "<|im_end|>"
