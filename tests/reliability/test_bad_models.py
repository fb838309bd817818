"""A model that is not what it should be ends the server soon, and never looks ready."""

from __future__ import annotations

import time

import pytest

from tests.commands import manage
from tests.inference.weights.tiny import cut_short, edit_config, write_folder, write_gguf
from tests.serving import Server

pytestmark = pytest.mark.timeout(300)


def missing(place):
    return place / "nothing-here"


def truncated(place):
    write_folder(place, architecture="llama")
    cut_short(place / "model.safetensors", by=1000)
    return place


def truncated_gguf(place):
    write_gguf(place / "model.gguf")
    cut_short(place / "model.gguf", by=1000)
    return place / "model.gguf"


def altered(place):
    """The header of the weights is no JSON any more."""
    write_folder(place, architecture="llama")
    with (place / "model.safetensors").open("r+b") as file:
        file.seek(9)
        file.write(b"\x00" * 40)
    return place


def wrong_architecture(place):
    write_folder(place, architecture="llama")
    edit_config(place, model_type="gpt2", architectures=["GPT2LMHeadModel"])
    return place


def test_a_bad_model_ends_the_server(tmp_path, row):
    """Model file missing, truncated, altered, wrong architecture."""
    data_dir = str(tmp_path / "data")
    assert manage("migrate", "--verbosity", "0", TRACEAPP_DATA_DIR=data_dir).returncode == 0
    for bad in (missing, truncated, truncated_gguf, altered, wrong_architecture):
        place = tmp_path / bad.__name__
        place.mkdir()
        path = bad(place)
        begun = time.monotonic()
        server = Server(TRACEAPP_DATA_DIR=data_dir, TRACEAPP_MODEL_PATH=str(path))
        status = server.ended(seconds=60)
        taken = time.monotonic() - begun
        log = server.log.whole()
        name = bad.__name__.replace("_", " ")
        row.holds(f"{name}: exit non-zero, never ready", f"{status}", status != 0)
        row.measures(f"{name}: in 10 s", f"{taken:.1f} s", taken < 10)
        assert "is ready" not in log
        assert "Traceback" not in log
