"""The pages of a shared trace, drawn without the model and read without a script."""

from __future__ import annotations

import html
import json
import re
import time
from dataclasses import fields
from typing import Any

import pytest
from django.utils import timezone

from inference import runtime
from inference.models import current_limits
from inference.services import run_trace
from tests.traceapp.sharing.conftest import HOSTILE, set_limits
from traceapp.drawing import drawn_trace
from traceapp.models import SharedTrace
from traceapp.sharing import store
from traceapp.sharing.addresses import delete_path, embed_path, page_path
from traceapp.sharing.pages import DeletePage, MissingPage, SharedPage
from traceapp.sharing.redrawing import redrawn
from traceapp.wire.traces import TraceBody

UNSEEN = re.compile("[\0\u202a-\u202e\u2066-\u2069]")


async def read(visitor, path):
    """A page's answer, and its HTML as one line."""
    response = await visitor.get(path)
    return response, " ".join(response.content.decode().split())


@pytest.mark.parametrize("path_of", [page_path, embed_path])
async def test_a_trace_is_read_without_the_model(share, visitor, path_of):
    links, trace = await share(prompt="The moon is", temperature=0.7, top_p=0.9, seed=11)
    runtime.install(None)
    response, page = await read(visitor, path_of(links["id"]))
    assert response.status_code == 200
    assert "The moon is" in page
    assert trace["model"]["repository"] in page
    assert trace["model"]["revision"] in page
    assert "temperature 0.7, top-p 0.9, seed 11" in page
    assert re.search(r"torch \d", page)
    assert timezone.now().strftime("%B %Y") in page
    for number, step in enumerate(trace["steps"], start=1):
        assert f'id="step-{number}"' in page
        assert f"id {step['alternatives'][0]['token_id']}<" in page
    assert len(re.findall('<li>\\s*<section class="step"', page)) == len(trace["steps"])
    assert 'href="#replay"' in page
    assert response["X-Robots-Tag"] == "noindex"
    assert '<meta name="robots" content="noindex">' in page
    assert not response.cookies


async def test_the_page_shows_what_the_first_page_would_have_shown(server, share, visitor):
    """Every number, rank and byte: drawn anew from the JSON, and drawn from the model's values."""
    body: dict[str, Any] = {"prompt": HOSTILE, "max_new_tokens": 4, "top_k": 3, "seed": 3}
    body["temperature"] = 1.5
    links, _ = await share(**body)
    limits = await current_limits()
    asked = TraceBody(**body).to_request(limits)
    arrived_at = time.monotonic()
    trace = await run_trace(asked, runtime=server, limits=limits, arrived_at=arrived_at)
    now, then = drawn_trace(trace), redrawn(await store.find(links["id"]))
    assert then.prompt_tokens == now.prompt_tokens
    assert then.vocabulary_size == now.vocabulary_size
    assert then.trace.request == now.trace.request
    assert then.trace.generated_text == now.trace.generated_text
    for left, right in zip(then.steps, now.steps, strict=True):
        for name in (each.name for each in fields(left) if each.name != "milliseconds"):
            assert getattr(left, name) == pytest.approx(getattr(right, name)), name


async def test_given_tokens_and_a_stopped_run_are_said_in_words(server, connect, visitor):
    socket = await connect()
    await socket.start(max_new_tokens=32, temperature=1, forced=[260, 195])
    await socket.hear_until("step")
    await socket.say("stop")
    *_, finished = await socket.hear_until("finished")
    sent = {"trace": finished["trace"], "receipt": finished["receipt"]}
    response = await visitor.post("/v1/shared-traces", data=sent, content_type="application/json")
    assert response.status_code == 201, response.content
    _, page = await read(visitor, page_path(response.json()["id"]))
    given = sum(step["analysis"]["forced"] for step in finished["trace"]["steps"])
    assert page.count("Given: this token was put here") == given > 0
    assert page.count('<span class="tag chosen">given</span>') == given
    stopped = finished["trace"]["finish_reason"] == "stopped"
    assert ("It was stopped after" in page) == stopped


async def test_hostile_text_is_inert_in_every_place_and_unchanged_in_the_block(share, visitor):
    links, trace = await share(prompt=HOSTILE)
    for path in (page_path(links["id"]), embed_path(links["id"])):
        raw = (await visitor.get(path)).content.decode()
        assert "<b>" not in raw
        (block,) = re.findall(r'<script id="stored-trace"[^>]*>(.*?)</script>', raw, re.DOTALL)
        stored = json.loads(block)
        assert stored["trace"] == trace
        assert stored["url"] == links["url"]
        assert stored["shared_at"]
        # Names, previews and citations hold nothing that turns around what stands beside them.
        for pattern in (
            r"<title>(.*?)</title>",
            r'<meta name="description" content="(.*?)">',
            r'<meta property="og:title" content="(.*?)">',
            r'<link rel="alternate"[^>]* title="(.*?)">',
            r'class="(?:line|source)"><bdi>(.*?)</bdi>',
        ):
            (found,) = re.findall(pattern, raw, re.DOTALL)
            assert "</script>" in html.unescape(found) or "went on with" in found
            assert not UNSEEN.search(html.unescape(found))
        assert "\0" not in raw


async def test_bibtex_is_one_entry_whatever_the_prompt_says(share, visitor):
    links, _ = await share(prompt="100% of {x}_y & $z # ~ ^ \\input")
    raw = (await visitor.get(page_path(links["id"]))).content.decode()
    (entry,) = re.findall(r"<pre[^>]*>(.*?)</pre>", raw, re.DOTALL)
    entry = html.unescape(entry)
    assert entry.startswith("@misc{tokentrace-")
    assert r"100\% of \{x\}\_y \& \$z \#" in entry
    assert r"\textbackslash{}input" in entry
    assert f"url = {{{links['url']}}}" in entry
    unescaped = re.sub(r"\\[{}]", "", entry)
    assert unescaped.count("{") == unescaped.count("}")


async def test_links_have_a_preview_and_oembed_is_announced(share, visitor):
    links, _ = await share(prompt="The moon is")
    _, page = await read(visitor, page_path(links["id"]))
    assert '<meta property="og:title" content="“The moon is” and what smollm2-135m' in page
    assert f'<meta property="og:url" content="{links["url"]}">' in page
    announced = re.search(r'type="application/json\+oembed" href="([^"]*)"', page)
    assert announced
    assert (await visitor.get(html.unescape(announced[1]))).status_code == 200


@pytest.mark.parametrize("path_of", [page_path, embed_path, delete_path])
@pytest.mark.parametrize(
    "trace_id", ["A" * 22, "A" * 21, "A" * 23, "A" * 21 + "%0a", "A" * 21 + "."]
)
async def test_what_is_not_there_is_a_calm_404(server, visitor, path_of, trace_id):
    response = await visitor.get(path_of(trace_id))
    assert response.status_code == 404
    if trace_id == "A" * 22:
        assert b"There is no trace here" in response.content
        assert response["X-Robots-Tag"] == "noindex"


async def test_a_trace_whose_time_is_over_has_no_page(share, visitor):
    links, _ = await share()
    await SharedTrace.objects.aupdate(expires_at=timezone.now())
    assert (await visitor.get(page_path(links["id"]))).status_code == 404
    assert not await SharedTrace.objects.aexists()


async def test_links_work_where_sharing_was_turned_off(share, visitor):
    links, _ = await share()
    await set_limits(sharing=False)
    assert (await visitor.get(page_path(links["id"]))).status_code == 200


async def test_the_author_removes_it_with_the_token_and_twice_is_calm(share, visitor):
    links, _ = await share()
    path = delete_path(links["id"])
    assert (await visitor.get(path)).status_code == 200
    for _ in range(2):
        response = await visitor.post(path, {"token": f" {links['delete_token']}\r\n"})
        assert response.status_code == 200
        assert b"The trace is removed" in response.content
    assert (await visitor.get(page_path(links["id"]))).status_code == 404
    assert (await visitor.get(path)).status_code == 404


@pytest.mark.parametrize("token", ["", "x" * 22, "\0", "x" * 9999])
async def test_another_token_is_refused_at_its_field(share, visitor, token):
    links, _ = await share()
    response = await visitor.post(delete_path(links["id"]), {"token": token})
    assert response.status_code == 403
    assert b'aria-invalid="true"' in response.content
    assert await SharedTrace.objects.aexists()


async def test_guessing_tokens_is_slowed_down(share, visitor, environment):
    links, _ = await share()
    environment(proxies=1)
    await set_limits(rate_per_minute=1)
    client = {"X-Forwarded-For": "192.0.2.71"}  # which no other test is
    path = delete_path(links["id"])
    tries = [await visitor.post(path, {"token": "x"}, headers=client) for _ in range(2)]
    assert [response.status_code for response in tries] == [403, 429]
    assert int(tries[1]["Retry-After"]) >= 1


async def test_a_page_of_another_site_cannot_remove_a_trace(share, visitor):
    links, _ = await share()
    response = await visitor.post(
        delete_path(links["id"]),
        {"token": links["delete_token"]},
        headers={"Origin": "https://foreign.example"},
    )
    assert response.status_code == 403
    assert await SharedTrace.objects.aexists()


async def test_the_templates_get_exactly_the_names_of_their_dataclasses(share, visitor):
    links, _ = await share()
    for path, page in (
        (page_path(links["id"]), SharedPage),
        (embed_path(links["id"]), SharedPage),
        (delete_path(links["id"]), DeletePage),
        (page_path("A" * 22), MissingPage),
    ):
        response = await visitor.get(path)
        assert set(response.context[0].dicts[-1]) == {field.name for field in fields(page)}
        assert all(field.metadata["help"] for field in fields(page))


@pytest.mark.parametrize(
    ("asked", "shown"),
    [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"'), ("auto", ""), ("'><b>", "")],
)
async def test_an_embedding_page_may_choose_the_theme(share, visitor, asked, shown):
    links, _ = await share()
    for path in (embed_path(links["id"]), "/embed"):
        page = (await visitor.get(path, {"theme": asked})).content.decode()
        assert f'<html lang="en"{shown}>' in page


async def test_the_embedded_form_works_without_a_script(server, visitor):
    response, page = await read(visitor, "/embed?theme=dark")
    assert response.status_code == 200
    assert 'action="/embed?theme=dark#trace"' in page
    assert "<header" not in page
    answer = await visitor.post("/embed", {"prompt": "The", "max_new_tokens": "2"})
    assert answer.status_code == 200
    assert b'id="step-2"' in answer.content
