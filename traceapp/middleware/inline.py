"""
Django's middleware that looks at headers only, called where the request is.

As it comes it would take a thread on the way in and one on the way out. In a crowd each is a turn
at the end of the event loop's queue.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.deprecation import MiddlewareMixin


class Inline(MiddlewareMixin):
    """For a class whose two methods wait for nothing."""

    async def __acall__(self, request: HttpRequest) -> Any:
        answered = self.process_request(request) if hasattr(self, "process_request") else None
        if answered is None:
            response: Any = self.get_response(request)  # to be awaited, in this mode
            answered = await response
        return self.process_response(request, answered)  # type: ignore[attr-defined]


class Security(Inline, SecurityMiddleware):
    pass


class XFrameOptions(Inline, XFrameOptionsMiddleware):
    pass


class Common(Inline, CommonMiddleware):
    pass
