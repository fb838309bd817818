"""Whose page a request comes from, by its Origin header."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_own(origin: str, host: str) -> bool:
    """Whether the page came from the host that the request is for, over http or https."""
    try:
        parts = urlsplit(origin)
    except ValueError:  # not an address at all, such as "http://["
        return False
    return parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()


def is_listed(origin: str, allowed: tuple[str, ...]) -> bool:
    return origin.lower().rstrip("/") in {entry.lower().rstrip("/") for entry in allowed}
