"""What is too large is refused before it is held."""

from __future__ import annotations

import json
import socket
import time
from http import HTTPStatus

import httpx
import pytest

from tests.server.conftest import LISTED

pytestmark = pytest.mark.real_model

MEGABYTE = 1_000_000
LIMIT = 16 * 1024
# Long enough for a busy machine, and far less than a body of that size takes to be read slowly.
AT_ONCE = 2.0


def chunks(size):
    part = b"x" * 10_000
    for _ in range(size // len(part)):
        yield part


def refused(answer):
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"error"}
    assert body["error"]["code"] == "payload_too_large"
    assert str(LIMIT) in body["error"]["message"]


@pytest.mark.parametrize("form", ["with a length", "in chunks"])
def test_two_megabytes_are_refused_at_once_and_not_held(server, form):
    with httpx.Client(base_url=server.url) as client:
        client.get("/health")
        before = server.memory()
        for _ in range(10):
            content = b"x" * (2 * MEGABYTE) if form == "with a length" else chunks(2 * MEGABYTE)
            begun = time.monotonic()
            refused(client.post("/v1/traces", content=content))
            assert time.monotonic() - begun < AT_ONCE
        assert client.get("/health").status_code == 200
    assert server.memory() - before < 20 * MEGABYTE


def read_answer(connection):
    """What the server sends until it closes its side."""
    received = b""
    while part := connection.recv(65536):
        received += part
    return received


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 2000000\r\n\r\n",
        b"Content-Length: 2000000\r\nExpect: 100-continue\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
    ],
)
def test_a_length_over_the_limit_is_refused_before_any_of_the_body_is_sent(server, head):
    with socket.create_connection(server.address, timeout=AT_ONCE) as connection:
        connection.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\n" + head)
        answer = read_answer(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    assert json.loads(body)["error"]["code"] == "payload_too_large"


def test_the_limit_is_16_kib_to_the_byte(server):
    body = json.dumps({"prompt": "x", "max_new_tokens": 1}).encode()
    fitting = body + b" " * (LIMIT - len(body))
    assert httpx.post(f"{server.url}/v1/traces", content=fitting, timeout=110).status_code == 200
    refused(httpx.post(f"{server.url}/v1/traces", content=fitting + b" "))


def test_another_spelling_of_the_path_has_the_same_limit(server):
    refused(httpx.post(f"{server.url}/v1/%74races", content=b"x" * (LIMIT + 1)))
    refused(httpx.post(f"{server.url}/v1/traces?include=analysis", content=b"x" * (LIMIT + 1)))


def test_a_refusal_can_be_read_by_a_listed_page_and_has_an_id(server):
    for origin, allowed in ((LISTED, LISTED), ("https://foreign.example", None)):
        headers = {"Origin": origin, "X-Request-ID": "r-413"}
        answer = httpx.post(f"{server.url}/v1/traces", content=b"x" * (LIMIT + 1), headers=headers)
        refused(answer)
        assert answer.headers.get("Access-Control-Allow-Origin") == allowed
        assert answer.headers["X-Request-ID"] == "r-413"


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=x"])
def test_a_body_that_calls_itself_a_form_is_read_as_what_it_is(server, kind):
    answer = httpx.post(f"{server.url}/v1/traces", content=b"{}", headers={"Content-Type": kind})
    assert (answer.status_code, answer.reason_phrase) == (422, HTTPStatus(422).phrase)
    assert answer.json()["error"]["code"] == "invalid_request"
