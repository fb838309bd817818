"""Which sites' pages may call us, and what they are told."""

from __future__ import annotations

import pytest
from django.test import AsyncClient

from inference.models import LimitsRow
from tests.traceapp.conftest import TRACES, error_of
from traceapp.origins import is_listed, is_own

OWN = "http://testserver"
LISTED = "https://school.example"
FOREIGN = "https://foreign.example"
CORS = "Access-Control-Allow-Origin"


@pytest.fixture
def listed(environment, unlimited):
    environment(allowed_origins=(LISTED,), rate_per_minute=0)


@pytest.fixture
def said(install, listed):
    install("fine")


async def send(post, origin=None):
    headers = {} if origin is None else {"Origin": origin}
    return await post({"prompt": "x", "max_new_tokens": 1}, **headers)


@pytest.mark.parametrize("origin", [None, OWN, "https://testserver", "HTTP://TestServer", LISTED])
async def test_a_request_of_nobodys_page_of_ours_or_of_a_listed_one_is_served(post, said, origin):
    response = await send(post, origin)
    assert response.status_code == 200
    assert response.get(CORS) == (LISTED if origin == LISTED else None)
    assert "Origin" in response["Vary"]


@pytest.mark.parametrize(
    "origin",
    [
        FOREIGN,
        "null",
        "",
        "http://testserver.foreign.example",
        "http://testserver:8080",
        "http://foreign.example/testserver",
        "https://testserver@foreign.example",
        "file://testserver",
        "http://[",
        "http://school.example",
        "https://school.example:444",
        f"{LISTED}, {OWN}",
        "*",
    ],
)
async def test_a_post_from_any_other_page_is_403_and_gets_no_cors_header(post, said, origin):
    response = await send(post, origin)
    assert response.status_code == 403
    assert error_of(response)["code"] == "origin_not_allowed"
    assert CORS not in response
    assert "Origin" in response["Vary"]


async def test_the_page_too_refuses_a_form_that_a_foreign_page_sends(said):
    response = await AsyncClient().post("/", {"prompt": "x"}, headers={"Origin": FOREIGN})
    assert response.status_code == 403


async def test_what_only_reads_is_answered_without_a_cors_header(said):
    for origin, expected in ((FOREIGN, None), (LISTED, LISTED), (OWN, None)):
        response = await AsyncClient().get("/v1/models", headers={"Origin": origin})
        assert response.status_code == 200
        assert response.get(CORS) == expected
        assert "Origin" in response["Vary"]


async def test_a_listed_page_can_read_errors_too_and_when_to_come_back(post, said):
    response = await post({}, Origin=LISTED)
    assert (response.status_code, response[CORS]) == (422, LISTED)
    assert "Retry-After" in response["Access-Control-Expose-Headers"]
    missing = await AsyncClient().get("/v1/nothing", headers={"Origin": LISTED})
    assert (missing.status_code, missing[CORS]) == (404, LISTED)


def preflight(origin, **headers):
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST"} | headers
    return AsyncClient().options(TRACES, headers=asked)


async def test_a_preflight_of_a_listed_page_is_204_and_allows_the_headers_asked_for(listed):
    headers = {"Access-Control-Request-Headers": "content-type, x-anything"}
    response = await preflight(LISTED, **headers)
    assert response.status_code == 204
    assert response.content == b""
    assert response[CORS] == LISTED
    assert response["Access-Control-Allow-Headers"] == "content-type, x-anything"
    assert "POST" in response["Access-Control-Allow-Methods"]
    assert "Origin" in response["Vary"]
    assert "Access-Control-Allow-Credentials" not in response


async def test_a_preflight_that_names_no_headers_may_send_json(listed):
    response = await preflight(LISTED)
    assert response["Access-Control-Allow-Headers"] == "content-type"


@pytest.mark.parametrize("origin", [FOREIGN, "null"])
async def test_a_preflight_of_any_other_page_is_403(listed, origin):
    response = await preflight(origin)
    assert response.status_code == 403
    assert error_of(response)["code"] == "origin_not_allowed"
    assert CORS not in response


async def test_the_administrators_list_holds_for_the_next_request(post, said):
    await LimitsRow.objects.acreate(pk=1, allowed_origins=FOREIGN, rate_per_minute=0)
    assert (await send(post, FOREIGN)).status_code == 200
    assert (await send(post, LISTED)).status_code == 403
    await LimitsRow.objects.filter(pk=1).aupdate(allowed_origins="null")
    assert (await send(post, "null")).status_code == 200
    assert (await send(post, FOREIGN)).status_code == 403


def test_the_case_and_a_last_slash_of_an_entry_do_not_matter():
    assert is_listed("https://school.example", ("HTTPS://School.example/",))
    assert not is_listed("https://school.example.foreign.example", ("https://school.example",))


def test_own_is_the_host_with_its_port():
    assert is_own("http://127.0.0.1:8000", "127.0.0.1:8000")
    assert not is_own("http://127.0.0.1", "127.0.0.1:8000")
    assert not is_own("ws://127.0.0.1:8000", "127.0.0.1:8000")
