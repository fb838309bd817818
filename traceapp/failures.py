"""What Django answers where an exception was caught by nobody: pages, the admin site, middleware.

Where a store is away that is a 503 which says so, and not a failure of ours.
"""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.defaults import server_error

from inference.errors import StorageUnavailable
from inference.models import last_known_limits
from inference.storage import as_storage_error
from traceapp.api.errors import STATUS, error_response
from traceapp.framing import allow_frames, is_for_frames
from traceapp.paths import is_api
from traceapp.themes import theme_of


def failed(request: HttpRequest) -> HttpResponse:
    """The handler of uncaught exceptions; Django calls it while it handles one."""
    error = as_storage_error(sys.exc_info()[1])
    if error is None:
        return server_error(request)
    if is_api(request.path):
        return error_response(error, path=request.path)
    return _page(request, error)


def _page(request: HttpRequest, error: StorageUnavailable) -> HttpResponse:
    framed = is_for_frames(request.path)
    context = {"message": error.message, "framed": framed, "theme": theme_of(request)}
    body = render_to_string("unavailable.html", context)
    response = HttpResponse(body, status=STATUS[StorageUnavailable])
    response["Retry-After"] = str(error.retry_after_seconds)
    if framed:  # else the visitor would not see it
        allow_frames(response, last_known_limits())
    return response
