"""
While the server stops, each answer says that its connection ends with it.

A client that keeps its connection would send its next request over it, perhaps as the process
ends: a broken answer, where a new connection is refused in a way that every client understands.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponse

from inference import runtime


class LastAnswers:
    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponse]]) -> None:
        self._get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        response = await self._get_response(request)
        if runtime.is_closing():
            response["Connection"] = "close"
        return response
