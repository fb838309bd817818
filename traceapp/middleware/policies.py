"""What a browser may do with our answers: the Content-Security-Policy and its relatives."""

from __future__ import annotations

from typing import Any

from csp.middleware import CSPMiddleware
from django.http import HttpRequest

# Nothing here films, listens, locates or charges.
PERMISSIONS = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"


class Policies(CSPMiddleware):
    """The settings' policy on every answer; one may say by whom else it may be framed."""

    async def __acall__(self, request: HttpRequest) -> Any:
        # The base class would take a thread for each of these; neither waits for anything.
        self.process_request(request)
        response: Any = self.get_response(request)  # to be awaited, in this mode
        return self.process_response(request, await response)

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        response = super().process_response(request, response)
        response["Permissions-Policy"] = PERMISSIONS
        return response
