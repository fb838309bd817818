"""
Which sites' pages may call us: our own and those on the allow-list; any other POST is a 403.

A request without Origin does not come from a page of another site, and passes. Answers to
allow-listed origins carry CORS headers, those to any other none. The list is the administrator's
and may change at any time, which is why this is not a setting of a CORS library.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from inference.errors import OriginNotAllowed
from inference.models import current_limits
from traceapp.api.errors import error_response

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PREFLIGHT_SECONDS = 600
EXPOSED = "Retry-After, X-Request-ID"  # headers that a page may read


class Origins:
    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponse]]) -> None:
        self._get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        response = await self._answer(request, request.headers.get("Origin"))
        # Always: a cache must not give a listed site the answer that another caller got.
        patch_vary_headers(response, ["Origin"])
        return response

    async def _answer(self, request: HttpRequest, origin: str | None) -> HttpResponse:
        if origin is None or is_own(origin, request.get_host()):
            return await self._get_response(request)
        listed = is_listed(origin, (await current_limits()).allowed_origins)
        is_preflight = "Access-Control-Request-Method" in request.headers
        if not listed and (is_preflight or request.method not in SAFE_METHODS):
            error = OriginNotAllowed("pages of this origin may not call this server")
            return error_response(error, path=request.path)
        response = _preflight(request) if is_preflight else await self._get_response(request)
        if listed:
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Expose-Headers"] = EXPOSED
        return response


def is_own(origin: str, host: str) -> bool:
    """Whether the page came from the host that the request is for, over http or https."""
    try:
        parts = urlsplit(origin)
    except ValueError:  # not an address at all, such as "http://["
        return False
    return parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()


def is_listed(origin: str, allowed: tuple[str, ...]) -> bool:
    return origin.lower().rstrip("/") in {entry.lower().rstrip("/") for entry in allowed}


def _preflight(request: HttpRequest) -> HttpResponse:
    response = HttpResponse(status=204)
    response["Access-Control-Allow-Methods"] = "GET, POST, OPTIONS"
    response["Access-Control-Allow-Headers"] = request.headers.get(
        "Access-Control-Request-Headers", "content-type"
    )
    response["Access-Control-Max-Age"] = str(PREFLIGHT_SECONDS)
    return response
