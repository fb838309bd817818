"""The id of one request: a caller's own where that is harmless, a fresh one otherwise."""

from __future__ import annotations

import re
import uuid

HEADER = "X-Request-ID"
SAFE = re.compile(r"[A-Za-z0-9._-]{1,64}")


def request_id_of(sent: str | None) -> str:
    """What the caller sent, if it can stand in a header and a log line as it is."""
    return sent if sent is not None and SAFE.fullmatch(sent) else uuid.uuid4().hex
