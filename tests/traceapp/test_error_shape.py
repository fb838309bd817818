"""
Every error under /v1/ has one body, {"error": {"code", "message"}}, whoever wrote it: an
endpoint, the parser, Django, a middleware, or the server before any of them.
"""

from __future__ import annotations

import json

import pytest
from django.http import HttpResponse, HttpResponseNotFound
from django.test import AsyncClient, AsyncRequestFactory

from inference import errors
from tests.traceapp.conftest import TRACES, error_of
from traceapp.api.errors import STATUS, error_response
from traceapp.body_limits import DEFAULT_LIMIT, LIMITS, limit_for, too_large
from traceapp.middleware.json_errors import JsonErrors


def below(error):
    """The classes that derive from one and are raised; a base of several is not."""
    derived = error.__subclasses__()
    return {each for child in derived for each in ({child} | below(child))}


ABSTRACT = {errors.TryLater}
ERRORS = sorted(below(errors.TraceError) - ABSTRACT, key=lambda error: error.code)


def made(error):
    if issubclass(error, errors.TryLater):
        return error("it is so", retry_after_seconds=7)
    return error("it is so")


def test_every_error_has_a_status_and_every_status_an_error():
    assert set(STATUS) == set(ERRORS)


def test_every_error_has_a_code_of_its_own():
    assert len({error.code for error in ERRORS}) == len(ERRORS)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_every_error_has_the_one_body(error):
    response = error_response(made(error))
    assert response.status_code == STATUS[error]
    assert error_of(response) == {"code": error.code, "message": "it is so"}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_what_passes_says_when_and_nothing_else_does(error):
    response = error_response(made(error))
    expected = "7" if issubclass(error, errors.TryLater) else None
    assert response.get("Retry-After") == expected


def test_the_tree_in_the_docstring_is_the_tree():
    drawn = {line.split()[1] for line in (errors.__doc__ or "").splitlines() if " x " in f" {line}"}
    drawn |= {line.split()[1] for line in (errors.__doc__ or "").splitlines() if "+ " in line}
    assert drawn == {error.__name__ for error in ERRORS} | {error.__name__ for error in ABSTRACT}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("post", TRACES, {}, 422),
        ("post", TRACES, {"Origin": "https://foreign.example"}, 403),
        ("get", TRACES, {}, 405),
        ("get", "/v1/nothing", {}, 404),
        ("get", "/v1/models", {}, 503),
        ("post", "/v1/limits", {}, 405),
        ("post", "/health", {}, 405),
    ],
)
async def test_every_refusal_has_the_one_body(unlimited, method, path, headers, status):
    response = await getattr(AsyncClient(), method)(path, headers=headers)
    assert response.status_code == status
    error_of(response)


async def test_a_host_that_is_not_ours_is_a_400_with_the_one_body(unlimited, settings):
    settings.ALLOWED_HOSTS = ["ours.example"]
    response = await AsyncClient().get("/v1/limits")
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_request"


async def test_an_endpoint_that_breaks_is_a_500_that_says_nothing_of_why(
    unlimited, settings, caplog
):
    settings.TRACEAPP = None  # which no code expects
    response = await AsyncClient().get("/v1/limits")
    assert response.status_code == 500
    assert error_of(response)["code"] == "inference_failed"
    assert "NoneType" not in response.content.decode()
    assert "AttributeError" in caplog.text


@pytest.mark.parametrize("status", [400, 404, 405, 413, 500])
async def test_what_django_answers_in_html_becomes_json_and_keeps_its_headers(status):
    async def in_html(request):
        headers = {"Allow": "GET", "Vary": "Origin", "Access-Control-Allow-Origin": "https://a"}
        return HttpResponse("<h1>No</h1>", status=status, headers=headers)

    response = await JsonErrors(in_html)(AsyncRequestFactory().get("/v1/x"))
    assert response.status_code == status
    error_of(response)
    assert response["Allow"] == "GET"
    assert response["Vary"] == "Origin"
    assert response["Access-Control-Allow-Origin"] == "https://a"
    assert "Content-Length" not in response


async def test_pages_keep_their_own_errors():
    async def in_html(request):
        return HttpResponseNotFound("<h1>No</h1>")

    response = await JsonErrors(in_html)(AsyncRequestFactory().get("/admin/x"))
    assert isinstance(response, HttpResponse)
    assert response.content == b"<h1>No</h1>"


async def test_an_answer_that_is_json_already_stays_as_it_is():
    async def in_json(request):
        return error_response(errors.PromptTooLong("as it is"))

    response = await JsonErrors(in_json)(AsyncRequestFactory().get("/v1/x"))
    assert error_of(response)["message"] == "as it is"


def test_the_limit_of_a_body_is_the_contracts_however_its_path_is_written():
    assert limit_for("/v1/traces") == LIMITS["/v1/traces"] == 16 * 1024
    assert limit_for("/v1/%74races") == 16 * 1024
    assert limit_for("/v1/completions") == DEFAULT_LIMIT == 1024 * 1024
    assert "16384" in too_large(16 * 1024).message


def test_a_message_may_hold_any_character():
    response = error_response(errors.InvalidRequest('quote " and \n newline and 👩‍🚀'))
    assert json.loads(response.content)["error"]["message"].endswith("👩‍🚀")
