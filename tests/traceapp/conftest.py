"""A client of the API in this process, and the limits that it meets."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import AsyncClient

from tests.sockets import Socket
from tests.traceapp.openai_api import Api

TRACES = "/v1/traces"


@pytest.fixture(autouse=True)
def middle_of_a_minute(monkeypatch):
    """Stop the clock of the rates where no minute ends: at its end one request more is let in."""
    stopped = SimpleNamespace(time=lambda: 28_333_333 * 60 + 30.0)
    for module in ("limits.storage.memory", "limits.strategies", "traceapp.counting"):
        monkeypatch.setattr(f"{module}.time", stopped)


@pytest.fixture
def environment(settings):
    """Give the settings of the environment other values: `environment(proxies=1)`."""

    def give(**values: Any) -> None:
        settings.TRACEAPP = settings.TRACEAPP.model_copy(update=values)

    return give


@pytest.fixture
def unlimited(environment, transactional_db):
    """No rate, so that the requests of one test do not count against those of another."""
    environment(rate_per_minute=0)


@pytest.fixture
def post(unlimited):
    """Send a body to /v1/traces, a value or the very bytes, in a request without a rate."""
    client = AsyncClient()

    async def send(body: Any, *, query: str = "", **headers: str) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await client.post(
            TRACES + query, data=data, content_type="application/json", headers=headers
        )

    return send


@pytest.fixture
def api(unlimited):
    """A client of the OpenAI endpoints, without a rate."""
    return Api()


def error_of(response: Any) -> dict[str, str]:
    """The one error body, checked to be that and nothing more."""
    assert response["Content-Type"] == "application/json"
    body = json.loads(response.content)
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"code", "message"}
    assert all(isinstance(value, str) and value for value in body["error"].values())
    error: dict[str, str] = body["error"]
    return error


@pytest.fixture
async def connect(unlimited):
    """Open a socket and pass over its hello: `await connect()`; all are left at the end."""
    opened: list[Socket] = []

    async def start(**headers: str) -> Socket:
        socket = Socket(**headers)
        assert await socket.open()
        opened.append(socket)
        assert (await socket.hear())["type"] == "hello"
        return socket

    yield start
    for socket in opened:
        await socket.leave()
