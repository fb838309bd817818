"""GET /oembed: how other sites show our own pages, when somebody pastes their address there."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from ninja import Query, Router, Schema
from pydantic import Field

from inference.errors import NotFound, UnsupportedFormat
from traceapp.api.answers import json_answer
from traceapp.framing import PREFIX
from traceapp.origins import is_own
from traceapp.sharing import store, wording
from traceapp.sharing.addresses import embed_path
from traceapp.sharing.redrawing import redrawn
from traceapp.wire.errors import ErrorBody
from traceapp.wire.oembed import OEmbedAnswer
from traceapp.wire.sharing import TRACE_ID

router = Router(tags=["embedding"])

SHARED = re.compile(f"(?:{PREFIX})?/t/({TRACE_ID.pattern})")
WIDTH, HEIGHT = 720, 640  # of a frame, where nobody says how large
Pixels = Annotated[int | None, Field(ge=1, le=100_000)]


class OEmbedQuery(Schema):
    # Percent-encoded, 1,200 characters still fit the longest line that the server reads.
    url: Annotated[str, Field(max_length=1200, description="The address of a page of ours.")]
    maxwidth: Pixels = None
    maxheight: Pixels = None


@router.get("/oembed", response={200: OEmbedAnswer, (404, 422, 500, 501, 503): ErrorBody})
async def oembed(request: HttpRequest, query: Query[OEmbedQuery]) -> HttpResponse:
    """The frame that shows a shared trace, or the live page, in a page of another site."""
    # Not in the document, which a tool takes for all that may be sent: only json may.
    if request.GET.get("format", "json") != "json":
        raise UnsupportedFormat("format: this server answers in json alone", param="format")
    address = _own_address(request, query.url)
    if found := SHARED.fullmatch(address.path):
        drawn = redrawn(await store.find(found[1]))
        title, path = wording.title_of(drawn.trace), embed_path(found[1])
    elif address.path == PREFIX:
        title, path = "Watch a language model choose each token", PREFIX
    else:
        raise _nothing_to_show()
    source = request.build_absolute_uri(path)
    # The fragment has a teacher's options, such as a prompt; it is for the page alone.
    if address.fragment:
        source += f"#{address.fragment}"
    width, height = min(query.maxwidth or WIDTH, WIDTH), min(query.maxheight or HEIGHT, HEIGHT)
    response = json_answer(
        OEmbedAnswer(
            provider_url=request.build_absolute_uri("/"),
            title=title,
            width=width,
            height=height,
            html=format_html(
                '<iframe src="{}" width="{}" height="{}" title="{}"></iframe>',
                *(source, width, height, title),
            ),
        )
    )
    response["X-Robots-Tag"] = "noindex"
    return response


def _own_address(request: HttpRequest, url: str) -> SplitResult:
    """The parts of an address of ours. Raises NotFound for any other."""
    try:
        address = urlsplit(url)
        is_ours = is_own(f"{address.scheme}://{address.netloc}", request.get_host())
    except ValueError:  # no address at all
        raise _nothing_to_show() from None
    if not is_ours:
        raise _nothing_to_show()
    return address


def _nothing_to_show() -> NotFound:
    return NotFound("url: this is no page of this server that can be shown in a frame")
