"""Who must show an API key, and where a request has it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

from inference.keys import Key, admit
from inference.models import current_limits
from traceapp.origins import is_own
from traceapp.paths import speaks_openai

BEARER = re.compile(r"bearer +([!-~]+) *", re.IGNORECASE)

# What the API gives to anybody. All else of it is for callers who show a key, once one is needed.
OPEN_PATHS = frozenset({"/v1/limits", "/v1/openapi.json", "/v1/docs"})
# The site's own pages show and store these; to store one takes the server's receipt for it.
OPEN_PREFIX = "/v1/shared-traces"
PROFILE_PATHS = frozenset({"/start_profile", "/stop_profile"})


def is_guarded(path: str) -> bool:
    """Whether the path is one of the API's for which a key may be needed."""
    if path in OPEN_PATHS or path == OPEN_PREFIX or path.startswith(f"{OPEN_PREFIX}/"):
        return False
    return path.startswith("/v1/") or speaks_openai(path) or path in PROFILE_PATHS


async def admit_request(request: HttpRequest) -> Key | None:
    """The key with which a request comes. Raises InvalidApiKey."""
    bearer = _bearer(request.headers.get("Authorization"))
    return await admit(bearer, key_required=(await current_limits()).key_required)


async def admit_socket(headers: Iterable[tuple[bytes, bytes]]) -> Key | None:
    """The key with which a socket comes; our own pages need none. Raises InvalidApiKey."""
    sent = {name: value.decode("latin-1") for name, value in headers}
    needed = (await current_limits()).key_required and not comes_from_own_page(sent)
    return await admit(_bearer(sent.get(b"authorization")), key_required=needed)


def comes_from_own_page(headers: dict[bytes, str]) -> bool:
    """Whether a browser sent this from a page of ours."""
    origin, host = headers.get(b"origin"), headers.get(b"host", "")
    if origin is None:
        return False
    # A host that is not ours is a name that a foreign site made lead here.
    return validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS) and is_own(
        origin, host
    )


def key_of(request: HttpRequest) -> Key | None:
    """The key that `middleware.keys` found with this request."""
    key: Any = getattr(request, "api_key", None)
    return key if isinstance(key, Key) else None


def _bearer(header: str | None) -> str | None:
    """The token of an Authorization header; another scheme's credentials are none of ours."""
    found = BEARER.fullmatch(header.strip()) if header else None
    return found[1] if found else None
