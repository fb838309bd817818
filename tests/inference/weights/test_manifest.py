from __future__ import annotations

import pytest

from inference.weights.errors import WeightsError
from inference.weights.manifest import check_manifest, write_manifest
from tests.inference.weights.tiny import alter, cut_short

SOURCE = "5" * 64


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text('{"a": "letter"}')
    (tmp_path / "model.safetensors").write_bytes(bytes(1000))
    write_manifest(tmp_path, gguf_sha256=SOURCE, versions={"tokenizers": "0.23"})
    return tmp_path


def test_a_folder_as_it_was_written_passes(folder):
    check_manifest(folder, gguf_sha256=SOURCE)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
@pytest.mark.parametrize("damage", [alter, cut_short])
def test_a_changed_file_is_named(folder, name, damage):
    damage(folder / name)
    with pytest.raises(WeightsError, match=name):
        check_manifest(folder, gguf_sha256=SOURCE)


def test_a_missing_file_is_named(folder):
    (folder / "config.json").unlink()
    with pytest.raises(WeightsError, match=r"config\.json"):
        check_manifest(folder, gguf_sha256=SOURCE)


def test_a_file_that_was_not_written_is_named(folder):
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(WeightsError, match=r"adapter_config\.json"):
        check_manifest(folder, gguf_sha256=SOURCE)


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{}", b'{"gguf_sha256": "5", "files": 1}'])
def test_a_missing_or_unreadable_manifest_is_refused(folder, content):
    (folder / "manifest.json").unlink()
    if content is not None:
        (folder / "manifest.json").write_bytes(content)
    with pytest.raises(WeightsError, match=r"manifest\.json is missing or unreadable"):
        check_manifest(folder, gguf_sha256=SOURCE)


def test_a_folder_made_from_another_file_is_refused(folder):
    with pytest.raises(WeightsError, match="from another file"):
        check_manifest(folder, gguf_sha256="6" * 64)
