"""
Every answer under /v1/ is JSON, also those that Django writes by itself: 404, 405, 400, 500.

The one that nobody reads, because its caller has left, is a line of the log.
"""

from __future__ import annotations

import asyncio
import logging

from django.http import HttpRequest, HttpResponseBase

from inference import errors
from traceapp.api.errors import STATUS, error_response
from traceapp.middleware.base import AsyncMiddleware
from traceapp.paths import is_api

logger = logging.getLogger(__name__)

CAUSES: dict[int, errors.TraceError] = {
    400: errors.InvalidRequest("the request cannot be understood"),
    404: errors.NotFound("nothing has this address"),
    405: errors.MethodNotAllowed("this address does not take this method"),
    413: errors.PayloadTooLarge("the request body is too large"),
    500: errors.InferenceFailed("the server failed on this request"),
}


class JsonErrors(AsyncMiddleware):
    """Puts the one error body in place of an HTML or text one; all other headers stay."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            response = await self._get_response(request)
        except asyncio.CancelledError:
            # Nobody is there to read an answer; the line is for the operator alone.
            logger.info("%d %s", STATUS[errors.ClientDisconnected], errors.ClientDisconnected.code)
            raise
        cause = CAUSES.get(response.status_code)
        is_json = response.get("Content-Type", "").startswith("application/json")
        if cause is None or is_json or not is_api(request.path):
            return response
        answer = error_response(cause, path=request.path, status=response.status_code)
        for name, value in response.items():
            if not name.startswith("Content-"):
                answer[name] = value
        return answer
