"""An API key for a test."""

from __future__ import annotations

from typing import Any

from inference.keys import ApiKey


async def new_key(**fields: Any) -> tuple[ApiKey, str]:
    """A key as the admin makes it: its row, and the key itself."""
    row = ApiKey(**{"name": "Class 9b"} | fields)
    secret = row.make_secret()
    await row.asave()
    return row, secret


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}
