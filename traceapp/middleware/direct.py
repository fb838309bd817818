"""Calls the API's endpoints at once: sessions, forms and logins are there for the admin's pages."""

from __future__ import annotations

from inspect import iscoroutinefunction

from django.http import HttpRequest, HttpResponseBase
from django.urls import resolve

from traceapp.middleware.base import AsyncMiddleware
from traceapp.paths import is_api


class Direct(AsyncMiddleware):
    """Leaves out the middleware after it, which would take a thread several times a request."""

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Raises Http404, which Django answers."""
        if not is_api(request.path):
            return await self._get_response(request)
        match = resolve(request.path_info)
        if not iscoroutinefunction(match.func):  # it may block: Django runs it on a thread
            return await self._get_response(request)
        request.resolver_match = match
        response: HttpResponseBase = await match.func(request, *match.args, **match.kwargs)
        return response
