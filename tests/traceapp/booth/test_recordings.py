"""Recorded traces: those that come with the product, an operator's own, and which a booth shows."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from inference.catalogue import EMBEDDED, find
from inference.limits import Limits
from inference.model import start_runtime
from tests.fakes import CARD
from tests.gates import unexpected
from traceapp.booth.prompts import CURATED
from traceapp.booth.recordings import (
    MAX_BYTES,
    MAX_FILES,
    SHIPPED,
    own_folder,
    prepared_for,
    prompts_with,
    read,
    record,
    write,
)
from traceapp.env import Environment
from traceapp.versions import versions
from traceapp.wire.recordings import Recording

KB = 1024


@pytest.fixture
def shipped():
    return read(SHIPPED, EMBEDDED.alias)


@pytest.fixture
def card(shipped):
    """Of the embedded model, as a server of it has it."""
    return replace(
        CARD,
        alias=EMBEDDED.alias,
        repository=EMBEDDED.repository,
        revision=EMBEDDED.revision,
        sha256=shipped[0].provenance.sha256,
    )


def of_alias(recording: Recording, alias: str, **more: Any) -> Recording:
    """The same recording as if another model had made it."""
    model = recording.trace.model.model_copy(update={"alias": alias})
    trace = recording.trace.model_copy(update={"model": model})
    return recording.model_copy(update={"trace": trace, **more})


# --- Those that come with the product -------------------------------------------------------------


def test_each_curated_prompt_has_a_recording_and_there_is_no_other_file(shipped):
    files = {path.relative_to(SHIPPED).as_posix() for path in SHIPPED.rglob("*") if path.is_file()}
    assert files == {f"{EMBEDDED.alias}/{prompt.slug}.json" for prompt in CURATED}
    assert len(shipped) == len(CURATED)  # each is read, so each has the wire model's shape


@pytest.mark.parametrize("prompt", CURATED, ids=lambda prompt: prompt.slug)
def test_a_recording_names_the_embedded_model_and_was_asked_for_as_its_prompt_says(prompt, shipped):
    (found,) = (each for each in shipped if each.slug == prompt.slug)
    trace, made = found.trace, found.provenance
    assert trace.model.model_dump() == {
        "alias": EMBEDDED.alias,
        "repository": EMBEDDED.repository,
        "revision": EMBEDDED.revision,
    }
    assert (made.source, made.sha256) == ("embedded", shipped[0].provenance.sha256)
    assert made.versions.keys() == versions().keys()
    assert datetime(2026, 1, 1, tzinfo=UTC) < made.made_at < datetime.now(UTC) + timedelta(days=1)
    asked = (prompt.prompt, prompt.temperature, prompt.top_p, prompt.seed)
    decoding = trace.decoding
    assert asked == (trace.prompt, decoding.temperature, decoding.top_p, decoding.seed)
    assert (made.max_new_tokens, made.top_k) == (prompt.max_new_tokens, prompt.top_k)
    assert 16 <= prompt.max_new_tokens <= 24
    size = (SHIPPED / EMBEDDED.alias / f"{prompt.slug}.json").stat().st_size
    assert size < 48 * KB


@pytest.mark.real_model
async def test_a_recording_is_what_the_model_says_today(shipped):
    slug = "story"  # the one with chance in it
    env = Environment()
    serving = start_runtime(
        EMBEDDED.alias,
        model_path=None,
        weights_dir=env.weights_dir,
        threads=1,
        on_failure=unexpected,
    )
    try:
        serving.wait_until_loaded()
        (prompt,) = (each for each in CURATED if each.slug == slug)
        today = await record(prompt, runtime=serving, limits=Limits(deadline_seconds=100))
    finally:
        serving.close()
    (recorded,) = (each for each in shipped if each.slug == slug)
    assert today.provenance.sha256 == recorded.provenance.sha256
    assert untimed(today) == untimed(recorded, approximate=True)


def untimed(recording: Recording, *, approximate: bool = False) -> Any:
    """The trace without its times; floats as far as another processor repeats them."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items() if not k.endswith("_ms")}
        if isinstance(value, list):
            return [plain(each) for each in value]
        return pytest.approx(value, abs=1e-4) if approximate and isinstance(value, float) else value

    return plain(recording.trace.model_dump(mode="json"))


# --- A folder ------------------------------------------------------------------------------------


def test_a_recording_is_read_again_as_it_was_written(shipped, tmp_path):
    for recording in shipped:
        write(recording, tmp_path)
    assert read(tmp_path, EMBEDDED.alias) == shipped
    assert not list(tmp_path.rglob("*.new"))


def test_a_folder_that_is_not_there_has_no_recordings(tmp_path):
    assert read(tmp_path / "nothing", EMBEDDED.alias) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: "secret prompt", "Invalid JSON"),
        (lambda text: text[:100], "Invalid JSON"),
        (lambda text: text + " " * MAX_BYTES, "larger than"),
        (lambda text: text.replace('"moon"', '"sun"'), "than its name says"),
        (lambda text: text.replace('"slug":"moon"', '"slug":"../moon"'), "slug: "),
        (lambda text: re.sub(r'"steps":\[.*\],"decoding"', '"steps":[],"decoding"', text), "step"),
        (lambda text: without_analysis(text), "analysis"),
        (lambda text: text.replace('"slug"', '"more":1,"slug"'), "more: "),
    ],
)
def test_a_file_that_is_no_recording_is_left_out_and_logged_without_its_text(
    change, said, shipped, tmp_path, caplog
):
    for recording in shipped:
        path = write(recording, tmp_path)
        if recording.slug == "moon":
            path.write_text(change(path.read_text()))
    assert [each.slug for each in read(tmp_path, EMBEDDED.alias)] == [
        each.slug for each in shipped if each.slug != "moon"
    ]
    (line,) = caplog.messages
    assert line.startswith("moon.json is no recording: ")
    assert said in line
    assert "secret" not in line


def without_analysis(text: str) -> str:
    value = json.loads(text)
    for step in value["trace"]["steps"]:
        del step["analysis"]
    return json.dumps(value)


def test_a_folder_with_too_many_files_is_read_to_the_bound(shipped, tmp_path):
    for number in range(MAX_FILES + 1):
        write(shipped[0].model_copy(update={"slug": f"own-{number:03}"}), tmp_path)
    assert len(read(tmp_path, EMBEDDED.alias)) == MAX_FILES


# --- What a booth shows --------------------------------------------------------------------------


def test_the_embedded_model_has_what_comes_with_the_product(card, shipped, tmp_path):
    prepared = prepared_for(card, data_dir=tmp_path)
    assert prepared.of_served_model
    assert [each.slug for each in prepared.recordings] == [prompt.slug for prompt in CURATED]
    assert prompts_with(prepared) == CURATED


def test_an_operators_recording_wins_and_own_prompts_come_first(card, shipped, tmp_path):
    moon = next(each for each in shipped if each.slug == "moon")
    now = moon.provenance.model_copy(update={"made_at": datetime.now(UTC)})
    own = own_folder(tmp_path)
    write(moon.model_copy(update={"provenance": now}), own)
    write(moon.model_copy(update={"slug": "own-1"}), own)
    prepared = prepared_for(card, data_dir=tmp_path)
    assert [each.slug for each in prepared.recordings] == ["own-1", *(p.slug for p in CURATED)]
    assert prepared.recordings[1].provenance == now
    first, *others = prompts_with(prepared)
    assert (first.slug, first.prompt, first.max_new_tokens) == ("own-1", "The moon is", 20)
    assert tuple(others) == CURATED


@pytest.mark.parametrize(
    "other", [{"alias": "qwen3-0.6b"}, {"sha256": "0" * 64}, {"revision": "0" * 40}, None]
)
def test_another_model_gets_those_of_the_embedded_one_and_that_is_told(other, card, tmp_path):
    prepared = prepared_for(other and replace(card, **other), data_dir=tmp_path)
    assert not prepared.of_served_model
    assert {each.trace.model.alias for each in prepared.recordings} == {EMBEDDED.alias}


def test_a_model_with_recordings_of_its_own_has_only_these(card, shipped, tmp_path):
    model = find("qwen3-0.6b")
    served = replace(card, alias=model.alias)
    write(of_alias(shipped[0], model.alias), own_folder(tmp_path))
    # Made with other weights under the same name.
    elsewhere = shipped[1].provenance.model_copy(update={"sha256": "0" * 64})
    write(of_alias(shipped[1], model.alias, provenance=elsewhere), own_folder(tmp_path))
    prepared = prepared_for(served, data_dir=tmp_path)
    assert prepared.of_served_model
    assert [each.slug for each in prepared.recordings] == [shipped[0].slug]
    assert prompts_with(prepared) == CURATED


def test_settings_keep_to_the_limits_in_force_and_a_seed_to_its_digits():
    (tea,) = (prompt for prompt in CURATED if prompt.slug == "tea")
    assert tea.settings(Limits())["max_new_tokens"] == 24
    low = tea.settings(Limits(max_new_tokens=5, max_alternatives=2))
    assert (low["max_new_tokens"], low["top_k"], low["seed"]) == (5, 2, None)
    assert replace(tea, seed=2**63 - 1).settings(Limits())["seed"] == "9223372036854775807"
