"""Which pages may be shown in a frame, and on whose pages: those under /embed, on listed sites."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest

from inference.limits import Limits
from inference.origins import NotAnOrigin, embedding_site

PREFIX = "/embed"


def is_for_frames(path: str) -> bool:
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def allow_frames(response: Any, limits: Limits) -> None:
    """Let this answer be framed by our own pages and the listed sites; nobody else's."""
    response._csp_replace = {"frame-ancestors": ["'self'", *_sites(limits)]}
    response.xframe_options_exempt = True  # that header knows no list


def oembed_address(request: HttpRequest, path: str) -> str:
    """Where oEmbed's answer about a page of ours is."""
    query = urlencode({"url": request.build_absolute_uri(path), "format": "json"})
    return request.build_absolute_uri(f"/oembed?{query}")


def _sites(limits: Limits) -> list[str]:
    """The listed sites that are sites: a header has no place for anything else."""
    sites = []
    for entry in limits.embed_sites:
        try:
            sites.append(embedding_site(entry))
        except NotAnOrigin:  # saved without the admin's form, which would have refused it
            continue
    return sites
