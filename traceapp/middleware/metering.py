"""Counts answers by endpoint and status class. The endpoints are a fixed list, never the path."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase

from inference import metrics
from traceapp.middleware.base import AsyncMiddleware

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


class Metering(AsyncMiddleware):
    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = await self._get_response(request)
        endpoint = ENDPOINTS.get(request.path, "other")
        metrics.REQUESTS.labels(endpoint, f"{response.status_code // 100}xx").inc()
        return response
