"""What a browser may do with our answers: the Content-Security-Policy and its relatives."""

from __future__ import annotations

from typing import Any

from csp.middleware import CSPMiddleware
from django.http import HttpRequest

from traceapp.middleware.inline import Inline

# Nothing here films, listens, locates or charges.
PERMISSIONS = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"


class Policies(Inline, CSPMiddleware):
    """The settings' policy on every answer; one may say by whom else it may be framed."""

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        response = super().process_response(request, response)
        response["Permissions-Policy"] = PERMISSIONS
        return response
