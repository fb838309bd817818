"""The OpenAI endpoints of the real server: when bytes arrive, clients that leave, large bodies."""

from __future__ import annotations

import asyncio
import json
import socket
import time

import httpx
import pytest

from tests.server.conftest import MARKER

pytestmark = pytest.mark.real_model

LONG = {"prompt": f"{MARKER}: 1, 2, 3, 4, 5, 6,", "temperature": 0, "max_tokens": 48}
SHORT = {"prompt": MARKER, "temperature": 0, "max_tokens": 1}
CHAT = {
    "messages": [{"role": "user", "content": f"{MARKER}? Say nothing of it."}],
    "temperature": 0,
    "max_tokens": 24,
}


@pytest.fixture
def client(server):
    with httpx.Client(base_url=server.url, timeout=110) as client:
        yield client


def events_of(client, path, body):
    """Each event of a stream, and when it came, in seconds since the request was sent."""
    begun = time.monotonic()
    with client.stream("POST", path, json=body | {"stream": True}) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream"
        assert "content-encoding" not in response.headers
        return [
            (line.removeprefix("data: "), time.monotonic() - begun)
            for line in response.iter_lines()
            if line
        ]


def test_events_are_sent_as_the_tokens_are_drawn(client):
    *events, (done, whole) = events_of(client, "/v1/completions", LONG)
    assert done == "[DONE]"
    pieces = [json.loads(event)["choices"] for event, _ in events[:-1]]
    assert len(pieces) >= 40
    _, first = events[0]
    _, middle = events[len(events) // 2]
    assert first < 0.5 * whole
    assert first < middle < whole
    answer = client.post("/v1/completions", json=LONG).json()
    assert "".join(choice["text"] for (choice,) in pieces) == answer["choices"][0]["text"]
    assert json.loads(events[-1][0])["usage"] == answer["usage"]


def test_a_chat_is_streamed_as_it_is_answered(client):
    *events, _ = events_of(client, "/v1/chat/completions", CHAT)
    deltas = [json.loads(event)["choices"][0]["delta"] for event, _ in events[:-1]]
    answer = client.post("/v1/chat/completions", json=CHAT).json()
    message = answer["choices"][0]["message"]
    assert "".join(delta.get("content", "") for delta in deltas) == message["content"]
    assert [delta for delta in deltas if "role" in delta] == deltas[:1]


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions"])
def test_a_prompt_larger_than_the_context_has_its_status_before_any_event(client, path):
    words = "word " * 5000
    body = {"prompt": words, "messages": [{"role": "user", "content": words}], "stream": True}
    response = client.post(path, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "context_length_exceeded"


def test_an_answer_of_the_real_model_follows_a_schema(client):
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 10}, "warm": {"type": "boolean"}},
        "required": ["city", "warm"],
        "additionalProperties": False,
    }
    body = CHAT | {
        "max_tokens": 60,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
    }
    (choice,) = client.post("/v1/chat/completions", json=body).json()["choices"]
    assert choice["finish_reason"] == "stop"
    said = json.loads(choice["message"]["content"])
    assert said.keys() == {"city", "warm"}
    assert isinstance(said["warm"], bool)


def test_a_large_body_is_refused_in_openais_words(client):
    response = client.post("/v1/completions", content=b"x" * 2_000_000)
    assert response.status_code == 413
    body = response.json()
    assert body["error"]["code"] == "payload_too_large"
    assert body["error"]["type"] == "invalid_request_error"
    assert body["message"] == body["error"]["message"]


def test_a_stream_that_is_left_frees_the_model(server, client):
    """Five long completions that ran to their end would take five times as long as one."""
    begun = time.monotonic()
    client.post("/v1/completions", json=LONG | {"max_tokens": 96})
    whole = time.monotonic() - begun
    body = json.dumps(LONG | {"stream": True, "max_tokens": 96}).encode()
    begun = time.monotonic()
    for _ in range(5):
        with socket.create_connection(server.address) as connection:
            connection.sendall(
                b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            received = b""
            while b"data: " not in received:  # the first token is there
                received += connection.recv(65536)
    assert client.post("/v1/completions", json=SHORT).status_code == 200
    assert time.monotonic() - begun < 4 * whole


async def test_after_200_clients_have_left_the_next_is_answered_in_five_seconds(server):
    """As vLLM tests itself: all at once, each gives up after half a second."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, limits=limits) as client:

        async def leave(number):
            body = LONG | {"max_tokens": 200, "stream": bool(number % 2)}
            try:
                response = await client.post("/v1/completions", json=body, timeout=0.5)
            except httpx.TimeoutException:
                return None
            return response.status_code

        statuses = await asyncio.gather(*map(leave, range(200)))
        assert None in statuses
        assert set(statuses) <= {None, 429}
        begun = time.monotonic()
        answer = await client.post("/v1/completions", json=SHORT, timeout=30)
        assert answer.status_code == 200
        assert time.monotonic() - begun < 5


async def test_a_trace_and_a_chat_at_once_do_not_change_each_other(server):
    trace = {"prompt": MARKER, "max_new_tokens": 16, "temperature": 1, "seed": 5}
    chat = CHAT | {"temperature": 1, "seed": 6, "stream": True}

    def steps_of(answer):
        return [step["selected_token_id"] for step in answer.json()["steps"]]

    def content_of(answer):
        events = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
        deltas = [json.loads(event)["choices"] for event in events[:-1]]
        return "".join(d[0]["delta"].get("content", "") for d in deltas if d)

    async with httpx.AsyncClient(base_url=server.url, timeout=110) as client:
        alone = (
            steps_of(await client.post("/v1/traces", json=trace)),
            content_of(await client.post("/v1/chat/completions", json=chat)),
        )
        traced, chatted = await asyncio.gather(
            client.post("/v1/traces", json=trace),
            client.post("/v1/chat/completions", json=chat),
        )
    assert (steps_of(traced), content_of(chatted)) == alone
