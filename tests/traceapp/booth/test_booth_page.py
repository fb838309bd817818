"""The booth's page: what it gives its script, and what it is without one."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace

import pytest
from django.templatetags.static import static
from django.test import AsyncClient

from inference import runtime
from inference.catalogue import EMBEDDED
from inference.models import LimitsRow
from tests.fakes import CARD
from traceapp.booth.pages import BoothPage
from traceapp.booth.prompts import CURATED
from traceapp.booth.recordings import SHIPPED, read

pytestmark = pytest.mark.usefixtures("unlimited")


@pytest.fixture
def data_dir(environment, tmp_path):
    environment(data_dir=tmp_path)
    return tmp_path


async def page(query=""):
    response = await AsyncClient().get(f"/booth{query}")
    assert response.status_code == 200
    return response, " ".join(response.content.decode().split())


async def given():
    """What the script is given."""
    _, html = await page()
    [text] = re.findall(r'<script id="booth-page"[^>]*>(.*?)</script>', html)
    return json.loads(text)


async def test_the_template_gets_exactly_the_names_of_its_dataclass(data_dir):
    response, _ = await page()
    assert all(field.metadata["help"] for field in fields(BoothPage))
    assert set(response.context.dicts[-1]) == {field.name for field in fields(BoothPage)}


async def test_the_served_model_has_its_recordings(install, data_dir):
    serving = install("ab")
    sha256 = read(SHIPPED, EMBEDDED.alias)[0].provenance.sha256
    serving.card = replace(CARD, alias=EMBEDDED.alias, revision=EMBEDDED.revision, sha256=sha256)
    data = await given()
    assert data["model"] == {"alias": EMBEDDED.alias, "revision": EMBEDDED.revision}
    assert data["of_served_model"] is True
    assert [each["slug"] for each in data["recordings"]] == [each.slug for each in CURATED]
    assert [each["prompt"] for each in data["prompts"]] == [each.prompt for each in CURATED]
    first = data["recordings"][0]
    assert first.keys() == {"slug", "made_at", "trace"}
    assert first["trace"].keys() == {"model", "prompt", "steps", "finish_reason"}
    assert len(first["trace"]["steps"]) == CURATED[0].max_new_tokens


async def test_without_a_model_it_shows_those_of_the_embedded_one_as_such(data_dir):
    runtime.install(None)
    data = await given()
    assert (data["model"], data["of_served_model"]) == (None, False)
    assert data["recordings"][0]["trace"]["model"]["alias"] == EMBEDDED.alias


async def test_a_visitor_types_only_where_the_administrator_allows_it(data_dir):
    assert (await given())["typed"] is None
    await LimitsRow.objects.aupdate_or_create(
        pk=1, defaults={"booth_free_text": True, "max_prompt_characters": 50, "max_new_tokens": 8}
    )
    data = await given()
    assert data["typed"]["characters"] == 50
    assert data["typed"]["settings"]["max_new_tokens"] == 8
    assert {each["settings"]["max_new_tokens"] for each in data["prompts"]} == {8}


async def test_a_prompt_with_markup_harms_neither_the_page_nor_its_data(data_dir, install):
    hostile = "</script><b>\u202e\n\"'"
    serving = install("ab")
    shipped = read(SHIPPED, EMBEDDED.alias)[0]
    trace = shipped.trace.model_copy(
        update={
            "prompt": hostile,
            "model": shipped.trace.model.model_copy(
                update={"alias": CARD.alias, "revision": CARD.revision}
            ),
        }
    )
    provenance = shipped.provenance.model_copy(update={"sha256": CARD.sha256})
    own = shipped.model_copy(update={"slug": "own-1", "trace": trace, "provenance": provenance})
    folder = data_dir / "recorded" / serving.card.alias
    folder.mkdir(parents=True)
    (folder / "own-1.json").write_text(own.model_dump_json())
    data = await given()
    assert data["prompts"][0]["prompt"] == hostile
    assert data["recordings"][0]["trace"]["prompt"] == hostile
    response, _ = await page()
    assert b"<b>" not in response.content


async def test_without_a_script_each_prompt_is_a_form_of_the_first_page(data_dir):
    _, html = await page()
    assert html.count('<form method="post" action="/#trace"') == len(CURATED)
    for prompt in CURATED:
        assert f'name="prompt" value="{prompt.prompt}"' in html
    assert re.findall(r"<script ([^>]*)>", html) == [
        'id="booth-page" type="application/json"',
        f'type="module" src="{static("build/booth.js")}"',
    ]
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=|https?://", html)


@pytest.mark.parametrize("prompt", CURATED, ids=lambda prompt: prompt.slug)
async def test_such_a_form_is_taken_and_traced(prompt, install, data_dir):
    install("ab")
    _, html = await page()
    forms = re.findall(r"<form.*?</form>", html)
    form = forms[CURATED.index(prompt)]
    sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    answer = await AsyncClient().post("/", sent)
    assert answer.status_code == 200
    request = answer.context["drawn"].trace.request
    assert (request.prompt, request.max_new_tokens) == (prompt.prompt, prompt.max_new_tokens)
    assert (request.temperature, request.seed) == (prompt.temperature, prompt.seed)


@pytest.mark.parametrize(
    ("query", "theme"), [("", None), ("?theme=dark", "dark"), ("?theme=x", None)]
)
async def test_a_screen_may_be_given_a_theme(query, theme, data_dir):
    _, html = await page(query)
    assert re.findall(r'<html lang="en"(?: data-theme="(\w+)")?>', html) == [theme or ""]


async def test_it_is_only_read(data_dir):
    response = await AsyncClient().post("/booth")
    assert response.status_code == 405
    assert response["Allow"] == "GET, HEAD"
