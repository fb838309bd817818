"""POST, GET and DELETE /v1/shared-traces: traces that their authors chose to keep."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Header, Router

from inference.errors import SharingOff
from inference.models import current_limits
from traceapp import rates
from traceapp.api.answers import json_answer
from traceapp.sharing import store
from traceapp.sharing.addresses import delete_path, page_path
from traceapp.sharing.receipts import read_receipt
from traceapp.wire.errors import ErrorBody
from traceapp.wire.sharing import SharedTraceAnswer, SharedTraceBody, SharedTraceLinks

router = Router(tags=["shared traces"])


@router.post(
    "/shared-traces",
    response={201: SharedTraceLinks, (403, 413, 422, 429, 500, 503): ErrorBody},
)
async def share_trace(request: HttpRequest, body: SharedTraceBody) -> HttpResponse:
    """Keep a trace that this server made, under an address that nobody can guess."""
    limits = await current_limits()
    if not limits.sharing:
        raise SharingOff("this server keeps no traces; its administrator has turned that off")
    await rates.take_turn(request, limits)
    trace, provenance = read_receipt(body.receipt, body.trace)
    stored, token = await store.keep(trace, provenance, days=limits.sharing_days)
    response = json_answer(
        SharedTraceLinks(
            id=stored.id,
            url=request.build_absolute_uri(page_path(stored.id)),
            delete_url=request.build_absolute_uri(delete_path(stored.id, token)),
            delete_token=token,
            expires_at=stored.expires_at,
        )
    )
    response.status_code = 201
    return response


@router.get(
    "/shared-traces/{trace_id}", response={200: SharedTraceAnswer, (404, 500, 503): ErrorBody}
)
async def show_shared_trace(request: HttpRequest, trace_id: str) -> HttpResponse:
    """A shared trace, as it was shared. There is no list of them."""
    stored = await store.find(trace_id)
    response = json_answer(
        SharedTraceAnswer(
            id=stored.id,
            created_at=stored.created_at,
            expires_at=stored.expires_at,
            trace=stored.trace,
            provenance=stored.provenance,
        )
    )
    response["X-Robots-Tag"] = "noindex"
    response["Cache-Control"] = "no-cache"  # it may be removed at any time
    return response


@router.delete(
    "/shared-traces/{trace_id}", response={204: None, (403, 404, 422, 429, 500, 503): ErrorBody}
)
async def remove_shared_trace(
    request: HttpRequest,
    trace_id: str,
    x_delete_token: Annotated[str, Header(alias="X-Delete-Token", max_length=200)] = "",
) -> HttpResponse:
    """Remove a shared trace, with the token that its author got. Removing it twice is no error."""
    await rates.take_turn(request, await current_limits())
    await store.remove(trace_id, x_delete_token)
    return HttpResponse(status=204)
