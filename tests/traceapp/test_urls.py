"""Paths as people type them."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("method", ["get", "head"])
def test_the_admin_without_its_slash_leads_to_it(client, method):
    response = getattr(client, method)("/admin")
    assert (response.status_code, response["Location"]) == (302, "/admin/")


def test_only_reading_is_led_there(client):
    assert client.post("/admin").status_code == 405
