"""Many clients at once, and clients that leave."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time

import httpx
import pytest

from tests.server.conftest import MARKER

pytestmark = pytest.mark.real_model

logger = logging.getLogger(__name__)

PLACES = 1 + 32  # one runs, and so many may wait
LONGEST = {"prompt": f"{MARKER}: 1, 2, 3, 4, 5, 6,", "max_new_tokens": 32}


async def at_once(server, clients, body):
    """The answers to that many clients that all send the body, and how long each /health took."""
    done = asyncio.Event()
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, timeout=110, limits=limits) as client:

        async def trace():
            return await client.post("/v1/traces", json=body)

        async def watch():
            seconds = []
            while not done.is_set():
                begun = time.monotonic()
                assert (await client.get("/health")).status_code == 200
                seconds.append(time.monotonic() - begun)
            return seconds

        watching = asyncio.create_task(watch())
        answers = await asyncio.gather(*(trace() for _ in range(clients)))
        done.set()
        return answers, await watching


async def test_48_clients_at_once_are_served_or_told_when_to_come_back(server):
    answers, health = await at_once(server, 48, {"prompt": MARKER, "max_new_tokens": 2})
    refused = [answer for answer in answers if answer.status_code == 429]
    served = [answer for answer in answers if answer.status_code == 200]
    assert len(served) + len(refused) == 48
    assert len(served) >= PLACES
    assert refused
    for answer in refused:
        assert answer.json()["error"]["code"] == "busy"
        assert int(answer.headers["Retry-After"]) >= 1
    slowest = sorted(health)[int(0.99 * len(health))]
    logger.info("/health under 48 clients: p99 of %d is %.0f ms", len(health), 1000 * slowest)
    assert slowest < 1

    # All the places are free again: as many clients as there are places are all served.
    answers, _ = await at_once(server, PLACES, {"prompt": MARKER, "max_new_tokens": 1})
    assert [answer.status_code for answer in answers] == [200] * PLACES


def leave_in_the_middle(server, client):
    """Send a long trace, make sure that it has arrived, and go."""
    body = json.dumps(LONGEST).encode()
    with socket.create_connection(server.address) as connection:
        connection.sendall(
            b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
            % (len(body), body)
        )
        for _ in range(5):  # each comes back after what was sent before it is under way
            client.get("/v1/models")


def test_clients_that_leave_in_the_middle_free_the_model(server):
    """Six long traces that ran to their end would take six times as long as one."""
    with httpx.Client(base_url=server.url, timeout=110) as client:
        longest = client.post("/v1/traces", json=LONGEST).json()
        assert len(longest["steps"]) == 32
        whole = longest["timing"]["total_trace_ms"]
        left_before = server.log.text.count("499 client_disconnected")
        begun = time.monotonic()
        for _ in range(6):
            leave_in_the_middle(server, client)
        asking = 1000 * (time.monotonic() - begun)
        answer = client.post("/v1/traces", json={"prompt": MARKER, "max_new_tokens": 1}).json()
    assert answer["timing"]["total_trace_ms"] < whole
    assert asking + answer["timing"]["total_trace_ms"] < 6 * whole
    lines = rf"(?s)(499 client_disconnected.*){{{left_before + 6}}}"
    assert server.log.wait_for(lines, seconds=5)
