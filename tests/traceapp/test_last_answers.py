"""What a client is told of its connection while the server stops."""

from __future__ import annotations

import pytest
from django.test import AsyncClient

pytestmark = pytest.mark.django_db(transaction=True)


async def test_only_while_the_server_stops_an_answer_ends_its_connection(install):
    serving = install(" the moon")
    client = AsyncClient()
    assert "Connection" not in await client.get("/health")
    serving.begin_closing()
    for path in ("/health", "/v1/models", "/v1/nothing", "/"):
        assert (await client.get(path))["Connection"] == "close"
