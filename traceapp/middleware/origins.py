"""
Which sites' pages may call us: our own and those on the allow-list; any other POST is a 403.

A request without Origin does not come from a page of another site, and passes. Answers to
allow-listed origins carry CORS headers, those to any other none. The list is the administrator's
and may change at any time, which is why this is not a setting of a CORS library.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers

from inference.errors import OriginNotAllowed
from inference.models import current_limits
from traceapp.api.errors import STATUS, error_response
from traceapp.framing import allow_frames, is_for_frames
from traceapp.middleware.base import AsyncMiddleware
from traceapp.origins import is_listed, is_own
from traceapp.paths import is_api
from traceapp.themes import theme_of

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PREFLIGHT_SECONDS = 600
EXPOSED = "Retry-After, X-Request-ID, X-Trace-Receipt"  # headers that a page may read
SANDBOXED = "null"  # the origin of a frame whose sandbox is without allow-same-origin
IN_SANDBOX = (
    "a page in a sandboxed frame has no origin, and may not call this server: the frame must have "
    "allow-same-origin, or the page must be opened in a tab of its own"
)


class Origins(AsyncMiddleware):
    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = await self._answer(request, request.headers.get("Origin"))
        # Always: a cache must not give a listed site the answer that another caller got.
        patch_vary_headers(response, ["Origin"])
        return response

    async def _answer(self, request: HttpRequest, origin: str | None) -> HttpResponseBase:
        if origin is None or is_own(origin, request.get_host()):
            return await self._get_response(request)
        listed = is_listed(origin, (await current_limits()).allowed_origins)
        is_preflight = "Access-Control-Request-Method" in request.headers
        if not listed and (is_preflight or request.method not in SAFE_METHODS):
            return await _refusal(request, sandboxed=origin == SANDBOXED)
        response = _preflight(request) if is_preflight else await self._get_response(request)
        if listed:
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Expose-Headers"] = EXPOSED
        return response


async def _refusal(request: HttpRequest, *, sandboxed: bool) -> HttpResponse:
    """Why this page may not call: for a program as JSON, for a form that was sent as a page."""
    if is_api(request.path):
        reason = IN_SANDBOX if sandboxed else "pages of this origin may not call this server"
        return error_response(OriginNotAllowed(reason), path=request.path)
    body = render_to_string("refused.html", {"sandboxed": sandboxed, "theme": theme_of(request)})
    response = HttpResponse(body, status=STATUS[OriginNotAllowed])
    if is_for_frames(request.path):  # else the visitor would not see the reason
        allow_frames(response, await current_limits())
    return response


def _preflight(request: HttpRequest) -> HttpResponse:
    response = HttpResponse(status=204)
    response["Access-Control-Allow-Methods"] = "GET, POST, DELETE, OPTIONS"
    response["Access-Control-Allow-Headers"] = request.headers.get(
        "Access-Control-Request-Headers", "content-type"
    )
    response["Access-Control-Max-Age"] = str(PREFLIGHT_SECONDS)
    return response
