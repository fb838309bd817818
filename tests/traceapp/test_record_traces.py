"""`manage.py record_traces` on a model of a few kilobytes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.inference.weights.tiny import write_folder
from traceapp.booth.prompts import CURATED
from traceapp.booth.recordings import read
from traceapp.versions import versions

ALIAS = "smollm2-135m"  # which the tiny model passes for


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("tiny"), architecture="llama")


@pytest.fixture
def record(settings, folder, tmp_path):
    """Run the command; the paths that it printed."""
    settings.TRACEAPP = settings.TRACEAPP.model_copy(
        update={"model": None, "model_path": folder, "threads": 1, "data_dir": tmp_path / "data"}
    )

    def run(*arguments):
        printed = io.StringIO()
        call_command("record_traces", "--model", ALIAS, *arguments, stdout=printed)
        return [Path(line) for line in printed.getvalue().splitlines()]

    return run


def test_the_curated_prompts_are_recorded_where_the_booth_looks(record, tmp_path):
    written = record()
    assert [path.name for path in written] == [f"{prompt.slug}.json" for prompt in CURATED]
    assert {path.parent for path in written} == {tmp_path / "data" / "recorded" / ALIAS}
    found = {each.slug: each for each in read(tmp_path / "data" / "recorded", ALIAS)}
    assert found.keys() == {prompt.slug for prompt in CURATED}
    story = found["story"]
    assert (story.trace.decoding.method, story.trace.decoding.seed) == ("sample", 3)
    assert story.trace.model.alias == ALIAS
    assert story.provenance.source == "local"
    assert story.provenance.versions == versions()
    assert 1 <= len(story.trace.steps) <= 20


def test_own_prompts_are_recorded_in_place_of_the_curated_ones_each_once(record, tmp_path):
    first = record("Welcome to", "Willkommen in", "--folder", str(tmp_path / "own"))
    again = record("Welcome to", "--folder", str(tmp_path / "own"))
    assert again == first[:1]
    found = read(tmp_path / "own", ALIAS)
    assert {each.trace.prompt for each in found} == {"Welcome to", "Willkommen in"}
    assert all(each.slug.startswith("own-") for each in found)
    assert {each.trace.decoding.method for each in found} == {"greedy"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([""], "prompt: "),
        (["x" * 1001], "prompt: "),
        (["\ud800"], "prompt: "),
        (["z" * 300], "the prompt has 300 tokens; the limit is 256"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_kept(record, arguments, said, tmp_path):
    with pytest.raises(CommandError) as refused:
        record(*arguments)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.rglob("*.json"))


def test_a_folder_that_cannot_be_written_is_said(record, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="cannot be written: "):
        record("x", "--folder", str(tmp_path / "file"))
