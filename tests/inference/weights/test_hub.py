from __future__ import annotations

import pytest

from inference.catalogue import CatalogueModel
from inference.weights import hub
from inference.weights.errors import WeightsError
from inference.weights.files import sha256_of
from tests.inference.weights import tiny
from tests.inference.weights.standin import hub_answers, serving

MODEL = CatalogueModel(
    alias="tiny",
    repository="tests/tiny",
    revision="0123456789abcdef0123456789abcdef01234567",
    licence="Apache-2.0",
    architecture="qwen2",
)
USED = {"config.json", "generation_config.json", "tokenizer.json", "model.safetensors"}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """What the hub holds: the model, and other things that are not for us."""
    folder = tiny.write_folder(tmp_path_factory.mktemp("repository"), architecture="qwen2")
    (folder / "pytorch_model.bin").write_bytes(b"pickled")
    (folder / "README.md").write_text("# Tiny")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "config.json").write_text("{}")
    return folder


@pytest.fixture
def server(repository):
    with serving(hub_answers(MODEL.repository, MODEL.revision, repository)) as started:
        yield started


@pytest.fixture
def fetch(server, tmp_path):
    return lambda: hub.fetch(MODEL, tmp_path, endpoint=server.address)


def test_only_what_is_served_is_fetched(fetch):
    folder = fetch()
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*")} == USED


def test_what_was_fetched_is_found_and_has_the_weights_digest(fetch, repository, tmp_path):
    folder = fetch()
    assert hub.find_snapshot(MODEL, tmp_path) == folder
    contents, sha256 = hub.check_snapshot(folder)
    assert contents.architecture == "qwen2"
    assert sha256 == sha256_of(repository / "model.safetensors")


def test_a_snapshot_that_is_here_is_not_asked_for(fetch, server):
    fetch()
    server.requests.clear()
    fetch()
    assert server.requests == []


def test_a_machine_without_the_snapshot_knows_it(tmp_path):
    assert hub.find_snapshot(MODEL, tmp_path) is None


@pytest.mark.parametrize("name", sorted(USED))
def test_a_snapshot_that_lacks_a_file_is_not_there_and_fetching_completes_it(fetch, tmp_path, name):
    (fetch() / name).unlink()
    assert hub.find_snapshot(MODEL, tmp_path) is None
    assert {path.name for path in fetch().iterdir()} == USED


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_snapshot_kept_by_another_program_counts_only_when_complete(fetch, tmp_path, name):
    folder = fetch()
    for listing in tmp_path.glob("*/trees/*.json"):
        listing.unlink()
    assert hub.find_snapshot(MODEL, tmp_path) == folder
    (folder / name).unlink()
    assert hub.find_snapshot(MODEL, tmp_path) is None


@pytest.mark.parametrize("name", sorted(USED))
@pytest.mark.parametrize("damage", [tiny.alter, tiny.cut_short])
def test_a_damaged_file_is_refused_and_fetching_mends_it(fetch, damage, name):
    folder = fetch()
    damage((folder / name).resolve())
    with pytest.raises(WeightsError, match=name.partition(".")[0]):
        hub.check_snapshot(folder)
    hub.check_snapshot(fetch())


def test_a_hub_out_of_reach_is_one_clear_line(tmp_path):
    with pytest.raises(
        WeightsError, match=r"^tests/tiny could not be fetched from .*refused"
    ) as no:
        hub.fetch(MODEL, tmp_path, endpoint="http://127.0.0.1:9")
    assert "\n" not in str(no.value)


def test_a_revision_that_the_hub_does_not_have_is_one_clear_line(server, tmp_path):
    server.answers.clear()
    with pytest.raises(WeightsError, match="could not be fetched") as refusal:
        hub.fetch(MODEL, tmp_path, endpoint=server.address)
    assert "\n" not in str(refusal.value)


def test_too_little_room_stops_before_anything_is_written(tmp_path, repository):
    answers = hub_answers(MODEL.repository, MODEL.revision, repository)
    about = f"/api/models/{MODEL.repository}/revision/{MODEL.revision}"
    size = str((repository / "model.safetensors").stat().st_size).encode()
    answers[about] = type(answers[about])(answers[about].body.replace(size, b"1" + b"0" * 18))
    with serving(answers) as server, pytest.raises(WeightsError, match=r"1,000,000,000,000 MB"):
        hub.fetch(MODEL, tmp_path, endpoint=server.address)
    assert list(tmp_path.iterdir()) == []
