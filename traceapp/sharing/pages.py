"""The pages of one shared trace: to read, to frame, to remove."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.text import capfirst
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from inference.errors import NotFound, RateLimited, WrongDeleteToken
from inference.models import current_limits
from traceapp import rates
from traceapp.api.errors import STATUS
from traceapp.drawing import DrawnTrace
from traceapp.framing import allow_frames, oembed_address
from traceapp.sharing import store, wording
from traceapp.sharing.addresses import delete_path, embed_path, page_path
from traceapp.sharing.redrawing import redrawn
from traceapp.sharing.store import Stored
from traceapp.themes import theme_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPage:
    """All that `shared.html` and `embedded_trace.html` are given."""

    drawn: DrawnTrace = field(metadata={"help": "The trace."})
    title: str = field(metadata={"help": "Names the trace, in one line."})
    description: str = field(metadata={"help": "What there is to see, for previews of the link."})
    url: str = field(metadata={"help": "The page's own address."})
    oembed_url: str = field(metadata={"help": "Where oEmbed's answer about it is."})
    delete_path: str = field(metadata={"help": "The page that removes it."})
    made_at: datetime = field(metadata={"help": "When the model was run."})
    expires_at: datetime = field(metadata={"help": "When the trace will be removed."})
    versions: dict[str, str] = field(metadata={"help": "Of the software that made it."})
    citation: str = field(metadata={"help": "One line for a list of sources."})
    bibtex: str = field(metadata={"help": "The same as an entry of BibTeX."})
    theme: str = field(metadata={"help": "light, dark, or auto: what the visitor's system has."})
    stored: dict[str, Any] = field(metadata={"help": "The stored trace, for the script."})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePage:
    """All that `delete_shared.html` is given."""

    trace_id: str = field(metadata={"help": "Which trace."})
    removed: bool = field(default=False, metadata={"help": "Whether it is removed now."})
    problem: str = field(default="", metadata={"help": "Why it was not, if it was not."})


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPage:
    """All that `missing.html` is given."""

    framed: bool = field(metadata={"help": "Whether the page is for a frame."})
    theme: str = field(metadata={"help": "As for a trace."})


@require_safe
async def shared_trace(request: HttpRequest, trace_id: str) -> HttpResponse:
    """A shared trace, to read and replay, without the model."""
    try:
        stored = await store.find(trace_id)
    except NotFound:
        return _missing(request, framed=False)
    return _page("shared.html", _shared_page(request, stored))


@require_safe
async def embedded_trace(request: HttpRequest, trace_id: str) -> HttpResponse:
    """The same, compact, for a frame in somebody's page."""
    try:
        stored = await store.find(trace_id)
    except NotFound:
        response = _missing(request, framed=True)
    else:
        response = _page("embedded_trace.html", _shared_page(request, stored))
    allow_frames(response, await current_limits())
    return response


# Exempt, for the token is what allows it, and no cookie is set; see `pages.home`.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
async def delete_shared_trace(request: HttpRequest, trace_id: str) -> HttpResponse:
    """Removes a trace for whoever has its token. The token comes in a form, never in an address."""
    if request.method != "POST":
        return await _ask_for_token(request, trace_id)
    try:
        await rates.take_turn(request, await current_limits())
        await store.remove(trace_id, request.POST.get("token", "").strip()[:200])
    except NotFound:
        return _missing(request, framed=False)
    except (WrongDeleteToken, RateLimited) as error:
        page = DeletePage(trace_id=trace_id, problem=f"{capfirst(error.message)}.")
        response = _page("delete_shared.html", page, status=STATUS[type(error)])
        if isinstance(error, RateLimited):
            response["Retry-After"] = str(error.retry_after_seconds)
        return response
    return _page("delete_shared.html", DeletePage(trace_id=trace_id, removed=True))


async def _ask_for_token(request: HttpRequest, trace_id: str) -> HttpResponse:
    try:
        await store.find(trace_id)
    except NotFound:
        return _missing(request, framed=False)
    return _page("delete_shared.html", DeletePage(trace_id=trace_id))


def _shared_page(request: HttpRequest, stored: Stored) -> SharedPage:
    drawn, made_at = redrawn(stored), stored.provenance.made_at
    trace = drawn.trace
    url = request.build_absolute_uri(page_path(stored.id))
    return SharedPage(
        drawn=drawn,
        title=wording.title_of(trace),
        description=wording.description_of(trace, tokens=len(drawn.steps)),
        url=url,
        oembed_url=oembed_address(request, page_path(stored.id)),
        delete_path=delete_path(stored.id),
        made_at=made_at,
        expires_at=stored.expires_at,
        versions=stored.provenance.versions,
        citation=wording.citation_of(trace, made_at=made_at, url=url),
        bibtex=wording.bibtex_of(trace, made_at=made_at, url=url, trace_id=stored.id),
        theme=theme_of(request),
        stored={
            "id": stored.id,
            "trace": stored.trace.model_dump(mode="json"),
            "provenance": stored.provenance.model_dump(mode="json"),
            "shared_at": stored.created_at.isoformat(),
            "expires_at": stored.expires_at.isoformat(),
            "url": url,
            "embed_url": request.build_absolute_uri(embed_path(stored.id)),
        },
    )


def _missing(request: HttpRequest, *, framed: bool) -> HttpResponse:
    page = MissingPage(framed=framed, theme=theme_of(request))
    return _page("missing.html", page, status=STATUS[NotFound])


def _page(
    template: str, page: SharedPage | DeletePage | MissingPage, *, status: int = 200
) -> HttpResponse:
    context = {each.name: getattr(page, each.name) for each in fields(page)}
    response = HttpResponse(render_to_string(template, context), status=status)
    response["X-Robots-Tag"] = "noindex"
    response["Cache-Control"] = "no-cache"  # it may be removed at any time
    return response
