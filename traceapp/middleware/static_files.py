"""WhiteNoise without a thread a request: its middleware is synchronous, ours awaits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Serves collected files from memory of their headers, everything else goes on."""

    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> None:
        super().__init__(get_response)
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        static_file = (
            self.find_file(request.path_info)
            if self.autorefresh
            else self.files.get(request.path_info)
        )
        if static_file is None:
            return self.get_response(request)
        return _sent(static_file.get_response(request.method, request.META))


async def _sent(found: Any) -> HttpResponse:
    # Small files, in the system's cache: a thread would cost more than the read.
    response = HttpResponse(found.file.read() if found.file else b"", status=int(found.status))
    if found.file:
        found.file.close()
    del response["Content-Type"]
    for name, value in found.headers:
        response[name] = value
    return response
