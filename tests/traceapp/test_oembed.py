"""oEmbed: our own pages for other sites, and nobody else's."""

from __future__ import annotations

import html
import re

import pytest
from django.test import AsyncClient

from tests.traceapp.conftest import error_of
from tests.traceapp.sharing.conftest import HOSTILE
from tests.traceapp.sharing.conftest import server as server  # a fixture
from tests.traceapp.sharing.conftest import share as share
from tests.traceapp.sharing.conftest import trace as trace
from tests.traceapp.sharing.conftest import visitor as visitor


async def ask(**query):
    return await AsyncClient().get("/oembed", query)


async def test_a_shared_trace_is_one_plain_iframe_with_a_title(share):
    links, _ = await share(prompt="The moon is")
    for url in (links["url"], links["url"].replace("/t/", "/embed/t/")):
        response = await ask(url=url)
        assert response.status_code == 200
        body = response.json()
        assert (body["version"], body["type"]) == ("1.0", "rich")
        assert body["title"].startswith("“The moon is”")
        frame = re.fullmatch(
            r'<iframe src="(.*?)" width="720" height="640" title="(.*?)"></iframe>', body["html"]
        )
        assert frame
        assert frame[1] == f"http://testserver/embed/t/{links['id']}"
        assert html.unescape(frame[2]) == body["title"]
        assert response["X-Robots-Tag"] == "noindex"


async def test_a_frame_is_no_larger_than_asked_for(share):
    links, _ = await share()
    body = (await ask(url=links["url"], maxwidth=300, maxheight=9000)).json()
    assert (body["width"], body["height"]) == (300, 640)
    assert 'width="300" height="640"' in body["html"]


@pytest.mark.django_db(transaction=True)
async def test_the_live_page_keeps_the_options_of_its_fragment():
    body = (await ask(url='http://testserver/embed#prompt=a"><script>&lock=1')).json()
    assert body["html"].count("<") == 2
    src = html.unescape(re.findall('src="(.*?)"', body["html"])[0])
    assert src == 'http://testserver/embed#prompt=a"><script>&lock=1'


async def test_hostile_text_stays_inside_the_title(share):
    links, _ = await share(prompt=HOSTILE)
    body = (await ask(url=links["url"])).json()
    assert body["html"].count("<") == 2
    assert not re.search("[\0\u202e\u2066]", body["html"] + body["title"])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "url",
    [
        "https://foreign.example/t/" + "A" * 22,
        "http://testserver.foreign.example/embed",
        "http://testserver@foreign.example/embed",
        "http://testserver:81/embed",
        "ftp://testserver/embed",
        "//testserver/embed",
        "/embed",
        "http://[",
        "",
        "http://testserver/",
        "http://testserver/admin/",
        "http://testserver/t/" + "A" * 22,
        "http://testserver/t/" + "A" * 22 + "/delete",
    ],
)
async def test_any_other_address_is_404(url):
    response = await ask(url=url)
    assert response.status_code == 404
    assert error_of(response)["code"] == "not_found"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({}, 422),
        ({"url": "x" * 1201}, 422),
        ({"maxwidth": "0"}, 422),
        ({"maxheight": "wide"}, 422),
        ({"format": "xml"}, 501),
    ],
)
async def test_what_cannot_be_is_refused_with_its_reason(query, status):
    known = {"url": "http://testserver/embed"} if query else {}
    response = await ask(**known | query)
    assert response.status_code == status
    named = next(iter(query), "url")
    assert named in error_of(response)["message"]
