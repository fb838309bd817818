"""Lets nobody use the API without a key where one is needed, or with one that does not hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponse

from inference.errors import InvalidApiKey, StorageUnavailable
from traceapp.api.errors import error_response
from traceapp.keys import admit_request, is_guarded


class Keys:
    """Decides by the path alone, before any endpoint: one that is added is guarded too."""

    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponse]]) -> None:
        self._get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        if is_guarded(request.path):
            try:
                request.api_key = await admit_request(request)  # type: ignore[attr-defined]
            except (InvalidApiKey, StorageUnavailable) as error:
                return error_response(error, path=request.path)
        return await self._get_response(request)
