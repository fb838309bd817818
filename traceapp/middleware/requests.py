"""
Gives each request its id, in the answer and in every record of the log, and logs that it was.

The line of the log has the method, the route, the status and the time; no path, no query, no
address: those may tell who asked, and what.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from structlog.contextvars import bind_contextvars, clear_contextvars, unbind_contextvars

from inference.errors import ClientDisconnected
from traceapp.api.errors import STATUS
from traceapp.middleware.base import AsyncMiddleware
from traceapp.request_ids import HEADER, request_id_of

logger = logging.getLogger("traceapp.access")

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Requests(AsyncMiddleware):
    """The outermost: what any other middleware logs has the id, and what it answers too."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        begun = time.monotonic()
        request_id = request_id_of(request.headers.get(HEADER))
        # Each request is a task of its own, whose context nobody else has.
        clear_contextvars()
        bind_contextvars(request_id=request_id)
        try:
            response = await self._get_response(request)
        except asyncio.CancelledError:
            _log(request, STATUS[ClientDisconnected], begun)
            raise
        response[HEADER] = request_id
        if isinstance(response, StreamingHttpResponse) and response.is_async:
            content: Any = response.streaming_content
            response.streaming_content = _logged(content, request, response.status_code, begun)
        else:
            _log(request, response.status_code, begun)
        return response


async def _logged(
    content: AsyncIterator[bytes], request: HttpRequest, status: int, begun: float
) -> AsyncIterator[bytes]:
    """The body of a stream; its line is written once it has ended."""
    try:
        async for part in content:
            yield part
    finally:
        if (close := getattr(content, "aclose", None)) is not None:
            await close()  # a client that leaves frees the model
        _log(request, status, begun)


def _log(request: HttpRequest, status: int, begun: float) -> None:
    """The last of a request: what the same task does afterwards is not of it."""
    method = request.method if request.method in METHODS else "OTHER"
    logger.info("%s %s %d %.0f ms", method, _route(request), status, _ms_since(begun))
    unbind_contextvars("request_id")


def _ms_since(begun: float) -> float:
    return 1000 * (time.monotonic() - begun)


def _route(request: HttpRequest) -> str:
    """The pattern that the path matched; its own words could be anything."""
    if request.resolver_match is not None:
        return f"/{request.resolver_match.route}"
    return f"{settings.STATIC_URL}…" if request.path.startswith(settings.STATIC_URL) else "-"
