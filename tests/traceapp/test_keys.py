"""Who must show an API key, and what is said to those who do not."""

from __future__ import annotations

import json
import logging
import re

import pytest
from django.test import AsyncClient
from django.urls import URLResolver, get_resolver

from inference.models import LimitsRow
from tests.keys import bearer, new_key
from tests.sockets import Socket
from traceapp.api import api
from traceapp.keys import OPEN_PATHS, is_guarded

TRACE = {"prompt": "a", "max_new_tokens": 1}
SHARING = {"/v1/shared-traces", "/v1/shared-traces/x", "/oembed"}
OPEN = {"/health", "/metrics", "/metrics/json", "/", *OPEN_PATHS, *SHARING}
UNKNOWN = "tt_" + 43 * "A"


@pytest.fixture
async def closed(unlimited):
    """A server that answers only who shows a key."""
    await LimitsRow.objects.acreate(pk=1, key_required=True, rate_per_minute=0)


def send(path, **headers):
    body = {"/v1/traces": TRACE, "/v1/completions": {"prompt": "a"}}.get(path, {})
    return AsyncClient().post(path, json.dumps(body), "application/json", headers=headers)


def routes():
    (mounted,) = [
        each
        for each in get_resolver().url_patterns
        if isinstance(each, URLResolver) and each.namespace == api.urls_namespace
    ]
    return {re.sub(r"<[^>]*>", "x", f"/{each.pattern}") for each in mounted.url_patterns}


def test_every_route_of_the_api_is_guarded_but_for_those_of_a_list():
    assert {path for path in routes() if not is_guarded(path)} == OPEN


@pytest.mark.parametrize("path", [*sorted(routes() - OPEN), "/v1/added-later", "/start_profile"])
async def test_without_a_key_nothing_is_answered_where_one_is_needed(closed, path):
    answer = await send(path)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert json.loads(answer.content)["error"]["code"] == "invalid_api_key"


@pytest.mark.parametrize("path", sorted(OPEN - {"/"}))
async def test_what_is_open_needs_no_key_and_looks_at_none(closed, path):
    answer = await AsyncClient().get(path, headers=bearer(UNKNOWN))
    assert answer.status_code != 401


async def test_a_key_opens_the_api_and_is_the_one_that_is_counted(closed, install):
    install("ab")
    _, secret = await new_key(rate_per_minute=2)
    _, other = await new_key(rate_per_minute=2)
    statuses = [(await send("/v1/traces", **bearer(secret))).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert (await send("/v1/traces", **bearer(other))).status_code == 200


async def test_a_revoked_key_is_refused_at_the_next_request(closed, install):
    install("ab")
    row, secret = await new_key()
    assert (await send("/v1/traces", **bearer(secret))).status_code == 200
    await type(row).objects.aupdate(revoked_at=row.created_at)
    assert (await send("/v1/traces", **bearer(secret))).status_code == 401


@pytest.mark.parametrize(
    "header", ["Basic dTpw", "Bearer", "Bearer EMPTY", "bearer  sk-abc", "Bearer a b", "tt_x"]
)
async def test_where_none_is_needed_other_credentials_are_passed_over(unlimited, install, header):
    install("ab")
    assert (await send("/v1/traces", Authorization=header)).status_code == 200
    await LimitsRow.objects.acreate(pk=1, key_required=True)
    assert (await send("/v1/traces", Authorization=header)).status_code == 401


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER  "])
async def test_a_key_that_does_not_hold_is_refused_even_where_none_is_needed(unlimited, scheme):
    assert (await send("/v1/traces", Authorization=scheme + UNKNOWN)).status_code == 401


async def test_each_dialect_says_it_in_its_own_shape(closed, caplog):
    with caplog.at_level(logging.DEBUG):
        plain = json.loads((await send("/v1/traces", **bearer(UNKNOWN))).content)
        openai = json.loads((await send("/v1/completions", **bearer(UNKNOWN))).content)
    message = "this API key is unknown or revoked"
    assert plain == {"error": {"code": "invalid_api_key", "message": message}}
    assert openai == {
        "object": "error",
        "message": message,
        "error": {
            "message": message,
            "type": "authentication_error",
            "param": None,
            "code": "invalid_api_key",
        },
    }
    assert UNKNOWN not in caplog.text


async def test_the_first_page_needs_no_key(closed, install):
    install("ab")
    answer = await AsyncClient().post("/", {"prompt": "a"} | _form())
    assert answer.status_code == 200


def _form():
    return {"max_new_tokens": "1", "top_k": "1", "temperature": "0", "top_p": "1", "seed": ""}


async def test_a_listed_site_can_read_that_it_lacks_a_key(unlimited):
    site = "https://a.example"
    await LimitsRow.objects.acreate(pk=1, key_required=True, allowed_origins=site)
    answer = await send("/v1/traces", Origin=site)
    assert answer.status_code == 401
    assert answer["Access-Control-Allow-Origin"] == site


# Sockets


async def test_a_program_needs_a_key_for_a_socket_and_our_own_page_none(closed, install, settings):
    install("ab")
    settings.ALLOWED_HOSTS = ["testserver"]
    _, secret = await new_key()
    for headers in ({}, {"authorization": f"Bearer {UNKNOWN}"}, {"authorization": "Bearer x"}):
        socket = Socket(**headers)
        assert not await socket.open()
        assert socket.code == 4401
    for headers in ({"authorization": f"Bearer {secret}"}, {"origin": "http://testserver"}):
        socket = Socket(**headers)
        assert await socket.open()
        await socket.hear()
        assert (await socket.run(max_new_tokens=1))[-1]["type"] == "finished"
        await socket.leave()


async def test_a_foreign_page_of_a_name_that_leads_here_is_not_our_own(closed, settings):
    settings.ALLOWED_HOSTS = ["testserver"]
    site = "http://evil.example"
    await LimitsRow.objects.aupdate(allowed_origins=site)
    socket = Socket(host="evil.example", origin=site)
    assert not await socket.open()
    assert socket.code == 4401


async def test_an_open_socket_ends_its_runs_once_its_key_is_revoked(closed, install):
    install("ab")
    row, secret = await new_key()
    socket = Socket(authorization=f"Bearer {secret}")
    assert await socket.open()
    await socket.hear()
    await type(row).objects.aupdate(revoked_at=row.created_at)
    assert (await socket.run())[-1]["code"] == "invalid_api_key"
    await socket.leave()
