"""A server that shares traces, and one that was shared."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import AsyncClient

from inference.models import LimitsRow
from tests.fakes import tiny_engine

SHARED = "/v1/shared-traces"
# A NUL, markup, quotes, bidi overrides, an emoji that is cut into tokens, a formula.
HOSTILE = "=1+1\0</script><b>'\"\u202e\u2066🦊\u2028"


@pytest.fixture
def visitor():
    return AsyncClient()


@pytest.fixture
def server(install, unlimited):
    """A tiny real model, without a rate."""
    return install(tiny_engine("llama"))


@pytest.fixture
def trace(server, visitor):
    """Make a trace as a program does: the answer, and its receipt."""

    async def make(**body: Any) -> dict[str, Any]:
        sent = {"prompt": HOSTILE, "max_new_tokens": 3, "top_k": 2} | body
        response = await visitor.post(
            "/v1/traces?include=analysis", data=sent, content_type="application/json"
        )
        assert response.status_code == 200, response.content
        return {"trace": response.json(), "receipt": response["X-Trace-Receipt"]}

    return make


@pytest.fixture
def share(trace, visitor):
    """Make a trace and share it: the links, and what was sent."""

    async def make(**body: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        sent = await trace(**body)
        response = await visitor.post(SHARED, data=sent, content_type="application/json")
        assert response.status_code == 201, response.content
        return json.loads(response.content), sent["trace"]

    return make


async def set_limits(**limits: Any) -> None:
    await LimitsRow.objects.aupdate_or_create(pk=1, defaults={"rate_per_minute": 0} | limits)
