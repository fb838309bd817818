"""Counts answers by endpoint and status class. The endpoints are a fixed list, never the path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponse

from inference import metrics

ENDPOINTS = {
    "/": "page",
    "/health": "health",
    "/metrics": "metrics",
    "/metrics/json": "metrics",
    "/v1/traces": "traces",
    "/v1/completions": "completions",
    "/v1/chat/completions": "chat",
    "/v1/models": "models",
    "/v1/limits": "limits",
}


class Metering:
    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponse]]) -> None:
        self._get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        response = await self._get_response(request)
        endpoint = ENDPOINTS.get(request.path, "other")
        metrics.REQUESTS.labels(endpoint, f"{response.status_code // 100}xx").inc()
        return response
