"""Lets nobody use the API without a key where one is needed, or with one that does not hold."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase

from inference.errors import InvalidApiKey, StorageUnavailable
from traceapp.api.errors import error_response
from traceapp.keys import admit_request, is_guarded
from traceapp.middleware.base import AsyncMiddleware


class Keys(AsyncMiddleware):
    """Decides by the path alone, before any endpoint: one that is added is guarded too."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_guarded(request.path):
            try:
                request.api_key = await admit_request(request)  # type: ignore[attr-defined]
            except (InvalidApiKey, StorageUnavailable) as error:
                return error_response(error, path=request.path)
        return await self._get_response(request)
