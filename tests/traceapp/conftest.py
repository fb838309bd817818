"""What the tests of the endpoints need: a client, and no rate in the way."""

from __future__ import annotations

import pytest

from inference.models import LimitsRow
from tests.traceapp.openai_api import Api


@pytest.fixture
def api(transactional_db):
    """A client of the OpenAI endpoints, without a rate."""
    LimitsRow.objects.update_or_create(pk=1, defaults={"rate_per_minute": 0})
    return Api()
