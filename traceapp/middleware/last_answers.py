"""
While the server stops, each answer says that its connection ends with it.

A client that keeps its connection would send its next request over it, perhaps as the process
ends: a broken answer, where a new connection is refused in a way that every client understands.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase

from inference import runtime
from traceapp.middleware.base import AsyncMiddleware


class LastAnswers(AsyncMiddleware):
    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = await self._get_response(request)
        if runtime.is_closing():
            response["Connection"] = "close"
        return response
